"""Every limit on an episode, in one place."""

from dataclasses import dataclass, fields, replace

_MOST, _MOST_SECONDS = 10**9, 10**6


@dataclass(frozen=True, slots=True)
class Limits:
    """What an episode may use; the defaults are the paper's (section Training) where it names one.

    user_turns: rounds of tool results and follow-up user turns together, as verl counts them; the first one is free.
    assistant_turns: replies of the policy.
    calls: calls executed in the whole episode.
    prompt_tokens, response_tokens: of the first prompt, and of everything after it (environment text included).
    context_tokens: of both together, which a model has room for; 0 means no bound of its own.
    reply_tokens: of one reply; 0 means whatever room is left.
    tool_output_tokens: shown of one tool result; the cut is visible.
    call_seconds, episode_seconds: wall-clock time of one call and of the whole episode.
    """

    user_turns: int = 5
    assistant_turns: int = 10
    calls: int = 32
    prompt_tokens: int = 12384
    response_tokens: int = 16384
    context_tokens: int = 0
    reply_tokens: int = 0
    tool_output_tokens: int = 2048
    call_seconds: float = 30.0
    episode_seconds: float = 600.0

    def within(self, context: int) -> "Limits":
        """The same for a model that has room for so many tokens."""
        return replace(self, context_tokens=min(self.context_tokens or context, context))

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            least, kinds = (0.001, (int, float)) if limit.name.endswith("_seconds") else (1, (int,))
            least = 0 if limit.name in ("reply_tokens", "context_tokens") else least
            if isinstance(value, bool) or not isinstance(value, kinds) or value < least:
                what = "a number" if float in kinds else "a whole number"
                raise ValueError(f"limits.{limit.name} is {value!r}; it must be {what} of at least {least}")
            most = _MOST_SECONDS if limit.name.endswith("_seconds") else _MOST
            if value > most:
                raise ValueError(f"limits.{limit.name} is {value!r}; it must be at most {most}")
