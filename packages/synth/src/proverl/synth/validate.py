"""Validation of finished rows (paper, Synthesis 5): replay on a fresh session, sources of every value, near-duplicates.

Nothing here knows how a row was made, so rows of any origin pass the same checks.
"""

from collections.abc import Iterable, Mapping
from datetime import date
from hashlib import blake2b
from typing import Any

from proverl.agent import Limits, OraclePolicy, run_episode
from proverl.core import CallRecord, Episode, Json, StopReason, Task, canonical_json, follow
from proverl.envs import start_time
from proverl.synth.chains.spoken import derive, is_said
from proverl.synth.reasons import Reason, Unproven
from proverl.synth.session import fresh_session


async def replay(task: Task, limits: Limits) -> Episode:
    """Let the oracle perform the task on a fresh session.

    Raises Unproven unless all calls succeed within the limits, return what the task says, and end in its state.
    """
    with fresh_session(task.servers, task.seed) as session:
        episode = await run_episode(task, session, OraclePolicy().chat(task, limits), limits)
    if episode.stop != StopReason.COMPLETED:
        raise Unproven(Reason.LIMITS, f"the oracle's episode ended with {episode.stop} {episode.error}")
    for record in episode.calls:
        if not record.result.ok:
            raise Unproven(Reason.REPLAY, f"{record.call} is refused: {record.result.message}")
    if task.digest and episode.digest != task.digest:
        raise Unproven(Reason.REPLAY, "the final state is not the one of the row")
    _check_results(task, episode)
    return episode


def _check_results(task: Task, episode: Episode) -> None:
    """Raise Unproven unless each step returned what the row says; parallel calls may come in another order."""
    wanted = sorted(canonical_json([step.name, step.returned]) for step in task.ground_truth.steps)
    got = sorted(canonical_json([record.call.name, record.result.content]) for record in episode.calls)  # type: ignore[union-attr]
    if wanted != got:
        different = next((pair for pair in zip(wanted, got, strict=False) if pair[0] != pair[1]), ("", ""))
        raise Unproven(Reason.REPLAY, f"expected {different[0][:200]}, got {different[1][:200]}")


def check_sources(task: Task) -> None:
    """Raise Unproven unless every ground-truth value is said by its turn, returned earlier, or derived from one."""
    noted: Any = task.notes.get("sources", [])
    today = start_time(task.seed).date()
    for index, step in enumerate(task.ground_truth.steps):
        sources: Mapping[str, Any] = noted[index] if index < len(noted) else {}
        for path, value in _leaves(step.arguments):
            source = sources.get(path)
            if source is None or not _holds(source, value, task, index, today):
                told = f"{value!r}, {path} of step {index} ({step.name})"
                raise Unproven(Reason.UNTRACED, f"nobody said {told}" if source is None else f"{source} is not {told}")


def _holds(source: Mapping[str, Any], value: Json, task: Task, index: int, today: date) -> bool:
    """Whether a value is what its source says, at the time of step `index`."""
    steps = task.ground_truth.steps
    match source:
        case {"from": "turn", "turn": int(turn)}:
            return turn <= steps[index].turn and is_said(value, task.turns[turn], today)
        case {"from": "date"}:
            return value == today.isoformat()
        case {"from": "result", "step": int(step), "field": str(path)}:
            if isinstance(value, dict):
                return step < index and value == {"$result": {"step": step, "field": path}}
            return step < index and follow(steps[step].returned, path) == value
        case {"from": "derived", "operation": str(operation), "of": [of], "base": base}:
            return derive(operation, base) == value and _holds(of, base, task, index, today)
    return False


def _leaves(value: Any, path: str = "") -> Iterable[tuple[str, Json]]:
    """Every value inside arguments with its dotted path; a reference is one value. Null needs no source."""
    if isinstance(value, dict) and "$result" not in value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _leaves(item, f"{path}.{place}")
    elif value is not None:
        yield path, value


def signature(task: Task, calls: Iterable[CallRecord]) -> frozenset[int]:
    """The call sequence as a set of hashes of (name, arguments); without calls, of the first user turn."""
    texts = [canonical_json([record.call.name, record.call.arguments]) for record in calls]  # type: ignore[union-attr]
    return frozenset(
        int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) for text in texts or [task.turns[0]]
    )


class Deduplicator:
    """Keeps signatures whose Jaccard similarity to every kept one is below a threshold (paper, Synthesis 5)."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._kept: dict[int, list[frozenset[int]]] = {}  # by member, so that only overlapping ones are compared

    def is_new(self, signature: frozenset[int]) -> bool:
        """Whether it differs enough; if so, it is kept from now on."""
        near = [kept for member in signature for kept in self._kept.get(member, ())]
        if any(len(signature & kept) / len(signature | kept) >= self._threshold for kept in near):
            return False
        for member in signature:
            self._kept.setdefault(member, []).append(signature)
        return True
