"""Kept rollouts under another reward: what each would have earned, its advantage, and what would have changed.

Nothing is run again: calls and results are read from the rollouts, expected calls from the run's rows, and the tools'
schemas from the installed servers.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from proverl.core import StopReason, Task, Tool
from proverl.envs import Session
from proverl.reward import OwnReward, RewardConfig, candidates, reward_from
from proverl.trainer import rollouts
from proverl.trainer.metrics import PARTS
from proverl.trainer.rows import task_reader
from proverl.trainer.verl_config import RunPaths

SMALL = 1e-6  # added to a group's deviation, as verl does
ALIKE = 1e-9  # rewards nearer than this are the same but for rounding
_CONF = Path("conf/reward")  # where `reward=NAME` is looked up
AnyReward = RewardConfig | OwnReward


def recorded_reward(paths: RunPaths) -> AnyReward:
    """The reward that the run was trained on."""
    return reward_from(json.loads(_loop(paths).reward))


def changed_reward(reward: AnyReward, overrides: Sequence[str]) -> AnyReward:
    """The reward with changes written as on the command line: `reward.beta=0`, `reward=mine`, `reward=FILE.yaml`.

    Raises ValueError that names the change and what would be right.
    """
    settings: Any = asdict(reward)
    if isinstance(reward, OwnReward):
        settings = {"_target_": reward.target, **reward.settings}
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals or not (key == "reward" or key.startswith("reward.")):
            raise ValueError(f"{override!r} can't be read; write reward.KEY=VALUE or reward=NAME, as in reward.beta=0")
        settings = _named(value) if key == "reward" else _set(settings, override)
    return reward_from(settings)


def _named(name: str) -> Any:
    path = Path(name) if name.endswith((".yaml", ".yml")) else _CONF / f"{name}.yaml"
    if not path.is_file():
        raise ValueError(f"reward={name}: there is no file {path}; run from the folder of conf, or name a .yaml file")
    return OmegaConf.to_container(OmegaConf.load(path))


def _set(settings: Any, override: str) -> Any:
    try:
        change = OmegaConf.from_dotlist([override.removeprefix("reward.")])
        return OmegaConf.to_container(OmegaConf.merge(settings, change))
    except (OmegaConfBaseException, YAMLError) as error:
        raise ValueError(f"{override!r} can't be read: {str(error).splitlines()[0]}") from None


def rescored(paths: RunPaths, reward: AnyReward, steps: Iterable[int]) -> pd.DataFrame:
    """Score the rollouts of some steps under the run's own reward and another.

    One line per rollout: `step`, `group`, `rollout`, `task`; `recorded`, the reward it was trained on; and, as
    `before/*` and `after/*`, `total`, the parts, GRPO's `advantage` and its `scale`. Raises ValueError for a server
    that is not installed.
    """
    own, task_of = recorded_reward(paths), task_reader(paths.rows)
    penalised = _loop(paths).get("truncated") == "penalised"

    def scored(rollout: rollouts.Rollout, task: Task, tools: Sequence[Tool], by: AnyReward) -> dict[str, float]:
        episode = rollout.episode
        found = by.score(episode.calls, task.ground_truth, tools, replied=episode.replied).as_dict()
        if penalised and episode.stop != StopReason.COMPLETED:
            found["total"] = min(0.0, found["total"])
        return {name: found[name] for name in ("total", *PARTS)}

    lines = []
    for step in steps:
        for rollout in rollouts.read(paths.rollouts, step):
            task = task_of(rollout.group)
            tools = candidates(task.tools, _own_tools(task.servers))
            line: dict[str, Any] = {"step": step, "group": rollout.group, "rollout": rollout.rollout, "task": task.id}
            line["recorded"] = rollout.numbers["reward/total"]
            for when, by in (("before", own), ("after", reward)):
                line |= {f"{when}/{name}": value for name, value in scored(rollout, task, tools, by).items()}
            lines.append(line)
    frame = pd.DataFrame(lines)
    with rollouts.intact(paths.verl):
        by_deviation = OmegaConf.load(paths.verl).algorithm.norm_adv_by_std_in_grpo
    for when in ("before", "after"):
        totals = frame.groupby(["step", "group"])[f"{when}/total"]
        frame[f"{when}/scale"] = totals.transform(_scale if by_deviation else lambda rewards: 1.0)
        frame[f"{when}/advantage"] = totals.transform(_centred) * frame[f"{when}/scale"]
    return frame


def _centred(rewards: pd.Series) -> pd.Series:
    return rewards - rewards.mean() if len(rewards) > 1 else rewards  # as verl does when the others were dropped


def _scale(rewards: pd.Series) -> float:
    """What GRPO multiplies a group's centred rewards by, as verl does it; 0 when they are alike but for rounding."""
    deviation = rewards.std() if len(rewards) > 1 else 1.0
    return 0.0 if deviation < ALIKE else 1 / (deviation + SMALL)


def _loop(paths: RunPaths) -> DictConfig:
    with rollouts.intact(paths.agent_loop):
        loop: DictConfig = OmegaConf.load(paths.agent_loop)[0]
        return loop


@cache
def _own_tools(servers: tuple[str, ...]) -> tuple[Tool, ...]:
    with Session(servers, 0) as session:
        return session.tools


def summary(frame: pd.DataFrame, before: AnyReward, after: AnyReward) -> dict[str, Any]:
    """What would have changed, as plain values.

    `rank_correlation` is Spearman's, over all rollouts. A group's best has changed when none of its best rollouts is a
    best one still. `spread` of a part is the mean size of what it adds to the advantage (None for a user's reward,
    whose weights are unknown).
    """
    groups = frame.groupby(["step", "group"])
    changed = [not (_best(group, "before") & _best(group, "after")) for _, group in groups]
    turned = (frame["before/advantage"] * frame["after/advantage"]) < 0
    return {
        "rollouts": len(frame),
        "groups": len(changed),
        "rank_correlation": {name: _ranks(frame, name) for name in ("total", "advantage")},
        "best_changed_share": sum(changed) / len(changed),
        "advantage_turned_share": float(turned.mean()),
        "differ_from_record": int(((frame["before/total"] - frame["recorded"]).abs() > ALIKE).sum()),
        **{when: _side(frame, when, by) for when, by in (("before", before), ("after", after))},
    }


def _side(frame: pd.DataFrame, when: str, by: AnyReward) -> dict[str, Any]:
    totals = frame.groupby(["step", "group"])[f"{when}/total"]
    return {
        "reward": asdict(by),
        "zero_variance_share": float((totals.std(ddof=0) < ALIKE).mean()),
        "mean": {name: float(frame[f"{when}/{name}"].mean()) for name in ("total", *PARTS)},
        "spread": {name: _spread(frame, when, name, by) for name in PARTS}
        | {"total": float(frame[f"{when}/advantage"].abs().mean())},
    }


def _spread(frame: pd.DataFrame, when: str, part: str, by: AnyReward) -> float | None:
    if isinstance(by, OwnReward):
        return None
    centred = frame.groupby(["step", "group"])[f"{when}/{part}"].transform(_centred)
    return float((getattr(by, part) * centred * frame[f"{when}/scale"]).abs().mean())


def _best(group: pd.DataFrame, when: str) -> set[int]:
    totals = group[f"{when}/total"]
    return set(group["rollout"][totals >= totals.max() - ALIKE])


def _ranks(frame: pd.DataFrame, name: str) -> float | None:
    """Spearman's correlation; None when all of one side are alike."""
    found = frame[f"before/{name}"].round(9).rank().corr(frame[f"after/{name}"].round(9).rank())
    return None if pd.isna(found) else float(found)


def changed_most(frame: pd.DataFrame, count: int) -> pd.DataFrame:
    """The rollouts whose advantage would have changed most."""
    change = (frame["after/advantage"] - frame["before/advantage"]).abs()
    return frame.loc[change.sort_values(ascending=False, kind="stable").index[:count]]
