"""A user's own tasks: proven as the others are, and every fault told with its line and field."""

import json

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
        (row(turns=[""]), "turns has an empty text"),
        (row(calls=[]), "calls has 0 lists for 1 turns"),
        (row(seed="x"), "seed: Input should be a valid integer"),
        (row(calls=[[{"name": "find_customer"}]]), r"calls.0.0: 'find_customer' is not among the tools"),
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


def test_every_faulty_row_is_told_at_once(tmp_path):
    with pytest.raises(InvalidTasks) as error:
        read(tmp_path, row(turns=[""]), row(), row(calls=[]))
    assert len(str(error.value).splitlines()) == 2
    assert "line 3" in str(error.value)
