"""What the episode loop sees of a policy: one chat per episode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from proverl.agent.limits import Limits
from proverl.core import Call, MalformedCall, Task, Transcript

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """One assistant message: its text, the calls in it in the order written, and whether it ended by itself.

    `thinking` is what a thinking model wrote before it said anything; it is no part of the text. The tokens are those
    of the whole context and of the reply, 0 where the policy counts none.
    """

    text: str
    calls: tuple[Call | MalformedCall, ...] = ()
    finish: Literal["stop", "length"] = "stop"
    thinking: str = ""
    prompt_tokens: int = field(default=0, compare=False)
    completion_tokens: int = field(default=0, compare=False)


class Chat(Protocol):
    """One conversation with a policy. Single use; it owns the history, the caller only adds what is new."""

    def observe(self, messages: Sequence[Message]) -> None:
        """Add system, user and tool messages; tool messages answer the calls of the last reply, in order.

        Before the first reply there may be assistant messages too, in the shape of `Episode.messages`.
        """

    async def reply(self) -> Reply:
        """Return the policy's next message."""

    @property
    def room(self) -> int | None:
        """Tokens left for the next reply (none when 0 or less); None when the policy does not count tokens."""

    def clip(self, text: str, tokens: int) -> str:
        """Return at most `tokens` tokens of a tool result, with a visible note when something is left out."""

    def transcript(self) -> Transcript | None:
        """Return the tokens so far; None when the policy has none."""


class Policy(Protocol):
    """What acts: opens one chat per episode. The same task and seed give the same replies where the policy can."""

    def chat(self, task: Task, limits: Limits, seed: int = 0) -> Chat:
        """Open a chat for one episode of `task`."""


class Tokenizer(Protocol):
    """The part of a transformers tokenizer that is used here."""

    eos_token_id: int | None

    def encode(self, text: str, *, add_special_tokens: bool = ...) -> list[int]:
        """Text to ids."""

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = ...) -> str:
        """Ids to text."""

    def apply_chat_template(self, conversation: Any, **options: Any) -> Any:
        """Render messages."""


_READ, _PER_TOKEN = 2**15, 32  # characters that are tokenised: at least so many, and so many for each token shown


def clip(text: str, tokens: int, tokenizer: Tokenizer | None = None) -> str:
    """Cut a text to `tokens` tokens and say how many are not shown; without a tokenizer four characters are a token.

    Of a very long text only the beginning is tokenised, since other episodes wait meanwhile; the rest is reckoned.
    """
    if len(text.encode()) <= tokens:  # no tokenizer makes more tokens than bytes
        return text
    if tokenizer is None:
        total, shown = -(-len(text) // 4), text[: 4 * tokens]
    else:
        read = text[: max(_READ, _PER_TOKEN * tokens)]
        ids = tokenizer.encode(read, add_special_tokens=False)
        total = len(ids) if read == text else max(tokens + 1, len(ids) * len(text) // len(read))
        # a cut inside a multi-byte character leaves the replacement character behind
        shown = tokenizer.decode(ids[:tokens], skip_special_tokens=False).rstrip("\ufffd")
    return text if total <= tokens else f"{shown}... [cut: {total - tokens} of {total} tokens not shown]"
