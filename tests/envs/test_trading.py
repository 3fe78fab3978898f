"""The broker: what its tools do across each other, every refusal, its laws."""

from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time

BROKER = load_server("trading")


@cache
def start_of(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Portfolios with all their lists, and stocks, as the reading tools show them at the start."""
    with Session([BROKER], seed) as session:

        def read(name: str, **arguments: Any) -> dict[str, Any]:
            return session.call(name, arguments).content

        portfolios = [
            row
            | read("get_portfolio", portfolio_id=row["portfolio_id"])
            | read("list_stock_orders", portfolio_id=row["portfolio_id"], limit=50)
            | read("list_watchlists", portfolio_id=row["portfolio_id"])
            | read("list_price_alerts", portfolio_id=row["portfolio_id"])
            for row in read("list_portfolios", limit=50)["portfolios"]
        ]
        return portfolios, [
            row | read("get_stock_quote", symbol=row["symbol"])
            for exchange in ("Euronext", "Xetra", "Nasdaq", "NYSE")
            for row in read("find_stocks", exchange=exchange, limit=50)["stocks"]
        ]


class Broker:
    """A session, and what the reading tools found in its start state."""

    def __init__(self, seed: int = 3) -> None:
        self.session = Session([BROKER], seed)
        self.portfolios, self.stocks = start_of(seed)

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def rich(self, number: int = 0) -> dict[str, Any]:
        """An active portfolio with cash for some shares."""
        fitting = [row for row in self.portfolios if row["status"] == "active" and row["available_cash"] > 2_000]
        return fitting[number]

    def portfolio(self, **wanted: Any) -> dict[str, Any]:
        return next(row for row in self.portfolios if wanted.items() <= row.items())

    def stock(self, low: float = 20, high: float = 100, **wanted: Any) -> dict[str, Any]:
        """A stock that trades now, unless something else is asked for."""
        wanted = {"trading": "open", **wanted}
        return next(row for row in self.stocks if wanted.items() <= row.items() and low < row["last_price"] < high)

    def day(self, days: int) -> str:
        return (self.session.now.date() + timedelta(days=days)).isoformat()

    def held(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """A portfolio and a position of two shares or more that trades now and is in no open order."""
        open_symbols = {row["symbol"] for row in self.stocks if row["trading"] == "open"}
        for portfolio in self.portfolios:
            busy = {row["symbol"] for row in portfolio["stock_orders"] if row["status"] in ("open", "partially_filled")}
            for row in portfolio["positions"]:
                if row["symbol"] in open_symbols - busy and row["quantity"] > 1:
                    return portfolio, row
        raise AssertionError("nobody holds anything")

    def watchlist(self, size: int) -> dict[str, Any]:
        lists = (item for row in self.portfolios for item in row["watchlists"])
        return next(item for item in lists if len(item["symbols"]) == size)

    def order(self, **changes: Any) -> dict[str, Any]:
        usual = {"portfolio_id": self.rich()["portfolio_id"], "symbol": self.stock()["symbol"]}
        return {**usual, "side": "buy", "quantity": 2, **changes}


@pytest.fixture
def broker() -> Broker:
    return Broker()


# What the tools do


def test_a_market_order_trades_at_the_best_ask_and_becomes_a_position(broker):
    stock, portfolio = broker.stock(), broker.rich()["portfolio_id"]
    before = broker.read("get_portfolio", portfolio_id=portfolio)
    ask = broker.read("get_order_book", symbol=stock["symbol"])["asks"][0]
    placed = broker.read("place_stock_order", **broker.order(quantity=1))
    assert (placed["status"], placed["average_price"]) == ("filled", ask["price"])
    after = broker.read("get_portfolio", portfolio_id=portfolio)
    assert after["cash"] == round(before["cash"] - ask["price"] - 1, 2)
    assert stock["symbol"] in {row["symbol"] for row in after["positions"]}
    assert broker.read("get_order_book", symbol=stock["symbol"])["asks"][0]["quantity"] == ask["quantity"] - 1
    quote = broker.read("get_stock_quote", symbol=stock["symbol"])
    assert (quote["last_price"], quote["volume"]) == (ask["price"], stock["volume"] + 1)


def test_an_order_larger_than_the_best_level_walks_the_book(broker):
    rich = max(broker.portfolios, key=lambda row: row["available_cash"])
    first, second = broker.read("get_order_book", symbol="KPN")["asks"][:2]
    quantity = first["quantity"] + 1
    placed = broker.read(
        "place_stock_order", **broker.order(portfolio_id=rich["portfolio_id"], symbol="KPN", quantity=quantity)
    )
    paid = first["price"] * first["quantity"] + second["price"]
    assert placed["average_price"] == round(paid / quantity, 4)
    assert broker.read("get_order_book", symbol="KPN")["asks"][0]["quantity"] == second["quantity"] - 1


def test_a_limit_order_waits_in_the_book_reserves_cash_and_frees_it_when_cancelled(broker):
    stock, portfolio = broker.stock(), broker.rich()["portfolio_id"]
    limit = round(stock["bid"] + 0.01, 2)
    assert limit < stock["ask"]
    before = broker.read("get_portfolio", portfolio_id=portfolio)["available_cash"]
    placed = broker.read("place_stock_order", **broker.order(quantity=3, limit_price=limit, good_until=broker.day(7)))
    assert placed["status"] == "open"
    assert broker.read("get_order_book", symbol=stock["symbol"])["bids"][0] == {"price": limit, "quantity": 3}
    assert broker.read("get_stock_quote", symbol=stock["symbol"])["bid"] == limit
    assert broker.read("get_portfolio", portfolio_id=portfolio)["available_cash"] == round(before - 3 * limit - 1, 2)
    assert broker.read("cancel_stock_order", stock_order_id=placed["stock_order_id"])["filled_quantity"] == 0
    assert broker.read("get_portfolio", portfolio_id=portfolio)["available_cash"] == before
    assert broker.read("get_stock_quote", symbol=stock["symbol"])["bid"] == stock["bid"]


def test_another_clients_order_meets_a_waiting_one_and_both_sides_settle(broker):
    seller, position = broker.held()
    symbol = position["symbol"]
    buyer = next(
        row
        for row in broker.portfolios
        if row["status"] == "active"
        and row["portfolio_id"] != seller["portfolio_id"]
        and row["available_cash"] > 2 * position["market_value"] / position["quantity"] + 10
    )
    price = round(broker.read("get_stock_quote", symbol=symbol)["ask"] - 0.05, 2)
    sale = broker.order(portfolio_id=seller["portfolio_id"], symbol=symbol, side="sell", limit_price=price)
    assert broker.read("place_stock_order", **sale)["status"] == "open"
    purchase = broker.order(portfolio_id=buyer["portfolio_id"], symbol=symbol, quantity=1)
    bought = broker.read("place_stock_order", **purchase)
    assert bought["average_price"] == price
    orders = broker.read("list_stock_orders", portfolio_id=seller["portfolio_id"], status="partially_filled", limit=1)
    assert orders["stock_orders"][0]["filled_quantity"] == 1
    after = broker.read("get_portfolio", portfolio_id=seller["portfolio_id"])
    assert after["cash"] == round(seller["cash"] + price - 1, 2)
    broker.session.check_invariants()


def test_while_an_exchange_is_closed_only_orders_that_wait_are_taken(broker):
    stock = broker.stock(low=1, high=1_000, exchange="NYSE", trading="closed")
    arguments = broker.order(symbol=stock["symbol"], quantity=1, limit_price=float(round(stock["ask"] * 1.05)))
    refused = broker.call("place_stock_order", **arguments)
    assert refused.code == ErrorCode.REJECTED
    assert refused.message.startswith("NYSE is closed, and this order would trade at once")
    assert f"at {stock['ask']:.2f}; until 15:30 give a limit_price below that" in refused.message
    waiting = broker.read("place_stock_order", **arguments | {"limit_price": float(int(stock["ask"] * 0.97))})
    assert waiting["status"] == "open"


def test_a_watchlist_grows_and_shrinks(broker):
    empty = broker.watchlist(0)["watchlist_id"]
    assert broker.read("update_watchlist", watchlist_id=empty, action="add", symbol="SAP")["size"] == 1
    lists = [broker.read("list_watchlists", portfolio_id=row["portfolio_id"]) for row in broker.portfolios]
    assert "['SAP']" in str(lists)
    assert broker.read("update_watchlist", watchlist_id=empty, action="remove", symbol="SAP")["size"] == 0


def test_an_alert_waits_on_the_side_that_the_price_must_come_from(broker):
    stock, portfolio = broker.stock(), broker.rich(1)["portfolio_id"]
    for away, direction in ((5, "rises_to"), (-5, "falls_to")):
        price = round(stock["last_price"] + away, 2)
        created = broker.read("create_price_alert", portfolio_id=portfolio, symbol=stock["symbol"], price=price)
        assert created["direction"] == direction
        active = broker.read("list_price_alerts", portfolio_id=portfolio, status="active")["price_alerts"]
        assert created["price_alert_id"] in {row["price_alert_id"] for row in active}
        broker.read("delete_price_alert", price_alert_id=created["price_alert_id"])
    assert broker.read("list_price_alerts", portfolio_id=portfolio)["price_alerts"] == broker.rich(1)["price_alerts"]


def test_a_trade_at_the_price_of_an_alert_triggers_it(broker):
    stock = broker.stock()
    owner = {"portfolio_id": broker.rich(1)["portfolio_id"]}
    created = broker.read("create_price_alert", **owner, symbol=stock["symbol"], price=stock["ask"])
    broker.read("place_stock_order", **broker.order())
    triggered = broker.read("list_price_alerts", **owner, status="triggered")["price_alerts"]
    assert created["price_alert_id"] in {row["price_alert_id"] for row in triggered}


def test_stocks_are_found_by_part_of_name_or_symbol_and_wildcards_mean_themselves(broker):
    assert {row["symbol"] for row in broker.read("find_stocks", query="VOLKS")["stocks"]} == {"VOW", "VOW3"}
    assert broker.read("find_stocks", query="%") == {"stocks": []}


# Refusals


def an_order_of_status(status: str) -> Callable[[Broker], dict[str, Any]]:
    def find(broker: Broker) -> dict[str, Any]:
        orders = (order for row in broker.portfolios for order in row["stock_orders"] if order["status"] == status)
        return {"stock_order_id": next(orders)["stock_order_id"]}

    return find


def in_portfolio(**wanted: Any) -> Callable[[Broker], dict[str, Any]]:
    return lambda broker: broker.order(portfolio_id=broker.portfolio(**wanted)["portfolio_id"], symbol="LEVX")


def ordering(**changes: Any) -> Callable[[Broker], dict[str, Any]]:
    return lambda broker: broker.order(**changes)


def on_watchlist(size: int, action: str, symbol: str = "") -> Callable[[Broker], dict[str, Any]]:
    """Change a watchlist of this size by this symbol, or by the first stock that is on it, or is not."""

    def change(broker: Broker) -> dict[str, Any]:
        found = broker.watchlist(size)
        on = [row["symbol"] for row in broker.stocks if (row["symbol"] in found["symbols"]) == (size == 3)]
        return {"watchlist_id": found["watchlist_id"], "action": action, "symbol": symbol or on[0]}

    return change


def alert(broker: Broker, **changes: Any) -> dict[str, Any]:
    return {"portfolio_id": broker.rich(1)["portfolio_id"], "symbol": broker.stock()["symbol"], "price": 7.5} | changes


def a_second_alert(broker: Broker) -> dict[str, Any]:
    broker.read("create_price_alert", **alert(broker))
    return alert(broker)


def one_alert_too_many(broker: Broker) -> dict[str, Any]:
    owners = [row["portfolio_id"] for row in broker.portfolios for _ in row["price_alerts"]]
    return alert(broker, portfolio_id=max(sorted(owners), key=owners.count))


def a_triggered_alert(broker: Broker) -> dict[str, Any]:
    alerts = (item for row in broker.portfolios for item in row["price_alerts"] if item["status"] == "triggered")
    return {"price_alert_id": next(alerts)["price_alert_id"]}


def an_order_good_until_saturday(broker: Broker) -> dict[str, Any]:
    return broker.order(limit_price=15, good_until=broker.day(5 - broker.session.now.weekday()))


def more_than_the_poorest_can_pay(broker: Broker) -> dict[str, Any]:
    active = [row for row in broker.portfolios if row["status"] == "active"]
    poorest = min(active, key=lambda row: row["available_cash"])["portfolio_id"]
    return broker.order(portfolio_id=poorest, quantity=1_000, limit_price=10)


def all_shares_though_one_is_offered(broker: Broker) -> dict[str, Any]:
    portfolio, position = broker.held()
    sale = {"portfolio_id": portfolio["portfolio_id"], "symbol": position["symbol"], "side": "sell"}
    high = float(round(position["market_value"] / position["quantity"] * 2))
    broker.read("place_stock_order", **sale, quantity=1, limit_price=high)
    return sale | {"quantity": position["quantity"]}


def a_sale_to_ones_own_bid(broker: Broker) -> dict[str, Any]:
    broker.read("place_stock_order", **broker.order())
    broker.read("place_stock_order", **broker.order(limit_price=round(broker.stock()["bid"] + 0.01, 2)))
    return broker.order(side="sell", quantity=1)


REFUSALS = [
    ("place_stock_order", in_portfolio(status="closed"), "is closed; use an active portfolio"),
    ("place_stock_order", in_portfolio(status="restricted"), "it may sell what it holds, but not buy"),
    ("place_stock_order", in_portfolio(status="active", type="retirement"), "passed the appropriateness test"),
    ("place_stock_order", ordering(symbol="HBX"), "and has no price any more; choose a listed stock"),
    ("place_stock_order", ordering(symbol="NLS"), "trading in NLS has been suspended since"),
    ("place_stock_order", ordering(symbol="KO"), "NYSE is closed: it trades KO from 15:30 to 22:00 and it is 09:00"),
    ("place_stock_order", ordering(limit_price=15, good_until="2020-01-01"), "must be from today ("),
    ("place_stock_order", ordering(limit_price=15, good_until="9999-12-31"), "must be from today ("),
    ("place_stock_order", an_order_good_until_saturday, "is a weekend day without trading; use a Monday to Friday"),
    ("place_stock_order", ordering(limit_price=100.02), "use 100.00 or 100.05"),
    ("place_stock_order", ordering(limit_price=900), "more than 10% above the last price"),
    ("place_stock_order", ordering(side="sell", limit_price=0.5), "more than 10% below the last price"),
    ("place_stock_order", ordering(quantity=90_000), "at most 250000.00 at once: lower the quantity"),
    ("place_stock_order", ordering(symbol="KPN", quantity=40_000), "lower the quantity or give a limit_price"),
    ("place_stock_order", more_than_the_poorest_can_pay, "reserved for open orders), 10001.00 needed with the fee"),
    ("place_stock_order", all_shares_though_one_is_offered, "1 of them in open sell orders; at most"),
    ("place_stock_order", a_sale_to_ones_own_bid, "own buy order ORD-"),
    ("cancel_stock_order", an_order_of_status("filled"), "is filled already; only open and partially filled orders"),
    ("cancel_stock_order", an_order_of_status("cancelled"), "is cancelled already"),
    ("cancel_stock_order", an_order_of_status("expired"), "is expired already"),
    ("update_watchlist", on_watchlist(3, "add"), "already; add a stock that is not: all but"),
    ("update_watchlist", on_watchlist(10, "add"), "is full with 10 stocks; remove one of"),
    ("update_watchlist", on_watchlist(0, "remove"), "it has no stocks"),
    ("update_watchlist", on_watchlist(0, "add", "KWT"), "KWT was delisted on"),
    ("create_price_alert", lambda broker: alert(broker, price=broker.stock()["last_price"]), "choose a price above or"),
    ("create_price_alert", a_second_alert, "at 7.50 already; choose another price or delete it first"),
    ("create_price_alert", one_alert_too_many, "has 8 active alerts, the most allowed; delete one"),
    ("delete_price_alert", a_triggered_alert, "and stays as history; only active alerts can be deleted"),
]


@pytest.mark.parametrize(("name", "arguments", "message"), REFUSALS, ids=[message for *_, message in REFUSALS])
def test_the_broker_refuses_and_says_what_would_be_right(broker, name, arguments, message):
    given = arguments(broker)
    before = broker.session.digest()
    result = broker.call(name, **given)
    assert result.code == ErrorCode.REJECTED
    assert message in result.message
    assert broker.session.digest() == before


# Laws


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        broker = Broker()
        other = broker.rich(1)["portfolio_id"]
        calls = [
            ("place_stock_order", broker.order()),
            ("place_stock_order", broker.order(portfolio_id=other, quantity=1)),
            ("place_stock_order", broker.order(portfolio_id=other, symbol="SAP", quantity=1, limit_price=150)),
            ("create_price_alert", alert(broker)),
            (
                "update_watchlist",
                {"watchlist_id": broker.watchlist(0)["watchlist_id"], "action": "add", "symbol": "V"},
            ),
        ]
        assert all(broker.call(name, **arguments).ok for name, arguments in calls[::turn])
        digests.add(broker.session.digest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("UPDATE portfolio SET cash = cash + 1 WHERE status != 'closed'", "cash_is_what_was_paid_in_and_traded"),
        ("UPDATE position SET quantity = quantity - 1 WHERE quantity > 1", "positions_are_what_orders_traded"),
        ("UPDATE stock_order SET quantity = 99999 WHERE status = 'open'", "open_orders_are_covered"),
        ("UPDATE stock_order SET filled_value = 0 WHERE side = 'sell'", "trades_respect_limits"),
        ("UPDATE price_alert SET price = 1 WHERE direction = 'rises_to'", "active_alerts_still_wait"),
        ("UPDATE book_level SET price = price * 2 WHERE side = 'buy'", "books_are_not_crossed"),
    ],
)
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in BROKER.invariants if check.__name__ == law)
    with BROKER.storage.connect(BROKER.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))
