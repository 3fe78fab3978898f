"""The tasks that two variants did most differently, as conversations side by side."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any

from experiments.attempts import Attempts, read_attempts, rewarded_as
from experiments.comparison.findings import Findings, Table, Variant
from experiments.comparison.words import where
from experiments.episodes import message_text
from proverl.core import call_text
from proverl.evals import Record

PER_VARIANT = 3


@dataclass(frozen=True)
class Side:
    """One variant's attempt."""

    variant: str
    record: Record

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What was said, called and returned, in order: `role` and `text`, or `call`, `result`, and if it `failed`."""
        return list(_messages(self.record.messages))


@dataclass(frozen=True)
class Changed:
    """An item of one seed; `change` is in the figure `by`, second minus first."""

    item: str
    seed: int
    strata: dict[str, str]
    expected: list[str] | None  # the calls, of a held-out task
    by: str
    change: float
    first: Side
    second: Side


def changed(found: Findings) -> Iterator[tuple[str, list[Changed]]]:
    """For each variant and benchmark, the attempts that changed most against those of the reference."""
    for table in found.tables:
        for row in table.rows:
            if row.variant != table.reference and not row.note:
                most = nlargest(PER_VARIANT, _pairs(table, row.variant), key=lambda one: abs(one.change))
                kept = [one for one in most if one.change]
                if kept:
                    yield f"{row.variant.name} against {table.reference.name}, {where(table)}", kept


def _pairs(table: Table, variant: Variant) -> Iterator[Changed]:
    for seed in variant.runs.keys() & table.reference.runs.keys():
        ours, theirs = (_attempts(one, table.benchmark, seed) for one in (variant, table.reference))
        if not ours or not theirs:
            continue
        ours = rewarded_as(ours, theirs.about.get("reward"))
        known = {(record.item, record.trial): record for record in theirs.records}
        for record in ours.records:
            first = known.get((record.item, record.trial))
            if first is not None:
                yield _changed(table, variant, seed, first, record)


def _attempts(variant: Variant, benchmark: str, seed: int) -> Attempts | None:
    files = variant.runs[seed].evaluations
    path = files.get(f"after-{benchmark}") or files.get(f"before-{benchmark}")
    return read_attempts(path, conversations=True) if path else None


def _changed(table: Table, variant: Variant, seed: int, first: Record, second: Record) -> Changed:
    by = "total" if "total" in first.figures and "total" in second.figures else table.headline
    expected: Any = first.answer
    return Changed(
        item=first.item.partition(" ")[0] if expected is not None else first.item,
        seed=seed,
        strata=first.strata,
        expected=None if expected is None else [call_text(name, arguments) for name, arguments in expected],
        by=by,
        change=second.figures[by] - first.figures[by],
        first=Side(table.reference.name, first),
        second=Side(variant.name, second),
    )


def _messages(messages: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    calls = {call.get("id") for message in messages for call in message.get("tool_calls") or ()}
    results = {one.get("tool_call_id"): message_text(one.get("content")) for one in messages if one["role"] == "tool"}
    for message in messages:
        if message.get("tool_call_id") in calls:
            continue  # shown with its call
        if text := message_text(message.get("content")):
            yield {"role": message["role"], "text": text}
        for call in message.get("tool_calls") or ():
            result = results.get(call.get("id"), "")
            yield {"call": _call(call["function"]), "result": result, "failed": result.startswith('{"error"')}


def _call(function: dict[str, Any]) -> str:
    arguments = function["arguments"]
    if function["name"] == "malformed_call":
        return str(arguments["text"])
    return call_text(function["name"], json.loads(arguments) if isinstance(arguments, str) else arguments)
