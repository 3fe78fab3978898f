"""Watchlists of a portfolio's client: list, change."""

from typing import Annotated, Literal

from sqlalchemy import and_, bindparam, delete, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.trading import rules
from proverl.envs.servers.trading.app import server
from proverl.envs.servers.trading.tables import PortfolioId, Symbol, WatchedStock, Watchlist, WatchlistId

MOST_WATCHED = 10
_WATCHED = WatchedStock.__table__.c
_WATCHLISTS = (
    select(Watchlist.id, Watchlist.name, _WATCHED.symbol)
    .outerjoin_from(Watchlist.__table__, WatchedStock.__table__, _WATCHED.watchlist_id == Watchlist.id)
    .where(Watchlist.portfolio_id == bindparam("portfolio"))
    .order_by(Watchlist.id, _WATCHED.symbol)
)
_SYMBOLS = select(_WATCHED.symbol).where(_WATCHED.watchlist_id == bindparam("watchlist")).order_by(_WATCHED.symbol)
_UNWATCH = delete(WatchedStock).where(
    and_(_WATCHED.watchlist_id == bindparam("watchlist"), _WATCHED.symbol == bindparam("watched"))
)


class WatchlistItem(TypedDict):
    """A watchlist in a list."""

    watchlist_id: WatchlistId
    name: str
    symbols: list[Symbol]


class WatchlistList(TypedDict):
    """Watchlists of a portfolio's client."""

    watchlists: list[WatchlistItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the watchlists of {portfolio_id}",
        "show me which stocks are watched in {portfolio_id}",
        "look up the watchlists that belong to {portfolio_id}",
        "check what the client of {portfolio_id} keeps an eye on",
        "tell me what is on the watchlists in {portfolio_id}",
    ],
    brief=[
        "list a client's watchlists",
        "show me which stocks are watched in one of the portfolios",
    ],
)
def list_watchlists(ctx: Context, portfolio_id: Annotated[PortfolioId, "Portfolio they belong to"]) -> WatchlistList:
    """List the watchlists of a portfolio's client, with the stocks on them."""
    rules.portfolio(ctx, portfolio_id)
    lists: dict[str, WatchlistItem] = {}
    for row in ctx.rows(_WATCHLISTS, portfolio=portfolio_id):
        item = lists.setdefault(row["id"], {"watchlist_id": row["id"], "name": row["name"], "symbols": []})
        if row["symbol"] is not None:
            item["symbols"].append(row["symbol"])
    return {"watchlists": list(lists.values())}


class ChangedWatchlist(TypedDict):
    """A watchlist after a change; `size` counts its stocks."""

    watchlist_id: WatchlistId
    name: str
    size: int


@server.tool(
    phrases=[
        "change {watchlist_id}: {action} {symbol}",
        "open {watchlist_id} and {action} {symbol}",
        "go to {watchlist_id} and {action} {symbol} there",
        "edit {watchlist_id} to {action} {symbol}",
        "bring {watchlist_id} up to date and {action} {symbol}",
    ],
    brief=[
        "change a watchlist",
        "open {watchlist_id} and {action} a stock",
        "go to one of the watchlists and {action} {symbol}",
    ],
)
def update_watchlist(
    ctx: Context,
    watchlist_id: Annotated[WatchlistId, "Watchlist to change"],
    action: Annotated[Literal["add", "remove"], "Whether to add or remove the stock"],
    symbol: Annotated[Symbol, "Symbol of the stock, e.g. ASML"],
) -> ChangedWatchlist:
    """Add a stock to a watchlist, or remove one from it. A watchlist has room for 10 stocks."""
    row = ctx.get(Watchlist, watchlist_id, "list_watchlists names those of a portfolio")
    watched = [item["symbol"] for item in ctx.rows(_SYMBOLS, watchlist=watchlist_id)]
    if action == "remove":
        rules.stock(ctx, symbol)
        if symbol not in watched:
            raise Rejected(f"{symbol} is not on {watchlist_id}; it has {', '.join(watched) or 'no stocks'}")
        ctx.execute(_UNWATCH, watchlist=watchlist_id, watched=symbol)
        return {"watchlist_id": watchlist_id, "name": row["name"], "size": len(watched) - 1}
    rules.followable_stock(ctx, symbol)
    if symbol in watched:
        raise Rejected(f"{symbol} is on {watchlist_id} already; add a stock that is not: all but {', '.join(watched)}")
    if len(watched) >= MOST_WATCHED:
        raise Rejected(f"{watchlist_id} is full with {MOST_WATCHED} stocks; remove one of {', '.join(watched)} first")
    ctx.insert(WatchedStock, watchlist_id=watchlist_id, symbol=symbol)
    return {"watchlist_id": watchlist_id, "name": row["name"], "size": len(watched) + 1}
