"""Alarms: each is raised by what it names, and by nothing else."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proverl.trainer import metrics
from proverl.trainer.alarms import ALARMS, BY_NAME, raised

HEALTHY = {  # mean and deviation from step to step of a run on eight prompts
    "rollout/probability_difference": (0.005, 0.002),
    "actor/entropy": (0.10, 0.03),
    "episode/success": (0.45, 0.12),
    "reward/mean": (0.85, 0.15),
    "episode/calls": (2.3, 0.3),
    "reward/zero_variance_share": (0.22, 0.15),
    "episode/tool_errors": (1.0, 0.25),
    "stop/completed": (0.94, 0.05),
    "episode/failed": (0.0, 0.0),
    "episode/count": (64.0, 0.0),
}


def history(steps, seed, **change):
    """Noise around healthy values; `change` maps an alarm's metric to a function of (value, share of the run done)."""
    rng = random.Random(seed)

    def value(name, done):
        mean, deviation = HEALTHY[name]
        found = min(mean + 3 * deviation, max(0.1 * mean, rng.gauss(mean, deviation) if deviation else mean))
        return change[name](found, done) if name in change else found

    return [{name: value(name, step / steps) for name in HEALTHY} for step in range(steps)]


def ever_raised(rows):
    return set().union(*(raised(rows[:end]) for end in range(1, len(rows) + 1)))


PLANTED = {
    "rollouts_fail": {"episode/failed": lambda value, done: 5.0 * (done > 0.5)},
    "probabilities_diverge": {"rollout/probability_difference": lambda value, done: value + 0.05 * (done > 0.5)},
    "entropy_collapses": {"actor/entropy": lambda value, done: value * 0.05**done},
    "reward_without_success": {
        "reward/mean": lambda value, done: value + 0.4 * done,
        "episode/success": lambda value, done: value - 0.35 * done,
    },
    "calls_drift_up": {
        "episode/calls": lambda value, done: value * (1 + done),
        "episode/tool_errors": lambda value, done: value * (1 + done),
    },
    "zero_variance": {"reward/zero_variance_share": lambda value, done: min(1.0, value + 0.8 * done)},
    "tool_errors_spike": {"episode/tool_errors": lambda value, done: 2.2 if done > 0.7 else value},
    "truncation": {"stop/completed": lambda value, done: value - 0.5 * (done > 0.5)},
}


def test_every_alarm_has_a_planted_case_and_advice():
    assert PLANTED.keys() == BY_NAME.keys()
    assert len(BY_NAME) == len(ALARMS)
    for alarm in ALARMS:
        told = alarm.sentence(alarm.bound * 1.5)
        assert alarm.advice in told and "{" not in told


@pytest.mark.parametrize("name", PLANTED)
@settings(max_examples=5, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_an_alarm_is_raised_by_its_cause_and_no_other_is(name, seed):
    assert ever_raised(history(100, seed, **PLANTED[name])) == {name}


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_noise_raises_none(seed):
    assert ever_raised(history(120, seed)) == set()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.fixed_dictionaries({name: st.floats(-1, 1) for name in HEALTHY}), max_size=40))
def test_whatever_order_small_swings_come_in_none_is_raised(rows):
    swings = {name: min(deviation, mean * 0.04) for name, (mean, deviation) in HEALTHY.items()}
    rows = [{name: HEALTHY[name][0] + swings[name] * swing for name, swing in row.items()} for row in rows]
    assert raised(rows) == {}


def test_a_single_bad_step_is_no_divergence():
    rows = history(40, 0)
    rows[20]["rollout/probability_difference"] = 0.5
    assert ever_raised(rows) == set()


def test_metrics_that_are_not_logged_raise_nothing():
    assert raised([]) == {}
    assert raised([{"loss": 1.0}] * 50) == {}
    assert raised([dict.fromkeys(HEALTHY, float("nan"))] * 50) == {}


def test_alarms_read_metrics_that_are_logged():
    documented = metrics.__doc__
    for name in {name for alarm in ALARMS for name in alarm.metrics}:
        group, _, word = name.partition("/")
        lines = [line for line in documented.splitlines() if f"`{group}/" in line]
        assert any(word in line or f"{group}/*" in line for line in lines), name
