"""Replenishment: ordering from suppliers and booking in what they deliver."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, case, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.retail_chain import rules
from proverl.envs.servers.retail_chain.app import server
from proverl.envs.servers.retail_chain.levels import Limit
from proverl.envs.servers.retail_chain.rules import ORDER
from proverl.envs.servers.retail_chain.start_state import due
from proverl.envs.servers.retail_chain.tables import Replenishment, ReplenishmentId, SkuId, StoreId
from proverl.envs.servers.retail_chain.transfers import ArrivedUnits

ReplenishmentStatus = Literal["ordered", "shipped", "received", "cancelled"]
Cases = Annotated[int, Field(ge=1, le=1_000, examples=[2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 12])]

_ORDERS = (
    select(Replenishment.__table__)
    .where(
        func.coalesce(bindparam("store"), ORDER.store_id) == ORDER.store_id,
        func.coalesce(bindparam("status"), ORDER.status) == ORDER.status,
    )
    .order_by(
        case((ORDER.status == "shipped", 0), (ORDER.status == "ordered", 1), else_=2), ORDER.due_on.desc(), ORDER.id
    )
    .limit(bindparam("most"))
)
_OPEN = (
    select(ORDER.id, ORDER.due_on)
    .where(
        ORDER.store_id == bindparam("store"),
        ORDER.sku_id == bindparam("sku"),
        ORDER.status.in_(("ordered", "shipped")),
    )
    .order_by(ORDER.id)
)


class PlacedReplenishment(TypedDict):
    """An order just placed with the supplier."""

    replenishment_id: ReplenishmentId
    units: int
    due_on: str


class ReplenishmentItem(TypedDict):
    """A replenishment order in a list."""

    replenishment_id: ReplenishmentId
    store_id: StoreId
    sku_id: SkuId
    cases: int
    status: ReplenishmentStatus
    due_on: str


class ReplenishmentList(TypedDict):
    """Replenishment orders that fit."""

    replenishments: list[ReplenishmentItem]


class ReceivedReplenishment(TypedDict):
    """A delivery booked in, and what the store has on hand now."""

    replenishment_id: ReplenishmentId
    received_units: int
    missing: int
    on_hand: int


@server.tool(
    phrases=[
        "order {cases} cases of {sku_id} for {store_id}",
        "replenish {store_id} with {cases} cases of {sku_id}",
        "place a supplier order for {cases} cases of {sku_id}, to be delivered to {store_id}",
        "get {cases} more cases of {sku_id} delivered to {store_id}",
        "have the supplier send {store_id} {cases} cases of {sku_id}",
    ],
    brief=[
        "order more goods from a supplier",
        "order some cases of {sku_id} for {store_id}",
        "place a supplier order for {cases} cases of {sku_id}",
        "replenish {store_id} with {cases} cases of something",
    ],
)
def order_replenishment(
    ctx: Context,
    store_id: Annotated[StoreId, "Store or warehouse that gets the goods"],
    sku_id: Annotated[SkuId, "SKU that the store carries"],
    cases: Annotated[Cases, "Whole cases; suppliers don't deliver single units"],
) -> PlacedReplenishment:
    """Order cases of a SKU from its supplier, one open order for each SKU of a store."""
    level = rules.level(ctx, store_id, sku_id)
    rules.not_recalled(level)
    if level["status"] == "discontinued":
        raise Rejected(
            f"{sku_id} is discontinued and can't be ordered any more; create_stock_transfer moves what others have"
        )
    rules.receiving(level)
    for row in ctx.rows(_OPEN, store=store_id, sku=sku_id):
        raise Rejected(
            f"{store_id} has ordered {sku_id} already: {row['id']} is due on {row['due_on']}; receive it first"
        )
    units, free = cases * level["case_size"], rules.room(ctx, level)
    if units > free:
        raise Rejected(
            f"{cases} cases of {sku_id} are {units} units, and {store_id} has room for {free} more with what is on its "
            f"way; at most {free // level['case_size']} cases of {level['case_size']} fit"
        )
    due_on = due(ctx.now, level["lead_days"])
    row = ctx.insert(
        Replenishment,
        store_id=store_id,
        sku_id=sku_id,
        cases=cases,
        status="ordered",
        ordered_on=ctx.today,
        due_on=due_on,
        received_units=None,
    )
    return {"replenishment_id": row["id"], "units": units, "due_on": due_on}


@server.tool(
    read_only=True,
    phrases=[
        "list the[ {status}] replenishment orders[ of {store_id}]",
        "show me the[ latest {limit}] supplier orders[ for {store_id}][ that are {status}]",
        "check what was ordered from suppliers[ for {store_id}][, only orders that are {status}]",
        "look up the replenishment orders[ placed by {store_id}][, {limit} at most]",
        "tell me about the[ {status}] orders that suppliers got from us[ for {store_id}]",
    ],
)
def list_replenishments(
    ctx: Context,
    store_id: Annotated[StoreId | None, "Only orders of this store"] = None,
    status: Annotated[ReplenishmentStatus | None, "Only orders with this status"] = None,
    limit: Annotated[Limit, "Most orders listed"] = 5,
) -> ReplenishmentList:
    """List replenishment orders: shipped ones, which can be received, first, then ordered ones, then those done."""
    if store_id is not None:
        rules.store(ctx, store_id)
    return {
        "replenishments": [
            {
                "replenishment_id": row["id"],
                "store_id": row["store_id"],
                "sku_id": row["sku_id"],
                "cases": row["cases"],
                "status": row["status"],
                "due_on": row["due_on"],
            }
            for row in ctx.rows(_ORDERS, store=store_id, status=status, most=limit)
        ]
    }


@server.tool(
    phrases=[
        "receive {replenishment_id}[, {received_units} units of it]",
        "book in what the supplier delivered for {replenishment_id}[, {received_units} units]",
        "confirm the delivery of {replenishment_id}[; {received_units} units were counted]",
        "take in {replenishment_id}[ with {received_units} units in all]",
        "register the goods that came in for {replenishment_id}[, {received_units} units in all]",
    ],
    brief=[
        "book in a delivery from a supplier",
        "confirm that one of the replenishment orders was delivered",
        "register a supplier's delivery of {received_units} units",
    ],
)
def receive_replenishment(
    ctx: Context,
    replenishment_id: Annotated[ReplenishmentId, "Order that the supplier has shipped"],
    received_units: Annotated[ArrivedUnits | None, "Units (not cases) delivered; all of them if left out"] = None,
) -> ReceivedReplenishment:
    """Book a shipped replenishment order into the store; the supplier credits what is missing."""
    row = ctx.get(Replenishment, replenishment_id, "list_replenishments names the orders")
    if row["status"] == "ordered":
        raise Rejected(
            f"replenishment {replenishment_id} is not shipped yet, it is due on {row['due_on']}; "
            "only shipped orders can be received"
        )
    if row["status"] != "shipped":
        raise Rejected(f"replenishment {replenishment_id} is {row['status']}; only shipped orders can be received")
    level = rules.level(ctx, row["store_id"], row["sku_id"])
    units = row["cases"] * level["case_size"]
    arrived = units if received_units is None else received_units
    if arrived > units:
        raise Rejected(
            f"replenishment {replenishment_id} is over {row['cases']} cases of {level['case_size']}, so {units} units; "
            f"{arrived} can't be booked in, send the rest back with the driver"
        )
    rules.fits_now(level, arrived)
    rules.move(ctx, row["store_id"], row["sku_id"], arrived)
    ctx.update(Replenishment, replenishment_id, status="received", received_units=arrived)
    return {
        "replenishment_id": replenishment_id,
        "received_units": arrived,
        "missing": units - arrived,
        "on_hand": level["on_hand"] + arrived,
    }
