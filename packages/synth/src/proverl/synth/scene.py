"""A conversation in the making: what it is to be about, what has been said, and which calls have been executed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from random import Random
from typing import Protocol

from proverl.agent import Message, Reply
from proverl.core import Call, Json, Result, Tool
from proverl.synth.chains.chain import ChainStep, Refused
from proverl.synth.chains.sampler import chain_context


class Information(StrEnum):
    """How much of what is required a request tells at once (paper, Synthesis 3)."""

    COMPLETE = "complete"
    MISSING = "missing"  # one required parameter is left out
    MINIMAL = "minimal"  # only what is wanted is said


@dataclass(frozen=True)
class Vague:
    """A request that leaves required things out: the step that it is about, and the brief phrase that asks for it."""

    step: ChainStep
    phrase: str
    information: Information
    withheld: str = ""  # the one parameter that is missing


@dataclass(frozen=True)
class Ask:
    """What one user turn is about.

    `steps` are proven calls that the turn is to bring about, in order; a refused one stands before its step.
    A turn without steps is `vague` and the next turn tells the rest, or it asks for something that is `refused` and
    nothing else, or it is `unrelated` to any tool.
    """

    steps: tuple[ChainStep, ...] = ()
    vague: Vague | None = None
    refused: Refused | None = None
    unrelated: str = ""


@dataclass(frozen=True)
class Attempt:
    """One executed call of the demonstration, with the index of its user turn."""

    call: Call
    result: Result
    turn: int


@dataclass
class Scene:
    """Everything that a teacher may look at; `proverl.synth.conversation` moves it forward.

    `messages` (without the system message) have the shape of an episode's: OpenAI's, with arguments as objects.
    """

    server: str
    seed: int
    persona: str
    today: date
    system: str
    asks: Sequence[Ask]  # one per user turn
    tools: Sequence[Tool]  # that the assistant may call
    rng: Random
    missing: str = ""  # the tool that is needed next when the conversation ends
    turn: int = -1
    messages: list[Message] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def ask(self) -> Ask:
        """What the current user turn is about."""
        return self.asks[self.turn]

    @property
    def answering(self) -> Vague | None:
        """The vague request that the current user turn completes."""
        return self.asks[self.turn - 1].vague if self.turn > 0 else None

    @property
    def texts(self) -> list[str]:
        """The user turns so far."""
        return [message["content"] for message in self.messages if message["role"] == "user"]

    @property
    def context(self) -> Mapping[str, Sequence[Mapping[str, Json]]]:
        """Entity -> records of the live state that support the chain (paper, Synthesis 2)."""
        return chain_context(self.server, self.seed, [step for ask in self.asks for step in ask.steps])


class MalformedReply(ValueError):
    """A teacher's reply that cannot be used; it is asked again."""


class Teacher(Protocol):
    """What writes queries and demonstrates how to serve them: a script, or a model behind an endpoint."""

    @property
    def name(self) -> str:
        """As recorded in every row."""

    async def query(self, scene: Scene) -> str:
        """The user's next turn, about `scene.ask`. Raises MalformedReply when there is none to use."""

    async def act(self, scene: Scene) -> Reply:
        """The assistant's next message: calls, or the text that ends its turn. Raises MalformedReply likewise."""
