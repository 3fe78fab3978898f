"""One policy's conversation on one task."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from proverl.core.tool import Call, MalformedCall, Result


class StopReason(StrEnum):
    """Why an episode ended; each becomes a metric."""

    COMPLETED = "completed"  # the last user turn was answered
    USER_TURNS = "user_turns"
    ASSISTANT_TURNS = "assistant_turns"
    CALLS = "calls"
    TOKENS = "tokens"  # the reply was cut, or no room was left for one
    TIME = "time"
    CRASHED = "crashed"  # the policy or the environment failed; never scored in silence


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call as it happened. `turn`: index of the user turn answered; `message`: of the assistant message."""

    call: Call | MalformedCall
    result: Result
    turn: int
    message: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """The tokens of an episode, exactly as they were sampled.

    `response_ids`, `mask` and `log_probs` have equal length; mask is 1 where the model wrote the token and 0 where the
    environment did; log-probabilities are natural logarithms, 0.0 where mask is 0.
    """

    prompt_ids: list[int]
    response_ids: list[int]
    mask: list[int]
    log_probs: list[float]


@dataclass(slots=True)
class Episode:
    """What happened: OpenAI-style messages, calls with results, stop reason, tokens where there are any."""

    task_id: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    stop: StopReason = StopReason.COMPLETED
    transcript: Transcript | None = None
    error: str = ""
    digest: str = ""  # of the session's final state
    seconds: dict[str, float] = field(default_factory=dict)  # where the time went: generate, environment
    reward: dict[str, float] = field(default_factory=dict)

    @property
    def replied(self) -> bool:
        """Whether it ended with an assistant message that has text."""
        last = self.messages[-1] if self.messages else {}
        return last.get("role") == "assistant" and bool(str(last.get("content") or "").strip())
