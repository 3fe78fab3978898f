"""A chat that keeps tokens: what the model sampled is what is trained on (tokens in, tokens out).

Nothing that has been sampled is ever taken back, thinking included: a context is always the one before it, what was
sampled, and what is new. A template that drops earlier thinking would change the context under tokens already sampled.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from proverl.agent.chat import Message, Reply, clip
from proverl.agent.chat_template import ChatTemplate
from proverl.agent.limits import Limits
from proverl.core import Tool, Transcript


@dataclass(frozen=True, slots=True)
class Generated:
    """Sampled ids (the end token included, when there was one) with the natural logarithm of their probabilities."""

    ids: list[int]
    log_probs: list[float]
    finish: Literal["stop", "length"] = "stop"


# (ids of the whole context, most tokens to sample) -> what was sampled
Generate: TypeAlias = Callable[[list[int], int], Awaitable[Generated]]


class TokenChat:
    """A chat over any `generate`: keeps ids, mask and log-probabilities, and never tokenises a reply again."""

    def __init__(self, template: ChatTemplate, generate: Generate, tools: Sequence[Tool], limits: Limits) -> None:
        self._template = template
        self._generate = generate
        self._tools = tools
        self._limits = limits
        self._unseen: list[Message] = []  # observed since the last reply
        self._pending: list[int] = []  # their ids
        self._prompt: list[int] = []
        self._response: list[int] = []
        self._mask: list[int] = []
        self._log_probs: list[float] = []

    def observe(self, messages: Sequence[Message]) -> None:
        """Add system, user and tool messages."""
        self._unseen.extend(messages)
        if self._response:
            self._pending = self._template.following(self._unseen, self._response[-1])
        else:
            self._prompt = self._template.prompt(self._unseen, self._tools)

    @property
    def room(self) -> int:
        """Tokens left for the next reply; 0 when the first prompt is over its limit."""
        if len(self._prompt) > self._limits.prompt_tokens:
            return 0
        after = len(self._response) + len(self._pending)
        room = self._limits.response_tokens - after
        if self._limits.context_tokens:
            room = min(room, self._limits.context_tokens - len(self._prompt) - after)
        return max(0, room)

    async def reply(self) -> Reply:
        """Sample the next message. Raises ValueError when `generate` breaks its contract or there is no room."""
        most = min(self.room, self._limits.reply_tokens or self.room)
        if most <= 0:
            raise ValueError(
                f"no room for a reply: {len(self._prompt)} prompt and {len(self._response)} response tokens"
            )
        context = self._prompt + self._response + self._pending
        generated = await self._generate(context, most)
        if not 0 < len(generated.ids) == len(generated.log_probs) <= most:
            raise ValueError(
                f"generate returned {len(generated.ids)} ids and {len(generated.log_probs)} log-probabilities; "
                f"it must return equally many, 1 to {most}"
            )
        self._append(self._pending, 0, [0.0] * len(self._pending))
        self._append(generated.ids, 1, generated.log_probs)
        self._unseen, self._pending = [], []
        return replace(
            self._template.format.parse(self._template.text(generated.ids)),
            finish=generated.finish,
            prompt_tokens=len(context),
            completion_tokens=len(generated.ids),
        )

    def _append(self, ids: list[int], mask: int, log_probs: list[float]) -> None:
        self._response += ids
        self._mask += [mask] * len(ids)
        self._log_probs += log_probs

    def clip(self, text: str, tokens: int) -> str:
        """Cut a tool result, counted by the model's own tokenizer."""
        return clip(text, tokens, self._template.tokenizer)

    def transcript(self) -> Transcript:
        """The tokens up to the end of the last reply; messages that were never answered are not part of it."""
        return Transcript(list(self._prompt), list(self._response), list(self._mask), list(self._log_probs))
