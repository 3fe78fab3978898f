"""The kitchen's and the couriers' steps, up to the hand-over."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import and_, bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.food_delivery import bill, rules
from proverl.envs.servers.food_delivery.app import server
from proverl.envs.servers.food_delivery.catalogue import Limit
from proverl.envs.servers.food_delivery.tables import Courier, CourierId, FoodOrder, FoodOrderId
from proverl.envs.state import Row

Vehicle = Literal["bicycle", "scooter", "car"]
CourierStatus = Literal["available", "busy", "offline"]
DeliveryCode = Annotated[
    str, Field(pattern="^[0-9]{4}$", json_schema_extra={"x-sensitive": True, "x-source": "reveal_delivery_code.code"})
]

_AHEAD = 60  # minutes before its time when work on a scheduled order may begin
_UNDER_WAY = ("accepted", "preparing", "ready", "picked_up")
_COURIERS = (
    select(Courier.id, Courier.name, Courier.vehicle, Courier.online, FoodOrder.id.label("food_order_id"))
    .outerjoin_from(Courier, FoodOrder, and_(FoodOrder.courier_id == Courier.id, FoodOrder.status.in_(_UNDER_WAY)))
    .order_by(Courier.name, Courier.id)
)
_ORDER_OF = (
    select(FoodOrder.id)
    .where(FoodOrder.courier_id == bindparam("courier"), FoodOrder.status.in_(_UNDER_WAY))
    .order_by(FoodOrder.id)
)


class CourierItem(TypedDict):
    """A courier in a list, with the order that keeps them busy."""

    courier_id: CourierId
    name: str
    vehicle: Vehicle
    status: CourierStatus
    food_order_id: FoodOrderId | None


class CourierList(TypedDict):
    """Couriers that fit."""

    couriers: list[CourierItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the couriers[ who are {status}][, only those with a {vehicle}][, {limit} at most]",
        "show me which couriers there are[ with a {vehicle}][, only those who are {status}]",
        "find couriers[ with a {vehicle}][ whose status is {status}]",
        "check who delivers for us[, {status} couriers only][, up to {limit}]",
        "tell me which orders the[ {status}] couriers are on[, the first {limit} couriers]",
    ],
)
def list_couriers(
    ctx: Context,
    status: Annotated[CourierStatus | None, "Only couriers in this state"] = None,
    vehicle: Annotated[Vehicle | None, "Only couriers with this vehicle; bicycles go 3.5 km, scooters 6 km"] = None,
    limit: Annotated[Limit, "Most couriers listed"] = 5,
) -> CourierList:
    """List couriers by name, with the order that each one is on."""
    fitting: list[CourierItem] = []
    for row in ctx.rows(_COURIERS):
        now: CourierStatus = "busy" if row["food_order_id"] else "available" if row["online"] else "offline"
        if status in (None, now) and vehicle in (None, row["vehicle"]):
            fitting.append(
                {
                    "courier_id": row["id"],
                    "name": row["name"],
                    "vehicle": row["vehicle"],
                    "status": now,
                    "food_order_id": row["food_order_id"],
                }
            )
    return {"couriers": fitting[:limit]}


class Assignment(TypedDict):
    """A courier and their order."""

    food_order_id: FoodOrderId
    courier_id: CourierId
    distance_km: float


@server.tool(
    phrases=[
        "assign {courier_id} to {food_order_id}",
        "send {courier_id} for {food_order_id}",
        "give {food_order_id} to {courier_id}",
        "have {courier_id} deliver {food_order_id}",
        "put {courier_id} in charge of bringing {food_order_id} to the customer",
    ],
    brief=[
        "assign a courier to a food order",
        "send a courier for {food_order_id}",
        "have {courier_id} deliver a food order",
    ],
)
def assign_courier(
    ctx: Context,
    food_order_id: Annotated[FoodOrderId, "Order that the kitchen has accepted and nobody has picked up"],
    courier_id: Annotated[CourierId, "Available courier whose vehicle goes that far"],
) -> Assignment:
    """Assign a courier to an order, in place of another one. A courier has one order at a time."""
    row, courier = rules.food_order(ctx, food_order_id), rules.courier(ctx, courier_id)
    _assignable(row)
    if row["courier_id"] == courier_id:
        raise Rejected(f"{courier_id} has {food_order_id} already; nothing is left to do")
    _due(ctx, row, "get a courier")
    if not courier["online"]:
        raise Rejected(f"courier {courier['name']} ({courier_id}) is offline; choose one who is available")
    other = ctx.scalar(_ORDER_OF, courier=courier_id)
    if other:
        raise Rejected(f"courier {courier['name']} ({courier_id}) is busy with {other}; choose one who is available")
    way = bill.way(rules.restaurant(ctx, row["restaurant_id"]), rules.address(ctx, row["delivery_address_id"]))
    reach = bill.REACH[courier["vehicle"]]
    if way > reach:
        raise Rejected(
            f"{food_order_id} goes {way / 10:.1f} km; {courier_id} has a {courier['vehicle']}, good for "
            f"{reach / 10:.1f} km; choose a faster vehicle"
        )
    ctx.update(FoodOrder, food_order_id, courier_id=courier_id)
    return {"food_order_id": food_order_id, "courier_id": courier_id, "distance_km": way / 10}


def _assignable(row: Row) -> None:
    if row["status"] == "placed":
        raise Rejected(f"{row['id']} is not accepted by the kitchen yet; it must be accepted before a courier is sent")
    if row["status"] not in ("accepted", "preparing", "ready"):
        raise Rejected(
            f"{row['id']} is {row['status'].replace('_', ' ')}; couriers are sent for orders that are accepted, "
            "preparing or ready"
        )


def _due(ctx: Context, row: Row, what: str) -> None:
    """Raises Rejected while it is too early for a scheduled order."""
    if row["scheduled_for"] is not None:
        first = bill.shift(row["scheduled_for"], -_AHEAD)
        if row["placed_on"] == ctx.today and ctx.timestamp[11:] < first:
            raise Rejected(f"{row['id']} is for {row['scheduled_for']}; it can {what} from {first} on")


class OrderStep(TypedDict):
    """An order after a step."""

    food_order_id: FoodOrderId
    status: Literal["accepted", "preparing", "ready", "picked_up", "delivered"]
    courier_id: CourierId | None


@server.tool(
    phrases=[
        "mark {food_order_id} as {status}",
        "set the status of {food_order_id} to {status}",
        "move {food_order_id} on to {status}",
        "record that {food_order_id} is {status}",
        "note for {food_order_id} that its new status is {status}",
    ],
    brief=[
        "move a food order on to its next step",
        "update the status of {food_order_id}",
        "mark a food order as {status}",
    ],
)
def update_food_order_status(
    ctx: Context,
    food_order_id: Annotated[FoodOrderId, "Order that moves on"],
    status: Annotated[Literal["accepted", "preparing", "ready", "picked_up"], "The next step of its way"],
) -> OrderStep:
    """Move an order to its next step: accepted, preparing, ready, picked up. The last one is confirm_delivery."""
    row = rules.food_order(ctx, food_order_id)
    if row["status"] in ("delivered", "cancelled"):
        raise Rejected(f"{food_order_id} is {row['status']}; only orders under way can move on")
    following = rules.STEPS[rules.STEPS.index(row["status"]) + 1]
    if status != following:
        hint = "confirm_delivery" if following == "delivered" else following.replace("_", " ")
        raise Rejected(f"{food_order_id} is {row['status'].replace('_', ' ')}; its next step is {hint}")
    if status == "accepted" and rules.restaurant(ctx, row["restaurant_id"])["paused"]:
        raise Rejected(
            f"{row['restaurant_id']} has paused its orders and can't accept {food_order_id}; cancel it instead"
        )
    if status == "preparing":
        _due(ctx, row, "be prepared")
    if status == "picked_up" and row["courier_id"] is None:
        raise Rejected(f"{food_order_id} has no courier; assign_courier sends one")
    ctx.update(FoodOrder, food_order_id, status=status)
    return {"food_order_id": food_order_id, "status": status, "courier_id": row["courier_id"]}


@server.tool(
    phrases=[
        "confirm the delivery of {food_order_id} with code {delivery_code}",
        "close {food_order_id} as handed over; the code is {delivery_code}",
        "use code {delivery_code} to confirm that {food_order_id} has arrived",
        "complete {food_order_id} with the delivery code {delivery_code}",
        "record that {food_order_id} was handed over at the door; the code there was {delivery_code}",
    ],
    brief=[
        "confirm a delivery",
        "confirm that {food_order_id} was handed over",
    ],
)
def confirm_delivery(
    ctx: Context,
    food_order_id: Annotated[FoodOrderId, "Order that its courier has picked up"],
    delivery_code: Annotated[DeliveryCode, "The four digits that the customer told at the door"],
) -> OrderStep:
    """Confirm that an order was handed over. The customer's delivery code proves it."""
    row = rules.food_order(ctx, food_order_id)
    if row["status"] != "picked_up":
        raise Rejected(
            f"{food_order_id} is {row['status'].replace('_', ' ')}; only orders that are picked up can be handed over"
        )
    if row["delivery_code"] != delivery_code:
        raise Rejected(f"wrong delivery code for {food_order_id}; ask the customer for the four digits")
    ctx.update(FoodOrder, food_order_id, status="delivered")
    return {"food_order_id": food_order_id, "status": "delivered", "courier_id": row["courier_id"]}


class Code(TypedDict):
    """What a customer finds on the receipt."""

    code: str


@server.tool(read_only=True, hidden=True, phrases=[])
def reveal_delivery_code(ctx: Context, food_order_id: Annotated[FoodOrderId, "Order"]) -> Code:
    """The delivery code of an order, for writing what its customer would say."""
    return {"code": rules.food_order(ctx, food_order_id)["delivery_code"]}
