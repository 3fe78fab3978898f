"""Whether the rows of a dataset still hold: every one is performed again on the servers that are installed.

A row holds when its kind's rules do, every argument value traces to its noted source, all calls succeed and return what
the row says, and the final state has the row's digest (paper, Synthesis 5).
"""

import asyncio
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import islice
from typing import Any

from proverl.agent import Limits, OraclePolicy, run_episode
from proverl.core import Episode, Json, StopReason, Task, TaskKind, canonical_json, follow, json_equal, task_from_json
from proverl.envs import Session, start_time
from proverl.synth.chains.spoken import derive, is_said
from proverl.synth.data.figures import sources
from proverl.synth.processes import Processes

# nothing is cut short: whether a row fits a model's limits was decided when it was made
_LIMITS = Limits(user_turns=10_000, assistant_turns=10_000, calls=10_000, tool_output_tokens=10**9)
_CHUNK = 32
Verdict = tuple[int, str, list[str]]  # row number, id, what differs


def differences(task: Task) -> list[str]:
    """Everything in which a row does not hold; empty when it does."""
    found = [*_shape(task), *_untraced(task)]
    try:
        with Session(task.servers, task.seed) as session:
            known = {tool.name for tool in session.tools}
            foreign = [tool.name for tool in task.tools if task.servers and tool.name not in known]
            # one call a message, in the order in which the row was made
            chat = OraclePolicy(parallel=False).chat(task, _LIMITS)
            episode = asyncio.run(run_episode(task, session, chat, _LIMITS))
    except ValueError as error:
        return [*found, str(error)]
    return [*found, *(f"no server has the tool {name} on offer" for name in foreign), *_replayed(task, episode)]


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
    today = start_time(task.seed).date()
    for index, step in enumerate(task.ground_truth.steps):
        for path, value in _leaves(step.arguments):
            source = noted.get((index, path))
            if source is None or not _holds(task, index, value, source, today):
                yield f"step {index} ({step.name}): {path}={canonical_json(value)} does not come from {source}"


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
        yield f"the final state differs: digest {episode.digest[:12]}, in the row {task.digest[:12]}"


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


def check(rows: list[tuple[int, str]]) -> list[Verdict]:
    """The verdicts on some rows, given as (number, JSON)."""
    verdicts = []
    for number, text in rows:
        try:
            task = task_from_json(text)
        except ValueError as error:
            verdicts.append((number, "", [f"unreadable: {error}"]))
            continue
        verdicts.append((number, task.id, differences(task)))
    return verdicts


def verify(texts: Iterable[str], workers: int = 1) -> Iterator[Verdict]:
    """A verdict on every row, in order, made in this many processes with a few rows in memory at a time."""
    numbered = enumerate(texts)
    chunks = iter(lambda: list(islice(numbered, _CHUNK)), [])
    if workers == 1:
        for chunk in chunks:
            yield from check(chunk)
        return
    with Processes(workers) as pool:
        for verdicts in pool.map(check, chunks):
            yield from verdicts
