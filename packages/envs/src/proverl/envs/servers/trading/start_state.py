"""The broker on the morning of a session: about 60 stocks with their books, 28 portfolios with a year of orders.

Cash and positions are what the orders traded, open orders are covered, no book is crossed. Awkward on purpose: two
clients of one name, share classes of one name, suspended and delisted stocks, a full watchlist and empty ones, a
portfolio at its limit of alerts, restricted, closed and empty portfolios.
"""

from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import full_names
from proverl.envs.servers.trading import words
from proverl.envs.servers.trading.history import hold, live_orders, past_orders, pay_in, round_trip
from proverl.envs.servers.trading.tables import BookLevel, Portfolio, PriceAlert, Stock, WatchedStock, Watchlist
from proverl.envs.state import Row

_LEVELS = 3  # price levels that the rest of the market fills on each side of a book
_PORTFOLIOS = 28
_FULL_WATCHLIST, _FULL_ALERTS = 10, 8


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    stocks = _stocks(draft)
    for portfolio in _portfolios(draft):
        _trade(draft, portfolio, stocks)
        _watch(draft, portfolio, stocks)
        _alerts(draft, portfolio, stocks)
    return draft.rows


def _stocks(draft: Draft) -> list[Row]:
    kinds = (
        (words.STOCKS, "listed", False, 0),
        (words.COMPLEX_STOCKS, "listed", True, 0),
        (words.SUSPENDED_STOCKS, "suspended", False, 4),
        (words.DELISTED_STOCKS, "delisted", False, 200),
    )
    return [
        _stock(draft, entry, status, is_complex, days) for kind, status, is_complex, days in kinds for entry in kind
    ]


def _stock(draft: Draft, entry: tuple[Any, ...], status: str, is_complex: bool, days: int) -> Row:
    symbol, name, exchange, sector, usual = entry
    rng = draft.rng
    last = on_tick(usual * rng.uniform(85, 115))
    row = draft.add(
        Stock,
        symbol=symbol,
        name=name,
        exchange=exchange,
        sector=sector,
        is_complex=is_complex,
        status=status,
        status_since=_weekday(draft.today - timedelta(days=rng.randint(1, days))) if days else None,
        last_price=last,
        previous_close=on_tick(last * rng.uniform(0.98, 1.02)),
        volume=rng.randint(200, 90_000) if status == "listed" else 0,
    )
    if status == "listed":
        _book(draft, row)
    return row


def on_tick(price: float) -> int:
    """The price in cents as exchanges quote it: in steps of 0.05 from 100.00 up."""
    return round(price / 5) * 5 if price >= 10_000 else round(price)


def _book(draft: Draft, stock: Row) -> None:
    rng, last = draft.rng, stock["last_price"]
    tick = 5 if last >= 10_000 else 1
    step = max(tick, round(last * 0.0006 / tick) * tick)
    most = max(12, min(2_000, 2_500_000 // last))
    for side, way in (("buy", -1), ("sell", 1)):
        for level in range(1, _LEVELS + 1):
            price = on_tick(last + way * step * level)
            draft.add(BookLevel, symbol=stock["symbol"], side=side, price=price, quantity=rng.randint(most // 6, most))


def _weekday(day: date) -> str:
    return (day - timedelta(days=max(day.weekday() - 4, 0))).isoformat()


def _portfolios(draft: Draft) -> list[Row]:
    rng = draft.rng
    clients = full_names(rng, 23)
    owners = [*clients, *rng.sample(clients[1:-1], _PORTFOLIOS - len(clients))]
    rows = []
    for index, client in enumerate(owners):
        second = index >= len(clients)
        kind = "retirement" if second else rng.choice(("individual", "individual", "individual", "joint"))
        rows.append(
            draft.add(
                Portfolio,
                client=client,
                type=kind,
                status="active",
                may_trade_complex=kind != "retirement" and rng.random() < 0.4,
                paid_in=0,
                cash=0,
            )
        )
    for number, row in enumerate(rng.sample(rows, 6)):
        row["status"] = "restricted" if number < 3 else "closed" if number < 5 else "active"
    return rows


def _trade(draft: Draft, portfolio: Row, stocks: list[Row]) -> None:
    rng = draft.rng
    fitting = [
        stock
        for stock in stocks
        if stock["status"] != "delisted" and (portfolio["may_trade_complex"] or not stock["is_complex"])
    ]
    if portfolio["status"] == "closed":
        for stock in rng.sample(fitting, 3):
            round_trip(draft, portfolio, stock)
        pay_in(draft, portfolio, spare=0, exact=True)
        return
    held = rng.sample(fitting, rng.choice((0, 2, 3, 4, 4, 5, 6)))
    if held and rng.random() < 0.2:
        held.append(rng.choice([stock for stock in stocks if stock["status"] == "delisted"]))
    positions = [(stock, hold(draft, portfolio, stock)) for stock in held]
    others = [stock for stock in fitting if stock not in held]
    if held:
        round_trip(draft, portfolio, others[0] if rng.random() < 0.3 else rng.choice(others))
        past_orders(draft, portfolio, rng.sample(others, 2))
        live_orders(draft, portfolio, positions, rng.sample(others, 2))
    spare = rng.choice((0, 40, 350, 1_200, 2_500, 4_000, 9_000, 30_000, 120_000)) * 100
    pay_in(draft, portfolio, spare=spare + rng.randint(0, 9_999))


def _watch(draft: Draft, portfolio: Row, stocks: list[Row]) -> None:
    rng = draft.rng
    if not draft.rows.get(Watchlist):
        _watchlist(draft, portfolio, "Everything", rng.sample(stocks, _FULL_WATCHLIST))
    for name, sector in rng.sample(words.WATCHLISTS, rng.choice((1, 1, 2, 2))):
        fitting = [stock for stock in stocks if sector in (None, stock["sector"])]
        _watchlist(draft, portfolio, name, rng.sample(fitting, rng.choice((0, 2, 3, 3, 4, 5))))


def _watchlist(draft: Draft, portfolio: Row, name: str, stocks: list[Row]) -> None:
    row = draft.add(Watchlist, portfolio_id=portfolio["id"], name=name)
    for stock in stocks:
        draft.add(WatchedStock, watchlist_id=row["id"], symbol=stock["symbol"])


def _alerts(draft: Draft, portfolio: Row, stocks: list[Row]) -> None:
    rng = draft.rng
    if portfolio["status"] == "closed":
        return
    first = not draft.rows.get(PriceAlert)
    followed = [stock for stock in stocks if stock["status"] == "listed"]
    for number, stock in enumerate(rng.sample(followed, _FULL_ALERTS + 2 if first else rng.choice((0, 1, 2, 3, 4)))):
        rises, active = rng.random() < 0.5, number < _FULL_ALERTS if first else rng.random() < 0.7
        away = rng.uniform(1.03, 1.2) if rises == active else rng.uniform(0.8, 0.97)
        draft.add(
            PriceAlert,
            portfolio_id=portfolio["id"],
            symbol=stock["symbol"],
            direction="rises_to" if rises else "falls_to",
            price=on_tick(stock["last_price"] * away),
            status="active" if active else "triggered",
            triggered_on=None if active else _weekday(draft.today - timedelta(days=rng.randint(3, 60))),
            note=rng.choice(words.ALERT_NOTES) if rng.random() < 0.4 else None,
        )
