"""How an order meets the book: best price first, clients' orders before the rest of the market at the same price."""

from typing import NamedTuple

from sqlalchemy import and_, bindparam, delete, literal, null, or_, select, union_all, update
from sqlalchemy.dialects.sqlite import insert

from proverl.envs import Context
from proverl.envs.servers.trading import rules
from proverl.envs.servers.trading.tables import Base, BookLevel, Portfolio, Position, PriceAlert, Stock, StockOrder
from proverl.envs.state import Row

_TABLES = Base.metadata.tables
_LEVEL, _ORDER, _POSITION = BookLevel.__table__.c, StockOrder.__table__.c, Position.__table__.c
_BOOK = union_all(
    select(
        _LEVEL.side, _LEVEL.price, _LEVEL.quantity, null().label("order_id"), literal("9999").label("placed_on")
    ).where(_LEVEL.symbol == bindparam("symbol")),
    select(
        _ORDER.side, _ORDER.limit_price, _ORDER.quantity - _ORDER.filled_quantity, _ORDER.id, _ORDER.placed_on
    ).where(_ORDER.symbol == bindparam("symbol"), rules.IS_LIVE),
)  # fmt: skip
_THIS_LEVEL = and_(
    _LEVEL.symbol == bindparam("key_symbol"),
    _LEVEL.side == bindparam("key_side"),
    _LEVEL.price == bindparam("key_price"),
)
_SHRINK = update(_TABLES["book_level"]).where(_THIS_LEVEL).values(quantity=bindparam("left"))
_DROP = delete(_TABLES["book_level"]).where(_THIS_LEVEL)
_TRADED = (
    update(_TABLES["stock"])
    .where(Stock.__table__.c.symbol == bindparam("key"))
    .values(last_price=bindparam("price"), volume=Stock.__table__.c.volume + bindparam("shares"))
)
_ALERT = PriceAlert.__table__.c
_TRIGGER = (
    update(_TABLES["price_alert"])
    .where(
        _ALERT.symbol == bindparam("key"),
        _ALERT.status == "active",
        or_(
            and_(_ALERT.direction == "rises_to", _ALERT.price <= bindparam("last")),
            and_(_ALERT.direction == "falls_to", _ALERT.price >= bindparam("last")),
        ),
    )
    .values(status="triggered", triggered_on=bindparam("today"))
)
_THIS_POSITION = and_(_POSITION.portfolio_id == bindparam("key_portfolio"), _POSITION.symbol == bindparam("key_symbol"))
_BOUGHT = insert(_TABLES["position"])
_BUY = _BOUGHT.on_conflict_do_update(
    index_elements=["portfolio_id", "symbol"],
    set_={
        name: _POSITION[name] + _BOUGHT.excluded[name] for name in ("quantity", "bought_quantity", "bought_value")
    },
)  # fmt: skip
_SELL = (
    update(_TABLES["position"]).where(_THIS_POSITION).values(quantity=_POSITION.quantity - bindparam("shares"))
)  # fmt: skip
_EMPTY = delete(_TABLES["position"]).where(_THIS_POSITION)


class Level(NamedTuple):
    """All shares bid or asked at one price."""

    price: int
    quantity: int


class Fill(NamedTuple):
    """A trade at one price; `order_id` names the client's order it meets, or None for the rest of the market."""

    price: int
    quantity: int
    left: int  # what stays at that place of the book
    order_id: str | None


def depth(ctx: Context, symbol: str) -> tuple[list[Level], list[Level]]:
    """Bids and asks by price, best first."""
    sides: dict[str, dict[int, int]] = {"buy": {}, "sell": {}}
    for row in ctx.rows(_BOOK, symbol=symbol):
        side = sides[row["side"]]
        side[row["price"]] = side.get(row["price"], 0) + row["quantity"]
    bids, asks = (sorted(Level(*level) for level in side.items()) for side in sides.values())
    return bids[::-1], asks


def fills(ctx: Context, symbol: str, side: str, quantity: int, limit: int | None) -> list[Fill]:
    """What an order would trade now: as much of `quantity` as the book has within `limit`."""
    worse = 1 if side == "buy" else -1  # the way in which prices get worse for the order
    against = [row for row in ctx.rows(_BOOK, symbol=symbol) if row["side"] != side]
    against.sort(key=lambda row: (worse * row["price"], row["placed_on"], row["order_id"] or ""))
    found = []
    for row in against:
        if not quantity or (limit is not None and worse * (row["price"] - limit) > 0):
            break
        traded = min(quantity, row["quantity"])
        found.append(Fill(row["price"], traded, row["quantity"] - traded, row["order_id"]))
        quantity -= traded
    return found


def settle(ctx: Context, account: Row, stock: Row, side: str, trades: list[Fill]) -> None:
    """Book the trades of a new order: on its portfolio, on orders that it meets, on book, quote and alerts."""
    symbol, shares = stock["symbol"], sum(trade.quantity for trade in trades)
    _move(ctx, account, symbol, side, shares, sum(trade.quantity * trade.price for trade in trades), fee=rules.FEE)
    for trade in trades:
        if trade.order_id is not None:
            _fill_resting(ctx, trade)
            continue
        place = {"key_symbol": symbol, "key_side": "sell" if side == "buy" else "buy", "key_price": trade.price}
        if trade.left:
            ctx.execute(_SHRINK, **place, left=trade.left)
        else:
            ctx.execute(_DROP, **place)
    last = trades[-1].price  # the farthest of the trades, so alerts on the way there are triggered as well
    ctx.execute(_TRADED, key=symbol, price=last, shares=shares)
    if last != stock["last_price"]:
        ctx.execute(_TRIGGER, key=symbol, last=last, today=ctx.today)


def _fill_resting(ctx: Context, trade: Fill) -> None:
    order = ctx.get(StockOrder, str(trade.order_id))
    value = trade.quantity * trade.price
    account = ctx.get(Portfolio, order["portfolio_id"])
    fee = 0 if order["filled_quantity"] else rules.FEE
    _move(ctx, account, order["symbol"], order["side"], trade.quantity, value, fee)
    ctx.update(
        StockOrder,
        order["id"],
        filled_quantity=order["filled_quantity"] + trade.quantity,
        filled_value=order["filled_value"] + value,
        status="partially_filled" if trade.left else "filled",
    )


def _move(ctx: Context, account: Row, symbol: str, side: str, shares: int, value: int, fee: int) -> None:
    """Exchange shares for cash in one portfolio."""
    flow = value if side == "sell" else -value
    ctx.update(Portfolio, account["id"], cash=account["cash"] + flow - fee)
    place = {"key_portfolio": account["id"], "key_symbol": symbol}
    if side == "buy":
        bought = {"quantity": shares, "bought_quantity": shares, "bought_value": value}
        ctx.execute(_BUY, portfolio_id=account["id"], symbol=symbol, **bought)
    elif rules.shares_held(ctx, account["id"], symbol) == shares:
        ctx.execute(_EMPTY, **place)
    else:
        ctx.execute(_SELL, **place, shares=shares)
