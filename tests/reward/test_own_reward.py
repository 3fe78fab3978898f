"""A user's own reward: named by its class, tried out at once, and the example in the docs."""

import re
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from proverl.core import Call, CallRecord, GroundTruth, Result, Step, Tool
from proverl.reward import Breakdown, OwnReward, RewardConfig, reward_from

PAGE = Path(__file__).parents[2] / "docs" / "own_reward.md"
TOOL = Tool("find", "", {"type": "object", "properties": {}}, {"type": "object"})
TRUTH = GroundTruth((Step("find", {}),))
CALLS = [CallRecord(Call("find", {}), Result({}), 0, 1)]


class Fixed:
    def __init__(self, total=2.5):
        self.total = total

    def score(self, calls, ground_truth, tools, *, replied):
        return Breakdown(total=self.total)


class Fragile:
    def score(self, calls, ground_truth, tools, *, replied):
        return Breakdown(total=1 / len(calls))


class Positional:
    def score(self, calls, replied):
        return Breakdown()


class Number:
    def score(self, calls, ground_truth, tools, *, replied):
        return 1.0


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """This file as the module `own_rewards`, and `docs_reward` with the example of the docs."""
    monkeypatch.setitem(sys.modules, "own_rewards", sys.modules[__name__])


def test_a_class_is_made_with_its_settings_and_scores():
    reward = reward_from({"_target_": "own_rewards.Fixed", "total": 0.25})
    assert reward.score(CALLS, TRUTH, [TOOL], replied=True).total == 0.25
    assert reward == OwnReward("own_rewards.Fixed", {"total": 0.25})


def test_settings_survive_being_written_down():
    for reward in (OwnReward("own_rewards.Fixed", {"total": 0.5}), RewardConfig(beta=0)):
        assert reward_from(asdict(reward)) == reward


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ({"_target_": "own_reward.Fixed"}, ["'own_reward.Fixed'", "No module", "module.Class"]),
        ({"_target_": "own_rewards.Fix"}, ["no attribute 'Fix'", "module.Class"]),
        ({"_target_": "Fixed"}, ["'Fixed'", "module.Class"]),
        ({"_target_": "own_rewards.GroundTruth"}, ["no method score", "score(calls, ground_truth, tools"]),
        ({"_target_": "own_rewards.Fixed", "totl": 1}, ["{'totl': 1}", "unexpected keyword", "constructor"]),
        ({"_target_": "own_rewards.Fixed", "total": float("nan")}, ["nan", "finite"]),
        ({"_target_": "own_rewards.Fragile"}, ["ZeroDivisionError", "for no calls"]),
        ({"_target_": "own_rewards.Positional"}, ["TypeError", "score(calls, ground_truth, tools, *, replied)"]),
        ({"_target_": "own_rewards.Number"}, ["returned 1.0", "Breakdown"]),
        ({"bta": 0}, ["reward.bta", "reward.beta"]),
        ({"zzz": 0}, ["reward.zzz", "validity"]),
    ],
)
def test_what_cannot_work_is_refused_with_what_would(settings, parts):
    with pytest.raises(ValueError) as refused:
        reward_from(settings)
    assert all(part in str(refused.value) for part in parts), str(refused.value)


def test_the_example_of_the_docs_works(tmp_path, monkeypatch):
    code, settings = re.findall(
        r"```(?:python|yaml)\n# (?:my_rewards.py|conf/reward/mine.yaml)\n(.*?)```", PAGE.read_text(), re.S
    )
    (tmp_path / "my_rewards.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_rewards", raising=False)
    lines = dict(line.split(": ") for line in settings.strip().splitlines())
    reward = reward_from({"_target_": lines.pop("_target_"), **{key: float(value) for key, value in lines.items()}})
    usual = RewardConfig().score(CALLS, TRUTH, [TOOL], replied=True).total
    refused = [CallRecord(Call("find", {}), Result(code="rejected"), 0, 1)]
    assert reward.score(CALLS, TRUTH, [TOOL], replied=True).total == usual
    plain = RewardConfig().score(refused, TRUTH, [TOOL], replied=True).total
    assert reward.score(refused, TRUTH, [TOOL], replied=True).total == pytest.approx(plain - 0.05)
