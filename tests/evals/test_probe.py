"""A probe: pass@k, how much rollouts of a task differ, and which tasks are neither too hard nor too easy."""

from dataclasses import replace
from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proverl.agent import Limits, OraclePolicy, ScriptedPolicy
from proverl.core import GroundTruth, Step, Task, TaskKind
from proverl.envs import load_server
from proverl.evals import ProbeConfig, evaluate, heldout
from proverl.evals.probe import pass_at_k, read_summary, summary, within, write_summary
from proverl.reward import RewardConfig

TOOLS = {name: tuple(t for t in load_server(name).tools if not t.hidden) for name in ("filesystem", "calendar")}


@given(st.integers(1, 7), st.data())
def test_pass_at_k_is_the_share_of_draws_with_a_pass(episodes, data):
    passed, k = data.draw(st.integers(0, episodes)), data.draw(st.integers(1, episodes))
    draws = combinations([True] * passed + [False] * (episodes - passed), k)
    assert pass_at_k(episodes, passed, k) == pytest.approx(fmean(any(draw) for draw in draws))


@pytest.mark.parametrize("counts", [(3, 1, 4), (3, 4, 1), (3, 1, 0), (3, -1, 1)])
def test_pass_at_k_refuses_what_makes_no_sense(counts):
    with pytest.raises(ValueError, match="makes no sense"):
        pass_at_k(*counts)


def task(name, server, *steps):
    kind = TaskKind.MULTI_TURN if steps else TaskKind.ABSTENTION
    return Task(name, kind, (server,), 0, "Be brief.", ("Do it.",), TOOLS[server], GroundTruth(steps))


LOOK = Step("list_directory", {"path": "/"})
TASKS = [task("easy", "filesystem", LOOK), task("half", "filesystem", LOOK), task("hard", "calendar")]


class Wavering:
    """Does `easy` always, `half` in every second episode, `hard` never."""

    def chat(self, task, limits, seed=0):
        able = task.id == "easy" or (task.id == "half" and seed % 2)
        return (OraclePolicy() if able else ScriptedPolicy()).chat(task, limits)


def probe(tasks, folder, samples, limits=None):
    given = replace(heldout(tasks, limits or Limits(), RewardConfig()), trials=samples)
    return evaluate(given, Wavering(), folder).records


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("probe")
    write_summary(probe(TASKS, folder, 4), folder)
    return read_summary(folder)


def group(found, name):
    return next(group for group in found["groups"] if group["name"] == name)


def test_each_task_has_its_pass_rate(found):
    assert found["pass_rates"] == {"easy": 1.0, "half": 0.5, "hard": 0.0}
    assert (found["samples"], found["k"]) == (4, 4)


def test_figures_are_by_server_and_kind(found):
    names = [(group["by"], group["name"], group["tasks"]) for group in found["groups"]]
    assert names == [
        ("all", "all", 3),
        ("server", "calendar", 1),
        ("server", "filesystem", 2),
        ("kind", "abstention", 1),
        ("kind", "multi_turn", 2),
    ]
    assert group(found, "filesystem")["pass_at_1"] == 0.75
    assert group(found, "filesystem")["pass_at_k"] == 1.0
    assert group(found, "calendar")["pass_at_k"] == 0.0


def test_variance_is_within_a_task(found):
    assert group(found, "all")["zero_variance_share"] == pytest.approx(2 / 3)
    assert group(found, "filesystem")["reward_variance"] == pytest.approx((1.3 / 2) ** 2 / 2)
    assert group(found, "calendar")["reward_variance"] == 0


def test_an_episode_that_a_limit_ended_is_cut(tmp_path):
    records = probe(TASKS[:1], tmp_path, 2, Limits(assistant_turns=1))
    assert summary(records)["groups"][0]["truncation"] == 1.0


def test_tasks_are_chosen_by_pass_rate_and_those_not_probed_are_left_out(found):
    tasks, rates = [*TASKS, task("new", "calendar")], found["pass_rates"]
    assert [task.id for task in within(tasks, rates, 0.1, 0.9)] == ["half"]
    assert [task.id for task in within(tasks, rates, 0.5, 1.0)] == ["easy", "half"]
    with pytest.raises(ValueError, match="of 3 probed tasks none has a pass rate between 0.6 and 0.9"):
        within(tasks, rates, 0.6, 0.9)


@pytest.mark.parametrize("wrong", [{"samples": 1}, {"tasks": -1}, {"temperature": 0}, {"concurrency": 0}])
def test_settings_without_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=f"probe.{next(iter(wrong))} is"):
        ProbeConfig(**wrong)
