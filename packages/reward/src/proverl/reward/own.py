"""A reward of a user's own: a class named in the config, found and tried out before anything runs on it."""

import math
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from proverl.core import Call, CallRecord, GroundTruth, Json, Result, Step, Tool
from proverl.reward.breakdown import Breakdown
from proverl.reward.config import Reward, RewardConfig

_CALL = Call("find", {"query": "tea"})
_TOOL = Tool(
    "find", "Find things.", {"type": "object", "properties": {"query": {"type": "string"}}}, {"type": "object"}
)
_TRUTH = GroundTruth((Step(_CALL.name, _CALL.arguments),))
# one call as expected; none though one is expected; none expected and a reply
_TRIALS: tuple[tuple[tuple[CallRecord, ...], GroundTruth], ...] = (
    ((CallRecord(_CALL, Result({"found": []}), 0, 1),), _TRUTH),
    ((), _TRUTH),
    ((), GroundTruth()),
)


@dataclass(frozen=True)
class OwnReward:
    """A reward that a user's class computes.

    `target` is the class as `module.Class`, `settings` the keyword arguments it is made with. Raises ValueError, with
    what would be right, when the class cannot be found, made, or used on three small episodes.
    """

    target: str
    settings: dict[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _ = self._reward
        for calls, truth in _TRIALS:
            self._try(calls, truth)

    def score(
        self, calls: Sequence[CallRecord], ground_truth: GroundTruth, tools: Sequence[Tool], *, replied: bool
    ) -> Breakdown:
        """Score one episode with the user's class, which gets copies: what it changes in them stays with it.

        Raises ValueError for what it raises, and for a score that is no Breakdown of finite numbers.
        """
        given = deepcopy((calls, ground_truth, tools))
        try:
            found = self._reward.score(*given, replied=replied)
        except (Exception, SystemExit) as error:
            raise ValueError(f"reward {self.target} failed ({_said(error)})") from error
        if not isinstance(found, Breakdown) or not _finite(found):
            raise ValueError(
                f"reward {self.target} returned {found!r}; its score must return a proverl.reward.Breakdown whose "
                "numbers are finite"
            )
        return found

    @cached_property
    def _reward(self) -> Reward:
        made = _class(self.target)
        try:
            reward: Reward = made(**self.settings)
        except Exception as error:
            raise ValueError(
                f"reward {self.target} cannot be made with the settings {self.settings} ({_said(error)}); they must be "
                "what its constructor takes"
            ) from None
        return reward

    def _try(self, calls: Sequence[CallRecord], truth: GroundTruth) -> None:
        try:
            self.score(calls, truth, (_TOOL,), replied=True)
        except ValueError as error:
            raise ValueError(
                f"on a small episode {error}; it must have score(calls, ground_truth, tools, *, replied), for no calls "
                "and no expected calls too"
            ) from None


def _finite(found: Breakdown) -> bool:
    try:
        return all(map(math.isfinite, found.as_dict().values()))
    except (TypeError, ValueError):  # a field that is no number
        return False


def _class(target: str) -> Any:
    module, _, name = target.rpartition(".")
    if not {"", str(Path.cwd())} & set(sys.path):  # an installed command does not look there by itself
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(import_module(module), name)
    except Exception as error:
        raise ValueError(
            f"reward._target_ is {target!r}, which cannot be imported ({_said(error)}); write module.Class, of a "
            "module that is installed or lies in the folder the command is run in"
        ) from None
    if not callable(getattr(found, "score", None)):
        raise ValueError(
            f"reward._target_ is {target!r}, which has no method score; it must be a class with "
            "score(calls, ground_truth, tools, *, replied)"
        )
    return found


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def reward_from(settings: Mapping[str, Any]) -> RewardConfig | OwnReward:
    """The reward that a config names: `RewardConfig`'s fields, or `_target_` and the settings of that class.

    What `dataclasses.asdict` makes of either is read too. Raises ValueError that names key and value.
    """
    given = dict(settings)
    if "_target_" in given:
        return OwnReward(str(given.pop("_target_")), given)
    if "target" in given:
        return OwnReward(**given)
    known = [item.name for item in fields(RewardConfig)]
    for key in given:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean reward.{near[0]}?" if near else f"reward has {', '.join(known)}"
            raise ValueError(f"reward.{key} is no setting of the reward; {hint}")
    return RewardConfig(**given)
