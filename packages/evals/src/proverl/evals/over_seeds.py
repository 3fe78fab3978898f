"""Figures and differences over several seeds, and several tests at once.

A claim about a method is about seeds and items that were not run. Items alone say how sure a difference between these
trained models is; seeds alone, where all are evaluated on the same items, say nothing of other items. So both intervals
are computed and the wider one counts, and the larger of both p-values: the null hypothesis "no difference over seeds or
none over items" is rejected only where each part is (intersection-union test; Berger 1982, Technometrics 24, 295-300).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, stdev

from scipy.special import stdtr

from proverl.evals.record import Record
from proverl.evals.statistics import Comparison, Interval, compare, mean_interval, summarize

Pair = tuple[Sequence[Record], Sequence[Record]]


def summarize_over_seeds(
    evaluations: Sequence[Sequence[Record]], figure: str, macro: Sequence[str] = (), share: bool = False
) -> Interval | None:
    """The mean of a figure over the evaluations of several seeds; None when none has it.

    Items of one id are one cluster, in whatever seeds they are. With one seed it is `summarize`.
    """
    found = [summary for records in evaluations if (summary := summarize(records, figure, macro, share))]
    items = summarize(_pooled(evaluations), figure, macro, share)
    if items is None or len(found) < 2:
        return items
    interval = _wider(mean_interval([one.mean for one in found]), items)
    # of a few seeds the t interval knows no bounds, a share does
    return replace(interval, low=max(0.0, interval.low), high=min(1.0, interval.high)) if share else interval


def compare_over_seeds(
    pairs: Sequence[Pair], figure: str, macro: Sequence[str] = (), share: bool = False
) -> Comparison | None:
    """Second minus first over several seeds, each pair being of one seed and of the same items; None when none has it.

    With one seed it is `compare`. Raises ValueError as `compare` does.
    """
    found = [tuple(summarize(records, figure, macro, share) for records in pair) for pair in pairs]
    means = [(one.mean, other.mean) for one, other in found if one and other]
    items = compare(_pooled([one for one, _ in pairs]), _pooled([other for _, other in pairs]), figure, macro, share)
    if items is None or len(means) < 2:
        return items
    differences = [after - before for before, after in means]
    return Comparison(
        before=fmean(before for before, _ in means),
        after=fmean(after for _, after in means),
        difference=_wider(mean_interval(differences), items.difference),
        p=max(_t_test(differences), items.p or 0.0),
    )


def holm(values: Sequence[float]) -> list[float]:
    """The p-values of several tests, corrected so that all of them hold at once (Holm 1979)."""
    adjusted, largest = [0.0] * len(values), 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = largest
    return adjusted


def _pooled(evaluations: Sequence[Sequence[Record]]) -> list[Record]:
    """All records, those of another seed as other trials."""
    return [
        replace(record, trial=record.trial * len(evaluations) + number)
        for number, records in enumerate(evaluations)
        for record in records
    ]


def _wider(seeds: Interval, items: Interval) -> Interval:
    known = [one for one in (seeds, items) if not math.isnan(one.low)]
    return Interval(seeds.mean, min(one.low for one in known), max(one.high for one in known), items.n)


def _t_test(differences: Sequence[float]) -> float:
    """The two-sided p-value of Student's test that their mean is 0."""
    mean, spread = fmean(differences), stdev(differences)
    if not spread:
        return 0.0 if mean else 1.0
    return float(2 * stdtr(len(differences) - 1, -abs(mean) * math.sqrt(len(differences)) / spread))
