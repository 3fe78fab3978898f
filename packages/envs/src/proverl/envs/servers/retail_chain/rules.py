"""What the chain refuses, and stock as every tool sees it. Every refusal says what would be right."""

from sqlalchemy import bindparam, func, select, update

from proverl.envs import Context, Rejected
from proverl.envs.servers.retail_chain.tables import Replenishment, Sku, StockLevel, StockTransfer, Store
from proverl.envs.state import Row

LEVEL, SKU, STORE = StockLevel.__table__.c, Sku.__table__.c, Store.__table__.c
TRANSFER, ORDER = StockTransfer.__table__.c, Replenishment.__table__.c

RESERVED = (
    select(func.coalesce(func.sum(TRANSFER.quantity), 0))
    .where(TRANSFER.from_store_id == LEVEL.store_id, TRANSFER.sku_id == LEVEL.sku_id, TRANSFER.status == "requested")
    .correlate(StockLevel.__table__)
    .scalar_subquery()
)
_LEVEL = (
    select(
        StockLevel.__table__,
        RESERVED.label("reserved"),
        SKU.name,
        SKU.status,
        SKU.cost,
        SKU.case_size,
        SKU.lead_days,
        SKU.dated,
        STORE.status.label("store_status"),
    )
    .join_from(StockLevel.__table__, Sku.__table__, SKU.id == LEVEL.sku_id)
    .join(Store.__table__, STORE.id == LEVEL.store_id)
    .where(LEVEL.store_id == bindparam("store"), LEVEL.sku_id == bindparam("sku"))
)
_INBOUND = select(
    select(func.coalesce(func.sum(TRANSFER.quantity), 0))
    .where(
        TRANSFER.to_store_id == bindparam("store"),
        TRANSFER.sku_id == bindparam("sku"),
        TRANSFER.status.in_(("requested", "in_transit")),
    )
    .scalar_subquery()
    + select(func.coalesce(func.sum(ORDER.cases * bindparam("case_size")), 0))
    .where(
        ORDER.store_id == bindparam("store"),
        ORDER.sku_id == bindparam("sku"),
        ORDER.status.in_(("ordered", "shipped")),
    )
    .scalar_subquery()
)
_MOVE = (
    update(StockLevel)
    .where(LEVEL.store_id == bindparam("store"), LEVEL.sku_id == bindparam("sku"))
    .values(on_hand=LEVEL.on_hand + bindparam("units"))
)


def store(ctx: Context, store_id: str) -> Row:
    """The store. Raises NotFound."""
    return ctx.get(Store, store_id, "list_stores names the stores")


def sku(ctx: Context, sku_id: str) -> Row:
    """The article. Raises NotFound."""
    return ctx.get(Sku, sku_id, "list_stock_levels names the SKUs of a store")


def level(ctx: Context, store_id: str, sku_id: str) -> Row:
    """Stock of an article in a store, with what is reserved of it and facts of both. Raises NotFound, or Rejected."""
    rows = ctx.rows(_LEVEL, store=store_id, sku=sku_id)
    if not rows:
        store(ctx, store_id)
        sku(ctx, sku_id)
        raise Rejected(f"{store_id} does not carry {sku_id}; list_stock_levels of {sku_id} names the stores that do")
    return rows[0]


def move(ctx: Context, store_id: str, sku_id: str, units: int) -> None:
    """Change what is on hand."""
    ctx.execute(_MOVE, store=store_id, sku=sku_id, units=units)


def receiving(row: Row) -> None:
    """Raises Rejected when the store is closed."""
    if row["store_status"] != "open":
        raise Rejected(f"{row['store_id']} is closed for refurbishment and takes no goods in; choose an open store")


def not_recalled(row: Row) -> None:
    """Raises Rejected when the article is recalled."""
    if row["status"] == "recalled":
        raise Rejected(
            f"{row['sku_id']} is recalled and may not be moved or ordered; adjust_stock with the reason recalled "
            "takes it out of the stock"
        )


def room(ctx: Context, row: Row) -> int:
    """How many more units fit in the store once everything on its way has arrived."""
    inbound = ctx.scalar(_INBOUND, store=row["store_id"], sku=row["sku_id"], case_size=row["case_size"])
    return max(int(row["capacity"] - row["on_hand"] - inbound), 0)


def fits_now(row: Row, units: int) -> None:
    """Raises Rejected when this many units more don't fit in the store today."""
    free = row["capacity"] - row["on_hand"]
    if units > free:
        raise Rejected(
            f"{row['store_id']} has room for {row['capacity']} of {row['sku_id']} and holds {row['on_hand']}; "
            f"no more than {free} can come in now"
        )
