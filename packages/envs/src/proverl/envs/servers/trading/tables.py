"""The broker's tables. Prices and amounts are integer cents of one currency (EUR); dates are ISO text."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

Symbol = Ref("Stock")
PortfolioId = Ref("Portfolio")
StockOrderId = Ref("StockOrder")
WatchlistId = Ref("Watchlist")
PriceAlertId = Ref("PriceAlert")


class Base(DeclarativeBase):
    """Tables of the trading server."""


class Stock(Base):
    """A listed share or fund. `status_since` says since when it is suspended or delisted."""

    __tablename__ = "stock"
    __table_args__ = (CheckConstraint("last_price > 0"), COMPACT)
    symbol: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    exchange: Mapped[str]
    sector: Mapped[str]
    is_complex: Mapped[bool]  # leveraged products, for clients who passed the appropriateness test
    status: Mapped[str]  # listed, suspended, delisted
    status_since: Mapped[str | None]
    last_price: Mapped[int]
    previous_close: Mapped[int]
    volume: Mapped[int]


class BookLevel(Base):
    """What the rest of the market bids or asks for a stock at one price; clients' own orders come on top."""

    __tablename__ = "book_level"
    __table_args__ = (CheckConstraint("quantity > 0"), COMPACT)
    symbol: Mapped[str] = mapped_column(ForeignKey("stock.symbol"), primary_key=True)
    side: Mapped[str] = mapped_column(primary_key=True)  # buy (bids), sell (asks)
    price: Mapped[int] = mapped_column(primary_key=True)
    quantity: Mapped[int]


class Portfolio(Base):
    """A client's securities account. `cash` is what was paid in, plus sales, minus purchases and fees."""

    __tablename__ = "portfolio"
    __table_args__ = (CheckConstraint("cash >= 0"), CheckConstraint("status != 'closed' OR cash = 0"), COMPACT)
    id_prefix = "PTF"
    id: Mapped[str] = mapped_column(primary_key=True)
    client: Mapped[str]
    type: Mapped[str]  # individual, joint, retirement
    status: Mapped[str]  # active, restricted (may only sell), closed
    may_trade_complex: Mapped[bool]
    paid_in: Mapped[int]
    cash: Mapped[int]


class Position(Base):
    """Shares that a portfolio holds, and what was bought, for the average price, since it last held none."""

    __tablename__ = "position"
    __table_args__ = (CheckConstraint("quantity > 0"), CheckConstraint("bought_quantity >= quantity"), COMPACT)
    portfolio_id: Mapped[str] = mapped_column(ForeignKey("portfolio.id"), primary_key=True)
    symbol: Mapped[str] = mapped_column(ForeignKey("stock.symbol"), primary_key=True)
    quantity: Mapped[int]
    bought_quantity: Mapped[int]
    bought_value: Mapped[int]


class StockOrder(Base):
    """An order to buy or sell; without `limit_price` it is a market order, which never rests."""

    __tablename__ = "stock_order"
    __table_args__ = (
        CheckConstraint("filled_quantity BETWEEN 0 AND quantity"),
        CheckConstraint("(status = 'filled') = (filled_quantity = quantity)"),
        CheckConstraint("status != 'open' OR filled_quantity = 0"),
        CheckConstraint("limit_price IS NOT NULL OR status = 'filled'"),
        COMPACT,
    )
    id_prefix = "ORD"
    id: Mapped[str] = mapped_column(primary_key=True)
    portfolio_id: Mapped[str] = mapped_column(ForeignKey("portfolio.id"), index=True)
    symbol: Mapped[str] = mapped_column(ForeignKey("stock.symbol"), index=True)
    side: Mapped[str]  # buy, sell
    quantity: Mapped[int]
    limit_price: Mapped[int | None]
    status: Mapped[str]  # open, partially_filled, filled, cancelled, expired
    filled_quantity: Mapped[int]
    filled_value: Mapped[int]
    placed_on: Mapped[str]
    placed_at: Mapped[str] = mapped_column(info={"audit": True})  # time of day, orders the orders of a day
    good_until: Mapped[str]


class Watchlist(Base):
    """A named list of stocks that the client of a portfolio follows."""

    __tablename__ = "watchlist"
    __table_args__ = (COMPACT,)
    id_prefix = "WCH"
    id: Mapped[str] = mapped_column(primary_key=True)
    portfolio_id: Mapped[str] = mapped_column(ForeignKey("portfolio.id"))
    name: Mapped[str]


class WatchedStock(Base):
    """A stock on a watchlist."""

    __tablename__ = "watched_stock"
    __table_args__ = (COMPACT,)
    watchlist_id: Mapped[str] = mapped_column(ForeignKey("watchlist.id"), primary_key=True)
    symbol: Mapped[str] = mapped_column(ForeignKey("stock.symbol"), primary_key=True)


class PriceAlert(Base):
    """A message to the client once a stock's price reaches a level, from below or from above."""

    __tablename__ = "price_alert"
    __table_args__ = (CheckConstraint("(status = 'triggered') = (triggered_on IS NOT NULL)"), COMPACT)
    id_prefix = "ALR"
    id: Mapped[str] = mapped_column(primary_key=True)
    portfolio_id: Mapped[str] = mapped_column(ForeignKey("portfolio.id"))
    symbol: Mapped[str] = mapped_column(ForeignKey("stock.symbol"))
    direction: Mapped[str]  # rises_to, falls_to
    price: Mapped[int]
    status: Mapped[str]  # active, triggered
    triggered_on: Mapped[str | None]
    note: Mapped[str | None]
