"""Corrections of the records: shelf counts and stock adjustments."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.retail_chain import rules
from proverl.envs.servers.retail_chain.app import server
from proverl.envs.servers.retail_chain.rules import TRANSFER
from proverl.envs.servers.retail_chain.tables import (
    Adjustment,
    AdjustmentId,
    ShelfCount,
    ShelfCountId,
    SkuId,
    StoreId,
)
from proverl.envs.state import Row

AdjustmentReason = Literal["damaged", "expired", "stolen", "used_in_store", "recalled", "found"]
Counted = Annotated[
    int, Field(ge=0, le=10_000, examples=[0, 2, 4, 6, 8, 10, 12, 14, 15, 18, 20, 22, 24, 26, 28, 30, 33, 36, 40, 48])
]
AdjustedUnits = Annotated[int, Field(ge=1, le=10_000, examples=[1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 12])]

_UNCOUNTED_VALUE = 7_500  # cents; a correction worth more needs a count, so that typing errors don't cost money
_COUNT, _ADJUSTMENT = ShelfCount.__table__.c, Adjustment.__table__.c
_COUNTS_TODAY = (
    select(ShelfCount.__table__)
    .where(
        _COUNT.store_id == bindparam("store"),
        _COUNT.sku_id == bindparam("sku"),
        _COUNT.counted_on == bindparam("today"),
        _COUNT.status != "superseded",
    )
    .order_by(_COUNT.id)
)
_RESERVED_BY = (
    select(TRANSFER.id)
    .where(
        TRANSFER.from_store_id == bindparam("store"),
        TRANSFER.sku_id == bindparam("sku"),
        TRANSFER.status == "requested",
    )
    .order_by(TRANSFER.id)
)


class RecordedCount(TypedDict):
    """A count and how far it is from the records; the stock changes only once it is posted."""

    shelf_count_id: ShelfCountId
    status: Literal["posted", "recount_needed"]
    difference: int
    on_hand: int


class MadeAdjustment(TypedDict):
    """A correction just made, and what the store has on hand now."""

    adjustment_id: AdjustmentId
    change: int
    on_hand: int


@server.tool(
    phrases=[
        "record a shelf count of {counted_units} units for {sku_id} at {store_id}",
        "enter {counted_units} as the count of {sku_id} at {store_id}",
        "note that {counted_units} of {sku_id} were counted on the shelves of {store_id}",
        "book the shelf count of {sku_id} at {store_id}: {counted_units}",
        "report what {store_id} counted of {sku_id}, which is {counted_units} units",
    ],
    brief=[
        "record a shelf count",
        "enter the shelf count of {sku_id} at {store_id}",
        "note a shelf count of {counted_units} units for {sku_id}",
        "report a shelf count of {counted_units} units at {store_id}",
    ],
)
def record_shelf_count(
    ctx: Context,
    store_id: Annotated[StoreId, "Store that was counted"],
    sku_id: Annotated[SkuId, "SKU that was counted"],
    counted_units: Annotated[Counted, "Units found on shelves and in the back room, reserved ones included"],
) -> RecordedCount:
    """Record a shelf count and correct the stock by it. A count more than 5 units and 25% off needs the same again."""
    level = rules.level(ctx, store_id, sku_id)
    before = ctx.rows(_COUNTS_TODAY, store=store_id, sku=sku_id, today=ctx.today)
    _countable(ctx, level, counted_units, before)
    difference = counted_units - level["on_hand"]
    confirmed = any(row["counted"] == counted_units for row in before)
    far_off = abs(difference) > max(5, level["on_hand"] // 4)
    status: Literal["posted", "recount_needed"] = "recount_needed" if far_off and not confirmed else "posted"
    for row in before:
        ctx.update(ShelfCount, row["id"], status="superseded")
    count = ctx.insert(
        ShelfCount,
        store_id=store_id,
        sku_id=sku_id,
        counted=counted_units,
        expected=level["on_hand"],
        status=status,
        counted_on=ctx.today,
    )
    if status == "posted" and difference:
        _adjust(ctx, level, difference, "count", count["id"])
    on_hand = counted_units if status == "posted" else level["on_hand"]
    return {"shelf_count_id": count["id"], "status": status, "difference": difference, "on_hand": on_hand}


def _countable(ctx: Context, level: Row, counted: int, before: list[Row]) -> None:
    where = f"{level['sku_id']} at {level['store_id']}"
    for row in before:
        if row["status"] == "posted":
            raise Rejected(
                f"{where} was counted today: {row['id']} with {row['counted']} units; adjust_stock corrects it until "
                "it can be counted again tomorrow"
            )
    if counted > level["capacity"]:
        raise Rejected(f"there is room for {level['capacity']} of {where}, so {counted} can't be there; count again")
    if counted < level["reserved"]:
        transfer = ctx.rows(_RESERVED_BY, store=level["store_id"], sku=level["sku_id"])[0]["id"]
        raise Rejected(
            f"{level['reserved']} of {where} are reserved for transfers such as {transfer}, more than {counted}; "
            "dispatch_stock_transfer them first or count again"
        )


def _adjust(ctx: Context, level: Row, change: int, reason: str, shelf_count_id: str | None) -> str:
    row = ctx.insert(
        Adjustment,
        store_id=level["store_id"],
        sku_id=level["sku_id"],
        units=change,
        reason=reason,
        adjusted_on=ctx.today,
        shelf_count_id=shelf_count_id,
    )
    rules.move(ctx, level["store_id"], level["sku_id"], change)
    return str(row["id"])


@server.tool(
    phrases=[
        "adjust the stock of {sku_id} at {store_id} by {units} units, reason: {reason}",
        "correct the records of {store_id}: {units} of {sku_id} (reason: {reason})",
        "book {units} of {sku_id} at {store_id} as {reason}",
        "register {units} of {sku_id} as {reason} at {store_id}",
        "make a stock adjustment at {store_id} for {units} of {sku_id}, marked as {reason}",
    ],
    brief=[
        "make a stock adjustment",
        "adjust the stock of {sku_id} at {store_id} by {units}",
        "register {units} of {sku_id} as {reason}",
        "book some units of {sku_id} at {store_id} as {reason}",
    ],
)
def adjust_stock(
    ctx: Context,
    store_id: Annotated[StoreId, "Store whose stock is wrong"],
    sku_id: Annotated[SkuId, "SKU to correct"],
    units: Annotated[AdjustedUnits, "Units that are gone, or that turned up"],
    reason: Annotated[AdjustmentReason, "Found adds the units; every other reason takes them out"],
) -> MadeAdjustment:
    """Correct the stock of a SKU without a count. Corrections worth more than 75.00 need a posted count of today."""
    level = rules.level(ctx, store_id, sku_id)
    if reason == "recalled" and level["status"] != "recalled":
        raise Rejected(f"{sku_id} is {level['status']}, not recalled; give the reason why the units are gone")
    if reason == "found" and level["status"] == "recalled":
        raise Rejected(f"{sku_id} is recalled, so units that turn up stay out of the stock; destroy them")
    if reason == "expired" and not level["dated"]:
        raise Rejected(f"{sku_id} ({level['name']}) has no expiry date; use the reason damaged")
    _worth_no_count(ctx, level, units, reason)
    if reason == "found":
        rules.fits_now(level, units)
    elif units > level["on_hand"] - level["reserved"]:
        raise Rejected(
            f"{level['on_hand'] - level['reserved']} of {sku_id} at {store_id} are available "
            f"({level['on_hand']} on hand, {level['reserved']} reserved); {units} can't be taken out"
        )
    change = units if reason == "found" else -units
    adjustment = _adjust(ctx, level, change, reason, None)
    return {"adjustment_id": adjustment, "change": change, "on_hand": level["on_hand"] + change}


def _worth_no_count(ctx: Context, level: Row, units: int, reason: str) -> None:
    value = units * level["cost"]
    if value <= _UNCOUNTED_VALUE or reason == "recalled":
        return
    counts = ctx.rows(_COUNTS_TODAY, store=level["store_id"], sku=level["sku_id"], today=ctx.today)
    if not any(row["status"] == "posted" for row in counts):
        raise Rejected(
            f"{units} of {level['sku_id']} are worth {money(value):.2f}; corrections above "
            f"{money(_UNCOUNTED_VALUE):.2f} need a shelf count posted today, see record_shelf_count"
        )
