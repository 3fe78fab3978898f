"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from collections import defaultdict

from sqlalchemy import and_, case, func, or_, select, union_all

from proverl.envs import Context
from proverl.envs.servers.trading import rules
from proverl.envs.servers.trading.app import server
from proverl.envs.servers.trading.tables import BookLevel, Portfolio, Position, PriceAlert, Stock, StockOrder

_ORDER = StockOrder.__table__.c
_SIGN = case((_ORDER.side == "buy", 1), else_=-1)
_BOOK = union_all(
    select(BookLevel.symbol, BookLevel.side, BookLevel.price),
    select(_ORDER.symbol, _ORDER.side, _ORDER.limit_price).where(rules.IS_LIVE),
).subquery()
_PRICES = select(
    _BOOK.c.symbol, _BOOK.c.side, func.min(_BOOK.c.price).label("lowest"), func.max(_BOOK.c.price).label("highest")
).group_by(_BOOK.c.symbol, _BOOK.c.side)


@server.invariant
def cash_is_what_was_paid_in_and_traded(ctx: Context) -> None:
    """Cash equals what was paid in, plus sales, minus purchases, minus a fee for each order that traded."""
    flows = select(
        _ORDER.portfolio_id,
        func.sum(_SIGN * _ORDER.filled_value + case((_ORDER.filled_quantity > 0, rules.FEE), else_=0)).label("out"),
    ).group_by(_ORDER.portfolio_id)
    spent = {row["portfolio_id"]: row["out"] for row in ctx.rows(flows)}
    for row in ctx.rows(select(Portfolio.__table__)):
        assert row["cash"] == row["paid_in"] - spent.get(row["id"], 0), f"cash of {row['id']} is off"


@server.invariant
def positions_are_what_orders_traded(ctx: Context) -> None:
    """A portfolio holds of each stock what its orders bought, less what they sold."""
    traded = select(_ORDER.portfolio_id, _ORDER.symbol, func.sum(_SIGN * _ORDER.filled_quantity).label("shares"))
    bought = {
        (row["portfolio_id"], row["symbol"]): row["shares"]
        for row in ctx.rows(traded.group_by(_ORDER.portfolio_id, _ORDER.symbol))
        if row["shares"]
    }
    held = {(row["portfolio_id"], row["symbol"]): row["quantity"] for row in ctx.rows(select(Position.__table__))}
    assert held == bought, f"positions differ from orders: {sorted(set(held.items()) ^ set(bought.items()))}"


@server.invariant
def open_orders_are_covered(ctx: Context) -> None:
    """No portfolio owes more cash or shares to its open orders than it has; closed ones have nothing."""
    held = {(row["portfolio_id"], row["symbol"]): row["quantity"] for row in ctx.rows(select(Position.__table__))}
    for row in ctx.rows(select(Portfolio.__table__)):
        orders = rules.live_orders(ctx, row["id"])
        assert rules.reserved_cash(orders) <= row["cash"], f"{row['id']} promises more cash than it has"
        for order in orders:
            shares = rules.reserved_shares(orders, order["symbol"])
            assert shares <= held.get((row["id"], order["symbol"]), 0), f"{row['id']} sells {order['symbol']} short"
        empty = not orders and not any(owner == row["id"] for owner, _ in held)
        assert row["status"] != "closed" or empty, f"{row['id']} is closed and not empty"


@server.invariant
def trades_respect_limits(ctx: Context) -> None:
    """No order paid more, or got less, than its limit."""
    at_limit = _ORDER.filled_quantity * _ORDER.limit_price
    worse = (_SIGN * _ORDER.filled_value > _SIGN * at_limit) & (_ORDER.limit_price.is_not(None))
    broken = ctx.rows(select(_ORDER.id).where(worse))
    assert not broken, f"traded beyond their limits: {broken}"


@server.invariant
def books_are_not_crossed(ctx: Context) -> None:
    """Every bid is below every ask: what can trade has traded."""
    best: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for row in ctx.rows(_PRICES):
        best[row["symbol"]][row["side"]] = row["lowest"] if row["side"] == "sell" else row["highest"]
    for row in ctx.rows(select(Stock.__table__).where(Stock.status == "listed")):
        sides = best[row["symbol"]]
        if len(sides) == 2:
            assert sides["buy"] < sides["sell"], f"the book of {row['symbol']} is crossed: {sides}"


@server.invariant
def active_alerts_still_wait(ctx: Context) -> None:
    """No alert is active whose price has been reached."""
    alert, last = PriceAlert.__table__.c, Stock.__table__.c.last_price
    reached = or_(
        and_(alert.direction == "rises_to", alert.price <= last),
        and_(alert.direction == "falls_to", alert.price >= last),
    )
    missed = (
        select(alert.id)
        .join_from(PriceAlert.__table__, Stock.__table__, Stock.symbol == alert.symbol)
        .where(alert.status == "active", reached)
    )
    assert not ctx.rows(missed), f"not triggered: {ctx.rows(missed)}"
