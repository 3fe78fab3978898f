"""What evaluations found: every figure with its interval, before and after, beside what doing nothing gets."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from experiments.cache import Entry
from experiments.evaluations import output
from proverl.evals.benchmark import Benchmark, benchmark, benchmark_class
from proverl.evals.evaluation import ABOUT, UNSCORABLE, read_failures
from proverl.evals.figures import figure_rows, figure_table

if TYPE_CHECKING:
    from proverl.evals import Record


def evaluated(outputs: Mapping[str, Entry]) -> "Iterator[Evaluated]":
    """The evaluations among a job's outputs, one for each benchmark."""
    for name, entry in outputs.items():
        when, _, of = name.partition("-")
        if when == "before" and of:
            after = outputs.get(output("after", of))
            yield Evaluated(entry.directory, after.directory if after else None)


@dataclass(frozen=True)
class Evaluated:
    """One benchmark: the folder of its evaluation and, where something was trained, of the one after it."""

    before: Path
    after: Path | None = None

    @cached_property
    def about(self) -> dict[str, Any]:
        """Who was evaluated, and how."""
        found: dict[str, Any] = json.loads((self.before / ABOUT).read_text())
        return found

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return str(self.about["benchmark"])

    @cached_property
    def benchmark(self) -> Benchmark:
        """The benchmark with the settings that it had."""
        return benchmark(self.name, self.about["settings"])

    @cached_property
    def records(self) -> "tuple[list[Record], list[Record]]":
        """Records before and after; none of what failed in either, since differences are between the same items."""
        from proverl.evals import read_records

        first = read_records(self.before)
        second = read_records(self.after) if self.after else []
        if second:
            both = {(one.item, one.trial) for one in first} & {(one.item, one.trial) for one in second}
            first, second = ([one for one in kept if (one.item, one.trial) in both] for kept in (first, second))
        return first, second

    def rows(self) -> list[dict[str, Any]]:
        """Every figure over all items, and the headline in every stratum, as JSON."""
        return figure_rows(self.benchmark, *self.records)

    def notes(self) -> list[str]:
        """What a reader must know: failures, what could not be scored, and the benchmark's own remarks."""
        told = []
        for when, folder, records in (("before", self.before, 0), ("after", self.after, 1)):
            if folder is None:
                continue
            if failures := read_failures(folder):
                told.append(f"{len(failures)} attempts failed ({when}) and are left out, such as {failures[0].reason}.")
            if odd := sum(record.detail.startswith(UNSCORABLE) for record in self.records[records]):
                told.append(f"{odd} answers ({when}) could not be scored and count as the floor.")
            if cut := sum(record.truncated for record in self.records[records]):
                told.append(f"{cut} attempts ({when}) ran out of tokens.")
        return told + self.benchmark.notes(self.records[1] or self.records[0])

    def cost(self) -> dict[str, float]:
        """Tokens read and written, calls, seconds of all attempts, and dollars at the policy's prices."""
        kept = [record for records in self.records for record in records]
        policy = self.about["policy"]
        read, written = sum(one.prompt_tokens for one in kept), sum(one.completion_tokens for one in kept)
        dollars = read * policy["dollars_per_million_prompt"] + written * policy["dollars_per_million_completion"]
        return {
            "prompt_tokens": read,
            "completion_tokens": written,
            "calls": sum(one.calls for one in kept),
            "seconds": sum(one.seconds for one in kept),
            "dollars": dollars / 1e6,
        }

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return {**self.about, "figures": self.rows(), "notes": self.notes(), "cost": self.cost()}


def tables(found: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """One table for each evaluation but that of the held-out tasks, which has its own."""
    for one in found:
        if one["benchmark"] != "heldout" or not any("after" in row for row in one["figures"]):
            title = f"{one['benchmark']} ({one['version']}), {_who(one)}"
            headline = benchmark_class(one["benchmark"]).headline
            yield figure_table(title, one["figures"], headline, [*one["notes"], _cost(one["cost"])])


def _cost(cost: Mapping[str, float]) -> str:
    price = f", ${cost['dollars']:.2f}" if cost["dollars"] else ""
    return (
        f"{cost['prompt_tokens']:,.0f} tokens read and {cost['completion_tokens']:,.0f} written, "
        f"{cost['calls']:,.0f} calls{price}."
    )


def _who(found: Mapping[str, Any]) -> str:
    policy = found["policy"]
    if policy["kind"] == "endpoint":
        return f"{policy['model']}, temperature {policy['temperature']:g}"
    if policy["kind"] == "model":
        return f"{found['model']['name']}, temperature {policy['temperature']:g}"
    return f"the {policy['kind']} policy"
