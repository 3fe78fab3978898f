"""What a proven chain of calls is: every step was executed as it was chosen, every argument comes from somewhere."""

from dataclasses import dataclass, field
from typing import Literal

from proverl.core import ErrorCode, Json, Tool, reference


@dataclass(frozen=True)
class Derived:
    """A value that was computed: an operation of `proverl.synth.chains.spoken` on a value known by then.

    `base` says on what: the reference date, an argument of an earlier step (`path` is its parameter), or a field of
    what it returned (`path` as in references).
    """

    operation: str
    base: Literal["date", "argument", "result"]
    step: int = 0
    path: str = ""


@dataclass(frozen=True)
class Argument:
    """One argument. `origin` (step, path) is the result that alone knows its value; without one the user tells it.

    `words` is how the user says it, when not by its value; `entity` is what it names, where it names something.
    """

    value: Json
    origin: tuple[int, str] | None = None
    entity: str | None = None
    words: str = ""
    derived: Derived | None = None

    @property
    def expected(self) -> Json:
        """The form in the ground truth: the value itself, or a reference to the result that knows it."""
        return self.value if self.origin is None else reference(*self.origin)


@dataclass(frozen=True)
class Refused:
    """A call that the state refuses where it stands in the chain.

    `kind` says what the user wants then (paper, Synthesis 3): the same with another value of `changed`, another tool,
    or nothing of the kind.
    """

    tool: Tool
    phrase: str
    arguments: dict[str, Argument]
    code: ErrorCode
    message: str
    kind: Literal["corrected", "alternative", "give_up"]
    changed: str = ""


@dataclass(frozen=True)
class ChainStep:
    """One executed step, with the phrase (optional parts settled) that asks for it, and what was refused before it.

    `again` names the one argument in which it differs from the step before.
    """

    tool: Tool
    phrase: str
    arguments: dict[str, Argument]
    content: Json
    refused: Refused | None = None
    again: str = ""


@dataclass
class Chain:
    """A proven chain on one server and world."""

    server: str
    seed: int
    steps: list[ChainStep] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """Tool names in order."""
        return tuple(step.tool.name for step in self.steps)
