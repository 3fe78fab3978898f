"""Price alerts of a portfolio's client: create, list, delete."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, delete, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Money, Rejected, Text, cents, money
from proverl.envs.servers.trading import rules, words
from proverl.envs.servers.trading.app import server
from proverl.envs.servers.trading.tables import PortfolioId, PriceAlert, PriceAlertId, Symbol

Direction = Literal["rises_to", "falls_to"]
AlertStatus = Literal["active", "triggered"]

MOST_ALERTS = 8
_ALERT = PriceAlert.__table__.c
_ALERTS = (
    select(PriceAlert.__table__)
    .where(
        _ALERT.portfolio_id == bindparam("portfolio"),
        or_(bindparam("status") == "", _ALERT.status == bindparam("status")),
    )
    .order_by(_ALERT.symbol, _ALERT.price, _ALERT.id)
)
_DELETE = delete(PriceAlert).where(_ALERT.id == bindparam("key"))


class CreatedAlert(TypedDict):
    """An alert just set; `direction` says from which side the price must come."""

    price_alert_id: PriceAlertId
    direction: Direction
    last_price: float


@server.tool(
    phrases=[
        "set a price alert for {symbol} at {price} in {portfolio_id}[, with the note {note}]",
        "alert the client of {portfolio_id} when {symbol} reaches {price}[ and add the note {note}]",
        "create an alert on {symbol} at {price} for {portfolio_id}[ saying {note}]",
        "let the client of {portfolio_id} know as soon as {symbol} gets to {price}[, with the reminder {note}]",
        "send an alert to the client of {portfolio_id} once {symbol} costs {price}[ and put {note} in it]",
    ],
    brief=[
        "set a price alert",
        "set a price alert for {symbol} in {portfolio_id}",
        "create an alert on {symbol} at {price}",
        "alert the client of {portfolio_id} when a stock reaches {price}",
    ],
)
def create_price_alert(
    ctx: Context,
    portfolio_id: Annotated[PortfolioId, "Portfolio whose client is told"],
    symbol: Annotated[Symbol, "Symbol of the stock, e.g. ASML"],
    price: Annotated[Annotated[Money, Field(examples=list(words.LIMITS))], "Price in EUR, above or below the last one"],
    note: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.ALERT_NOTES))] | None, "Text sent with the alert"
    ] = None,
) -> CreatedAlert:
    """Tell a client once a stock's price reaches a level, rising or falling to it from the last price."""
    rules.open_portfolio(ctx, portfolio_id)
    last, level = rules.followable_stock(ctx, symbol)["last_price"], cents(price)
    if level == last:
        raise Rejected(f"{symbol} is at {money(last):.2f} right now; choose a price above or below it")
    active = ctx.rows(_ALERTS, portfolio=portfolio_id, status="active")
    for row in active:
        if (row["symbol"], row["price"]) == (symbol, level):
            raise Rejected(
                f"{row['id']} waits for {symbol} at {money(level):.2f} already; choose another price or delete it first"
            )
    if len(active) >= MOST_ALERTS:
        raise Rejected(
            f"portfolio {portfolio_id} has {MOST_ALERTS} active alerts, the most allowed; delete one of them first, "
            f"e.g. {active[0]['id']} ({active[0]['symbol']})"
        )
    direction: Direction = "rises_to" if level > last else "falls_to"
    row = ctx.insert(
        PriceAlert,
        portfolio_id=portfolio_id,
        symbol=symbol,
        direction=direction,
        price=level,
        status="active",
        triggered_on=None,
        note=note,
    )
    return {"price_alert_id": row["id"], "direction": direction, "last_price": money(last)}


class AlertItem(TypedDict):
    """An alert in a list; `price` in EUR."""

    price_alert_id: PriceAlertId
    symbol: Symbol
    direction: Direction
    price: float
    status: AlertStatus


class AlertList(TypedDict):
    """Alerts of a portfolio's client, by symbol and price."""

    price_alerts: list[AlertItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the[ {status}] price alerts of {portfolio_id}",
        "show me the alerts set in {portfolio_id}[, only {status} ones]",
        "look up which price alerts {portfolio_id} has[ that are {status}]",
        "check the[ {status}] alerts on {portfolio_id}",
        "tell me at which prices the client of {portfolio_id} is alerted[, only by {status} alerts]",
    ],
    brief=[
        "list a client's price alerts",
        "show me the alerts set in one of the portfolios",
        "check the {status} alerts on a portfolio",
    ],
)
def list_price_alerts(
    ctx: Context,
    portfolio_id: Annotated[PortfolioId, "Portfolio whose client set them"],
    status: Annotated[AlertStatus | None, "Only alerts with this status"] = None,
) -> AlertList:
    """List the price alerts of a portfolio's client."""
    rules.portfolio(ctx, portfolio_id)
    return {
        "price_alerts": [
            {
                "price_alert_id": row["id"],
                "symbol": row["symbol"],
                "direction": row["direction"],
                "price": money(row["price"]),
                "status": row["status"],
            }
            for row in ctx.rows(_ALERTS, portfolio=portfolio_id, status=status or "")
        ]
    }


class DeletedAlert(TypedDict):
    """An alert that is no more."""

    price_alert_id: PriceAlertId
    symbol: Symbol


@server.tool(
    destructive=True,
    phrases=[
        "delete {price_alert_id}",
        "remove {price_alert_id}",
        "drop {price_alert_id} because it is not needed any more",
        "switch {price_alert_id} off for good",
        "get rid of {price_alert_id}",
    ],
    brief=[
        "delete a price alert",
        "switch one of the price alerts off for good",
    ],
)
def delete_price_alert(ctx: Context, price_alert_id: Annotated[PriceAlertId, "Active alert"]) -> DeletedAlert:
    """Delete an active price alert. Triggered alerts stay as history."""
    row = ctx.get(PriceAlert, price_alert_id, "list_price_alerts names those of a portfolio")
    if row["status"] == "triggered":
        raise Rejected(
            f"{price_alert_id} was triggered on {row['triggered_on']} and stays as history; "
            "only active alerts can be deleted"
        )
    ctx.execute(_DELETE, key=price_alert_id)
    return {"price_alert_id": price_alert_id, "symbol": row["symbol"]}
