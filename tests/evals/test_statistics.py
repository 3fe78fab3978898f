"""Intervals against numbers worked by hand and against simulation."""

import math
import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from proverl.evals import Record, compare, mean_interval, paired_difference, summarize
from proverl.evals.statistics import pass_hat_k


def test_interval_by_hand():
    # mean 2, deviation 1, three values: half width 4.302653 * 1 / sqrt(3)
    found = mean_interval([1, 2, 3])
    assert (found.mean, found.n) == (2, 3)
    assert found.high - 2 == pytest.approx(4.302652729911275 / math.sqrt(3))
    assert 2 - found.low == pytest.approx(found.high - 2)


def test_paired_difference_removes_how_hard_tasks_are():
    before, after = [0.0, 5.0, 10.0, 20.0], [1.0, 6.1, 10.9, 21.0]
    # differences 1, 1.1, 0.9, 1: mean 1, deviation 0.08165, half width 3.182446 * 0.08165 / 2
    found = paired_difference(before, after)
    assert found.mean == pytest.approx(1)
    assert found.high - found.mean == pytest.approx(3.182446305 * math.sqrt(0.02 / 3) / 2)


def test_repeats_of_a_task_are_one_observation():
    # cluster means 1 and 3: as mean_interval([1, 3])
    assert mean_interval([0, 2, 3, 3], ["a", "a", "b", "b"]) == mean_interval([1, 3])
    assert mean_interval([1, 1, 1, 3, 3, 3], list("aaabbb")).n == 2


def test_equal_values_give_a_point():
    assert paired_difference([1, 2], [1, 2]) == mean_interval([0, 0])
    assert mean_interval([0, 0]).low == mean_interval([0, 0]).high == 0


@pytest.mark.parametrize("values", [[], [1.0]])
def test_one_task_is_no_evidence(values):
    with pytest.raises(ValueError, match="an interval needs at least two tasks, got"):
        mean_interval(values)


def test_unpaired_values_are_refused():
    with pytest.raises(ValueError, match="must be equally many, got 1 and 2"):
        paired_difference([1], [1, 2])


def test_interval_covers_the_truth_about_95_times_in_100():
    rng = random.Random(0)
    hits = 0
    for _ in range(2000):
        found = mean_interval([rng.gauss(0.7, 0.2) for _ in range(8)])
        hits += found.low <= 0.7 <= found.high
    assert 0.935 <= hits / 2000 <= 0.965


def record(item, figure, trial=0, **strata):
    figures = {} if figure is None else {"score": figure}
    return Record(item, 0, strata, trial, 0, None, figures, {"score": 0.0})


def evaluation(values, **strata):
    return [record(f"{strata}-{number}", value, **strata) for number, value in enumerate(values)]


def test_an_overall_figure_weighs_strata_alike_and_adds_their_variances():
    records = [*evaluation([1, 2, 3], domain="a"), *evaluation([10, 20], domain="b")]
    found = summarize(records, "score", ["domain"])
    # variances of the means 1/3 and 50/2, each with weight 1/4
    assert found.mean == pytest.approx((2 + 15) / 2)
    total, freedom = 1 / 12 + 25 / 4, (1 / 12 + 25 / 4) ** 2 / ((1 / 12) ** 2 / 2 + (25 / 4) ** 2 / 1)
    assert found.high - found.mean == pytest.approx(stats.t.ppf(0.975, freedom) * math.sqrt(total))
    assert (found.n, summarize(records, "score").mean) == (5, pytest.approx(36 / 5))


def test_strata_nest_as_dimensions_do_formats():
    records = [
        *evaluation([0, 0], dimension="plan", format="str"),
        *evaluation([1, 1], dimension="plan", format="json"),
        *evaluation([1, 1], dimension="review", format="str"),
    ]
    assert summarize(records, "score", ["dimension", "format"]).mean == pytest.approx((0.5 + 1) / 2)


def test_shares_have_an_interval_even_where_all_pass():
    low, high = stats.binomtest(20, 20).proportion_ci(method="wilson")
    found = summarize(evaluation([1.0] * 20), "score", share=True)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert summarize(evaluation([0.0, 1.0], domain="a") + evaluation([1.0], domain="b"), "score", ["domain"]).n == 3


def test_a_single_item_has_a_mean_and_no_interval():
    found = summarize(evaluation([0.5]), "score")
    assert found.mean == 0.5 and math.isnan(found.low) and math.isnan(found.high)
    assert summarize(evaluation([None]), "score") is None


def test_a_difference_of_nothing_is_noise_and_one_of_everything_is_not():
    first, second = evaluation([0.0] * 12), evaluation([1.0] * 12)
    found = compare(first, second, "score")
    assert (found.before, found.after, found.difference.mean) == (0, 1, 1)
    assert found.p == pytest.approx(2 / 2**12)  # exact: two of 4,096 ways of drawing who is who are this far out
    same = compare(first, first, "score")
    assert (found.clear, same.clear, same.p) == (True, False, 1.0)


def test_a_few_items_that_are_all_better_are_no_proof():
    three, six = (compare(evaluation([0.0] * n + [1.0]), evaluation([1.0] * (n + 1)), "score") for n in (3, 6))
    assert three.p == pytest.approx(2 / 2**3)  # exact; the item that is alike in both says nothing
    assert (three.clear, six.clear) == (False, True)
    every = compare(evaluation([0.0] * 3), evaluation([1.0] * 3), "score")
    assert (every.difference.low, every.clear) == (1.0, False)  # an interval that is a point


def test_two_policies_that_differ_by_chance_alone_seldom_differ_clearly():
    rng = random.Random(0)
    draws = [
        compare(
            evaluation([float(rng.random() < 0.5) for _ in range(40)]),
            evaluation([float(rng.random() < 0.5) for _ in range(40)]),
            "score",
        )
        for _ in range(100)
    ]
    assert sum(found.difference.clear for found in draws) <= 11  # five expected; more than 11 once in 200 times
    assert sum(found.p < 0.05 for found in draws) <= 11


def test_the_same_seed_gives_the_same_p():
    rng = random.Random(1)
    first, second = (evaluation([rng.random() for _ in range(30)]) for _ in range(2))
    assert compare(first, second, "score", seed=3) == compare(first, second, "score", seed=3)


def test_trials_of_an_item_are_one_observation_in_a_comparison():
    first = [record(str(item), 0.0, trial) for item in range(4) for trial in range(5)]
    second = [record(str(item), 1.0, trial) for item in range(4) for trial in range(5)]
    found = compare(first, second, "score")
    assert (found.difference.n, found.p) == (4, pytest.approx(2 / 2**4))


def test_a_figure_of_other_episodes_in_each_is_compared_as_two_means():
    # the published example of the method: 56 of 70 against 48 of 80 gives 0.0524 to 0.3339 (Newcombe 1998, table II)
    first = evaluation([1.0] * 48 + [0.0] * 32 + [None] * 10)
    second = evaluation([None] * 20 + [1.0] * 56 + [0.0] * 14)
    found = compare(first, second, "score", share=True)
    assert (round(found.difference.low, 4), round(found.difference.high, 4)) == (0.0524, 0.3339)
    assert found.p is None


def test_evaluations_of_other_items_are_not_compared():
    with pytest.raises(ValueError, match="differ in 1 attempts, the first being"):
        compare(evaluation([1, 2, 3]), evaluation([1, 2]), "score")


@given(st.integers(1, 6), st.data())
def test_pass_hat_k_is_the_share_of_draws_in_which_all_pass(trials, data):
    passed, k = data.draw(st.integers(0, trials)), data.draw(st.integers(1, trials))
    draws = list(combinations([True] * passed + [False] * (trials - passed), k))
    assert pass_hat_k(trials, passed, k) == pytest.approx(sum(map(all, draws)) / len(draws))
