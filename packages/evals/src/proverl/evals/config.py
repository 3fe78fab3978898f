"""Settings of the groups `evals` and `probe`."""

import math
from dataclasses import dataclass
from typing import Literal


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


@dataclass(frozen=True)
class ProbeConfig:
    """How a model is measured before it is trained.

    split: `train` probes training tasks; `dev` the last held-out ones. tasks: how many of them, 0 is all.
    samples: episodes of each task. temperature: of sampling, as in training. concurrency: as in `evals`.
    Raises ValueError when a value makes no sense.
    """

    split: Literal["train", "dev"] = "train"
    tasks: int = 128
    samples: int = 8
    temperature: float = 1.0
    concurrency: int = 64

    def __post_init__(self) -> None:
        for name, least in (("tasks", 0), ("samples", 2), ("concurrency", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"probe.{name} is {getattr(self, name)}; it must be at least {least}")
        if not 0 < self.temperature < math.inf:
            raise ValueError(f"probe.temperature is {self.temperature}; it must be a finite number above 0")

    @property
    def evaluation(self) -> EvalsConfig:
        """The same as settings of an evaluation."""
        return EvalsConfig(repeats=self.samples, temperature=self.temperature, concurrency=self.concurrency)
