"""Market data: find stocks, quote, order book."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import select
from typing_extensions import TypedDict

from proverl.envs import Context, Text, money
from proverl.envs.servers.trading import matching, rules, words
from proverl.envs.servers.trading.app import server
from proverl.envs.servers.trading.tables import Stock, Symbol
from proverl.envs.state import Row

Exchange = Literal["Euronext", "Xetra", "Nasdaq", "NYSE"]
Sector = Literal[
    "technology", "financials", "consumer", "industrials", "health_care", "energy", "telecoms", "funds"
]  # fmt: skip
TradingStatus = Literal["open", "closed", "suspended", "delisted"]

_STOCKS = select(Stock.symbol, Stock.name, Stock.exchange, Stock.sector, Stock.last_price).order_by(Stock.symbol)


class StockItem(TypedDict):
    """A stock in a list; `last_price` in EUR."""

    symbol: Symbol
    name: str
    exchange: Exchange
    last_price: float


class StockList(TypedDict):
    """Stocks that fit."""

    stocks: list[StockItem]


@server.tool(
    read_only=True,
    phrases=[
        "find stocks[ in the {sector} sector][ listed on {exchange}][ that match {query}][, {limit} at most]",
        "look up[ {limit}] stocks[ from the {sector} sector][ traded on {exchange}]",
        "search the[ {exchange}] market for stocks[ called something like {query}]",
        "show me the stocks[ on {exchange}][ with {query} in the name]",
        "list what can be traded[ on {exchange}][, only the sector {sector}][, {limit} stocks at most]",
    ],
)
def find_stocks(
    ctx: Context,
    query: Annotated[
        Annotated[Text, Field(max_length=60, examples=list(words.SEARCHES))] | None,
        "Part of the name or of the symbol; upper and lower case make no difference",
    ] = None,
    sector: Annotated[Sector | None, "Only this sector; exchange-traded funds are in funds"] = None,
    exchange: Annotated[Exchange | None, "Only stocks listed on this exchange"] = None,
    limit: Annotated[int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20]), "Most stocks listed"] = 5,
) -> StockList:
    """Find stocks and funds by sector, exchange and name, ordered by symbol; suspended and delisted ones included."""
    wanted = (query or "").casefold()
    fitting = [
        row
        for row in ctx.rows(_STOCKS)
        if sector in (None, row["sector"])
        and exchange in (None, row["exchange"])
        and (wanted in row["symbol"].casefold() or wanted in row["name"].casefold())
    ]
    return {
        "stocks": [
            {
                "symbol": row["symbol"],
                "name": row["name"],
                "exchange": row["exchange"],
                "last_price": money(row["last_price"]),
            }
            for row in fitting[:limit]
        ]
    }


class Quote(TypedDict):
    """A stock's price now, in EUR; `change_percent` since the previous close, `volume` in shares."""

    symbol: Symbol
    name: str
    trading: TradingStatus
    last_price: float
    bid: float | None
    ask: float | None
    change_percent: float
    volume: int


def _trading(ctx: Context, row: Row) -> TradingStatus:
    status: TradingStatus = row["status"] if row["status"] != "listed" else "open"
    return "closed" if status == "open" and not rules.trading_hours(ctx, row["exchange"]) else status


def _best(side: list[matching.Level]) -> float | None:
    return money(side[0].price) if side else None


@server.tool(
    read_only=True,
    phrases=[
        "get a quote for {symbol}",
        "check the current price of {symbol}",
        "tell me what {symbol} trades at",
        "look up the best bid and ask of {symbol}",
        "find out how much {symbol} has gained or lost today",
    ],
    brief=[
        "get a quote for a stock",
        "check the current price of a stock",
    ],
)
def get_stock_quote(ctx: Context, symbol: Annotated[Symbol, "Symbol of the stock, e.g. ASML"]) -> Quote:
    """Get the latest price of a stock, its best bid and ask, and whether it trades now."""
    row = rules.stock(ctx, symbol)
    bids, asks = matching.depth(ctx, symbol)
    return {
        "symbol": symbol,
        "name": row["name"],
        "trading": _trading(ctx, row),
        "last_price": money(row["last_price"]),
        "bid": _best(bids),
        "ask": _best(asks),
        "change_percent": round((row["last_price"] / row["previous_close"] - 1) * 100, 2),
        "volume": row["volume"],
    }


class Level(TypedDict):
    """All orders at one price (EUR)."""

    price: float
    quantity: int


class OrderBook(TypedDict):
    """Bids and asks of a stock, best first."""

    symbol: Symbol
    bids: list[Level]
    asks: list[Level]


@server.tool(
    read_only=True,
    phrases=[
        "show me the order book of {symbol}[, {depth} levels deep]",
        "pull up the market depth of {symbol}[ with {depth} price levels]",
        "list the bids and asks for {symbol}[ down to {depth} levels]",
        "see how many shares of {symbol} are bid and offered[ at the best {depth} prices]",
        "open the order book for {symbol}[ and read me {depth} levels of it]",
    ],
    brief=[
        "show me an order book",
        "pull up the market depth of a stock",
        "list the bids and asks for a stock, {depth} levels deep",
    ],
)
def get_order_book(
    ctx: Context,
    symbol: Annotated[Symbol, "Symbol of the stock, e.g. ASML"],
    depth: Annotated[
        int, Field(ge=1, le=20, examples=[2, 4, 5, 6, 7, 8, 9, 10, 12, 15]), "Price levels of each side"
    ] = 3,
) -> OrderBook:
    """Get the order book of a stock: shares bid and offered by price. Clients' own open orders are part of it."""
    rules.stock(ctx, symbol)
    bids, asks = matching.depth(ctx, symbol)
    return {"symbol": symbol, "bids": _levels(bids[:depth]), "asks": _levels(asks[:depth])}


def _levels(side: list[matching.Level]) -> list[Level]:
    return [{"price": money(level.price), "quantity": level.quantity} for level in side]
