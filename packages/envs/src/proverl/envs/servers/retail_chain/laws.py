"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import func, select

from proverl.envs import Context
from proverl.envs.servers.retail_chain.app import server
from proverl.envs.servers.retail_chain.rules import LEVEL, ORDER, SKU, STORE, TRANSFER
from proverl.envs.servers.retail_chain.tables import (
    Adjustment,
    Replenishment,
    ShelfCount,
    Sku,
    StockLevel,
    StockTransfer,
    Store,
)

_ADJUSTMENT, _COUNT = Adjustment.__table__.c, ShelfCount.__table__.c
_FLOWS = (  # store, SKU and units of every record that moved stock
    select(TRANSFER.from_store_id.label("store"), TRANSFER.sku_id, (-TRANSFER.quantity).label("units")).where(
        TRANSFER.status.in_(("in_transit", "received"))
    ),
    select(TRANSFER.to_store_id.label("store"), TRANSFER.sku_id, TRANSFER.received_quantity.label("units")).where(
        TRANSFER.status == "received"
    ),
    select(ORDER.store_id.label("store"), ORDER.sku_id, ORDER.received_units.label("units")).where(
        ORDER.status == "received"
    ),
    select(_ADJUSTMENT.store_id.label("store"), _ADJUSTMENT.sku_id, _ADJUSTMENT.units.label("units")),
)


@server.invariant
def every_unit_is_accounted_for(ctx: Context) -> None:
    """What is on hand is what was there at the stocktake, less what was issued, and what the records moved since."""
    levels = ctx.rows(select(StockLevel.__table__))
    expected = {(row["store_id"], row["sku_id"]): row["opening"] - row["issued"] for row in levels}
    for flow in _FLOWS:
        for row in ctx.rows(flow):
            assert (row["store"], row["sku_id"]) in expected, f"{row['store']} does not carry {row['sku_id']}"
            expected[row["store"], row["sku_id"]] += row["units"]
    for row in levels:
        units = expected[row["store_id"], row["sku_id"]]
        assert row["on_hand"] == units, f"{row['sku_id']} at {row['store_id']}: {row['on_hand']} is not {units}"


@server.invariant
def stock_fits_the_shelves(ctx: Context) -> None:
    """No stock below nothing or above what there is room for."""
    wrong = select(LEVEL.store_id, LEVEL.sku_id).where((LEVEL.on_hand < 0) | (LEVEL.on_hand > LEVEL.capacity))
    assert not ctx.rows(wrong), f"impossible stock: {ctx.rows(wrong)}"


@server.invariant
def nothing_is_reserved_twice(ctx: Context) -> None:
    """Requested transfers never ask for more than the giving store has on hand."""
    asked = (
        select(LEVEL.store_id, LEVEL.sku_id)
        .join_from(
            StockTransfer.__table__,
            StockLevel.__table__,
            (LEVEL.store_id == TRANSFER.from_store_id) & (LEVEL.sku_id == TRANSFER.sku_id),
        )
        .where(TRANSFER.status == "requested")
        .group_by(LEVEL.store_id, LEVEL.sku_id)
        .having(func.sum(TRANSFER.quantity) > LEVEL.on_hand)
    )
    assert not ctx.rows(asked), f"reserved, but not there: {ctx.rows(asked)}"


@server.invariant
def one_open_order_per_article_of_a_store(ctx: Context) -> None:
    """A store waits for one replenishment of an article at a time, and never for a discontinued one."""
    twice = (
        select(ORDER.store_id, ORDER.sku_id)
        .where(ORDER.status.in_(("ordered", "shipped")))
        .group_by(ORDER.store_id, ORDER.sku_id)
        .having(func.count() > 1)
    )
    assert not ctx.rows(twice), f"ordered twice: {ctx.rows(twice)}"
    gone = (
        select(ORDER.id)
        .join_from(Replenishment.__table__, Sku.__table__, SKU.id == ORDER.sku_id)
        .where(ORDER.status.in_(("ordered", "shipped")), SKU.status != "active")
    )
    assert not ctx.rows(gone), f"on order, but not sold any more: {ctx.rows(gone)}"


@server.invariant
def counts_are_posted_once_a_day(ctx: Context) -> None:
    """An article of a store has one count a day that stands, and a posted one explains its adjustment."""
    twice = (
        select(_COUNT.store_id, _COUNT.sku_id)
        .where(_COUNT.status != "superseded")
        .group_by(_COUNT.store_id, _COUNT.sku_id, _COUNT.counted_on)
        .having(func.count() > 1)
    )
    assert not ctx.rows(twice), f"two counts of a day: {ctx.rows(twice)}"
    unexplained = (
        select(_ADJUSTMENT.id)
        .join_from(Adjustment.__table__, ShelfCount.__table__, _COUNT.id == _ADJUSTMENT.shelf_count_id)
        .where((_COUNT.counted - _COUNT.expected != _ADJUSTMENT.units) | (_COUNT.status != "posted"))
    )
    assert not ctx.rows(unexplained), f"adjusted by something else than the count: {ctx.rows(unexplained)}"


@server.invariant
def express_stores_have_nothing_frozen(ctx: Context) -> None:
    """Express stores have no freezers."""
    frozen = (
        select(LEVEL.store_id, LEVEL.sku_id)
        .join_from(StockLevel.__table__, Store.__table__, STORE.id == LEVEL.store_id)
        .join(Sku.__table__, SKU.id == LEVEL.sku_id)
        .where(STORE.format == "express", SKU.department == "frozen")
    )
    assert not ctx.rows(frozen), f"frozen without a freezer: {ctx.rows(frozen)}"
