"""Orders: find, read, change, cancel."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected, money
from proverl.envs.servers.shopping import rules
from proverl.envs.servers.shopping.app import server
from proverl.envs.servers.shopping.catalogue import Limit
from proverl.envs.servers.shopping.tables import (
    AddressId,
    CouponCode,
    Order,
    OrderId,
    OrderItem,
    OrderItemId,
    PaymentMethod,
    PaymentMethodId,
    Product,
    ProductId,
)

OrderStatus = Literal["processing", "packed", "shipped", "delivered", "cancelled"]
CancelReason = Literal["ordered_by_mistake", "no_longer_needed", "found_cheaper", "delivery_too_slow"]

_ORDER, _ITEM, _PRODUCT = Order.__table__.c, OrderItem.__table__.c, Product.__table__.c
_ORDERS = (
    select(_ORDER.id, _ORDER.status, _ORDER.placed_on, _ORDER.total)
    .where(
        func.coalesce(bindparam("status"), _ORDER.status) == _ORDER.status,
        _ORDER.placed_on >= func.coalesce(bindparam("since"), ""),
    )
    .order_by(_ORDER.placed_on.desc(), _ORDER.placed_at.desc(), _ORDER.id)
    .limit(bindparam("most"))
)
_ITEMS = (
    select(_ITEM.id, _ITEM.product_id, _PRODUCT.name, _PRODUCT.bulky, _ITEM.quantity, _ITEM.price)
    .join_from(OrderItem.__table__, Product.__table__, _PRODUCT.id == _ITEM.product_id)
    .where(_ITEM.order_id == bindparam("order"))
    .order_by(_ITEM.id)
)


class OrderListItem(TypedDict):
    """An order in a list; total in EUR."""

    order_id: OrderId
    status: OrderStatus
    placed_on: str
    total: float


class OrderList(TypedDict):
    """The customer's orders."""

    orders: list[OrderListItem]


class OrderLine(TypedDict):
    """A product in an order; price of one in EUR."""

    order_item_id: OrderItemId
    product_id: ProductId
    name: str
    quantity: int
    price: float


class OrderView(TypedDict):
    """An order in full; total in EUR. `expected_on` is the day of delivery that was promised."""

    order_id: OrderId
    status: OrderStatus
    placed_on: str
    expected_on: str
    delivered_on: str | None
    address_id: AddressId
    payment_method_id: PaymentMethodId
    coupon_code: CouponCode | None
    total: float
    items: list[OrderLine]


class CancelledOrder(TypedDict):
    """An order that won't be delivered, and what is paid back (EUR)."""

    order_id: OrderId
    status: OrderStatus
    refund: float
    payment_method_id: PaymentMethodId


class OrderAddress(TypedDict):
    """Where an order goes."""

    order_id: OrderId
    address_id: AddressId


@server.tool(
    read_only=True,
    phrases=[
        "list my[ {status}] orders[ since {since}][, {limit} at most]",
        "show me the orders I placed[ since {since}][ that are {status}]",
        "look up my[ last {limit}] orders[, only those that are {status}]",
        "check my[ {status}] orders[ placed from {since} on]",
        "tell me what orders I have here[, just the {status} ones]",
    ],
)
def list_orders(
    ctx: Context,
    status: Annotated[OrderStatus | None, "Only orders with this status"] = None,
    since: Annotated[
        Annotated[IsoDate, Field(json_schema_extra={"x-when": "past"})] | None,
        "Only orders placed on this day or later",
    ] = None,
    limit: Annotated[Limit, "Most orders listed"] = 5,
) -> OrderList:
    """List the customer's orders, newest first."""
    return {
        "orders": [
            {
                "order_id": row["id"],
                "status": row["status"],
                "placed_on": row["placed_on"],
                "total": money(row["total"]),
            }
            for row in ctx.rows(_ORDERS, status=status, since=since, most=limit)
        ]
    }


@server.tool(
    read_only=True,
    phrases=[
        "show me {order_id} with everything in it",
        "check the status of {order_id} and when it arrives",
        "look up what I bought with {order_id}",
        "pull up the details of {order_id}",
        "tell me where {order_id} goes and how I paid for it",
    ],
    brief=[
        "check the status of an order",
        "show me one of my orders in detail",
        "tell me when one of my orders arrives",
    ],
)
def get_order(ctx: Context, order_id: Annotated[OrderId, "Order to read"]) -> OrderView:
    """Get an order with its items, where it goes, how it was paid, and when it was or should be delivered."""
    row = rules.order(ctx, order_id)
    return {
        "order_id": order_id,
        "status": row["status"],
        "placed_on": row["placed_on"],
        "expected_on": row["expected_on"],
        "delivered_on": row["delivered_on"],
        "address_id": row["address_id"],
        "payment_method_id": row["payment_method_id"],
        "coupon_code": row["coupon_code"],
        "total": money(row["total"]),
        "items": [
            {
                "order_item_id": item["id"],
                "product_id": item["product_id"],
                "name": item["name"],
                "quantity": item["quantity"],
                "price": money(item["price"]),
            }
            for item in ctx.rows(_ITEMS, order=order_id)
        ],
    }


@server.tool(
    destructive=True,
    phrases=[
        "cancel {order_id}, reason: {reason}",
        "call off {order_id} and give {reason} as the reason",
        "stop {order_id} from being shipped; the reason is {reason}",
        "have {order_id} cancelled and my money paid back, stating {reason} as the reason",
        "withdraw {order_id} with the reason {reason}",
    ],
    brief=[
        "cancel one of my orders",
        "cancel {order_id}",
        "call off an order and give {reason} as the reason",
    ],
)
def cancel_order(
    ctx: Context,
    order_id: Annotated[OrderId, "Order that is not shipped yet"],
    reason: Annotated[CancelReason, "Why the customer no longer wants it"],
) -> CancelledOrder:
    """Cancel an order that is processing or packed. The payment goes back, and its coupon can be used again."""
    row = rules.order(ctx, order_id)
    if row["status"] == "cancelled":
        raise Rejected(f"order {order_id} is cancelled already; list_orders shows the ones that stand")
    if row["status"] in ("shipped", "delivered"):
        raise Rejected(
            f"order {order_id} is already {row['status']}; only orders that are processing or packed can be cancelled, "
            "later ones are sent back with request_return once they are delivered"
        )
    ctx.update(Order, order_id, status="cancelled", cancel_reason=reason)
    items = ctx.rows(_ITEMS, order=order_id)
    rules.restock(ctx, items, 1)
    method = rules.payment_method(ctx, row["payment_method_id"])
    if method["balance"] is not None:
        ctx.update(PaymentMethod, method["id"], balance=method["balance"] + row["total"])
    return {
        "order_id": order_id,
        "status": "cancelled",
        "refund": money(row["total"]),
        "payment_method_id": method["id"],
    }


@server.tool(
    phrases=[
        "change the delivery address of {order_id} to {address_id}",
        "send {order_id} to {address_id} instead",
        "redirect {order_id} to {address_id}",
        "have {order_id} delivered to {address_id}, not where I first said",
        "use {address_id} as the new destination of {order_id}",
    ],
    brief=[
        "have one of my orders delivered somewhere else",
        "change the delivery address of {order_id}",
        "redirect one of my orders to {address_id}",
    ],
)
def change_order_address(
    ctx: Context,
    order_id: Annotated[OrderId, "Order that is still processing"],
    address_id: Annotated[AddressId, "Where it shall go"],
) -> OrderAddress:
    """Send an order that is still processing to another of the customer's addresses."""
    row, place = rules.order(ctx, order_id), rules.address(ctx, address_id)
    if row["status"] != "processing":
        raise Rejected(
            f"order {order_id} is {row['status']}; the address can be changed only while an order is processing"
        )
    if row["address_id"] == address_id:
        raise Rejected(f"order {order_id} goes to {address_id} already; name another address")
    rules.deliverable(place, [item["product_id"] for item in ctx.rows(_ITEMS, order=order_id) if item["bulky"]])
    ctx.update(Order, order_id, address_id=address_id)
    return {"order_id": order_id, "address_id": address_id}
