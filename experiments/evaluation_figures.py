"""What evaluations found: every figure with its interval, before and after, beside what doing nothing gets."""

import json
import math
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

if TYPE_CHECKING:
    from proverl.evals import Record

ALL = "all"


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
        first, _ = self.records
        names = dict.fromkeys(name for record in first for name in record.figures)
        rows = [self._row(name) for name in names]
        headline = self.benchmark.headline
        for by in dict.fromkeys(key for record in first for key in record.strata):
            for value in dict.fromkeys(record.strata[by] for record in first if by in record.strata):
                rows.append(self._row(headline, by, value))
        return [row for row in rows if row]

    def _row(self, figure: str, by: str = ALL, stratum: str = ALL) -> dict[str, Any]:
        from proverl.evals import compare, summarize
        from proverl.evals.statistics import floor

        first, second = ([one for one in kept if by == ALL or one.strata.get(by) == stratum] for kept in self.records)
        macro = [key for key in self.benchmark.macro if key != by]
        share = figure in self.benchmark.shares
        found = summarize(first, figure, macro, share)
        if found is None:
            return {}
        row: dict[str, Any] = {"metric": figure, "by": by, "stratum": stratum, "episodes": len(first)}
        row |= {"before": found.mean, "before_low": _plain(found.low), "before_high": _plain(found.high)}
        row |= {"items": found.n, "floor": floor(first, figure, macro)}
        compared = compare(first, second, figure, macro, share) if second else None
        if compared:
            difference = compared.difference
            row |= {"after": compared.after, "difference": difference.mean, "p": compared.p}
            row |= {"low": _plain(difference.low), "high": _plain(difference.high), "noise": not compared.clear}
        return row

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
            yield _table(one)


_READ = "In brackets: 95% intervals. Nothing: what doing nothing gets."


def _table(found: Mapping[str, Any]) -> Table:
    trained = any("after" in row for row in found["figures"])
    headline = benchmark_class(found["benchmark"]).headline
    shown = Table(
        title=f"{found['benchmark']} ({found['version']}), {_who(found)}",
        caption="\n".join([f"{_READ} The first row stands for the benchmark.", *found["notes"], _cost(found["cost"])]),
        title_justify="left",
        caption_justify="left",
    )
    headings = ["", "items", "nothing", "before" if trained else "figure"]
    for heading in [*headings, *(["after", "difference"] if trained else [])]:
        shown.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for row in found["figures"]:
        if row["by"] == ALL or row["metric"] == headline:
            name = row["metric"].replace("_", " ") if row["by"] == ALL else f"  {row['by']} {row['stratum']}"
            style = "bold" if row["by"] == ALL and row["metric"] == headline else None
            shown.add_row(name, *_cells(row, trained), style=style)
    return shown


def _cells(row: Mapping[str, Any], trained: bool) -> Iterator[str]:
    yield str(row["items"])
    yield "" if row["floor"] is None else f"{row['floor']:.3f}"
    yield _with_interval(f"{row['before']:.3f}", row["before_low"], row["before_high"], "")
    if trained and "after" in row:
        yield f"{row['after']:.3f}"
        noise = " noise" if row["noise"] else ""
        yield _with_interval(f"{row['difference']:+.3f}", row["low"], row["high"], "+") + noise


def _cost(cost: Mapping[str, float]) -> str:
    price = f", ${cost['dollars']:.2f}" if cost["dollars"] else ""
    return (
        f"{cost['prompt_tokens']:,.0f} tokens read and {cost['completion_tokens']:,.0f} written, "
        f"{cost['calls']:,.0f} calls{price}."
    )


def _with_interval(text: str, low: float | None, high: float | None, sign: str) -> str:
    if low is None or high is None:
        return text
    return f"{text} \\[{low:{sign}.3f}, {high:{sign}.3f}]"


def _who(found: Mapping[str, Any]) -> str:
    policy = found["policy"]
    if policy["kind"] == "endpoint":
        return f"{policy['model']}, temperature {policy['temperature']:g}"
    if policy["kind"] == "model":
        return f"{found['model']['name']}, temperature {policy['temperature']:g}"
    return f"the {policy['kind']} policy"


def _plain(value: float) -> float | None:
    """JSON knows no NaN."""
    return None if math.isnan(value) else value
