"""A benchmark's figures as rows and as a table: with intervals and what doing nothing gets, of one evaluation or two.

Two evaluations are of the same items; which is first and which second is the caller's: before and after training, or
another evaluation and this one.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table

from proverl.evals.benchmark import Benchmark
from proverl.evals.record import Record
from proverl.evals.statistics import compare, floor, summarize

ALL = "all"
_READ = "In brackets: 95% intervals. Nothing: what doing nothing gets. The first row in bold stands for the benchmark."


def figure_rows(found: Benchmark, first: Sequence[Record], second: Sequence[Record] = ()) -> list[dict[str, Any]]:
    """Every figure over all items, and the headline in every stratum, as JSON.

    A row has the figures of `first` as `before` and, where there is a second evaluation, `after` and the `difference`
    with `low`, `high`, `p` and whether it is `noise`. Raises ValueError when the two are not of the same attempts.
    """
    rows = [_row(found, first, second, name) for name in dict.fromkeys(name for one in first for name in one.figures)]
    for by in dict.fromkeys(key for record in first for key in record.strata):
        for value in dict.fromkeys(record.strata[by] for record in first if by in record.strata):
            rows.append(_row(found, first, second, found.headline, by, value))
    return [row for row in rows if row]


def figure_table(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    headline: str,
    notes: Sequence[str] = (),
    names: tuple[str, str] = ("before", "after"),
) -> Table:
    """The rows of `figure_rows` for reading; `names` are the headings of the two evaluations."""
    two = any("after" in row for row in rows)
    shown = Table(title=title, caption="\n".join([_READ, *notes]), title_justify="left", caption_justify="left")
    for heading in ["", "items", "nothing", *([*names, "difference", "p"] if two else ["figure"])]:
        shown.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for row in rows:
        name = row["metric"].replace("_", " ") if row["by"] == ALL else f"  {row['by']} {row['stratum']}"
        style = "bold" if row["by"] == ALL and row["metric"] == headline else None
        shown.add_row(name, *_cells(row, two), style=style)
    return shown


def _row(
    found: Benchmark, first: Sequence[Record], second: Sequence[Record], figure: str, by: str = ALL, stratum: str = ALL
) -> dict[str, Any]:
    if by != ALL:
        first, second = ([one for one in kept if one.strata.get(by) == stratum] for kept in (first, second))
    macro, share = [key for key in found.macro if key != by], figure in found.shares
    mean = summarize(first, figure, macro, share)
    if mean is None:
        return {}
    row: dict[str, Any] = {"metric": figure, "by": by, "stratum": stratum, "episodes": len(first)}
    row |= {"before": mean.mean, "before_low": _plain(mean.low), "before_high": _plain(mean.high)}
    # figures may differ from answer to answer, and so may those of silence
    row |= {"items": mean.n, "floor": floor(first, figure, macro)}
    compared = compare(first, second, figure, macro, share) if second else None
    if compared:
        difference = compared.difference
        row |= {"after": compared.after, "difference": difference.mean, "p": compared.p}
        row |= {"low": _plain(difference.low), "high": _plain(difference.high), "noise": not compared.clear}
    return row


def _cells(row: Mapping[str, Any], two: bool) -> Iterator[str]:
    yield str(row["items"])
    yield "" if row["floor"] is None else f"{row['floor']:.3f}"
    yield _with_interval(f"{row['before']:.3f}", row["before_low"], row["before_high"], "")
    if two and "after" in row:
        yield f"{row['after']:.3f}"
        noise = " noise" if row["noise"] else ""
        yield _with_interval(f"{row['difference']:+.3f}", row["low"], row["high"], "+") + noise
        yield "" if row["p"] is None else f"{row['p']:.3f}"


def _with_interval(text: str, low: float | None, high: float | None, sign: str) -> str:
    if low is None or high is None:
        return text
    return f"{text} \\[{low:{sign}.3f}, {high:{sign}.3f}]"


def _plain(value: float) -> float | None:
    """JSON knows no NaN."""
    return None if math.isnan(value) else value
