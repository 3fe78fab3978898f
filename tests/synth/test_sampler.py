"""What is sampled comes from read-only tools alone, and entities that cannot support a step fall out."""

from datetime import date
from types import SimpleNamespace

import pytest

from proverl.core import Result, canonical_json
from proverl.envs import Session, load_server, start_time
from proverl.synth.chains import sampler
from proverl.synth.chains.chain import Argument, ChainStep
from proverl.synth.chains.sampler import chain_context, sample_entities, sample_records, supporting_entities
from proverl.synth.chains.support import supports

SERVERS = ["banking", "shopping", "travel_booking"]
TODAY = date(2026, 3, 9)


def tool(server, name):
    return load_server(server).functions[name].tool


@pytest.mark.parametrize("server", SERVERS)
def test_a_record_holds_what_the_tool_for_that_entity_tells(server):
    for by_value in sample_records(server, 3).values():
        for value, record in by_value.items():
            assert value in record.values()
    if server == "banking":
        records = sample_records(server, 3)["banking.Account"]
        shown = list(records)[:3]
        with Session([server], 3) as session:
            for account in shown:
                assert records[account] == session.call("get_account", {"account_id": account}).content


def test_only_visible_read_only_tools_are_asked(monkeypatch):
    asked = []
    call = Session.call

    def spy(self, name, arguments, call_id=""):
        asked.append(name)
        return call(self, name, arguments, call_id)

    monkeypatch.setattr(Session, "call", spy)
    sampler._sample.__wrapped__("banking", 11)
    tools = [tool("banking", name) for name in asked]
    assert tools
    assert all(one.read_only and not one.hidden for one in tools)


def test_a_field_told_with_two_values_is_not_the_entitys_own(monkeypatch):
    rows = iter(
        [{"accounts": [{"account_id": "A-1", "name": "Main", "type": kind}]} for kind in ("checking", "savings")]
    )
    records = {}
    for content in rows:
        sampler._merge(tool("banking", "list_accounts"), content, records)
    assert sampler._settled(records) == {"banking.Account": {"A-1": {"account_id": "A-1", "name": "Main"}}}


def test_a_row_about_two_entities_is_told_of_the_one_that_differs_from_row_to_row():
    row = {"on_hand": 4, "name": "Oat milk", "store_id": "S-1"}
    content = {"stock_levels": [{**row, "sku_id": "K-1"}, {**row, "sku_id": "K-2", "on_hand": 0}]}
    records = {}
    sampler._merge(tool("retail_chain", "list_stock_levels"), content, records)
    assert {sku: record["on_hand"] for sku, record in records["retail_chain.Sku"].items()} == {"K-1": 4, "K-2": 0}
    assert "retail_chain.Store" not in records


@pytest.mark.parametrize(
    ("record", "able"),
    [
        ({}, True),
        ({"balance": 12.5, "status": "active"}, True),
        ({"balance": 0}, False),
        ({"rooms_left": 0}, False),
        ({"available": False}, False),
        ({"left": True}, False),
        ({"left": False, "archived": False}, True),
        ({"status": "cancelled"}, False),
        ({"availability": "sold_out"}, False),
        ({"title": "cancelled"}, True),
        ({"expires": "2026-03-08"}, False),
        ({"expires": "2026-03-09"}, True),
        ({"ends_at": "2026-03-08T10:00"}, False),
        ({"ends_at": "soon"}, True),
        ({"status": "active", "end_date": "2026-03-08"}, True),  # overdue, and still open
        ({"quantity": None}, True),
    ],
)
def test_what_is_empty_over_or_past_supports_no_writing_step(record, able):
    assert supports(record, TODAY) is able


def test_a_tool_may_want_what_is_over():
    delivered = {"status": "delivered"}
    assert supports(delivered, TODAY, tool("food_delivery", "track_food_order"))
    assert supports(delivered, TODAY, tool("food_delivery", "rate_food_order"))
    assert not supports(delivered, TODAY, tool("food_delivery", "cancel_food_order"))


def test_supporting_entities_are_the_sampled_ones_without_those():
    today = start_time(0).date()
    entities, records = sample_entities("banking", 0), sample_records("banking", 0)["banking.Account"]
    kept = supporting_entities("banking", 0, "transfer_funds")
    assert kept["banking.Card"] == entities["banking.Card"]
    assert kept["banking.Account"] == tuple(
        account for account in entities["banking.Account"] if supports(records[account], today)
    )
    assert len(kept["banking.Account"]) < len(entities["banking.Account"])
    reader = supporting_entities("banking", 0, "list_transactions")
    assert reader["banking.Account"] == entities["banking.Account"]


def test_an_entity_none_of_whose_values_can_support_the_step_keeps_them(monkeypatch):
    told = {"s.E": ("a", "b")}, {"s.E": {value: {"status": "closed"} for value in "ab"}}
    monkeypatch.setattr(sampler, "_sample", lambda *world: told)
    assert supporting_entities("none", -1) == told[0]


def step(name, **arguments):
    return ChainStep(tool("banking", name), "", arguments, {})


def account(value, **how):
    return Argument(value, entity="banking.Account", **how)


def ids(context):
    return [next(iter(record.values())) for record in context["banking.Account"]]


def test_a_context_holds_what_the_query_names_and_a_few_that_it_could_name():
    accounts = sample_entities("banking", 0)["banking.Account"]
    steps = [step("transfer_funds", from_account_id=account(accounts[-1]), amount=Argument(5))]
    context = chain_context("banking", 0, steps)
    assert list(context) == ["banking.Account"]
    assert ids(context)[0] == accounts[-1]
    assert set(ids(context)[1:]) < set(supporting_entities("banking", 0)["banking.Account"])
    assert len(set(ids(context))) == 5
    assert (
        context["banking.Account"][0].items() <= sample_records("banking", 0)["banking.Account"][accounts[-1]].items()
    )
    text = canonical_json(context)
    assert len(text) < 2_000
    sampler._sample.cache_clear()
    supporting_entities.cache_clear()
    assert canonical_json(chain_context("banking", 0, steps)) == text


def test_a_context_never_shows_what_only_a_result_knows():
    first, second, *_ = sample_entities("banking", 0)["banking.Account"]
    steps = [step("get_account", account_id=account(first, origin=(0, "accounts.0.account_id")))]
    assert first not in ids(chain_context("banking", 0, steps))
    steps.append(step("get_account", account_id=account([first, second])))
    assert first not in ids(chain_context("banking", 0, steps))
    assert ids(chain_context("banking", 0, steps))[0] == second


def test_a_context_has_what_a_refused_call_names():
    first, *_, last = sample_entities("banking", 0)["banking.Account"]
    refused = SimpleNamespace(arguments={"account_id": account(last)})
    steps = [SimpleNamespace(arguments={"account_id": account(first)}, refused=refused)]
    assert ids(chain_context("banking", 0, steps))[:2] == [first, last]


def test_an_entity_of_which_nothing_is_told_stands_with_its_id_alone():
    assert ids(chain_context("banking", 0, [step("get_account", account_id=account("ACC-NONE"))]))[0] == "ACC-NONE"


def test_a_failing_reader_tells_nothing(monkeypatch):
    monkeypatch.setattr(Session, "call", lambda *_: Result(None))
    assert sampler._sample.__wrapped__("banking", 0) == ({}, {})
