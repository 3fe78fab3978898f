"""What the broker refuses. Every refusal says what would be right."""

from datetime import date, timedelta

from sqlalchemy import and_, bindparam, select

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.trading.tables import Portfolio, Position, Stock, StockOrder
from proverl.envs.state import Row

HOURS = {
    "Euronext": ("09:00", "17:30"),
    "Xetra": ("09:00", "17:30"),
    "Nasdaq": ("15:30", "22:00"),
    "NYSE": ("15:30", "22:00"),
}
FEE = 100  # cents for an order that trades, once
LIVE = ("open", "partially_filled")
_LARGEST_ORDER = 250_000_00
_LONGEST_VALIDITY = 90  # days
_COLLAR = 10  # percent by which a limit may be worse for the client than the last price
_COARSE_FROM, _COARSE_TICK = 100_00, 5

_ORDER, _POSITION = StockOrder.__table__.c, Position.__table__.c
IS_LIVE = _ORDER.status.in_(LIVE)
_LIVE_ORDERS = (
    select(_ORDER.id, _ORDER.symbol, _ORDER.side, _ORDER.quantity, _ORDER.filled_quantity, _ORDER.limit_price)
    .where(_ORDER.portfolio_id == bindparam("portfolio"), IS_LIVE)
    .order_by(_ORDER.id)
)
_SHARES = select(_POSITION.quantity).where(
    and_(_POSITION.portfolio_id == bindparam("portfolio"), _POSITION.symbol == bindparam("symbol"))
)


def stock(ctx: Context, symbol: str) -> Row:
    """The stock. Raises NotFound."""
    return ctx.get(Stock, symbol, "find_stocks names the symbols")


def followable_stock(ctx: Context, symbol: str) -> Row:
    """The stock, which still has a price to follow. Raises NotFound, or Rejected when it is delisted."""
    row = stock(ctx, symbol)
    if row["status"] == "delisted":
        raise Rejected(
            f"{symbol} was delisted on {row['status_since']} and has no price any more; choose a listed stock"
        )
    return row


def tradable_stock(ctx: Context, symbol: str) -> Row:
    """The stock, which takes orders. Raises NotFound, or Rejected when it is delisted or suspended."""
    row = followable_stock(ctx, symbol)
    if row["status"] == "suspended":
        raise Rejected(
            f"trading in {symbol} has been suspended since {row['status_since']}; "
            "orders are taken once get_stock_quote shows it open again"
        )
    return row


def portfolio(ctx: Context, portfolio_id: str) -> Row:
    """The portfolio. Raises NotFound."""
    return ctx.get(Portfolio, portfolio_id, "list_portfolios names the portfolios")


def open_portfolio(ctx: Context, portfolio_id: str) -> Row:
    """The portfolio, which is still in use. Raises NotFound, or Rejected when it is closed."""
    row = portfolio(ctx, portfolio_id)
    if row["status"] == "closed":
        raise Rejected(f"portfolio {portfolio_id} is closed; use an active portfolio")
    return row


def may_buy(row: Row, stock_row: Row) -> None:
    """Raises Rejected when the portfolio may only sell, or not hold a product this complex."""
    if row["status"] == "restricted":
        raise Rejected(
            f"portfolio {row['id']} is restricted: it may sell what it holds, but not buy; use an active portfolio"
        )
    if stock_row["is_complex"] and not row["may_trade_complex"]:
        raise Rejected(
            f"{stock_row['symbol']} is a complex product and the client of {row['id']} has not passed "
            "the appropriateness test for those; choose a share or a plain fund"
        )


def trading_hours(ctx: Context, exchange: str) -> bool:
    """Whether the exchange trades now; sessions begin on working days."""
    opens, closes = HOURS[exchange]
    return opens <= ctx.timestamp[11:] < closes


def allowed_limit(side: str, limit: int, stock_row: Row) -> None:
    """Raises Rejected when a limit price is off the tick, or so bad for the client that it must be a slip."""
    if limit >= _COARSE_FROM and limit % _COARSE_TICK:
        low = limit - limit % _COARSE_TICK
        raise Rejected(
            f"limit {money(limit):.2f} is off the tick: prices from 100.00 up move in steps of 0.05; "
            f"use {money(low):.2f} or {money(low + _COARSE_TICK):.2f}"
        )
    symbol, last = stock_row["symbol"], stock_row["last_price"]
    if side == "buy" and limit * 100 > last * (100 + _COLLAR):
        bound = last * (100 + _COLLAR) // 100
        raise Rejected(
            f"a buy limit of {money(limit):.2f} is more than {_COLLAR}% above the last price of {symbol}, "
            f"{money(last):.2f}; use at most {money(bound):.2f}"
        )
    if side == "sell" and limit * 100 < last * (100 - _COLLAR):
        bound = -(-last * (100 - _COLLAR) // 100)
        raise Rejected(
            f"a sell limit of {money(limit):.2f} is more than {_COLLAR}% below the last price of {symbol}, "
            f"{money(last):.2f}; use at least {money(bound):.2f}"
        )


def allowed_validity(ctx: Context, good_until: str) -> None:
    """Raises Rejected when an order cannot be good until this date."""
    last_day = ctx.now.date() + timedelta(days=_LONGEST_VALIDITY)
    if not ctx.today <= good_until <= last_day.isoformat():
        raise Rejected(f"good_until {good_until} must be from today ({ctx.today}) to {last_day}")
    if date.fromisoformat(good_until).weekday() > 4:
        raise Rejected(f"good_until {good_until} is a weekend day without trading; use a Monday to Friday")


def allowed_size(value: int) -> None:
    """Raises Rejected when an order is worth more than advisers may place at once."""
    if value > _LARGEST_ORDER:
        raise Rejected(
            f"the order is worth {money(value):.2f}; at most {money(_LARGEST_ORDER):.2f} at once: lower the quantity"
        )


def live_orders(ctx: Context, portfolio_id: str) -> list[Row]:
    """The portfolio's orders that may still trade."""
    return ctx.rows(_LIVE_ORDERS, portfolio=portfolio_id)


def reserved_cash(orders: list[Row]) -> int:
    """Cents that live buy orders may still need, fees of those that have not traded included."""
    return sum(
        (order["quantity"] - order["filled_quantity"]) * order["limit_price"] + (0 if order["filled_quantity"] else FEE)
        for order in orders
        if order["side"] == "buy"
    )


def reserved_shares(orders: list[Row], symbol: str) -> int:
    """Shares that live sell orders still offer."""
    return sum(
        order["quantity"] - order["filled_quantity"]
        for order in orders
        if order["side"] == "sell" and order["symbol"] == symbol
    )


def affordable(row: Row, orders: list[Row], needed: int) -> None:
    """Raises Rejected when the portfolio has less than `needed` cents beside what its open orders reserve."""
    reserved = reserved_cash(orders)
    if needed > row["cash"] - reserved:
        raise Rejected(
            f"insufficient cash: {money(row['cash'] - reserved):.2f} available in {row['id']} "
            f"({money(reserved):.2f} reserved for open orders), {money(needed):.2f} needed with the fee of "
            f"{money(FEE):.2f}"
        )


def shares_held(ctx: Context, portfolio_id: str, symbol: str) -> int:
    """How many shares of a stock the portfolio has."""
    return ctx.scalar(_SHARES, portfolio=portfolio_id, symbol=symbol) or 0


def sellable(ctx: Context, portfolio_id: str, symbol: str, orders: list[Row], quantity: int) -> None:
    """Raises Rejected when fewer shares than `quantity` are free to sell."""
    shares, offered = shares_held(ctx, portfolio_id, symbol), reserved_shares(orders, symbol)
    if quantity > shares - offered:
        raise Rejected(
            f"portfolio {portfolio_id} holds {shares} {symbol}, {offered} of them in open sell orders; "
            f"at most {shares - offered} can be sold"
        )


def no_self_trade(orders: list[Row], symbol: str, side: str, limit: int | None) -> None:
    """Raises Rejected when the order would meet an order of the same portfolio."""
    for order in orders:
        if order["symbol"] == symbol and order["side"] != side:
            price = order["limit_price"]
            if limit is None or (price <= limit if side == "buy" else price >= limit):
                raise Rejected(
                    f"the order could trade with this portfolio's own {order['side']} order {order['id']} "
                    f"at {money(price):.2f}; cancel that one first"
                )
