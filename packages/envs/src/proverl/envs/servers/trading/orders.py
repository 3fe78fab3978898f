"""Orders to buy and sell: place, list, cancel."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Money, Rejected, cents, money
from proverl.envs.servers.trading import matching, rules, words
from proverl.envs.servers.trading.app import server
from proverl.envs.servers.trading.tables import PortfolioId, StockOrder, StockOrderId, Symbol
from proverl.envs.state import Row

Side = Literal["buy", "sell"]
OrderStatus = Literal["open", "partially_filled", "filled", "cancelled", "expired"]

_ORDER = StockOrder.__table__.c
_ORDERS = (
    select(StockOrder.__table__)
    .where(
        _ORDER.portfolio_id == bindparam("portfolio"),
        or_(bindparam("status") == "", _ORDER.status == bindparam("status")),
    )
    .order_by(_ORDER.placed_on.desc(), _ORDER.placed_at.desc(), _ORDER.id)
    .limit(bindparam("limit"))
)


class PlacedOrder(TypedDict):
    """An order just placed; `average_price` in EUR of what traded at once, null when nothing did."""

    stock_order_id: StockOrderId
    status: OrderStatus
    filled_quantity: int
    average_price: float | None


@server.tool(
    phrases=[
        "{side} {quantity} shares of {symbol} in {portfolio_id}[ at a limit of {limit_price}][, good until "
        "{good_until}]",
        "place an order to {side} {quantity} shares of {symbol} for {portfolio_id}[ with the limit {limit_price}]",
        "have {portfolio_id} {side} {quantity} shares of {symbol}[ at {limit_price} or better][ until {good_until}]",
        "enter an order for {portfolio_id}: {side} {quantity} of {symbol}[, limit {limit_price}, good until "
        "{good_until}]",
        "go ahead and {side} {quantity} shares of {symbol} for the client of {portfolio_id}[, limit {limit_price}]",
    ],
    brief=[
        "place a stock order",
        "{side} some shares of {symbol} in {portfolio_id}",
        "place an order to {side} {quantity} shares of {symbol}",
        "have {portfolio_id} {side} {quantity} shares of a stock",
    ],
)
def place_stock_order(
    ctx: Context,
    portfolio_id: Annotated[PortfolioId, "Portfolio that trades"],
    symbol: Annotated[Symbol, "Symbol of the stock, e.g. ASML"],
    side: Annotated[Side, "Whether to buy or sell"],
    quantity: Annotated[
        int, Field(ge=1, le=100_000, examples=[2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30]), "Number of shares"
    ],
    limit_price: Annotated[
        Annotated[Money, Field(examples=list(words.LIMITS))] | None,
        "Worst price accepted, in EUR per share; left out, it is a market order that trades at once",
    ] = None,
    good_until: Annotated[
        IsoDate | None, "Last day that the rest of a limit order waits, at most 90 days ahead; today if left out"
    ] = None,
) -> PlacedOrder:
    """Place an order. What the order book has within the limit trades at once; the rest of a limit order waits.

    While the exchange is closed, only limit orders that wait are taken. Each order that trades costs 1.00 EUR.
    """
    account, stock = rules.open_portfolio(ctx, portfolio_id), rules.tradable_stock(ctx, symbol)
    if side == "buy":
        rules.may_buy(account, stock)
    is_open = rules.trading_hours(ctx, stock["exchange"])
    limit = None if limit_price is None else cents(limit_price)
    _check_kind(ctx, stock, side, limit, is_open)
    if good_until is not None:
        rules.allowed_validity(ctx, good_until)
    rules.allowed_size(quantity * (limit or stock["last_price"]))
    orders = rules.live_orders(ctx, portfolio_id)
    if side == "sell":
        rules.sellable(ctx, portfolio_id, symbol, orders, quantity)
    rules.no_self_trade(orders, symbol, side, limit)
    trades = matching.fills(ctx, symbol, side, quantity, limit)
    if trades and not is_open:
        raise Rejected(
            f"{stock['exchange']} is closed, and this order would trade at once, at {money(trades[0].price):.2f}; "
            f"until {rules.HOURS[stock['exchange']][0]} give a limit_price {'below' if side == 'buy' else 'above'} that"
        )
    filled, value = sum(trade.quantity for trade in trades), sum(trade.quantity * trade.price for trade in trades)
    if limit is None and filled < quantity:
        raise Rejected(
            f"the order book of {symbol} has only {filled} shares for a market order to {side} {quantity}; "
            "lower the quantity or give a limit_price"
        )
    if side == "buy":
        rules.affordable(account, orders, value + (quantity - filled) * (limit or 0) + rules.FEE)
    if trades:
        matching.settle(ctx, account, stock, side, trades)
    status: OrderStatus = "filled" if filled == quantity else "partially_filled" if filled else "open"
    row = ctx.insert(
        StockOrder,
        portfolio_id=portfolio_id,
        symbol=symbol,
        side=side,
        quantity=quantity,
        limit_price=limit,
        status=status,
        filled_quantity=filled,
        filled_value=value,
        placed_on=ctx.today,
        placed_at=ctx.timestamp[11:],
        good_until=good_until or ctx.today,
    )
    return {
        "stock_order_id": row["id"],
        "status": status,
        "filled_quantity": filled,
        "average_price": _average(filled, value),
    }


def _check_kind(ctx: Context, stock: Row, side: str, limit: int | None, is_open: bool) -> None:
    """Raises Rejected when a market or limit order like this cannot be taken now."""
    if limit is not None:
        rules.allowed_limit(side, limit, stock)
    elif not is_open:
        opens, closes = rules.HOURS[stock["exchange"]]
        raise Rejected(
            f"{stock['exchange']} is closed: it trades {stock['symbol']} from {opens} to {closes} and it is "
            f"{ctx.timestamp[11:]}; give a limit_price, so that the order can wait for the opening"
        )


def _average(filled: int, value: int) -> float | None:
    return round(value / filled / 100, 4) if filled else None


class OrderItem(TypedDict):
    """An order in a list; `limit_price` in EUR, null for a market order."""

    stock_order_id: StockOrderId
    symbol: Symbol
    side: Side
    quantity: int
    filled_quantity: int
    limit_price: float | None
    status: OrderStatus


class OrderList(TypedDict):
    """Orders of a portfolio, newest first."""

    stock_orders: list[OrderItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the[ {status}] orders of {portfolio_id}[, {limit} at most]",
        "show me which orders {portfolio_id} has placed[, only those that are {status}]",
        "look up the[ latest {limit}] orders in {portfolio_id}",
        "check for[ {status}] orders on {portfolio_id}",
        "tell me what the client of {portfolio_id} has ordered[, only orders that are {status}]",
    ],
    brief=[
        "list the orders of a portfolio",
        "show me which orders a client has placed",
        "check for {status} orders on one of the portfolios",
    ],
)
def list_stock_orders(
    ctx: Context,
    portfolio_id: Annotated[PortfolioId, "Portfolio that placed the orders"],
    status: Annotated[OrderStatus | None, "Only orders with this status"] = None,
    limit: Annotated[int, Field(ge=1, le=50, examples=[2, 3, 4, 6, 7, 8, 9, 10, 12, 15]), "Most orders listed"] = 5,
) -> OrderList:
    """List the orders of a portfolio, newest first."""
    rules.portfolio(ctx, portfolio_id)
    return {
        "stock_orders": [
            {
                "stock_order_id": row["id"],
                "symbol": row["symbol"],
                "side": row["side"],
                "quantity": row["quantity"],
                "filled_quantity": row["filled_quantity"],
                "limit_price": None if row["limit_price"] is None else money(row["limit_price"]),
                "status": row["status"],
            }
            for row in ctx.rows(_ORDERS, portfolio=portfolio_id, status=status or "", limit=limit)
        ]
    }


class CancelledOrder(TypedDict):
    """An order that trades no more; what it had traded before stays."""

    stock_order_id: StockOrderId
    status: Literal["cancelled"]
    filled_quantity: int


@server.tool(
    destructive=True,
    phrases=[
        "cancel {stock_order_id}",
        "withdraw {stock_order_id} from the market",
        "take {stock_order_id} out of the order book",
        "pull {stock_order_id} before it trades",
        "call off what is left of {stock_order_id}",
    ],
    brief=[
        "cancel a stock order",
        "withdraw one of the open orders from the market",
    ],
)
def cancel_stock_order(
    ctx: Context, stock_order_id: Annotated[StockOrderId, "Open or partially filled order"]
) -> CancelledOrder:
    """Cancel what is left of an order. Shares it has traded already stay traded."""
    row = ctx.get(StockOrder, stock_order_id, "list_stock_orders names those of a portfolio")
    if row["status"] not in rules.LIVE:
        raise Rejected(
            f"order {stock_order_id} is {row['status']} already; only open and partially filled orders can be cancelled"
        )
    ctx.update(StockOrder, stock_order_id, status="cancelled")
    return {"stock_order_id": stock_order_id, "status": "cancelled", "filled_quantity": row["filled_quantity"]}
