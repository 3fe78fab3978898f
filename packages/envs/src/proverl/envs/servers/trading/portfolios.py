"""Clients' portfolios: list, read."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Text, money
from proverl.envs.names import LAST_NAMES
from proverl.envs.servers.trading import rules
from proverl.envs.servers.trading.app import server
from proverl.envs.servers.trading.tables import Portfolio, PortfolioId, Position, Stock, Symbol

PortfolioType = Literal["individual", "joint", "retirement"]
PortfolioStatus = Literal["active", "restricted", "closed"]

_PORTFOLIOS = select(Portfolio.__table__).order_by(Portfolio.id)
_POSITIONS = (
    select(Position.__table__, Stock.last_price)
    .join_from(Position.__table__, Stock.__table__, Stock.symbol == Position.symbol)
    .where(Position.portfolio_id == bindparam("portfolio"))
    .order_by(Position.symbol)
)


class PortfolioItem(TypedDict):
    """A portfolio in a list."""

    portfolio_id: PortfolioId
    client: str
    type: PortfolioType
    status: PortfolioStatus


class PortfolioList(TypedDict):
    """Portfolios that fit."""

    portfolios: list[PortfolioItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the[ {type}] portfolios[ of clients called {client}][, {limit} at most]",
        "look up the[ {type}] portfolios[ that {client} has]",
        "show me the clients' portfolios[, only {type} ones][, up to {limit}]",
        "find the portfolios[ whose client's name contains {client}]",
        "tell me which[ {type}] portfolios we keep[ for {client}]",
    ],
)
def list_portfolios(
    ctx: Context,
    client: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(LAST_NAMES))] | None,
        "Part of the client's name; upper and lower case make no difference. All clients if left out",
    ] = None,
    type: Annotated[PortfolioType | None, "Only portfolios of this type"] = None,
    limit: Annotated[
        int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20]), "Most portfolios listed"
    ] = 5,
) -> PortfolioList:
    """List clients' portfolios, closed ones included."""
    wanted = (client or "").casefold()
    fitting = [
        row
        for row in ctx.rows(_PORTFOLIOS)
        if wanted in row["client"].casefold() and type in (None, row["type"])
    ]  # fmt: skip
    return {
        "portfolios": [
            {"portfolio_id": row["id"], "client": row["client"], "type": row["type"], "status": row["status"]}
            for row in fitting[:limit]
        ]
    }


class PositionItem(TypedDict):
    """Shares that a portfolio holds; prices and values in EUR."""

    symbol: Symbol
    quantity: int
    average_price: float
    market_value: float


class PortfolioView(TypedDict):
    """A portfolio; amounts in EUR, `available_cash` is what open buy orders do not reserve."""

    portfolio_id: PortfolioId
    client: str
    status: PortfolioStatus
    cash: float
    available_cash: float
    market_value: float
    positions: list[PositionItem]


@server.tool(
    read_only=True,
    phrases=[
        "show me {portfolio_id} with its cash and positions",
        "check what {portfolio_id} holds",
        "pull up the holdings of {portfolio_id}",
        "tell me how much {portfolio_id} is worth",
        "find out how much cash is available in {portfolio_id}",
    ],
    brief=[
        "show me a portfolio with its cash and positions",
        "check what one of the portfolios holds",
        "tell me how much a client's portfolio is worth",
    ],
)
def get_portfolio(ctx: Context, portfolio_id: Annotated[PortfolioId, "Portfolio to read"]) -> PortfolioView:
    """Get a portfolio: its cash, what of it is available, and the shares it holds at the last prices."""
    row = rules.portfolio(ctx, portfolio_id)
    held = ctx.rows(_POSITIONS, portfolio=portfolio_id)
    return {
        "portfolio_id": portfolio_id,
        "client": row["client"],
        "status": row["status"],
        "cash": money(row["cash"]),
        "available_cash": money(row["cash"] - rules.reserved_cash(rules.live_orders(ctx, portfolio_id))),
        "market_value": money(sum(item["quantity"] * item["last_price"] for item in held)),
        "positions": [
            {
                "symbol": item["symbol"],
                "quantity": item["quantity"],
                "average_price": round(item["bought_value"] / item["bought_quantity"] / 100, 2),
                "market_value": money(item["quantity"] * item["last_price"]),
            }
            for item in held
        ],
    }
