"""The reward's settings; used as they stand as the Hydra group `reward`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol

from proverl.core import CallRecord, GroundTruth, Tool
from proverl.reward.breakdown import Breakdown
from proverl.reward.score import score


class Reward(Protocol):
    """What gives an episode its reward: `RewardConfig`, or a class of a user's (`own.py`)."""

    def score(
        self, calls: Sequence[CallRecord], ground_truth: GroundTruth, tools: Sequence[Tool], *, replied: bool
    ) -> Breakdown:
        """Score one episode: a pure function of what `proverl.reward.score` takes beside its config."""


@dataclass(frozen=True)
class RewardConfig:
    """Weights of the five parts and the two constants of the call budget (paper, Reward: one setting for all models).

    `alpha` scales the penalty for calls over the budget, `beta` is the slack of the budget as a share of the expected
    calls. `paper_exact` turns off two of our additions: a call matches only from the user turn that grounds it, and
    a value produced within the episode is compared with what the policy's own call returned.
    Raises ValueError when a number is negative, infinite or not a number.
    """

    validity: float = 0.5
    coverage: float = 0.5
    efficiency: float = 0.15
    name: float = 0.2
    arg: float = 0.1
    alpha: float = 0.5
    beta: float = 0.5
    paper_exact: bool = False

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "paper_exact":
                if not isinstance(value, bool):
                    raise ValueError(f"reward.paper_exact is {value!r}; it must be true or false")
            elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise ValueError(f"reward.{item.name} is {value!r}; it must be a finite number of at least 0")

    def score(
        self, calls: Sequence[CallRecord], ground_truth: GroundTruth, tools: Sequence[Tool], *, replied: bool
    ) -> Breakdown:
        """R of one episode under these settings; see `proverl.reward.score`."""
        return score(calls, ground_truth, tools, self, replied=replied)
