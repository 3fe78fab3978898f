"""Intervals against numbers worked by hand and against simulation."""

import math
import random

import pytest

from proverl.evals import mean_interval, paired_difference


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
