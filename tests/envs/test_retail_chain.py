"""The grocery chain: what its tools do together, every refusal, what its laws notice, which calls commute."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import Result
from proverl.envs import Context, Session, load_server, start_time

CHAIN = load_server("retail_chain")
Row = dict[str, Any]
Call = tuple[str, Row]  # a tool and its arguments


def pick(rows: Iterable[Row], fits: Callable[[Row], bool] = lambda row: True, **wanted: Any) -> Row:
    """The first row with these values that fits; StopIteration without one."""
    return next(row for row in rows if wanted.items() <= row.items() and fits(row))


class Chain:
    """A session, and what the visible reading tools found in its start state."""

    def __init__(self, seed: int) -> None:
        self.session = Session([CHAIN], seed)
        found = start_of(seed)
        self.stores, self.levels, self.transfers = found["stores"], found["levels"], found["transfers"]
        self.orders = found["orders"]

    def call(self, call: Call) -> Result:
        return self.session.call(call[0], call[1])

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.session.call(name, arguments)
        assert result.ok, result.message
        return result.content

    def do(self, call: Call) -> Any:
        return self.read(call[0], **call[1])

    def level(self, row: Row) -> Row:
        """Stock now of the same article in the same store."""
        (level,) = self.read("list_stock_levels", store_id=row["store_id"], sku_id=row["sku_id"])["stock_levels"]
        return level

    def accepted(self, calls: Iterable[Call]) -> tuple[Row, Any]:
        """Arguments and result of the first call that the chain accepts."""
        return next((call[1], result.content) for call in calls if (result := self.call(call)).ok)

    def refused(self, words: str, calls: Iterable[Call]) -> Call:
        """The first call that is refused in these words."""
        return next(call for call in calls if words in self.call(call).message)

    def plenty(self, least: int = 30) -> list[Row]:
        return [row for row in self.levels if row["available"] >= least]


@cache
def start_of(seed: int) -> dict[str, list[Row]]:
    """Everything in the start state that callers can see."""
    with Session([CHAIN], seed) as session:

        def read(name: str, **arguments: Any) -> list[Row]:
            (rows,) = session.call(name, {"limit": 50, **arguments}).content.values()
            return rows

        stores = read("list_stores")
        return {
            "stores": stores,
            "levels": [row for one in stores for row in read("list_stock_levels", store_id=one["store_id"])],
            "transfers": read("list_stock_transfers"),
            "orders": read("list_replenishments"),
        }


@pytest.fixture
def chain() -> Chain:
    return Chain(3)


def transfer(source: Row, target: Row, quantity: int = 2) -> Call:
    places = {"from_store_id": source["store_id"], "to_store_id": target["store_id"]}
    return "create_stock_transfer", {**places, "sku_id": source["sku_id"], "quantity": quantity}


def transfers(chain: Chain, quantity: int = 2, rows: list[Row] | None = None) -> Iterable[Call]:
    """Transfers of articles that there is plenty of, each to another store that carries them."""
    for source in chain.plenty() if rows is None else rows:
        for target in chain.levels:
            if target["sku_id"] == source["sku_id"] and target["store_id"] != source["store_id"]:
                yield transfer(source, target, quantity)


def order(level: Row, cases: int = 1) -> Call:
    return "order_replenishment", {"store_id": level["store_id"], "sku_id": level["sku_id"], "cases": cases}


def count(level: Row, units: int) -> Call:
    where = {"store_id": level["store_id"], "sku_id": level["sku_id"]}
    return "record_shelf_count", {**where, "counted_units": units}


def adjust(level: Row, units: int = 1, reason: str = "damaged") -> Call:
    where = {"store_id": level["store_id"], "sku_id": level["sku_id"]}
    return "adjust_stock", {**where, "units": units, "reason": reason}


def dispatch(row: Row) -> Call:
    return "dispatch_stock_transfer", {"stock_transfer_id": row["stock_transfer_id"]}


def receive(row: Row, units: int | None = None) -> Call:
    if "stock_transfer_id" in row:
        return "receive_stock_transfer", {
            "stock_transfer_id": row["stock_transfer_id"],
            "received_quantity": units,
        }
    return "receive_replenishment", {"replenishment_id": row["replenishment_id"], "received_units": units}


# What the tools do


def test_a_store_spares_what_it_has_above_its_reorder_point_and_no_more(chain):
    def spare(row):
        return row["available"] - row["reorder_point"]

    source = pick(chain.plenty(), lambda row: 0 < spare(row) <= 12)
    calls = list(transfers(chain, spare(source) + 1, [source]))
    chain.refused(f"at most {spare(source)} can be spared", calls)
    chain.accepted(transfers(chain, spare(source), [source]))


def test_a_transfer_reserves_then_leaves_then_arrives_short(chain):
    asked, created = chain.accepted(transfers(chain, 5))
    source = pick(chain.levels, store_id=asked["from_store_id"], sku_id=asked["sku_id"])
    target = pick(chain.levels, store_id=asked["to_store_id"], sku_id=asked["sku_id"])
    reserved = chain.level(source)
    assert (reserved["on_hand"], reserved["available"]) == (source["on_hand"], source["available"] - 5)
    assert chain.do(dispatch(created))["status"] == "in_transit"
    assert chain.level(source)["on_hand"] == source["on_hand"] - 5
    assert chain.level(target)["on_hand"] == target["on_hand"]
    arrived = chain.do(receive(created, 4))
    assert (arrived["received_quantity"], arrived["missing"]) == (4, 1)
    assert chain.level(target)["on_hand"] == arrived["on_hand"] == target["on_hand"] + 4
    listed = chain.read("list_stock_transfers", store_id=asked["to_store_id"], status="received", limit=50)
    assert created["stock_transfer_id"] in str(listed)


def test_a_replenishment_is_ordered_in_cases_and_listed(chain):
    asked, placed = chain.accepted(order(row, 2) for row in chain.levels)
    assert placed["units"] % 2 == 0
    assert placed["due_on"] > chain.session.now.date().isoformat()
    listed = chain.read("list_replenishments", store_id=asked["store_id"], status="ordered", limit=50)["replenishments"]
    assert pick(listed, replenishment_id=placed["replenishment_id"])["cases"] == 2


def test_a_shipped_replenishment_fills_the_store_once(chain):
    shipped = pick(chain.orders, status="shipped")
    before = chain.level(shipped)["on_hand"]
    arrived = chain.do(receive(shipped))
    assert arrived["missing"] == 0
    assert chain.level(shipped)["on_hand"] == before + arrived["received_units"] == arrived["on_hand"]
    assert "is received; only shipped orders" in chain.call(receive(shipped)).message


def test_a_close_count_corrects_the_stock_at_once(chain):
    level = pick(chain.plenty(), lambda row: row["on_hand"] == row["available"])
    posted = chain.do(count(level, level["on_hand"] - 2))
    assert (posted["status"], posted["difference"]) == ("posted", -2)
    assert chain.level(level)["on_hand"] == posted["on_hand"] == level["on_hand"] - 2


def test_a_count_far_off_is_posted_only_when_a_second_one_agrees(chain):
    level = pick(chain.plenty(), lambda row: row["on_hand"] == row["available"])
    for counted in (3, 4):
        recorded = chain.do(count(level, counted))
        assert (recorded["status"], recorded["on_hand"]) == ("recount_needed", level["on_hand"])
    assert chain.do(count(level, 4))["status"] == "posted"
    assert chain.level(level)["on_hand"] == 4


def test_an_expensive_correction_is_possible_after_a_count(chain):
    calls = [adjust(row, row["available"] - 5, "stolen") for row in chain.plenty()]
    refused = chain.refused("need a shelf count posted today", calls)
    level = pick(chain.levels, store_id=refused[1]["store_id"], sku_id=refused[1]["sku_id"])
    chain.do(count(level, level["on_hand"]))
    made = chain.do(refused)
    assert made["change"] == 5 - level["available"]
    assert chain.level(level)["available"] == 5


def test_what_turns_up_is_added(chain):
    asked, made = chain.accepted(adjust(row, 2, "found") for row in chain.levels)
    level = pick(chain.levels, store_id=asked["store_id"], sku_id=asked["sku_id"])
    assert (made["change"], made["on_hand"]) == (2, level["on_hand"] + 2)


def test_recalled_units_are_written_off_whatever_they_are_worth(chain):
    asked, made = chain.accepted(adjust(row, row["available"], "recalled") for row in chain.levels if row["available"])
    assert made["on_hand"] == 0
    assert "is recalled and may not be moved or ordered" in chain.call(order(asked)).message


def test_stock_levels_are_found_by_name_status_store_and_sku(chain):
    milk = chain.read("list_stock_levels", query="MILK 1 L", status="ok", limit=50)["stock_levels"]
    assert milk
    assert {row["status"] for row in milk} == {"ok"}
    assert all("milk 1 l" in row["name"] for row in milk)
    assert chain.read("list_stock_levels", query="_")["stock_levels"] == []
    low = chain.read("list_stock_levels", status="out_of_stock", limit=50)["stock_levels"]
    assert {row["on_hand"] for row in low} == {0}
    one = chain.levels[0]
    assert {row["sku_id"] for row in chain.read("list_stock_levels", sku_id=one["sku_id"])["stock_levels"]} == {
        one["sku_id"]
    }


def test_stores_are_found_by_city_whatever_case_and_accents_and_by_format(chain):
    ghent = chain.read("list_stores", city="GHENT")["stores"]
    assert ghent
    assert all(row["name"].startswith("Ghent ") for row in ghent)
    names = [row["name"] for row in chain.read("list_stores", format="warehouse")["stores"]]
    assert names == ["Distribution Centre North", "Distribution Centre South"]


@pytest.mark.parametrize("seed", range(4))
def test_the_start_state_has_every_kind_of_stock_and_record(seed):
    chain = Chain(seed)
    assert {row["status"] for row in chain.levels} == {"out_of_stock", "low", "ok"}
    assert {row["status"] for row in chain.stores} == {"open", "refurbishing"}
    assert {row["status"] for row in chain.transfers} >= {"requested", "in_transit", "received"}
    assert {row["status"] for row in chain.orders} >= {"ordered", "shipped", "received"}
    assert len(chain.stores) == 20
    assert len({row["sku_id"] for row in chain.levels}) == 40


# Refusals: what the message says, and the call, for a chain that has what it needs


def closed(chain: Chain) -> list[Row]:
    store = pick(chain.stores, status="refurbishing")
    return [row for row in chain.levels if row["store_id"] == store["store_id"]]


def not_carried(chain: Chain) -> Call:
    express = pick(chain.stores, format="express")["store_id"]
    held = {row["sku_id"] for row in chain.levels if row["store_id"] == express}
    return adjust({"store_id": express, "sku_id": pick(chain.levels, lambda row: row["sku_id"] not in held)["sku_id"]})


def into_closed(chain: Chain) -> Iterable[Call]:
    return (transfer(source, target) for source in chain.plenty() for target in closed(chain) if same(source, target))


def same(source: Row, target: Row) -> bool:
    return bool(source["sku_id"] == target["sku_id"] and source["store_id"] != target["store_id"])


def full_store(chain: Chain) -> Call:
    """A transfer that arrives where others have filled the room with what turned up."""
    asked, created = chain.accepted(transfers(chain, 5))
    chain.do(dispatch(created))
    where = {"store_id": asked["to_store_id"], "sku_id": asked["sku_id"]}
    while chain.call(adjust(where, 1, "found")).ok:
        pass
    return receive(created)


def counted_twice(chain: Chain) -> Call:
    level = pick(chain.plenty())
    chain.do(count(level, level["on_hand"]))
    return count(level, level["on_hand"] - 1)


def reserved(chain: Chain) -> Call:
    asked, _ = chain.accepted(transfers(chain, 5))
    return count({"store_id": asked["from_store_id"], "sku_id": asked["sku_id"]}, 1)


def found_recalled(chain: Chain) -> Call:
    asked, _ = chain.accepted(adjust(row, 1, "recalled") for row in chain.levels if row["available"])
    return adjust(asked, 1, "found")


def too_many(chain: Chain, status: str) -> Call:
    row = pick([*chain.transfers, *chain.orders], status=status)
    return receive(row, 5_000)


SEARCHED: dict[str, Callable[[Chain], Iterable[Call]]] = {  # the first call refused in these words
    "less of SKU": lambda chain: transfers(chain, 5, [row for row in chain.levels if row["status"] == "low"]),
    "is recalled and may not be moved": lambda chain: transfers(chain),
    "takes no goods in; choose an open store": into_closed,
    " don't fit": lambda chain: transfers(chain, 90, chain.plenty(120)),
    "is discontinued and can't be ordered any more": lambda chain: map(order, chain.levels),
    "has ordered SKU": lambda chain: map(order, chain.orders),
    "on its way; at most": lambda chain: (order(row, 400) for row in chain.levels),
    "has no expiry date; use the reason damaged": lambda chain: (adjust(row, 1, "expired") for row in chain.levels),
    "corrections above 75.00 need a shelf count posted today": lambda chain: (
        adjust(row, row["available"]) for row in chain.plenty()
    ),
    "can't be taken out": lambda chain: (adjust(row, row["available"] + 1) for row in chain.levels),
    "not recalled; give the reason why": lambda chain: (adjust(row, 1, "recalled") for row in chain.levels),
    "no more than": lambda chain: (adjust(row, 60, "found") for row in chain.levels),
}
REFUSALS: dict[str, Callable[[Chain], Call]] = {
    "is both ends of the transfer": lambda chain: transfer(chain.levels[0], chain.levels[0]),
    "does not carry SKU": not_carried,
    " are available (": lambda chain: next(iter(transfers(chain, 9_999))),
    "only transfers that are requested can be dispatched": lambda chain: dispatch(
        pick(chain.transfers, status="in_transit")
    ),
    "is requested; only transfers in transit": lambda chain: receive(pick(chain.transfers, status="requested")),
    "is received; only transfers in transit": lambda chain: receive(pick(chain.transfers, status="received")),
    "can't have arrived; record_shelf_count": lambda chain: too_many(chain, "in_transit"),
    "can come in now": full_store,
    "is not shipped yet, it is due on": lambda chain: receive(pick(chain.orders, status="ordered")),
    "is cancelled; only shipped orders": lambda chain: receive(pick(chain.orders, status="cancelled")),
    "can't be booked in, send the rest back": lambda chain: too_many(chain, "shipped"),
    "was counted today: CNT-": counted_twice,
    "can't be there; count again": lambda chain: count(chain.levels[0], 9_000),
    "dispatch_stock_transfer them first or count again": reserved,
    "so units that turn up stay out of the stock": found_recalled,
}


@pytest.mark.parametrize("message", [*SEARCHED, *REFUSALS])
def test_refused_with_what_would_be_right_and_without_effect(message):
    for seed in range(3, 40):  # the first start state that has what the case needs
        chain = Chain(seed)
        try:
            call = (
                REFUSALS[message](chain)
                if message in REFUSALS
                else Chain(seed).refused(message, SEARCHED[message](chain))
            )
        except StopIteration:
            continue
        before = chain.session.digest()
        result = chain.call(call)
        assert result.code == "rejected", result
        assert message in result.message
        assert chain.session.digest() == before
        return
    raise AssertionError("no start state has what it needs")


# Laws


@pytest.mark.parametrize(
    ("law", "corruption"),
    {
        "every_unit_is_accounted_for": "UPDATE stock_level SET issued = issued + 1",
        "stock_fits_the_shelves": "UPDATE stock_level SET on_hand = capacity + 1",
        "nothing_is_reserved_twice": "UPDATE stock_transfer SET quantity = 100000 WHERE status = 'requested'",
        "one_open_order_per_article_of_a_store": "UPDATE sku SET status = 'discontinued'",
        "counts_are_posted_once_a_day": "UPDATE shelf_count SET counted = counted + 1",
        "express_stores_have_nothing_frozen": "UPDATE store SET format = 'express'",
    }.items(),
)
def test_each_law_notices_a_state_that_breaks_it(law, corruption):
    now = start_time(2)
    check = next(check for check in CHAIN.invariants if check.__name__ == law)
    with CHAIN.storage.connect(CHAIN.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text("PRAGMA ignore_check_constraints = ON"))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))


def test_independent_calls_lead_to_the_same_state_in_either_order():
    def digest(step: int) -> str:
        chain = Chain(3)
        first, second, third, fourth = [row for row in chain.plenty() if row["on_hand"] == row["available"]][:4]
        shipped, arriving = pick(chain.orders, status="shipped"), pick(chain.transfers, status="in_transit")
        calls = [adjust(first), adjust(first, 2), count(second, 1), count(third, third["on_hand"]), adjust(fourth)]
        for call in [*calls, receive(shipped), receive(arriving)][::step]:
            chain.do(call)
        return chain.session.digest()

    assert digest(1) == digest(-1)
