"""What the tiny model is shown, in which order: demonstrations and the stages that ask for them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from proverl.core import Tool


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A finished conversation to learn from: OpenAI-style messages and the tools that were offered."""

    messages: Sequence[dict[str, Any]]
    tools: Sequence[Tool]


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the curriculum; ranges are inclusive.

    tools, calls, turns: tools offered, ground-truth calls and user turns of a demonstration.
    linked: share of arguments (where an earlier call offers one) that are copied from a result.
    refuse: share of demonstrations in which no offered tool fits, so that only text is right.
    live: share of demonstrations from live servers; the rest has invented tools.
    tokens: at least and at most this many tokens of context; in between, digit accuracy of `advance` ends the stage.
    """

    name: str
    tools: tuple[int, int]
    calls: tuple[int, int]
    turns: tuple[int, int] = (1, 1)
    linked: float = 0.0
    refuse: float = 0.0
    live: float = 0.0
    tokens: tuple[int, int] = (200_000, 3_000_000)
    advance: float = 0.95


# (stage, seed, count) -> count demonstrations, the same for the same arguments
Source = Callable[[Stage, int, int], Sequence[Demonstration]]

CURRICULUM = (
    Stage("copy", tools=(1, 3), calls=(1, 2)),
    Stage("choose", tools=(2, 8), calls=(1, 3), refuse=0.05),
    Stage("link", tools=(2, 8), calls=(2, 4), linked=0.7, refuse=0.05, live=0.3),
    Stage("turns", tools=(3, 10), calls=(2, 5), turns=(1, 3), linked=0.6, refuse=0.08, live=0.6),
    Stage("live", tools=(4, 10), calls=(2, 5), turns=(1, 3), linked=0.6, refuse=0.1, live=0.9, advance=1.0),
)
