"""The chain's tables. Stock is counted in units (what a customer buys); dates are ISO text."""

from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

StoreId = Ref("Store")
SkuId = Ref("Sku")
StockTransferId = Ref("StockTransfer")
ReplenishmentId = Ref("Replenishment")
ShelfCountId = Ref("ShelfCount")
AdjustmentId = Ref("Adjustment")


class Base(DeclarativeBase):
    """Tables of the retail_chain server."""


class Store(Base):
    """A store or warehouse; its whole stock was last taken on `stocktake_on`, and its records begin there."""

    __tablename__ = "store"
    __table_args__ = (COMPACT,)
    id_prefix = "STR"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    city: Mapped[str]
    format: Mapped[str]  # supermarket, express (no freezers), warehouse
    status: Mapped[str]  # open, refurbishing (closed for now: nothing comes in)
    stocktake_on: Mapped[str]


class Sku(Base):
    """An article as it is stocked: one size of one product. `cost` is what a unit costs the chain, in cents."""

    __tablename__ = "sku"
    __table_args__ = (CheckConstraint("case_size > 0"), COMPACT)
    id_prefix = "SKU"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    search_name: Mapped[str]  # the name in lower case without accents
    department: Mapped[str]
    cost: Mapped[int]
    case_size: Mapped[int]
    lead_days: Mapped[int]  # working days until suppliers deliver
    dated: Mapped[bool]  # has a best-before date
    status: Mapped[str]  # active, discontinued (sold off, not ordered again), recalled (may only be written off)


class StockLevel(Base):
    """What a store has of an article it carries: `opening` at the stocktake, less `issued`, and all records since.

    Issued are the units that went through the tills, or from a warehouse to stores by the daily tour.
    """

    __tablename__ = "stock_level"
    __table_args__ = (CheckConstraint("on_hand BETWEEN 0 AND capacity"), COMPACT)
    store_id: Mapped[str] = mapped_column(ForeignKey("store.id"), primary_key=True)
    sku_id: Mapped[str] = mapped_column(ForeignKey("sku.id"), primary_key=True)
    on_hand: Mapped[int]
    reorder_point: Mapped[int]
    capacity: Mapped[int]
    opening: Mapped[int]
    issued: Mapped[int]


class StockTransfer(Base):
    """Units on their way from one store to another; while requested, they are reserved where they are."""

    __tablename__ = "stock_transfer"
    __table_args__ = (
        CheckConstraint("from_store_id != to_store_id"),
        CheckConstraint("quantity > 0"),
        CheckConstraint("(status = 'received') = (received_quantity IS NOT NULL)"),
        CheckConstraint("received_quantity BETWEEN 0 AND quantity"),
        Index("transfers_out", "from_store_id", "sku_id"),
        COMPACT,
    )
    id_prefix = "TRF"
    id: Mapped[str] = mapped_column(primary_key=True)
    sku_id: Mapped[str] = mapped_column(ForeignKey("sku.id"))
    from_store_id: Mapped[str] = mapped_column(ForeignKey("store.id"))
    to_store_id: Mapped[str] = mapped_column(ForeignKey("store.id"))
    quantity: Mapped[int]
    status: Mapped[str]  # requested, in_transit, received; cancelled before it left
    requested_on: Mapped[str]
    received_quantity: Mapped[int | None]  # what is missing was lost on the way


class Replenishment(Base):
    """Cases of an article that a store ordered from the supplier."""

    __tablename__ = "replenishment"
    __table_args__ = (
        CheckConstraint("cases > 0"),
        CheckConstraint("(status = 'received') = (received_units IS NOT NULL)"),
        COMPACT,
    )
    id_prefix = "RPL"
    id: Mapped[str] = mapped_column(primary_key=True)
    store_id: Mapped[str] = mapped_column(ForeignKey("store.id"))
    sku_id: Mapped[str] = mapped_column(ForeignKey("sku.id"))
    cases: Mapped[int]
    status: Mapped[str]  # ordered, shipped by the supplier, received; cancelled by the supplier
    ordered_on: Mapped[str]
    due_on: Mapped[str]
    received_units: Mapped[int | None]


class ShelfCount(Base):
    """What somebody counted on the shelves. A count far from the records waits for a second one that confirms it."""

    __tablename__ = "shelf_count"
    __table_args__ = (CheckConstraint("counted >= 0"), COMPACT)
    id_prefix = "CNT"
    id: Mapped[str] = mapped_column(primary_key=True)
    store_id: Mapped[str] = mapped_column(ForeignKey("store.id"))
    sku_id: Mapped[str] = mapped_column(ForeignKey("sku.id"))
    counted: Mapped[int]
    expected: Mapped[int]
    status: Mapped[str]  # posted, recount_needed, superseded by a later count of the same day
    counted_on: Mapped[str]


class Adjustment(Base):
    """A correction of the records, positive for units that turned up."""

    __tablename__ = "adjustment"
    __table_args__ = (
        CheckConstraint("units != 0"),
        CheckConstraint("(reason = 'count') = (shelf_count_id IS NOT NULL)"),
        COMPACT,
    )
    id_prefix = "ADJ"
    id: Mapped[str] = mapped_column(primary_key=True)
    store_id: Mapped[str] = mapped_column(ForeignKey("store.id"))
    sku_id: Mapped[str] = mapped_column(ForeignKey("sku.id"))
    units: Mapped[int]
    reason: Mapped[str]  # damaged, expired, stolen, used_in_store, recalled, found; count
    adjusted_on: Mapped[str]
    shelf_count_id: Mapped[str | None] = mapped_column(ForeignKey("shelf_count.id"))
