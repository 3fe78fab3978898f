"""Means and paired differences with 95% intervals.

Intervals are Student's t intervals over tasks: episodes of the same task are averaged first, because they are no
independent evidence. Differences are taken task by task, which removes how hard the tasks are.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from scipy.special import stdtrit

from proverl.evals.heldout_record import EvaluationRecord, by_episode


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95% interval over `n` independent tasks."""

    mean: float
    low: float
    high: float
    n: int


def mean_interval(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> Interval:
    """Return the mean of cluster means with a t interval; without `clusters` every value is its own.

    Raises ValueError when there are fewer than two clusters or lengths differ.
    """
    means = _cluster_means(values, range(len(values)) if clusters is None else clusters)
    if len(means) < 2:
        raise ValueError(f"an interval needs at least two tasks, got {len(means)}")
    mean = fmean(means)
    half = float(stdtrit(len(means) - 1, 0.975)) * stdev(means) / math.sqrt(len(means))
    return Interval(mean, mean - half, mean + half, len(means))


def paired_difference(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[Hashable] | None = None
) -> Interval:
    """Return the mean of second minus first, pair by pair, with a t interval. Raises ValueError as `mean_interval`."""
    if len(first) != len(second):
        raise ValueError(f"paired values must be equally many, got {len(first)} and {len(second)}")
    return mean_interval([after - before for before, after in zip(first, second, strict=True)], clusters)


def compare(first: Sequence[EvaluationRecord], second: Sequence[EvaluationRecord], figure: str) -> Interval:
    """Return the paired difference of one of `EvaluationRecord.figures` over two evaluations of the same tasks.

    Raises ValueError when the two are not of the same tasks and repeats.
    """
    before, after = by_episode(first), by_episode(second)
    if before.keys() != after.keys():
        odd = sorted(before.keys() ^ after.keys())
        raise ValueError(f"the evaluations differ in {len(odd)} episodes, the first being (task, repeat) {odd[0]}")
    keys = sorted(before)
    return paired_difference(
        [before[key].figures()[figure] for key in keys],
        [after[key].figures()[figure] for key in keys],
        [task for task, _ in keys],
    )


def _cluster_means(values: Sequence[float], clusters: Sequence[Hashable]) -> list[float]:
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for value, cluster in zip(values, clusters, strict=True):
        groups[cluster].append(value)
    return [fmean(group) for group in groups.values()]
