"""What names the same thing is found by calling, without types, without names, and over MCP."""

import re
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from random import Random

import pytest

from benchmarks.graph import of_library, of_server, of_size, without_types
from benchmarks.library import library
from proverl.core import ErrorCode, Result, Tool
from proverl.envs import start_time
from proverl.synth.graphs.graph import visible_tools
from proverl.synth.graphs.infer import infer_types
from proverl.synth.graphs.pools import pools_of, subject, words
from proverl.synth.graphs.probe import label, local_sessions, matching, remote_sessions, wrong
from proverl.synth.schema import entities_of, result_entities


@pytest.fixture(scope="module")
def banking():
    tools = without_types(visible_tools("banking"))
    return infer_types(tools, local_sessions("banking"), clock=start_time)


def test_hidden_types_are_found_again(banking):
    tools = {tool.name: tool for tool in banking.tools}
    asked = tools["transfer_funds"].parameters["properties"]
    assert entities_of(asked["from_account_id"]) == entities_of(asked["to_account_id"]) == ("banking.Account",)
    assert not entities_of(asked["memo"]) and not entities_of(asked["amount"])
    assert dict(result_entities(tools["get_account"].returns)) == {
        "account_id": "banking.Account",
        "customer_id": "banking.Customer",
    }
    assert dict(result_entities(tools["add_payee"].returns)) == {"payee_id": "banking.Payee"}  # a new value, followed
    assert ("unfreeze_card", "card_id") in banking.unproven  # its PIN is told nowhere


def test_hidden_or_renamed_the_graph_is_the_typed_one():
    for figure in (of_server("banking", False), of_server("team_chat", True)):
        assert (figure.precision, figure.recall) == (1.0, 1.0), figure.name


def test_inferring_twice_finds_the_same():
    tools = without_types(visible_tools("team_chat"))
    one, two = (infer_types(tools, local_sessions("team_chat"), (0,), start_time) for _ in range(2))
    assert one == two
    assert all("x-entity" not in str(tool) for tool in tools)  # the tools given are left as they are


def test_kinds_that_a_server_tells_apart_stay_apart():
    tools = without_types(visible_tools("iot_devices"))
    found = {tool.name: tool for tool in infer_types(tools, local_sessions("iot_devices"), (0, 1), start_time).tools}
    light = entities_of(found["set_light"].parameters["properties"]["light_id"])
    plug = entities_of(found["switch_plug"].parameters["properties"]["plug_id"])
    device = entities_of(found["get_device"].parameters["properties"]["device_id"])
    assert len(light) == len(plug) == 1
    assert {*light, *plug} < set(device)


def test_a_third_partys_server_over_mcp():
    figure = of_library()
    assert (figure.precision, figure.recall) == (1.0, 1.0), (figure.found - figure.true, figure.true - figure.found)


def test_the_cost_grows_with_the_tools_not_the_pairs():
    small, large = of_size(100), of_size(300)
    assert (small.precision, small.recall, large.precision, large.recall) == (1.0, 1.0, 1.0, 1.0)
    assert large.calls < 4 * small.calls


def test_what_takes_any_text_names_nothing():
    found = note_book(lambda name, arguments: Result({"note": "N-1", "text": "Rain"}))
    assert not entities_of(found["write"].parameters["properties"]["text"])


def test_what_refuses_wrong_values_names_something():
    found = note_book(
        lambda name, arguments: (
            Result({"note": "N-1", "text": "Rain"})
            if arguments.get("text", "Rain") == "Rain"
            else Result(None, ErrorCode.REJECTED, "Nothing has this text")
        )
    )
    assert entities_of(found["write"].parameters["properties"]["text"])


def note_book(ask):
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    tools = [
        Tool("read", "Read.", {"type": "object", "properties": {}}, {"type": "object"}, read_only=True),
        Tool("write", "Write.", text, {"type": "object"}, read_only=True),
    ]

    class Opened:
        def __enter__(self):
            return ask

        def __exit__(self, *_):
            pass

    return {tool.name: tool for tool in infer_types(tools, lambda seed: Opened(), (0,)).tools}


def test_fields_that_share_values_are_grouped():
    observed = {
        ("list_accounts", "accounts.*.id"): dict.fromkeys(["A-1", "A-2", "A-3"]),
        ("get_account", "id"): dict.fromkeys(["A-2"]),
        ("get_account", "owner"): dict.fromkeys(["Ada"]),
        ("list_cards", "cards.*.number"): dict.fromkeys([1, 2]),
        ("list_pages", "pages.*.number"): dict.fromkeys([1, 2]),
    }
    groups = [sorted(pool.fields) for pool in pools_of(observed)]
    assert [("get_account", "id"), ("list_accounts", "accounts.*.id")] in groups
    assert [("get_account", "owner")] in groups


def test_names_are_read_as_people_read_them():
    assert words("listAccounts by_categories") == ["list", "account", "by", "category"]
    assert subject(("list_accounts", "accounts.*.id")) == subject(("open", "account_id")) == ["account"]
    assert subject(("get_account", "id")) == ["account"]


@pytest.mark.parametrize("value", ["ACC-123", "/home/ada", "10A", "Momo", 17])
def test_a_wrong_value_has_the_form_of_a_right_one(value):
    bad = wrong(value, 1, {value})
    assert bad != value and type(bad) is type(value)
    assert wrong(value, 1, {value, bad}) not in (value, bad)


def test_a_text_is_made_to_fit_a_pattern():
    for pattern in (r"^[0-9]{4}$", r"^\d{6}$", r"^[A-Z]{2}-x?$", r"^(on|off)$"):
        assert re.fullmatch(pattern, matching(pattern, Random(0))), pattern


def test_refusals_are_alike_whatever_they_name():
    one, two = (Result(None, ErrorCode.REJECTED, f"card {value} is frozen; unfreeze it") for value in ("C-1", "C-2"))
    assert label(one, ["C-1"]) == label(two, ["C-2"]) != label(Result(), [])


def test_tools_whose_answers_change_are_named():
    tools = without_types(visible_tools("banking"))
    steady = infer_types(tools[:3], local_sessions("banking"), seeds=(0,))
    assert steady.unsteady == ()
    turns = count()

    @contextmanager
    def opened(seed):
        with local_sessions("banking")(seed) as ask:
            yield (
                lambda name, arguments: (
                    replace(result, content={"turn": next(turns)}) if (result := ask(name, arguments)).ok else result
                )
            )

    assert infer_types(tools[:1], opened, seeds=(0,)).unsteady == ("find_customers",)


def test_a_server_that_fails_leaves_no_connection_open():
    closed = []

    @contextmanager
    def opened(seed):
        try:
            yield fails
        finally:
            closed.append(seed)

    def fails(name, arguments):
        raise RuntimeError("it is gone")

    with pytest.raises(RuntimeError, match="it is gone"):
        infer_types(without_types(visible_tools("banking")[:3]), opened, seeds=(0,))
    assert closed == [0]


def test_a_remote_session_answers_like_a_local_one():
    with remote_sessions(library)(0) as ask:
        assert ask("get_book", {"isbn": "978014001371"}).content["title"] == "Middlemarch"
        assert ask("get_book", {"isbn": "1"}).code == ErrorCode.REJECTED
