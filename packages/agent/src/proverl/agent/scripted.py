"""Policies without a model: a list of replies, and the oracle that performs a task's ground truth."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from proverl.agent.chat import Message, Reply, Tokenizer, clip
from proverl.agent.limits import Limits
from proverl.core import Call, GroundTruth, Json, MalformedCall, Task, TaskKind, find_references, resolve

Scripted = Reply | str | Sequence[Call | MalformedCall]


class ScriptedChat:
    """Says the given replies in order, whatever it hears, and nothing (an empty reply) after the last one."""

    def __init__(self, replies: Sequence[Scripted] = ()) -> None:
        self._replies = list(replies)
        self.heard: list[Message] = []

    def observe(self, messages: Sequence[Message]) -> None:
        """Keep the messages in `heard`."""
        self.heard.extend(messages)

    async def reply(self) -> Reply:
        """The next scripted reply."""
        scripted = self._replies.pop(0) if self._replies else ""
        if isinstance(scripted, Reply):
            return scripted
        return Reply(scripted) if isinstance(scripted, str) else Reply("", tuple(scripted))

    @property
    def room(self) -> None:
        """A script counts no tokens."""
        return None

    def clip(self, text: str, tokens: int) -> str:
        """Cut a tool result at about four characters a token."""
        return clip(text, tokens)

    def transcript(self) -> None:
        """A script has no tokens."""
        return


@dataclass(frozen=True)
class ScriptedPolicy:
    """The same replies in every episode; without replies, the silent policy."""

    replies: tuple[Scripted, ...] = ()

    def chat(self, task: Task, limits: Limits, seed: int = 0) -> ScriptedChat:
        """Open a chat that says the replies."""
        return ScriptedChat(self.replies)


@dataclass(frozen=True)
class Closings:
    """What the oracle says when it calls nothing (more)."""

    done: str = "Done."
    ask: str = "I need more details to do that."
    refuse: str = "I can't do that with my tools."


def plan(ground_truth: GroundTruth, turn: int, parallel: bool = True) -> list[list[int]]:
    """Group the steps of a user turn into messages, as indices of steps.

    A step whose value comes from an earlier step stands in a later message; one that needs only the state an earlier
    step left may stand behind it in the same message. Without `parallel` every message has one call.
    """
    todo = [index for index, step in enumerate(ground_truth.steps) if step.turn == turn]
    messages: list[list[int]] = []
    while todo:
        batch: list[int] = []
        for index in todo:
            if not _waits(ground_truth, index, todo, batch):
                batch.append(index)
            if batch and not parallel:
                break
        if not batch:
            raise ValueError(f"the ground truth's edges form a circle among steps {todo}")
        messages.append(batch)
        todo = [index for index in todo if index not in batch]
    return messages


def _waits(ground_truth: GroundTruth, index: int, todo: list[int], batch: list[int]) -> bool:
    """Whether step `index` needs a step that has not run by the time `batch` is sent."""
    values = {step for step, _ in find_references(ground_truth.steps[index].arguments)}
    values |= {edge.before for edge in ground_truth.edges if edge.after == index and edge.kind == "value"}
    states = {edge.before for edge in ground_truth.edges if edge.after == index and edge.kind == "state"}
    return bool(values & set(todo)) or bool((states & set(todo)) - set(batch))


class OracleChat(ScriptedChat):
    """Performs the ground truth, user turn by user turn, with the values that its own live calls returned."""

    def __init__(
        self,
        task: Task,
        parallel: bool = True,
        closings: Closings | None = None,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        super().__init__()
        self._task = task
        self._parallel = parallel
        self._closings = closings or Closings()
        self._tokenizer = tokenizer
        self._turn = -1
        self._left: list[list[int]] = []  # messages still to send in this turn
        self._sent: list[int] = []  # steps of the last message, whose results come next
        self._contents: dict[int, Json] = {}

    def observe(self, messages: Sequence[Message]) -> None:
        """Read the results of the last message's calls, or begin the next user turn."""
        super().observe(messages)
        results = [message["content"] for message in messages if message["role"] == "tool"]
        for step, text in zip(self._sent, results, strict=False):
            self._read(step, text)
        for _ in (message for message in messages if message["role"] == "user"):
            self._turn += 1
            self._left = plan(self._task.ground_truth, self._turn, self._parallel)

    def _read(self, step: int, text: str) -> None:
        try:
            self._contents[step] = json.loads(text)
        except ValueError:  # cut: a step that needs it fails in `reply` and says so
            self._contents.pop(step, None)

    async def reply(self) -> Reply:
        """The next calls of this turn, or its closing text. Raises KeyError when a value it needs is missing."""
        if not self._left:
            return Reply(self._closing())
        self._sent = self._left.pop(0)
        return Reply("", tuple(self._call(index) for index in self._sent))

    def _call(self, index: int) -> Call:
        step = self._task.ground_truth.steps[index]
        arguments: Any = resolve(step.arguments, self._contents)
        return Call(step.name, arguments)

    def _closing(self) -> str:
        steps = self._task.ground_truth.steps
        last = self._turn == len(self._task.turns) - 1
        if not steps or (last and self._task.kind == TaskKind.CLARIFICATION):
            return self._closings.refuse
        return self._closings.done if any(step.turn == self._turn for step in steps) else self._closings.ask

    def clip(self, text: str, tokens: int) -> str:
        """Cut a tool result as the policy that learns from this demonstration would see it."""
        return clip(text, tokens, self._tokenizer)


@dataclass(frozen=True)
class OraclePolicy:
    """The ground truth as a policy; `tokenizer` makes it see tool results as a model with that tokenizer does."""

    parallel: bool = True
    closings: Closings = field(default_factory=Closings)
    tokenizer: Tokenizer | None = None

    def chat(self, task: Task, limits: Limits, seed: int = 0) -> OracleChat:
        """Open a chat that performs the task."""
        return OracleChat(task, self.parallel, self.closings, self.tokenizer)
