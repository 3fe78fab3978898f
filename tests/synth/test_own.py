"""A user's own tasks: proven as the others are, and every fault told with its line and field."""

import json
import re

import pytest

from proverl.agent import Limits
from proverl.core import TaskKind, find_references
from proverl.synth.data.own import InvalidTasks, read_own_tasks
from proverl.synth.validate import check_sources

CUSTOMER = {"name": "find_customers", "arguments": {}}


def row(**changes):
    base = {"servers": ["banking"], "seed": 3, "turns": ["Who are our customers?"], "calls": [[CUSTOMER]]}
    return {**base, **changes}


def read(tmp_path, *rows):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(item if isinstance(item, str) else json.dumps(item) for item in rows) + "\n\n")
    return read_own_tasks(path, Limits())


def test_values_that_a_result_knows_become_references_and_everything_has_a_source(tmp_path):
    (task,) = read(tmp_path, row())
    customer = task.ground_truth.steps[0].returned["customers"][1]["customer_id"]
    opening = {"name": "open_account", "arguments": {"customer_id": customer, "type": "savings"}}
    (task,) = read(
        tmp_path,
        row(turns=["Who are our customers?", "Give the second one a savings account."], calls=[[CUSTOMER], [opening]]),
    )
    assert list(find_references(task.ground_truth.steps[1].arguments)) == [(0, "customers.1.customer_id")]
    assert [(edge.before, edge.after, edge.kind) for edge in task.ground_truth.edges] == [(0, 1, "value")]
    assert task.kind == TaskKind.MULTI_TURN
    assert len(task.digest) == 64
    check_sources(task)
    reference = {"$result": {"step": 0, "field": "customers.1.customer_id"}}
    opening["arguments"]["customer_id"] = reference
    (same,) = read(
        tmp_path,
        row(turns=["Who are our customers?", "Give the second one a savings account."], calls=[[CUSTOMER], [opening]]),
    )
    assert same == task


def test_rows_without_calls_expect_none_and_a_missing_tool_is_not_offered(tmp_path):
    nothing, missing = read(
        tmp_path,
        row(turns=["Tell me a joke."], calls=[[]]),
        row(turns=["Who are our customers?", "Freeze all cards."], calls=[[CUSTOMER], []], missing="freeze_card"),
    )
    assert nothing.kind == TaskKind.ABSTENTION
    assert missing.kind == TaskKind.CLARIFICATION
    assert "freeze_card" not in {tool.name for tool in missing.tools}


@pytest.mark.parametrize(
    ("faulty", "told"),
    [
        (row(servers=["bank"]), "no server 'bank'"),
        (row(turns=[""]), r"turns is \[''\]; write what the user says"),
        (row(calls=[]), "calls has 0 lists for 1 turns"),
        (row(seed="x"), "seed: Input should be a valid integer"),
        (
            row(calls=[[{"name": "find_customer"}]]),
            r"calls.0.0: 'find_customer' is not among the tools on offer; did you mean 'find_customers'",
        ),
        (
            row(calls=[[{"name": "get_account", "arguments": {"account_id": "ACC-1"}}]]),
            "calls.0.0: get_account is refused",
        ),
        (row(calls=[[{"name": "find_customers", "arguments": {"name": "Lee"}}]]), "no source: 'Lee'"),
        (row(tools=["fly"]), r"tools has \['fly'\]"),
        (row(missing="fly"), r"missing has \['fly'\]"),
        (
            row(calls=[[{"name": "find_customers", "arguments": {"name": {"$result": {"step": 4, "field": "a"}}}}]]),
            "step 4",
        ),
        ("{not json", "line 1"),
    ],
)
def test_a_faulty_row_is_named(tmp_path, faulty, told):
    with pytest.raises(InvalidTasks, match=told):
        read(tmp_path, faulty)


def written(tmp_path, text):
    path = tmp_path / "mine.jsonl"
    path.write_text(text, encoding="utf-8", newline="")
    return path


GOOD = {"servers": ["banking"], "seed": 3, "turns": ["Who are our customers?"], "calls": [[{"name": "find_customers"}]]}


def test_a_byte_order_mark_windows_line_ends_and_line_separators_in_a_text_are_read(tmp_path):
    odd = json.dumps({**GOOD, "turns": ["Who are\u2028our\x85customers?"]}, ensure_ascii=False)
    tasks = read_own_tasks(written(tmp_path, f"\ufeff{json.dumps(GOOD)}\r\n\r\n{odd}\r\n"), Limits())
    assert [task.id for task in tasks] == ["own-1", "own-3"]
    assert tasks[1].turns == ("Who are\u2028our\x85customers?",)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], "mine.jsonl has no rows"),
        ([{**GOOD, "id": "a"}, {**GOOD, "id": "a"}], "line 2: id is 'a', as in line 1"),
        ([{**GOOD, "id": "own-2"}, GOOD], "line 2: id is 'own-2', as in line 1"),
        ([{**GOOD, "id": "train-0-banking-0"}], "line 1: id is 'train-0-banking-0', as of a row that is made here"),
        ([{**GOOD, "tool": ["find_customers"]}], "line 1: tool: there is no such field"),
        ([{**GOOD, "servers": [], "calls": [[]]}], "line 1: servers is empty"),
        ([{**GOOD, "seed": 10**30}], f"line 1: seed is {10**30}; it is at least 0"),
        ([{**GOOD, "seed": True}], "line 1: seed: Input should be a valid integer, got 'True'"),
        *[
            (
                [{**GOOD, "calls": [[{"name": "find_customers", "arguments": {"name": {"$result": odd}}}]]}],
                "line 1: calls.0.0: a reference is {",
            )
            for odd in ({"step": None, "field": "x"}, {"step": 0}, {"step": "zero", "field": "x"})
        ],
    ],
)  # fmt: skip
def test_a_hostile_file_is_named(tmp_path, rows, told):
    with pytest.raises(InvalidTasks, match=re.escape(told)):
        read_own_tasks(written(tmp_path, "\n".join(map(json.dumps, rows))), Limits())


def test_a_file_that_is_no_utf_8_is_named(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_bytes('{"id": "é"}'.encode("latin-1"))
    with pytest.raises(InvalidTasks, match="mine.jsonl is no UTF-8 text.* at byte 8"):
        read_own_tasks(path, Limits())


def test_every_faulty_row_is_told_at_once(tmp_path):
    with pytest.raises(InvalidTasks) as error:
        read(tmp_path, row(turns=[""]), row(), row(calls=[]))
    assert len(str(error.value).splitlines()) == 2
    assert "line 3" in str(error.value)
