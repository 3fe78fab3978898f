"""A handful of tasks made by hand on live servers, of every kind, with the notes that the pipeline leaves."""

import dataclasses
from typing import Any

import pytest

from proverl.core import Edge, GroundTruth, Json, Step, Task, TaskKind, follow, reference, resolve
from proverl.envs import Session, load_server, start_time

SEED = 3
SERVERS = ("banking", "calendar")


def _read(tool: str, arguments: dict[str, Json], path: str) -> Json:
    with Session(SERVERS, SEED) as session:
        return follow(session.call(tool, arguments).content, path)


def _tools(*names: str):
    found = {tool.name: tool for server in SERVERS for tool in load_server(server).tools}
    return tuple(found[name] for name in names)


def prove(task: Task) -> Task:
    """Perform the steps on a live session; keep what they returned and the final digest."""
    contents: dict[int, Json] = {}
    with Session(task.servers, task.seed) as session:
        for index, step in enumerate(task.ground_truth.steps):
            result = session.call(step.name, resolve(step.arguments, contents))
            assert result.ok, result.message
            contents[index] = result.content
        digest = session.digest()
    steps = tuple(
        dataclasses.replace(step, returned=contents[index]) for index, step in enumerate(task.ground_truth.steps)
    )
    truth = dataclasses.replace(task.ground_truth, steps=steps)
    changes: dict[str, Any] = {"ground_truth": truth, "digest": digest}
    known = {field.name for field in dataclasses.fields(Task)}
    return dataclasses.replace(task, **{name: value for name, value in changes.items() if name in known})


def _task(id, kind, turns, tools, steps=(), edges=(), servers=SERVERS, **notes) -> Task:
    system = f"Act for the user with these tools. Today is {start_time(SEED):%A %Y-%m-%d}."
    truth = GroundTruth(tuple(steps), tuple(edges))
    notes = {"chain": [step.name for step in steps], "server": servers[0], "teacher": "scripted", **notes}
    return prove(Task(id, kind, servers, SEED, system, tuple(turns), _tools(*tools), truth, notes))


@pytest.fixture(scope="session")
def handmade() -> list[Task]:
    """Two multi-turn tasks (one over two servers, one with a recovery), a missing function, an irrelevant query."""
    customer = _read("find_customers", {}, "customers.0.customer_id")
    account = _read("list_accounts", {"customer_id": customer}, "accounts.0.account_id")
    event = _read("list_events", {}, "events.4.id")
    said, here = {"from": "turn", "turn": 0}, {"from": "turn", "turn": 1}
    result = {"from": "result", "step": 0, "field": "accounts.0.account_id"}
    accounts = Step("list_accounts", {"customer_id": customer})
    read = Step("get_account", {"account_id": reference(0, "accounts.0.account_id")}, 1)
    chained = _task(
        "train-1",
        TaskKind.MULTI_TURN,
        [f"Which accounts does {customer} have?", "Show me the first one."],
        ["list_accounts", "get_account", "list_cards", "list_rooms"],
        [accounts, read],
        [Edge(0, 1)],
        persona="plain",
        information="complete",
        distractors=["list_rooms"],
        sources=[{"customer_id": said}, {"account_id": result}],
    )
    crossing = _task(
        "train-2",
        TaskKind.MULTI_TURN,
        [f"What is the balance of {account}?", f"Also remind me of {event}, {30} minutes before."],
        ["get_account", "set_reminder", "get_event"],
        [
            Step("get_account", {"account_id": account}),
            Step("set_reminder", {"event_id": event, "minutes_before": 30}, 1),
        ],
        persona="brisk",
        information="minimal",
        enums_stripped=True,
        recovery={
            "kind": "corrected",
            "turn": 1,
            "call": {"name": "set_reminder", "arguments": {"event_id": event, "minutes_before": 0}},
            "code": "rejected",
            "message": "too late",
        },
        sources=[
            {"account_id": said},
            {"event_id": here, "minutes_before": {"from": "derived", "operation": "sum", "of": [here]}},
        ],
    )
    missing = _task(
        "train-3",
        TaskKind.CLARIFICATION,
        [f"List the accounts of {customer}.", "Now the cards of the first one."],
        ["list_accounts", "find_customers"],
        [accounts],
        persona="polite",
        information="missing",
        missing="list_cards",
        sources=[{"customer_id": said}],
    )
    foreign = _task(
        "train-4", TaskKind.ABSTENTION, ["Write me a poem about autumn."], ["list_rooms"], servers=("calendar",),
        irrelevant=True,
    )  # fmt: skip
    return [foreign, chained, crossing, missing]
