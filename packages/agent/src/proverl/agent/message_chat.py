"""A chat that keeps messages for an OpenAI-compatible endpoint with function calling."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from proverl.agent.chat import Message, Reply, clip
from proverl.agent.formats import read_arguments, render_tools
from proverl.agent.limits import Limits
from proverl.core import Call, MalformedCall, Task, Tool

if TYPE_CHECKING:  # the client takes seconds to import, and training never needs it
    from openai import AsyncOpenAI


_TOO_LONG = ("context", "too long")  # how servers say that a prompt does not fit


class MessageChat:
    """One conversation with an endpoint. Errors of the endpoint, after the client's retries, raise from `reply`."""

    def __init__(
        self,
        client: "AsyncOpenAI",
        model: str,
        tools: Sequence[Tool],
        limits: Limits,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._client = client
        self._limits = limits
        self._messages: list[Any] = []
        self._asked: list[str] = []  # ids of the last reply's calls, still to be answered
        self._first_prompt: int | None = None
        self._used = 0
        self._model = model
        # as part of the body: servers know more options than the client
        self._body: dict[str, Any] = dict(options or {})
        if tools:
            self._body["tools"] = render_tools(tools)
        if limits.reply_tokens:
            self._body["max_completion_tokens"] = limits.reply_tokens

    def observe(self, messages: Sequence[Message]) -> None:
        """Add messages; tool messages get the endpoint's own ids, in the order of the calls."""
        for message in messages:
            if message["role"] == "tool":
                kept = {"role": "tool", "tool_call_id": self._asked.pop(0), "content": message["content"]}
            elif message.get("tool_calls"):
                kept = _said(message)
                self._asked = [call["id"] for call in kept["tool_calls"]]
            else:
                kept = {"role": message["role"], "content": message["content"]}
            self._messages.append(kept)

    async def reply(self) -> Reply:
        """Ask the endpoint; a conversation that is too long for its model gives a reply cut before its first word.

        Raises openai.OpenAIError when it fails, ValueError when what it returns is no reply.
        """
        from openai import APIConnectionError, BadRequestError

        try:
            completion = await self._client.chat.completions.create(
                model=self._model, messages=self._messages, extra_body=self._body
            )
        except APIConnectionError as error:  # whose own words are the same for everything
            error.args = (f"{error} ({error.__cause__})",)
            raise
        except BadRequestError as error:
            if any(word in str(error).lower() for word in _TOO_LONG):
                return Reply("", (), "length")
            raise
        try:
            return self._read(completion)
        except (AttributeError, TypeError, IndexError) as error:  # the client reads whatever comes
            raise ValueError(f"the endpoint's answer is no chat completion: {str(completion)[:200]!r}") from error

    def _read(self, completion: Any) -> Reply:
        read, written = _counted(completion.usage)
        if read:
            if self._first_prompt is None:
                self._first_prompt = read
            self._used = read + written - self._first_prompt
        choice = completion.choices[0]
        text = _whole(choice.message.content or "")
        asked = [call for call in choice.message.tool_calls or () if call.type in ("function", None)]
        for number, call in enumerate(asked):
            call.id = _whole(call.id or f"call_{len(self._messages)}_{number}")  # some servers give none
            call.function.name, call.function.arguments = _whole(call.function.name), _whole(call.function.arguments)
        calls = tuple(_read(call.id, call.function.name, call.function.arguments) for call in asked)
        self._keep(text, calls, asked)
        return Reply(
            text,
            calls,
            "length" if choice.finish_reason == "length" else "stop",
            prompt_tokens=read,
            completion_tokens=written,
        )

    def _keep(self, text: str, calls: Sequence[Call | MalformedCall], asked: Sequence[Any]) -> None:
        """Add the reply to the history, in the shape that every endpoint takes back."""
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if asked:
            message["tool_calls"] = [
                {
                    "id": one.id,
                    "type": "function",
                    # servers parse the arguments of old calls again and fail on broken ones
                    "function": {
                        "name": one.function.name,
                        "arguments": one.function.arguments if isinstance(call, Call) else "{}",
                    },
                }
                for one, call in zip(asked, calls, strict=True)
            ]
        self._asked = [one.id for one in asked]
        self._messages.append(message)

    @property
    def room(self) -> int | None:
        """Tokens left by the endpoint's own count; None until it has told one."""
        if self._first_prompt is None:
            return None
        room = self._limits.response_tokens - self._used
        if self._limits.context_tokens:
            room = min(room, self._limits.context_tokens - self._first_prompt - self._used)
        return room

    def clip(self, text: str, tokens: int) -> str:
        """Cut a tool result at about four characters a token: the endpoint's tokenizer is not here."""
        return clip(text, tokens)

    def transcript(self) -> None:
        """An endpoint returns no tokens."""
        return


def _said(message: Message) -> dict[str, Any]:
    """An assistant message with calls, from before this chat, as the endpoint takes it back."""
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["function"]["name"], "arguments": json.dumps(call["function"]["arguments"])},
        }
        for call in message["tool_calls"]
    ]
    return {"role": "assistant", "content": message["content"], "tool_calls": calls}


def _counted(usage: Any) -> tuple[int, int]:
    """Tokens read and written; none where the server does not count, or gives what is no count."""
    read, written = (getattr(usage, f"{kind}_tokens", None) for kind in ("prompt", "completion"))
    if type(read) is int and type(written) is int and min(read, written) >= 0 and max(read, written) < 2**31:
        return read, written
    return 0, 0


def _whole(text: str) -> str:
    """The text with a question mark for half a character, which JSON can carry and nothing can be written to."""
    return text.encode(errors="replace").decode()


def _read(number: str, name: str, arguments: str) -> Call | MalformedCall:
    try:
        return Call(name, read_arguments(arguments), number)
    except ValueError as error:
        return MalformedCall(f"{name}({arguments})", str(error))


@dataclass(frozen=True)
class EndpointPolicy:
    """A model behind an OpenAI-compatible endpoint.

    `options` go into every request (temperature, top_p, ...). Without `base_url` or `api_key` the client reads
    OPENAI_BASE_URL and OPENAI_API_KEY. `seconds` bound one request. Use one policy in one event loop.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    retries: int = 5
    seconds: float = 300.0

    @cached_property
    def client(self) -> "AsyncOpenAI":
        """The client, shared by all chats; it retries with a growing wait."""
        from openai import AsyncOpenAI

        from proverl.agent.bounded_client import BoundedClient

        return AsyncOpenAI(
            base_url=self.base_url,
            api_key=self.api_key,
            max_retries=self.retries,
            timeout=self.seconds,
            http_client=BoundedClient(self.seconds),
        )

    def chat(self, task: Task, limits: Limits, seed: int = 0) -> MessageChat:
        """Open a chat for one episode; the seed goes to the endpoint."""
        return MessageChat(self.client, self.model, task.tools, limits, {**self.options, "seed": seed})
