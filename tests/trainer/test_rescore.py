"""Another reward on kept rollouts: worked by hand, and beside verl's own advantages."""

import sys
from statistics import fmean, stdev

import pytest
from kept_rollouts import called, episode, keep, stage

from proverl.core import Step, StopReason
from proverl.reward import Breakdown, OwnReward, RewardConfig
from proverl.trainer import rescore
from proverl.trainer.rows import task_reader

LIST, ADD = ("list_notes", {}), ("add_note", {"text": "tea"})


class Thrifty:
    """A user's reward: a point less for every call."""

    def score(self, calls, ground_truth, tools, *, replied):
        return Breakdown(total=-len(calls))


@pytest.fixture
def kept(tmp_path, task_of, tools):
    """Two steps of a group each. The tasks expect one call; a group's rollouts make one, three, and none."""
    paths = stage(tmp_path / "grpo-1", [task_of(n, Step(*LIST)) for n in range(2)])
    task_at = task_reader(paths.rows)
    for step, group in ((1, 0), (2, 1)):
        task = task_at(group)
        made = [called(LIST), called(LIST, LIST, LIST), []]
        keep(paths, step, group, task, [episode(task, calls) for calls in made], tools=tools)
    return paths


def summary(paths, *changes, steps=(1, 2)):
    before = rescore.recorded_reward(paths)
    after = rescore.changed_reward(before, changes)
    frame = rescore.rescored(paths, after, steps)
    return rescore.summary(frame, before, after), frame


def test_the_runs_own_reward_changes_nothing_and_equals_the_record(kept):
    found, frame = summary(kept)
    assert (frame["before/total"] == frame["recorded"]).all()
    assert found["differ_from_record"] == 0
    assert found["best_changed_share"] == found["advantage_turned_share"] == 0
    assert found["rank_correlation"] == {"total": pytest.approx(1), "advantage": pytest.approx(1)}
    assert found["before"] == found["after"]
    assert (found["rollouts"], found["groups"]) == (6, 2)


def test_rewards_and_advantages_are_those_of_the_other_reward(kept):
    # budget 2 before, 1 after: three calls cost 0.15 * 0.5 * 1/2, then 0.15 * 0.5 * 2/1
    _, frame = summary(kept, "reward.beta=0")
    first = frame[frame["step"] == 1]
    assert first["before/total"].tolist() == pytest.approx([1.3, 1.3 - 0.0375, 0])
    assert first["after/total"].tolist() == pytest.approx([1.3, 1.3 - 0.15, 0])
    assert first["after/efficiency"].tolist() == pytest.approx([0, -1, 0])
    rewards = [1.3, 1.15, 0]
    mean, deviation = fmean(rewards), stdev(rewards)  # of a sample: over n - 1
    expected = [(value - mean) / deviation for value in rewards]
    assert first["after/advantage"].tolist() == pytest.approx(expected, abs=1e-4)


def test_what_would_have_changed_is_counted(kept):
    found, frame = summary(kept, "reward.validity=0", "reward.coverage=0", "reward.name=0", "reward.arg=0")
    # only excess costs anything now: one call and none are both best, where one call was
    assert found["best_changed_share"] == 0
    assert found["before"]["zero_variance_share"] == found["after"]["zero_variance_share"] == 0
    assert found["advantage_turned_share"] == pytest.approx(2 / 3)  # three calls fall below the mean, none rises
    assert found["after"]["mean"]["total"] == pytest.approx(-0.15 * 0.5 * 0.5 / 3)
    assert found["after"]["spread"]["coverage"] == 0 < found["before"]["spread"]["coverage"]
    assert found["after"]["spread"]["efficiency"] == pytest.approx(found["after"]["spread"]["total"])
    assert rescore.changed_most(frame, 2)["rollout"].tolist() == [2, 2]


def test_a_reward_of_ones_own_can_be_tried(kept, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "thrifty", sys.modules[__name__])
    file = tmp_path / "mine.yaml"
    file.write_text("_target_: thrifty.Thrifty\n")
    found, frame = summary(kept, f"reward={file}")
    assert frame["after/total"].tolist() == [-1, -3, 0] * 2
    assert found["best_changed_share"] == 1
    assert found["after"]["spread"]["arg"] is None
    assert found["rank_correlation"]["total"] == pytest.approx(-0.5)


def test_groups_that_score_alike_have_no_advantage(kept):
    found, frame = summary(
        kept, *(f"reward.{part}=0" for part in ("validity", "coverage", "efficiency", "name", "arg"))
    )
    assert found["after"]["zero_variance_share"] == 1
    assert (frame["after/advantage"] == 0).all()
    assert found["rank_correlation"]["total"] is None


def test_penalised_episodes_stay_penalised(tmp_path, task_of, tools):
    paths = stage(tmp_path / "grpo-1", [task_of(0, Step(*LIST))], truncated="penalised")
    task = task_reader(paths.rows)(0)
    made = [episode(task, called(LIST)), episode(task, called(LIST), stop=StopReason.TOKENS)]
    keep(paths, 1, 0, task, made, tools=tools)
    _, frame = summary(paths, steps=[1])
    assert frame["after/total"].tolist() == pytest.approx([1.3, 0])


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ("reward.bta=0", ["reward.bta", "reward.beta"]),
        ("reward.beta=-1", ["reward.beta is -1", "at least 0"]),
        ("reward.beta=[", ["'reward.beta=['", "can't be read"]),
        ("beta=0", ["'beta=0'", "reward.beta=0"]),
        ("reward.beta", ["'reward.beta'", "KEY=VALUE"]),
        ("reward=nosuch", ["reward=nosuch", "conf/reward/nosuch.yaml"]),
    ],
)
def test_a_change_that_cannot_be_made_is_refused(change, parts):
    with pytest.raises(ValueError) as refused:
        rescore.changed_reward(RewardConfig(), [change])
    assert all(part in str(refused.value) for part in parts), str(refused.value)


def test_changes_add_up(monkeypatch):
    assert rescore.changed_reward(RewardConfig(name=0.7), ["reward.beta=0", "reward.arg=0.3"]) == RewardConfig(
        name=0.7, arg=0.3, beta=0
    )
    monkeypatch.setitem(sys.modules, "thrifty", sys.modules[__name__])
    own = OwnReward("thrifty.Thrifty")
    assert rescore.changed_reward(own, []) == own
    assert rescore.changed_reward(own, ["reward=conf/reward/prove.yaml"]) == RewardConfig()


@pytest.mark.verl
@pytest.mark.parametrize("by_deviation", [True, False])
def test_advantages_are_verls(kept, verl, by_deviation):
    import numpy as np
    import torch
    from omegaconf import OmegaConf
    from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage

    config = OmegaConf.load(kept.verl)
    config.algorithm.norm_adv_by_std_in_grpo = by_deviation
    OmegaConf.save(config, kept.verl)
    _, frame = summary(kept, "reward.beta=0")
    rewards = torch.tensor(frame["after/total"].to_numpy())[:, None]
    found, _ = compute_grpo_outcome_advantage(
        rewards, torch.ones_like(rewards), np.array(frame["group"]), norm_adv_by_std_in_grpo=by_deviation
    )
    assert frame["after/advantage"].to_numpy() == pytest.approx(found[:, 0].numpy(), abs=1e-6)
