"""The reward's settings; used as they stand as the Hydra group `reward`."""

import math
from dataclasses import dataclass, fields


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
