"""A policy that is listened to: what it heard and said in one attempt, and how many tokens that took."""

from collections.abc import Sequence
from typing import Any

from proverl.agent import Chat, Limits, Message, Policy, Reply
from proverl.core import Call, MalformedCall, Task, Transcript


class ListenedPolicy:
    """Passes everything on to `policy`; use one for every attempt."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.messages: list[dict[str, Any]] = []
        self.replies = 0
        self.calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.truncated = False

    def chat(self, task: Task, limits: Limits, seed: int = 0) -> "ListenedChat":
        """Open a chat; a second one of an attempt (other tools, same conversation) starts the messages anew."""
        self.messages = []
        return ListenedChat(self.policy.chat(task, limits, seed), self)


class ListenedChat:
    """One conversation of it."""

    def __init__(self, chat: Chat, told: ListenedPolicy) -> None:
        self._chat, self._told = chat, told

    def observe(self, messages: Sequence[Message]) -> None:
        """Pass messages on."""
        self._told.messages += [dict(message) for message in messages]
        self._chat.observe(messages)

    async def reply(self) -> Reply:
        """The policy's next message."""
        reply = await self._chat.reply()
        told = self._told
        told.replies += 1
        told.calls += len(reply.calls)
        told.prompt_tokens += reply.prompt_tokens
        told.completion_tokens += reply.completion_tokens
        told.truncated |= reply.finish == "length"
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        if reply.thinking:
            message["reasoning_content"] = reply.thinking
        if reply.calls:
            message["tool_calls"] = [
                {"id": f"call_{number}", "type": "function", "function": _function(call)}
                for number, call in enumerate(reply.calls, told.calls - len(reply.calls))
            ]
        told.messages.append(message)
        return reply

    @property
    def room(self) -> int | None:
        """Tokens left for the next reply; seen to be none, the attempt counts as cut."""
        room = self._chat.room
        self._told.truncated |= room is not None and room <= 0
        return room

    def clip(self, text: str, tokens: int) -> str:
        """Cut a tool result as the policy counts tokens."""
        return self._chat.clip(text, tokens)

    def transcript(self) -> Transcript | None:
        """The tokens so far."""
        return self._chat.transcript()


def _function(call: Call | MalformedCall) -> dict[str, Any]:
    if isinstance(call, MalformedCall):
        return {"name": "malformed_call", "arguments": {"text": call.text}}
    return {"name": call.name, "arguments": call.arguments}
