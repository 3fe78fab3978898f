"""Whether the rows of a dataset still hold: every one is performed again on the servers that are installed.

A row holds when its kind's rules do, every argument value traces to its noted source, all calls succeed and return what
the row says, the final state has the row's digest, and leaving each writing call out proves the edges (paper,
Synthesis 5). The columns beside `task` must say what it says.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from datetime import date
from itertools import islice
from typing import Any

from proverl.agent import Limits, OraclePolicy, run_episode
from proverl.core import (
    Episode,
    Json,
    StopReason,
    Task,
    TaskKind,
    Tool,
    canonical_json,
    find_references,
    follow,
    json_equal,
    task_from_json,
)
from proverl.envs import start_time
from proverl.synth.assemble import strip_enums
from proverl.synth.chains.spoken import derive, is_said
from proverl.synth.data.dataset import brief, task_row
from proverl.synth.data.figures import sources
from proverl.synth.processes import Processes
from proverl.synth.proof import state_edges
from proverl.synth.reasons import Unproven
from proverl.synth.session import fresh_session
from proverl.synth.trace import results

# nothing is cut short: whether a row fits a model's limits was decided when it was made
_LIMITS = Limits(user_turns=10_000, assistant_turns=10_000, calls=10_000, tool_output_tokens=10**9)
_CHUNK = 32
Verdict = tuple[int, str, list[str]]  # row number, id, what differs


def differences(task: Task) -> list[str]:
    """Everything in which a row does not hold; empty when it does."""
    try:
        found = [*_shape(task), *_untraced(task)]
    except ValueError as error:  # notes of another form
        found = [str(error)]
    try:
        with fresh_session(task.servers, task.seed) as session:
            known = {tool.name: tool for tool in session.tools}
            # one call a message, in the order in which the row was made
            chat = OraclePolicy(parallel=False).chat(task, _LIMITS)
            episode = asyncio.run(run_episode(task, session, chat, _LIMITS))
    except ValueError as error:
        return [*found, str(error)]
    found += [*_offered(task, known), *_replayed(task, episode)]
    return found or list(_unordered(task, known))  # edges are proven by calls that hold


def _offered(task: Task, known: Mapping[str, Tool]) -> Iterator[str]:
    """Tools on offer that are not the servers', but for enums that are not shown; rows without servers may have any."""
    for tool in task.tools if task.servers else ():
        if tool.name not in known:
            yield f"no server has the tool {tool.name} on offer"
        elif tool not in (known[tool.name], strip_enums(known[tool.name])):
            yield f"the tool {tool.name} on offer differs from the server's"


def _unordered(task: Task, known: Mapping[str, Tool]) -> Iterator[str]:
    """Edges that nothing proves, and those that are proven but not there."""
    steps = task.ground_truth.steps
    value = {(step, index) for index, one in enumerate(steps) for step, _ in find_references(one.arguments)}
    value |= {(step, index) for index, _, source in sources(task) for step in results(source)}
    writes = [not known[step.name].read_only for step in steps]
    try:
        state = state_edges(task.servers, task.seed, steps, writes, task.digest) - value
    except Unproven as error:
        yield str(error)
        return
    proven = {(*pair, "value") for pair in value} | {(*pair, "state") for pair in state}
    there = {(edge.before, edge.after, edge.kind) for edge in task.ground_truth.edges}
    for before, after, kind in sorted(proven - there):
        yield f"no {kind} edge says that step {before} comes before step {after}"
    for before, after, kind in sorted(there - proven):
        yield f"nothing proves the {kind} edge from step {before} to step {after}"


def _shape(task: Task) -> Iterator[str]:
    """What breaks the rules of the row's kind (paper, Synthesis 6)."""
    offered = [tool.name for tool in task.tools]
    steps = task.ground_truth.steps
    if len(set(offered)) < len(offered):
        yield "a tool is on offer twice"
    yield from (f"step {index} calls {step.name}, which is not on offer" for index, step in enumerate(steps)
                if step.name not in offered)  # fmt: skip
    if [step.turn for step in steps] != sorted(step.turn for step in steps):
        yield "the steps are not in the order of the user turns"
    if any(not 0 <= step.turn < len(task.turns) for step in steps):
        yield "a step belongs to a user turn that is not there"
    if task.kind == TaskKind.MULTI_TURN and not steps:
        yield "a multi_turn row expects no call"
    if task.kind == TaskKind.ABSTENTION and steps:
        yield "an abstention row expects calls"
    if task.kind != TaskKind.CLARIFICATION and task.notes.get("missing"):
        yield f"notes.missing is {task.notes['missing']}, but a row of kind {task.kind} lacks no tool"
    if task.servers and not task.digest:
        yield "the row has no digest of the final state"
    today = start_time(task.seed).date().isoformat()
    if task.servers and today not in task.system:
        yield f"the system message does not name the reference date {today}"
    if task.kind == TaskKind.CLARIFICATION and task.notes.get("missing") in (None, *offered):
        yield (
            f"the missing tool {task.notes.get('missing')} is on offer"
            if task.notes.get("missing")
            else "no tool misses"
        )


def _untraced(task: Task) -> Iterator[str]:
    """Argument values whose noted source does not have them, or that have none; nothing where none were noted."""
    if "sources" not in task.notes:
        return
    noted = {(step, path): source for step, path, source in sources(task)}
    today, steps = start_time(task.seed).date(), task.ground_truth.steps
    told: Any = task.notes["sources"]
    if len(told) != len(steps):
        yield f"notes.sources has {len(told)} entries for {len(steps)} steps"
    for index, step in enumerate(steps):
        for path, value in _leaves(step.arguments):
            source = noted.pop((index, path), None)
            if source is None or not _holds(task, index, value, source, today):
                yield f"step {index} ({step.name}): {path}={canonical_json(value)} does not come from {source}"
    for index, path in sorted(noted):
        yield f"step {index} has no value {path}, whose source is noted"


def _leaves(value: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Every value with its dotted path; a reference is one value, null is none."""
    items: Iterable[tuple[Any, Json]] = ()
    if isinstance(value, dict) and "$result" not in value:
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    elif value is not None:
        yield path, value
    for key, item in items:
        yield from _leaves(item, f"{path}.{key}" if path else str(key))


def _holds(task: Task, index: int, value: Any, source: Any, today: date) -> bool:
    try:
        return _traces(task, index, value, source, today)
    except (
        AttributeError,
        IndexError,
        KeyError,
        TypeError,
        ValueError,
    ):  # a source of another form, an unknown operation
        return False


def _traces(task: Task, index: int, value: Any, source: dict[str, Any], today: date) -> bool:
    steps, kind = task.ground_truth.steps, source["from"]
    if kind == "turn":
        number = source["turn"]
        return 0 <= number <= steps[index].turn and is_said(value, task.turns[number], today)
    if kind == "result":
        if isinstance(value, dict):
            return value["$result"] == {"step": source["step"], "field": source["field"]} and source["step"] < index
        return source["step"] < index and _told(steps[source["step"]].returned, source["field"], value)
    if kind == "date":
        return value == today.isoformat()
    if kind != "derived":
        return False
    if "base" not in source:
        return bool(source["of"])
    base = source["base"]
    return derive(source["operation"], base) == value and all(
        _traces(task, index, base, of, today) for of in source["of"]
    )


def _told(returned: Json, field: str, value: Json) -> bool:
    try:
        return json_equal(follow(returned, field), value)
    except KeyError:
        return False


def _replayed(task: Task, episode: Episode) -> Iterator[str]:
    if episode.stop != StopReason.COMPLETED:
        yield f"the replay ended with {episode.stop}: {episode.error}"
    for index, (step, record) in enumerate(zip(task.ground_truth.steps, episode.calls, strict=False)):
        if not record.result.ok:
            yield f"step {index} ({step.name}) is refused: {record.result.message}"
            return  # what follows rests on it
        for path, was, now in islice(_changes(step.returned, record.result.content), 3):
            yield f"step {index} ({step.name}): {path or 'the result'} was {was}, is {now}"
    if task.digest and task.digest != episode.digest:
        yield f"the final state differs: digest {episode.digest}, in the row {task.digest}"


def _changes(was: Json, now: Json, path: str = "") -> Iterator[tuple[str, str, str]]:
    """(path, before, after) of every place in which two JSON values differ."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*was, *now]):
            yield from _changes(was.get(key), now.get(key), f"{path}.{key}" if path else key)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for place, (before, after) in enumerate(zip(was, now, strict=True)):
            yield from _changes(before, after, f"{path}.{place}" if path else str(place))
    elif not json_equal(was, now):
        yield path, canonical_json(was)[:80], canonical_json(now)[:80]


def _otherwise(row: Mapping[str, Any], task: Task) -> Iterator[str]:
    """Columns beside `task` that say something else."""
    for name, value in task_row(task).items():
        if name != "task" and name in row and row[name] != value:
            yield f"column {name} is {str(row[name])[:80]}, but the task has {str(value)[:80]}"


def check(rows: list[tuple[int, dict[str, Any]]]) -> list[Verdict]:
    """The verdicts on some rows, given by number."""
    verdicts = []
    for number, row in rows:
        try:
            task = task_from_json(row["task"])
        except ValueError as error:
            verdicts.append((number, "", [f"unreadable: {brief(error)}"]))
            continue
        verdicts.append((number, task.id, [*_otherwise(row, task), *differences(task)]))
    return verdicts


def verify(rows: Iterable[dict[str, Any]], workers: int = 1) -> Iterator[Verdict]:
    """A verdict on every row, in order, made in this many processes with some rows in memory at a time.

    Raises ProcessesDied when these are killed again and again.
    """
    numbered = enumerate(rows)
    chunks = iter(lambda: list(islice(numbered, _CHUNK)), [])
    first: dict[str, int] = {}  # row of every id
    with Processes(workers) if workers > 1 else nullcontext() as pool:
        for verdicts in pool.map(check, chunks) if pool else map(check, chunks):
            for number, name, found in verdicts:
                earlier = first.setdefault(name, number) if name else number
                yield number, name, found + [f"row {earlier} has the same id"] * (earlier != number)
