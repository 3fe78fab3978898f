"""Orders after they were placed: list, track, cancel, rate, refund."""

from typing import Annotated, Literal

from sqlalchemy import bindparam, or_, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.food_delivery import bill, rules
from proverl.envs.servers.food_delivery.app import server
from proverl.envs.servers.food_delivery.catalogue import Limit
from proverl.envs.servers.food_delivery.tables import (
    CourierId,
    CustomerId,
    Dish,
    DishId,
    FoodOrder,
    FoodOrderId,
    FoodOrderLine,
    Refund,
    RefundId,
    Restaurant,
    RestaurantId,
    Voucher,
)

Status = Literal["placed", "accepted", "preparing", "ready", "picked_up", "delivered", "cancelled"]
CancelReason = Literal["changed_mind", "wrong_address", "ordered_twice", "restaurant_cannot_deliver"]

_ORDERS = (
    select(
        FoodOrder.id,
        FoodOrder.placed_on,
        FoodOrder.status,
        FoodOrder.subtotal,
        FoodOrder.discount,
        FoodOrder.delivery_fee,
        FoodOrder.tip,
        Restaurant.name,
    )
    .join_from(FoodOrder, Restaurant, Restaurant.id == FoodOrder.restaurant_id)
    .where(
        or_(bindparam("customer") == "", FoodOrder.customer_id == bindparam("customer")),
        or_(bindparam("restaurant") == "", FoodOrder.restaurant_id == bindparam("restaurant")),
        or_(bindparam("status") == "", FoodOrder.status == bindparam("status")),
    )
    .order_by(FoodOrder.placed_on.desc(), FoodOrder.placed_at.desc(), FoodOrder.id)
    .limit(bindparam("limit"))
)
LINES = (
    select(FoodOrderLine.dish_id, Dish.name, FoodOrderLine.quantity, FoodOrderLine.price)
    .join_from(FoodOrderLine, Dish, Dish.id == FoodOrderLine.dish_id)
    .where(FoodOrderLine.food_order_id == bindparam("food_order"))
    .order_by(Dish.name, FoodOrderLine.dish_id)
)
_GIVE_VOUCHER_BACK = update(Voucher).where(Voucher.used_by == bindparam("food_order")).values(used_by=None)


class FoodOrderItem(TypedDict):
    """An order in a list; the total in EUR."""

    food_order_id: FoodOrderId
    date: str
    restaurant: str
    status: Status
    total: float


class FoodOrderList(TypedDict):
    """Orders, newest first."""

    food_orders: list[FoodOrderItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the latest food orders[ of {customer_id}][ that are {status}][, {limit} at most]",
        "show me food orders[ with the status {status}][ placed by {customer_id}][, up to {limit}]",
        "look up the food orders[ at {restaurant_id}][, only those that are {status}]",
        "go through the food orders[ that {customer_id} placed][ with {restaurant_id}][, {limit} of them]",
        "check what has been ordered lately[ by {customer_id}][ from {restaurant_id}][, the last {limit} orders]",
    ],
)
def list_food_orders(
    ctx: Context,
    customer_id: Annotated[CustomerId | None, "Only orders of this customer"] = None,
    restaurant_id: Annotated[RestaurantId | None, "Only orders from this restaurant"] = None,
    status: Annotated[Status | None, "Only orders with this status"] = None,
    limit: Annotated[Limit, "Most orders listed"] = 5,
) -> FoodOrderList:
    """List food orders, newest first."""
    if customer_id is not None:
        rules.customer(ctx, customer_id)
    if restaurant_id is not None:
        rules.restaurant(ctx, restaurant_id)
    rows = ctx.rows(
        _ORDERS, customer=customer_id or "", restaurant=restaurant_id or "", status=status or "", limit=limit
    )
    return {
        "food_orders": [
            {
                "food_order_id": row["id"],
                "date": row["placed_on"],
                "restaurant": row["name"],
                "status": row["status"],
                "total": money(bill.total(row)),
            }
            for row in rows
        ]
    }


class OrderedDish(TypedDict):
    """A dish of an order."""

    dish_id: DishId
    name: str
    quantity: int


class TrackedOrder(TypedDict):
    """Where an order is; `expected_at` is the time of its day when it should arrive, the total in EUR."""

    food_order_id: FoodOrderId
    status: Status
    customer_id: CustomerId
    restaurant_id: RestaurantId
    courier_id: CourierId | None
    expected_at: str
    dishes: list[OrderedDish]
    total: float


@server.tool(
    read_only=True,
    phrases=[
        "track {food_order_id}",
        "check how far {food_order_id} is",
        "tell me where {food_order_id} is and when it should arrive",
        "look up the status of {food_order_id} and what is in it",
        "find out who is bringing {food_order_id} and how it is coming along",
        "see what was ordered with {food_order_id} and how far it has got",
    ],
    brief=[
        "track a food order",
        "check how far an order is",
        "find out when a food order should arrive",
    ],
)
def track_food_order(ctx: Context, food_order_id: Annotated[FoodOrderId, "Order to track"]) -> TrackedOrder:
    """Track a food order: its status, courier, expected time and dishes."""
    row = rules.food_order(ctx, food_order_id)
    return {
        "food_order_id": food_order_id,
        "status": row["status"],
        "customer_id": row["customer_id"],
        "restaurant_id": row["restaurant_id"],
        "courier_id": row["courier_id"],
        "expected_at": row["promised_at"],
        "dishes": [
            {"dish_id": line["dish_id"], "name": line["name"], "quantity": line["quantity"]}
            for line in ctx.rows(LINES, food_order=food_order_id)
        ],
        "total": money(bill.total(row)),
    }


class CancelledOrder(TypedDict):
    """A cancelled order and the money that goes back, in EUR."""

    food_order_id: FoodOrderId
    status: Literal["cancelled"]
    refund_id: RefundId
    amount: float


@server.tool(
    destructive=True,
    phrases=[
        "cancel {food_order_id} with the reason {reason}",
        "call {food_order_id} off (reason: {reason})",
        "stop {food_order_id} before it is cooked and note {reason} as the reason",
        "withdraw {food_order_id} and give {reason} as the reason",
        "take back {food_order_id} (reason: {reason}) so that the customer pays nothing",
    ],
    brief=[
        "cancel a food order",
        "call {food_order_id} off before it is cooked",
        "cancel a food order with the reason {reason}",
    ],
)
def cancel_food_order(
    ctx: Context,
    food_order_id: Annotated[FoodOrderId, "Order that the kitchen has not begun"],
    reason: Annotated[CancelReason, "Why it is cancelled"],
) -> CancelledOrder:
    """Cancel an order that is placed or accepted. All money and the voucher go back to the customer."""
    row = rules.food_order(ctx, food_order_id)
    if row["status"] not in ("placed", "accepted"):
        raise Rejected(
            f"{food_order_id} is {said(row['status'])}; only orders that are placed or accepted can be cancelled"
        )
    ctx.update(FoodOrder, food_order_id, status="cancelled", courier_id=None)
    ctx.execute(_GIVE_VOUCHER_BACK, food_order=food_order_id)
    refund_id = give_back(ctx, food_order_id, None, bill.total(row), reason)
    return {
        "food_order_id": food_order_id,
        "status": "cancelled",
        "refund_id": refund_id,
        "amount": money(bill.total(row)),
    }


def said(status: str) -> str:
    """A status as people say it."""
    return status.replace("_", " ")


def give_back(ctx: Context, food_order_id: str, dish_id: str | None, amount: int, reason: str) -> str:
    """Refund so many cents. Returns the refund's id. Raises Rejected when there is nothing to give back."""
    if amount <= 0:
        raise Rejected(f"nothing was paid for that part of {food_order_id}: a voucher covered it; leave it as it is")
    row = ctx.insert(
        Refund, food_order_id=food_order_id, dish_id=dish_id, amount=amount, reason=reason, issued_on=ctx.today
    )
    return str(row["id"])
