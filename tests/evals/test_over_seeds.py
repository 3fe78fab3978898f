"""Differences over seeds against numbers worked by hand."""

import math

import pytest
from scipy import stats

from proverl.evals import Record, compare, compare_over_seeds, holm, summarize, summarize_over_seeds


def evaluation(values, name="item"):
    return [Record(f"{name}-{at}", at, {}, 0, 0, None, {"score": value}, {}) for at, value in enumerate(values)]


def test_one_seed_is_an_ordinary_comparison():
    first, second = evaluation([0, 0, 1, 1]), evaluation([1, 1, 1, 0])
    assert compare_over_seeds([(first, second)], "score") == compare(first, second, "score")
    assert summarize_over_seeds([first], "score") == summarize(first, "score")


def test_seeds_that_disagree_widen_the_interval_and_decide_the_test():
    # within a seed all items gain alike, so items alone would be sure: +0.1, +0.2, +0.6
    pairs = [
        (evaluation([0.0] * 8, name), evaluation([gain] * 8, name))
        for name, gain in zip("abc", (0.1, 0.2, 0.6), strict=True)
    ]
    found = compare_over_seeds(pairs, "score")
    error = stats.sem([0.1, 0.2, 0.6])
    assert found.difference.mean == pytest.approx(0.3)
    assert found.difference.high - 0.3 == pytest.approx(4.302653 * error)
    assert found.p == pytest.approx(stats.ttest_1samp([0.1, 0.2, 0.6], 0).pvalue)
    assert not found.clear


def test_seeds_that_agree_do_not_hide_that_items_differ():
    # the same three items in each seed, and the same gain: seeds alone would be sure
    pairs = [(evaluation([0, 0, 0]), evaluation([1, 0, 1])) for _ in range(3)]
    found = compare_over_seeds(pairs, "score")
    half = stats.t.ppf(0.975, 2) * math.sqrt(1 / 3 / 3)  # of 1, 0, 1: three clusters, not nine
    assert found.difference.high - found.difference.mean == pytest.approx(half)
    assert found.difference.n == 3
    assert found.p == 0.5 and not found.clear  # two of the four draws of two signs


def test_other_items_in_each_seed_are_further_evidence():
    pairs = [(evaluation([0] * 10, name), evaluation([1] * 9 + [0], name)) for name in "abc"]
    found = compare_over_seeds(pairs, "score")
    assert found.difference.n == 30
    assert found.clear and found.p < 0.001


def test_a_mean_over_seeds_has_the_wider_interval():
    found = summarize_over_seeds([evaluation([value] * 5, str(value)) for value in (0.2, 0.4, 0.9)], "score")
    assert found.mean == pytest.approx(0.5)
    assert found.high - 0.5 == pytest.approx(stats.t.ppf(0.975, 2) * stats.sem([0.2, 0.4, 0.9]))


def test_strata_weigh_alike_in_every_seed():
    def of(values):
        return [Record(f"{d}-{n}", n, {"domain": d}, 0, 0, None, {"score": v}, {}) for d, n, v in values]

    first = of([("a", 0, 0.0), ("a", 1, 0.0), ("a", 2, 0.0), ("b", 0, 0.0)])
    second = of([("a", 0, 1.0), ("a", 1, 1.0), ("a", 2, 1.0), ("b", 0, 0.0)])
    assert compare_over_seeds([(first, second)] * 2, "score", ["domain"]).difference.mean == pytest.approx(0.5)


def test_a_figure_that_nobody_has_is_none():
    assert compare_over_seeds([(evaluation([1, 2]), evaluation([1, 2]))] * 2, "other") is None
    assert summarize_over_seeds([evaluation([1, 2])] * 2, "other") is None


def test_holm_by_hand():
    # sorted 0.01, 0.02, 0.03, 0.6 times 4, 3, 2, 1, never below an earlier one
    assert holm([0.02, 0.6, 0.01, 0.03]) == pytest.approx([0.06, 0.6, 0.04, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
