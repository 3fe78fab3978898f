"""Settings of the groups `evals`, `policy` and `probe`."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from proverl.evals.benchmark import Benchmark

_OWN = ("messages", "model", "stream", "tools", "max_completion_tokens", "seed")  # of a request, set by the evaluation
_SECRET = re.compile(r"(^|[_-])(api_?key|key|token|secret|password|authorization|credentials?|cookie)$", re.IGNORECASE)


def check_endpoint(place: str, base_url: str, options: Mapping[str, Any]) -> None:
    """Raise ValueError when requests of `place` (policy, evals.tau2.user) could not be sent, or would tell a secret."""
    try:
        url = urlsplit(base_url)
        odd = url.scheme not in ("http", "https") or not url.hostname or (url.port or 1) < 1
    except ValueError:
        odd = True
    if base_url and "@" in base_url:
        raise ValueError(f"{place}.base_url has a user or a password in it, which would be kept in the records")
    if base_url and odd:
        raise ValueError(f"{place}.base_url is {base_url}; it must be like http://127.0.0.1:8000/v1")
    for name in options:
        if name in _OWN:
            raise ValueError(f"{place}.options has {name}, which the evaluation sets itself")
    for name in _names(options):
        if _SECRET.search(name):
            raise ValueError(
                f"{place}.options has {name}, which looks like a secret, and options are kept in the records: "
                "a key belongs in the environment (OPENAI_API_KEY)"
            )


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inside in value.items():
            yield str(name)
            yield from _names(inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from _names(inside)


@dataclass(frozen=True)
class EvalsConfig:
    """What is evaluated, before and after training or alone.

    benchmarks: by name, each with its settings; empty evaluates nothing. holdout_servers: servers that only held-out
    tasks are made from, so that training never sees them; empty holds out start states and chains of all servers.
    """

    benchmarks: dict[str, Benchmark]
    holdout_servers: tuple[str, ...] = ()

    def heldout_tasks(self, there: int) -> int:
        """How many of the held-out tasks that are there are evaluated."""
        found = self.benchmarks.get("heldout")
        return min(found.tasks or there, there) if found else 0


@dataclass(frozen=True)
class PolicyConfig:
    """Who is evaluated, and how it is sampled.

    kind: `model` is the run's model, sampled in this process; `endpoint` a model behind an OpenAI-compatible server;
    `oracle` does everything right, `silent` nothing. temperature: 0 is greedy. base_url, model, options: of an endpoint
    (its key is OPENAI_API_KEY); options go into every request. retries, seconds: of one request. dollars_*: its price.
    Raises ValueError when a value makes no sense.
    """

    kind: Literal["model", "endpoint", "oracle", "silent"] = "model"
    temperature: float = 0.0
    top_p: float = 1.0
    base_url: str = ""
    model: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    retries: int = 5
    seconds: float = 300.0
    dollars_per_million_prompt: float = 0.0
    dollars_per_million_completion: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < math.inf:
            raise ValueError(f"policy.temperature is {self.temperature}; it must be a finite number of at least 0")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"policy.top_p is {self.top_p}; it must be above 0 and at most 1")
        for name in ("retries", "dollars_per_million_prompt", "dollars_per_million_completion"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"policy.{name} is {getattr(self, name)}; it must be at least 0")
        if not 0 < self.seconds < math.inf:
            raise ValueError(f"policy.seconds is {self.seconds}; it must be a finite number above 0")
        check_endpoint("policy", self.base_url, self.options)

    def needs(self) -> list[str]:
        """What is not said yet, a sentence each."""
        if self.kind != "endpoint":
            return []
        example = {"base_url": "http://127.0.0.1:8000/v1", "model": "NAME"}
        return [
            f"policy.{name} is empty: say which, e.g. policy.{name}={value}."
            for name, value in example.items()
            if not getattr(self, name)
        ]


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
