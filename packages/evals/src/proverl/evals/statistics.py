"""Means and differences with 95% intervals, and a paired test.

Attempts at the same item are averaged first, because they are no independent evidence: an item is one cluster. Where a
benchmark's figure is an unweighted mean over strata (categories, domains), so is ours, and its interval adds up the
strata's variances (stratified sampling; Cochran, Sampling Techniques, 3rd ed. 1977, 5.9), with the degrees of freedom
of Welch and Satterthwaite.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Any

from scipy.special import stdtrit

from proverl.evals.record import Record, by_attempt

_DRAWS = 9_999  # of a permutation test
LEVEL = 0.05  # of every test


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95% interval over `n` independent items; a single item has none (NaN)."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def clear(self) -> bool:
        """Whether 0 is outside: for a difference, that it is more than noise."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of a figure between two evaluations; `p` is of a paired permutation test, None when unpaired."""

    before: float
    after: float
    difference: Interval
    p: float | None

    @property
    def clear(self) -> bool:
        """Whether the difference is more than noise, by its interval and by the test.

        Of a few items the interval alone says too much: where three of three are better it is a point, and p is 0.25.
        """
        return self.difference.clear and (self.p is None or self.p <= LEVEL)


def mean_interval(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> Interval:
    """Return the mean of cluster means with a t interval; without `clusters` every value is its own.

    Raises ValueError when there are fewer than two clusters or lengths differ.
    """
    means = list(_cluster_means(values, range(len(values)) if clusters is None else clusters).values())
    if len(means) < 2:
        raise ValueError(f"an interval needs at least two tasks, got {len(means)}")
    return _stratified([(1.0, means)])


def paired_difference(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[Hashable] | None = None
) -> Interval:
    """Return the mean of second minus first, pair by pair, with a t interval. Raises ValueError as `mean_interval`."""
    if len(first) != len(second):
        raise ValueError(f"paired values must be equally many, got {len(first)} and {len(second)}")
    return mean_interval([after - before for before, after in zip(first, second, strict=True)], clusters)


def summarize(
    records: Sequence[Record], figure: str, macro: Sequence[str] = (), share: bool = False
) -> Interval | None:
    """The mean of a figure over the records that have it, in every stratum of `macro` alike; None when none has it.

    `share` says that the figure is 0 or 1: its interval is then that of a share.
    """
    having = [record for record in records if figure in record.figures]
    return _overall(having, {_key(record): record.figures[figure] for record in having}, macro, share)


def floor(records: Sequence[Record], figure: str, macro: Sequence[str] = ()) -> float | None:
    """What doing nothing gets on the same items."""
    having = [record for record in records if figure in record.floor]
    found = _overall(having, {_key(record): record.floor[figure] for record in having}, macro)
    return found.mean if found else None


def compare(
    first: Sequence[Record],
    second: Sequence[Record],
    figure: str,
    macro: Sequence[str] = (),
    share: bool = False,
    seed: int = 0,
) -> Comparison | None:
    """Second minus first, pair by pair on the same items; None when either has no record with the figure.

    Where a figure is over other episodes in each (abstention precision is over those without calls), the difference is
    that of two independent means (Newcombe 1998, method 10). Raises ValueError when the evaluations are not of the same
    items and trials.
    """
    before, after = by_attempt(first), by_attempt(second)
    if before.keys() != after.keys():
        odd = sorted(before.keys() ^ after.keys())
        raise ValueError(f"the evaluations differ in {len(odd)} attempts, the first being (item, trial) {odd[0]}")
    ours = [record for record in first if figure in record.figures]
    theirs = [record for record in second if figure in record.figures]
    left, right = summarize(ours, figure, macro, share), summarize(theirs, figure, macro, share)
    if left is None or right is None:
        return None
    if {_key(record) for record in ours} != {_key(record) for record in theirs}:
        gap = right.mean - left.mean
        low = gap - math.hypot(right.mean - right.low, left.high - left.mean)
        high = gap + math.hypot(right.high - right.mean, left.mean - left.low)
        return Comparison(left.mean, right.mean, Interval(gap, low, high, min(left.n, right.n)), None)
    differences = {_key(record): after[_key(record)].figures[figure] - record.figures[figure] for record in ours}
    found = _overall(ours, differences, macro)
    assert found
    return Comparison(left.mean, right.mean, found, _permuted(ours, differences, macro, seed))


def pass_hat_k(trials: int, passed: int, k: int) -> float:
    """pass^k: the chance that `k` trials of an item all pass, without bias from `passed` of `trials` that did.

    Yao et al. 2024 (tau-bench, arXiv 2406.12045), section 3. Raises ValueError unless 1 <= k <= trials and 0 <= passed
    <= trials.
    """
    if not (1 <= k <= trials and 0 <= passed <= trials):
        raise ValueError(f"pass^{k} of {passed} passed in {trials} trials makes no sense")
    return math.comb(passed, k) / math.comb(trials, k)


def _key(record: Record) -> tuple[str, int]:
    return record.item, record.trial


def _overall(
    records: Sequence[Record], values: dict[tuple[str, int], float], macro: Sequence[str], shares: bool = False
) -> Interval | None:
    if not records:
        return None
    means = [
        (weight, list(_cluster_means([values[_key(one)] for one in group], [one.item for one in group]).values()))
        for weight, group in _strata(records, macro)
    ]
    return _stratified(means, shares)


def _strata(records: Sequence[Record], macro: Sequence[str]) -> list[tuple[float, list[Record]]]:
    """Records by the strata of `macro`, each with its share in a mean that is unweighted at every level."""
    if not macro:
        return [(1.0, list(records))]
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[record.strata[macro[0]]].append(record)
    return [(weight / len(groups), inner) for group in groups.values() for weight, inner in _strata(group, macro[1:])]


def _stratified(strata: Sequence[tuple[float, list[float]]], shares: bool = False) -> Interval:
    """The weighted mean of strata of independent values with its t interval; `shares` takes zeros and ones as such."""
    mean = sum(weight * fmean(values) for weight, values in strata)
    everything = [value for _, values in strata for value in values]
    if len(everything) < 2:
        return Interval(mean, math.nan, math.nan, len(everything))
    # one value tells nothing of how much values differ: there, all of them do
    spread = [(weight, values if len(values) > 1 else everything, len(values)) for weight, values in strata]
    parts = [(weight**2 * variance(alike) / number, len(alike) - 1) for weight, alike, number in spread]
    total = sum(part for part, _ in parts)
    if shares and {*everything} <= {0.0, 1.0} and (len(strata) == 1 or not total):
        return Interval(mean, *_wilson(sum(everything), len(everything)), len(everything))
    if not total:
        return Interval(mean, mean, mean, len(everything))
    freedom = total**2 / sum(part**2 / free for part, free in parts)
    half = float(stdtrit(freedom, 0.975)) * math.sqrt(total)
    return Interval(mean, mean - half, mean + half, len(everything))


def _wilson(passed: float, number: int) -> tuple[float, float]:
    """The 95% interval of a share (Wilson 1927): where all pass or none does, the t interval would be a point."""
    z = 1.959963984540054
    centre, spread = passed + z * z / 2, z * math.sqrt(passed * (number - passed) / number + z * z / 4)
    return max(0.0, (centre - spread) / (number + z * z)), min(1.0, (centre + spread) / (number + z * z))


def _permuted(
    records: Sequence[Record], differences: dict[tuple[str, int], float], macro: Sequence[str], seed: int
) -> float:
    """How often a mean difference this large comes about when which evaluation is which is drawn item by item."""
    import numpy
    from scipy.stats import permutation_test  # takes a second to import

    shares = numpy.array(
        [
            weight * mean / len(means)
            for weight, group in _strata(records, macro)
            for means in [_cluster_means([differences[_key(one)] for one in group], [one.item for one in group])]
            for mean in means.values()
            if mean  # where both are alike, the draw changes nothing
        ]
    )
    if len(shares) < 2:
        return 1.0
    found = permutation_test(
        (shares, numpy.zeros_like(shares)),
        lambda one, other, axis: (one - other).sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=_DRAWS,
        batch=1_000,
        rng=seed,
    )
    return float(found.pvalue)


def _cluster_means(values: Sequence[float], clusters: Sequence[Hashable]) -> dict[Any, float]:
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for value, cluster in zip(values, clusters, strict=True):
        groups[cluster].append(value)
    return {cluster: fmean(group) for cluster, group in groups.items()}
