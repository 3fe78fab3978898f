"""Validation (paper, Synthesis 5): replay on a fresh session, sources of every value, near-duplicates."""

import re
from collections.abc import Iterator
from typing import Any

from proverl.agent import Limits, OraclePolicy, run_episode
from proverl.core import CallRecord, Episode, Json, StopReason, Task, canonical_json, find_references
from proverl.envs import Session
from proverl.synth.values import say


class Unproven(ValueError):
    """A task that failed validation; the message says which check and where."""


async def replay(task: Task, limits: Limits) -> Episode:
    """Let the oracle perform the task on a fresh session. Raises Unproven unless all calls succeed within limits."""
    with Session(task.servers, task.seed) as session:
        episode = await run_episode(task, session, OraclePolicy().chat(task, limits), limits)
    if episode.stop != StopReason.COMPLETED:
        raise Unproven(f"{task.id}: the oracle's episode ended with {episode.stop} {episode.error}")
    for record in episode.calls:
        if not record.result.ok:
            raise Unproven(f"{task.id}: {record.call} is refused: {record.result.message}")
    return episode


def check_effect(task: Task, episode: Episode) -> None:
    """Raise Unproven when the expected calls only undo each other: then doing nothing would look like success."""
    reads = {tool.name for tool in task.tools if tool.read_only}
    if task.ground_truth.steps and not any(step.name in reads for step in task.ground_truth.steps):
        with Session(task.servers, task.seed) as session:
            if session.digest() == episode.digest:
                raise Unproven(f"{task.id}: the calls leave the state as it was")


def check_sources(task: Task, episode: Episode) -> None:
    """Raise Unproven unless every argument value was said by the user by then, or returned by an earlier call.

    A reference traces to a result by itself and must point to an earlier step; a literal must be in a user turn up to
    the step's own, or be the reference date.
    """
    for index, step in enumerate(task.ground_truth.steps):
        said = " ".join([task.system, *task.turns[: step.turn + 1]]).casefold()
        for source, _ in find_references(step.arguments):
            if source >= index:
                raise Unproven(f"{task.id}: step {index} refers to step {source}, which is not earlier")
        for value in _literals(step.arguments):
            if not any(_contains(said, text) for text in _spellings(value)):
                raise Unproven(f"{task.id}: nobody said {value!r}, an argument of step {index} ({step.name})")


def _literals(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        if "$result" not in value:
            for item in value.values():
                yield from _literals(item)
    elif isinstance(value, list):
        for item in value:
            yield from _literals(item)
    else:
        yield value


def _spellings(value: Json) -> set[str]:
    spoken = {say(value, quoted=False).casefold()}
    if isinstance(value, bool):
        spoken |= {"on", "yes", "enable", "turn on"} if value else {"off", "no", "disable", "turn off"}
    if isinstance(value, str):
        spoken.add(value.replace("_", " ").casefold())
    return spoken


def _contains(text: str, part: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def _signatures(calls: list[CallRecord]) -> set[str]:
    return {canonical_json([record.call.name, record.call.arguments]) for record in calls}  # type: ignore[union-attr]


class Deduplicator:
    """Keeps call sequences whose Jaccard similarity to every kept one is below a threshold.

    Sequences without calls are compared by their first user turn instead.
    """

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._kept: dict[str, list[set[str]]] = {}  # by signature, so that only overlapping sequences are compared
        self._texts: set[str] = set()

    def is_new(self, task: Task, episode: Episode) -> bool:
        """Whether the task differs enough; if so, it is kept from now on."""
        signatures = _signatures(episode.calls)
        if not signatures:
            new = task.turns[0] not in self._texts
            self._texts.add(task.turns[0])
            return new
        near = [kept for signature in signatures for kept in self._kept.get(signature, ())]
        if any(len(signatures & kept) / len(signatures | kept) >= self._threshold for kept in near):
            return False
        for signature in signatures:
            self._kept.setdefault(signature, []).append(signatures)
        return True
