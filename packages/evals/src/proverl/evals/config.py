"""Settings of the `evals` group."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class EvalsConfig:
    """How held-out tasks are evaluated, before and after training.

    tasks: how many of the dataset's held-out tasks. repeats: episodes of each task; they count as one cluster.
    temperature: of sampling, 0 is greedy. concurrency: episodes that run at the same time.
    Raises ValueError when a value makes no sense.
    """

    tasks: int = 128
    repeats: int = 1
    temperature: float = 0.0
    concurrency: int = 64

    def __post_init__(self) -> None:
        for name, least in (("tasks", 2), ("repeats", 1), ("concurrency", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"evals.{name} is {getattr(self, name)}; it must be at least {least}")
        if not 0 <= self.temperature < math.inf:
            raise ValueError(f"evals.temperature is {self.temperature}; it must be a finite number of at least 0")
        if self.repeats > 1 and self.temperature == 0:
            raise ValueError(
                f"evals.repeats is {self.repeats} but evals.temperature is 0, so all repeats would be equal"
            )
