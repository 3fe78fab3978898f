"""The past of a portfolio: what it bought and sold, what it tried in vain, what still waits, and the money for it."""

from datetime import date, timedelta

from proverl.envs import Draft
from proverl.envs.servers.trading.rules import FEE, HOURS, LIVE
from proverl.envs.servers.trading.tables import Position, StockOrder
from proverl.envs.state import Row

_LAST_ON_MARKET = 230  # days ago; before it even stocks that are delisted now still traded


def _workday(day: date) -> date:
    return day - timedelta(days=max(day.weekday() - 4, 0))


def _price(draft: Draft, stock: Row, low: float, high: float) -> int:
    price = stock["last_price"] * draft.rng.uniform(low, high)
    return round(price / 5) * 5 if price >= 10_000 else round(price)


def _order(
    draft: Draft,
    portfolio: Row,
    stock: Row,
    side: str,
    quantity: int,
    limit: int | None,
    days: int,
    filled: int,
    **more: str,
) -> Row:
    """Append an order placed `days` ago; what it filled, it filled at its limit or at `price`."""
    rng = draft.rng
    opens, closes = (int(time[:2]) for time in HOURS[stock["exchange"]])
    placed = _workday(draft.today - timedelta(days=days)).isoformat()
    status = more.pop("status", "filled")
    return draft.add(
        StockOrder,
        portfolio_id=portfolio["id"],
        symbol=stock["symbol"],
        side=side,
        quantity=quantity,
        limit_price=limit,
        status=status,
        filled_quantity=filled,
        filled_value=0 if limit is None else filled * limit,
        placed_on=placed,
        placed_at=f"{rng.randint(opens + 1, closes - 1):02d}:{rng.randrange(60):02d}",
        good_until=more.get("good_until", placed),
    )


def _traded(draft: Draft, portfolio: Row, stock: Row, side: str, quantity: int, days: int) -> Row:
    """Append a filled order: by market, or within its limit."""
    rng = draft.rng
    price = _price(draft, stock, 0.75, 1.15)
    order = _order(draft, portfolio, stock, side, quantity, price, days, quantity)
    if rng.random() < 0.5:
        order["limit_price"] = None
    return order


def _quantity(draft: Draft, stock: Row) -> int:
    """Shares for an investment of some 500 to 6,000."""
    return max(2, draft.rng.randint(50_000, 600_000) // int(stock["last_price"]))


def hold(draft: Draft, portfolio: Row, stock: Row) -> int:
    """Buy a stock once or twice, sell some of it at times. Returns how many shares are left."""
    rng, quantity = draft.rng, _quantity(draft, stock)
    parts = [quantity] if rng.random() < 0.6 else [quantity - quantity // 3, quantity // 3 or 1]
    days = _LAST_ON_MARKET + rng.randint(60, 200)
    bought = [_traded(draft, portfolio, stock, "buy", part, days - 15 * index) for index, part in enumerate(parts)]
    total = left = sum(parts)
    if rng.random() < 0.25 and total > 2:
        left -= _traded(draft, portfolio, stock, "sell", total // 3 or 1, _LAST_ON_MARKET + rng.randint(1, 20))[
            "quantity"
        ]
    draft.add(
        Position,
        portfolio_id=portfolio["id"],
        symbol=stock["symbol"],
        quantity=left,
        bought_quantity=total,
        bought_value=sum(order["filled_value"] for order in bought),
    )
    return left


def round_trip(draft: Draft, portfolio: Row, stock: Row) -> None:
    """Buy a stock and sell all of it later."""
    quantity, days = _quantity(draft, stock), draft.rng.randint(60, 300)
    _traded(draft, portfolio, stock, "buy", quantity, days)
    _traded(draft, portfolio, stock, "sell", quantity, days - draft.rng.randint(10, 50))


def past_orders(draft: Draft, portfolio: Row, stocks: list[Row]) -> None:
    """A limit order that found nobody and one that was withdrawn."""
    for stock, status in zip(stocks, ("expired", "cancelled"), strict=True):
        limit = _price(draft, stock, 0.88, 0.96)
        days = draft.rng.randint(8, 90)
        _order(draft, portfolio, stock, "buy", _quantity(draft, stock), limit, days, 0, status=status)


def live_orders(draft: Draft, portfolio: Row, positions: list[tuple[Row, int]], others: list[Row]) -> None:
    """Limit orders that wait: some of what is held offered above the price, something new bid for below it."""
    rng = draft.rng
    listed = [(stock, held) for stock, held in positions if stock["status"] == "listed"]
    for stock, held in rng.sample(listed, min(len(listed), rng.choice((0, 1, 1, 2)))):
        _wait(draft, portfolio, stock, "sell", rng.randint(1, held), _price(draft, stock, 1.02, 1.15))
    if portfolio["status"] == "active":
        for stock in [stock for stock in others if stock["status"] == "listed"][: rng.choice((0, 1, 1, 2))]:
            quantity = max(2, _quantity(draft, stock) // 2)
            order = _wait(draft, portfolio, stock, "buy", quantity, _price(draft, stock, 0.87, 0.98))
            if rng.random() < 0.4:
                _fill_partly(draft, portfolio, stock, order)


def _wait(draft: Draft, portfolio: Row, stock: Row, side: str, quantity: int, limit: int) -> Row:
    last_day = _workday(draft.today + timedelta(days=draft.rng.randint(3, 55))).isoformat()
    days = draft.rng.randint(3, 25)
    return _order(draft, portfolio, stock, side, quantity, limit, days, 0, status="open", good_until=last_day)


def _fill_partly(draft: Draft, portfolio: Row, stock: Row, order: Row) -> None:
    filled = draft.rng.randint(1, order["quantity"] - 1)
    value = filled * order["limit_price"]
    order.update(status="partially_filled", filled_quantity=filled, filled_value=value)
    draft.add(
        Position,
        portfolio_id=portfolio["id"],
        symbol=stock["symbol"],
        quantity=filled,
        bought_quantity=filled,
        bought_value=value,
    )


def pay_in(draft: Draft, portfolio: Row, spare: int, exact: bool = False) -> None:
    """Fund a portfolio for all it traded and promised, and `spare` cents more."""
    spent = reserved = 0
    for order in draft.rows.get(StockOrder, ()):
        if order["portfolio_id"] != portfolio["id"]:
            continue
        fee = FEE if order["filled_quantity"] else 0
        spent += (order["filled_value"] if order["side"] == "buy" else -order["filled_value"]) + fee
        if order["side"] == "buy" and order["status"] in LIVE:
            reserved += (order["quantity"] - order["filled_quantity"]) * order["limit_price"] + FEE
    portfolio["paid_in"] = spent if exact else -(-(spent + reserved + spare) // 5_000) * 5_000
    portfolio["cash"] = portfolio["paid_in"] - spent
