"""A user's own tasks from a JSONL file, proven the same way as the made ones.

A row says what the user says and which calls each turn expects:

    {"servers": ["banking"], "seed": 3, "turns": ["Freeze CRD-84046.", "Thanks!"],
     "calls": [[{"name": "freeze_card", "arguments": {"card_id": "CRD-84046"}}], []]}

An argument that an earlier call returns is written as its value or as `{"$result": {"step": 0, "field": "event_id"}}`.
`tools` names those on offer (by default all of the servers'). The rest follows from running it: references, edges,
sources, the final state. A row without calls expects none; `missing` names a tool that is not on offer.
"""

import asyncio
import re
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from proverl.agent import Limits
from proverl.core import Call, Json, Task, TaskKind, Tool, find_references, resolve
from proverl.envs import Session, start_time
from proverl.synth.assemble import final_digest, system_text
from proverl.synth.data.dataset import brief
from proverl.synth.proof import state_edges
from proverl.synth.reasons import Unproven
from proverl.synth.scene import Attempt
from proverl.synth.session import fresh_session
from proverl.synth.trace import Trace
from proverl.synth.validate import check_sources, replay

_STRICT = ConfigDict(extra="forbid", strict=True)  # a mistyped key is no key of ours
_MADE = re.compile("(train|heldout)-.*")  # ids of rows that are made here


class InvalidTasks(ValueError):
    """Rows of a user's file that cannot be used: one line each, with the row, the field and what would be right."""


@dataclass(frozen=True, config=_STRICT)
class OwnCall:
    """One expected call."""

    name: str
    arguments: dict[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, config=_STRICT)
class OwnTask:
    """One row of the file."""

    servers: tuple[str, ...]
    seed: int
    turns: tuple[str, ...]
    calls: tuple[tuple[OwnCall, ...], ...]  # by user turn
    tools: tuple[str, ...] = ()
    missing: str = ""
    id: str = ""

    def __post_init__(self) -> None:
        if not self.servers:
            raise ValueError('servers is empty; name those whose tools are on offer, e.g. ["banking"]')
        if not 0 <= self.seed < 2**31:
            raise ValueError(f"seed is {self.seed}; it is at least 0 and less than {2**31}")
        if _MADE.fullmatch(self.id):
            raise ValueError(f"id is {self.id!r}, as of a row that is made here; give another, or none")
        if not self.turns or not all(text.strip() for text in self.turns):
            raise ValueError(f"turns is {list(self.turns)}; write what the user says in each turn")
        if len(self.calls) != len(self.turns):
            raise ValueError(f"calls has {len(self.calls)} lists for {len(self.turns)} turns; write one list a turn")


_ADAPTER = TypeAdapter(OwnTask)


def read_own_tasks(path: Path, limits: Limits) -> list[Task]:
    """The file's tasks, each executed and proven. Raises OSError, or InvalidTasks naming every faulty row."""
    tasks: list[Task] = []
    faults: list[str] = []
    lines: dict[str, int] = {}  # of every id
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        try:
            task = _proven(_ADAPTER.validate_json(line), f"own-{number}", limits)
            if (earlier := lines.setdefault(task.id, number)) != number:
                raise ValueError(f"id is {task.id!r}, as in line {earlier}; give another, or none")
            tasks.append(task)
        except ValidationError as error:
            faults.append(f"{path}, line {number}: {brief(error)}")
        except ValueError as error:
            faults.append(f"{path}, line {number}: {error}")
    if not tasks and not faults:
        faults = [f"{path} has no rows"]
    if faults:
        raise InvalidTasks("\n".join(faults))
    return tasks


def _lines(path: Path) -> list[str]:
    try:  # `splitlines` would also split at characters that may stand in a JSON text
        return path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise InvalidTasks(f"{path} is no UTF-8 text: {error.reason} at byte {error.start}") from None


def _proven(row: OwnTask, id: str, limits: Limits) -> Task:
    with fresh_session(row.servers, row.seed) as session:
        offered = _offered(row, session.tools)
        attempts = _performed(row, session, {tool.name for tool in offered})
    trace = Trace(row.turns, start_time(row.seed).date())
    by_name = {tool.name: tool for tool in offered}
    for attempt in attempts:
        try:
            trace.add(attempt, by_name[attempt.call.name], {})
        except Unproven as error:
            raise ValueError(f"calls: {error}; let a turn say it, or an earlier call return it") from None
    truth = trace.ground_truth(set())
    digest = final_digest(row.servers, row.seed, truth)
    writes = [not by_name[step.name].read_only for step in truth.steps]
    truth = trace.ground_truth(state_edges(row.servers, row.seed, truth.steps, writes, digest))
    kind = TaskKind.CLARIFICATION if row.missing else TaskKind.MULTI_TURN if truth.steps else TaskKind.ABSTENTION
    chain: list[Json] = [step.name for step in truth.steps]
    sources: Any = trace.sources
    notes: dict[str, Json] = {"origin": "own", "server": row.servers[0], "chain": chain, "sources": sources}
    if row.missing:
        notes["missing"] = row.missing
    system = system_text(row.seed)
    task = Task(row.id or id, kind, row.servers, row.seed, system, row.turns, tuple(offered), truth, notes, digest)
    check_sources(task)
    asyncio.run(replay(task, limits))
    return task


def _offered(row: OwnTask, tools: tuple[Tool, ...]) -> list[Tool]:
    names = {tool.name for tool in tools}
    for field_name, wanted in (("tools", row.tools), ("missing", (row.missing,) if row.missing else ())):
        if unknown := sorted(set(wanted) - names):
            raise ValueError(f"{field_name} has {unknown}; servers {list(row.servers)} have no such tool")
    return [tool for tool in tools if tool.name != row.missing and (not row.tools or tool.name in row.tools)]


def _performed(row: OwnTask, session: Session, offered: set[str]) -> list[Attempt]:
    """Every expected call with its result. Raises ValueError for one that is not on offer or is refused."""
    attempts: list[Attempt] = []
    for turn, calls in enumerate(row.calls):
        for place, call in enumerate(calls):
            where = f"calls.{turn}.{place}"
            if call.name not in offered:
                near = get_close_matches(call.name, offered, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"servers is {list(row.servers)}"
                raise ValueError(f"{where}: {call.name!r} is not among the tools on offer; {hint}")
            try:
                list(find_references(call.arguments))
            except (KeyError, TypeError, ValueError, OverflowError):
                told = 'a reference is {"$result": {"step": NUMBER, "field": "path.in.the.result"}}'
                raise ValueError(f"{where}: {told}, not in {str(call.arguments)[:80]}") from None
            try:
                arguments: Any = resolve(call.arguments, {i: made.result.content for i, made in enumerate(attempts)})
            except KeyError as error:
                raise ValueError(f"{where}: {str(error.args[0])[:300]}") from None
            result = session.call(call.name, arguments)
            if not result.ok:
                raise ValueError(f"{where}: {call.name} is refused: {result.message}")
            attempts.append(Attempt(Call(call.name, arguments), result, turn))
    return attempts
