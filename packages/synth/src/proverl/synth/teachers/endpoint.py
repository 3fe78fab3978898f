"""The teacher of the paper: a model behind an OpenAI-compatible endpoint writes the queries and demonstrates."""

import asyncio
import hashlib
import json
import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proverl.agent import Reply
from proverl.agent.formats import read_arguments, render_tools, split_thinking
from proverl.core import Call, Tool, canonical_json
from proverl.synth.scene import MalformedReply, Scene
from proverl.synth.teachers.briefing import assistant_messages, query_messages
from proverl.synth.teachers.config import TeacherConfig
from proverl.synth.teachers.journal import Journal, Spent, Usage
from proverl.synth.teachers.query_check import checked_query

if TYPE_CHECKING:  # the client takes seconds to import, and the scripted teacher never needs it
    from openai import AsyncOpenAI, OpenAIError

_CHECK_SECONDS = 10.0
_TOO_LONG = ("context", "too long")  # how servers say that a prompt does not fit


# connections cannot leave their event loop; a process has one loop, and a copy of the teacher for every piece of work
_lines: "weakref.WeakKeyDictionary[Any, dict[Any, tuple[AsyncOpenAI, asyncio.Semaphore]]]" = weakref.WeakKeyDictionary()


class EndpointError(RuntimeError):
    """The endpoint gives no answer; the message is one sentence that says what to do."""


class EndpointTeacher:
    """Asks one model, in one process at most `concurrency` times at once, and keeps every answer in a journal.

    A scene gives the same requests whenever it is played, so a run that is started again finds its answers there. Every
    attempt draws another seed from the scene and is told what was wrong with the one before.
    """

    def __init__(self, config: TeacherConfig, journal: str | Path, run: str = "") -> None:
        """`journal` is a file that runs and processes may share; `run` names what `spent` sums."""
        self.config = config
        self._journal = Journal(journal, run)
        self._faults: dict[int, str] = {}  # by scene: what was wrong with its last reply

    def __reduce__(self) -> tuple[Any, ...]:
        return EndpointTeacher, (self.config, self._journal.path, self._journal.run)

    @property
    def name(self) -> str:
        """As recorded in every row."""
        return self.config.name

    def check(self) -> None:
        """Raise EndpointError when the endpoint cannot be reached or does not serve the model. Costs no tokens."""
        from openai import OpenAI, OpenAIError

        try:
            with OpenAI(**self._access(), max_retries=1, timeout=_CHECK_SECONDS) as client:
                served = [model.id for model in client.models.list()]
        except OpenAIError as error:
            raise EndpointError(self._explained(error)) from None
        except AttributeError:  # the client reads whatever comes
            raise EndpointError(f"{self.config.base_url} gives no list of models; it mostly ends in /v1") from None
        if self.config.model not in served:
            told = f"{self.config.base_url} serves {', '.join(served) or 'no model'}"
            raise EndpointError(f"teacher.model is {self.config.model!r}, but {told}")

    def spent(self) -> Spent:
        """What this run has spent so far, in all processes."""
        spent = self._journal.spent()
        prompt = spent.prompt_tokens * self.config.dollars_per_million_prompt
        completion = spent.completion_tokens * self.config.dollars_per_million_completion
        return replace(spent, dollars=(prompt + completion) / 1e6)

    async def query(self, scene: Scene) -> str:
        """The user's next turn. Raises MalformedReply when it cannot be used, EndpointError when there is no answer."""
        with self._fault(scene) as fault:
            message, finish = await self._answer(scene, query_messages(scene, fault), ())
            if finish == "length":
                raise MalformedReply(f"it was cut after {self.config.reply_tokens} tokens")
            return checked_query(message.get("content") or "", scene)

    async def act(self, scene: Scene) -> Reply:
        """The assistant's next message. Raises MalformedReply when it cannot be used, EndpointError likewise."""
        with self._fault(scene) as fault:
            message, finish = await self._answer(scene, assistant_messages(scene, fault), scene.tools)
            if finish == "length":
                raise MalformedReply(f"it was cut after {self.config.reply_tokens} tokens")
            return _reply(message, scene.tools)

    @contextmanager
    def _fault(self, scene: Scene) -> Iterator[str]:
        """What was wrong with this scene's last reply; what is wrong with this one is kept for the next."""
        try:
            yield self._faults.pop(id(scene), "")
        except MalformedReply as error:
            self._faults[id(scene)] = str(error)
            weakref.finalize(scene, self._faults.pop, id(scene), None)  # ids are used again
            raise

    async def _answer(
        self, scene: Scene, messages: list[dict[str, Any]], tools: Sequence[Tool]
    ) -> tuple[dict[str, Any], str]:
        """The first choice's message and why it ended."""
        body: dict[str, Any] = {
            **self.config.options,
            "model": self.config.model,
            "messages": messages,
            "seed": scene.rng.randrange(2**31),
            "temperature": self.config.temperature,
            "top_p": self.config.top_p,
            "max_completion_tokens": self.config.reply_tokens,
        }
        if tools:
            body["tools"] = render_tools(tools)
        key = hashlib.sha256(canonical_json(body).encode()).hexdigest()
        text = self._journal.find(key) or await self._paid(key, body)
        choices = json.loads(text)["choices"]
        if not choices:
            raise MalformedReply("the endpoint returned no choice")
        return choices[0].get("message") or {}, choices[0].get("finish_reason") or "stop"

    async def _paid(self, key: str, body: dict[str, Any]) -> str:
        from openai import BadRequestError, OpenAIError

        client, turn = self._line()
        try:
            async with turn:
                # the rest of the body goes as it is: servers know more options than the client
                rest = {name: value for name, value in body.items() if name not in ("model", "messages")}
                answer = await client.chat.completions.with_raw_response.create(
                    model=body["model"], messages=body["messages"], extra_body=rest
                )
            return self._journal.keep(key, answer.text, _usage(answer.text))
        except OpenAIError as error:
            if isinstance(error, BadRequestError) and any(word in str(error).lower() for word in _TOO_LONG):
                raise MalformedReply(f"the conversation is too long for the model: {error}") from None
            raise EndpointError(self._explained(error)) from error
        except ValueError as error:
            raise EndpointError(f"the endpoint at {self.config.base_url} answers with {error}") from None

    def _line(self) -> "tuple[AsyncOpenAI, asyncio.Semaphore]":
        """The client and the bound on requests, which copies of a teacher share."""
        from openai import AsyncOpenAI

        lines = _lines.setdefault(asyncio.get_running_loop(), {})
        options = {**self._access(), "max_retries": self.config.retries, "timeout": self.config.seconds}
        line = (*options.values(), self.config.concurrency)
        if line not in lines:
            lines[line] = (AsyncOpenAI(**options), asyncio.Semaphore(self.config.concurrency))
        return lines[line]

    def _access(self) -> dict[str, Any]:
        # servers of one's own mostly want no key, but the client insists on one
        return {"base_url": self.config.base_url, "api_key": os.environ.get("OPENAI_API_KEY") or "none"}

    def _explained(self, error: "OpenAIError") -> str:
        import openai

        where = f"the endpoint at {self.config.base_url}"
        if isinstance(error, openai.APITimeoutError):
            return f"{where} did not answer in time; see whether it is overloaded, or raise teacher.seconds"
        if isinstance(error, openai.APIConnectionError):
            return f"{where} cannot be reached ({error.__cause__ or error}); start it, or set OPENAI_BASE_URL"
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            return f"{where} refuses the key; set OPENAI_API_KEY"
        if isinstance(error, openai.NotFoundError):
            return f"{where} has no such page or model; its address mostly ends in /v1"
        if isinstance(error, openai.RateLimitError):
            return f"{where} is asked too often; try a teacher.concurrency below {self.config.concurrency}: {error}"
        if isinstance(error, openai.InternalServerError):
            return f"{where} still fails after {self.config.retries} retries; its own log tells why: {error}"
        return f"{where} refuses the request: {error}"


def _usage(text: str) -> Usage:
    """Raises ValueError when the text is no chat completion."""
    try:
        body = json.loads(text)
        body["choices"]
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"something that is no chat completion: {text[:200]!r}") from None
    told = body.get("usage") or {}
    reasoning = (told.get("completion_tokens_details") or {}).get("reasoning_tokens")
    return Usage(told.get("prompt_tokens") or 0, told.get("completion_tokens") or 0, reasoning or 0)


def _reply(message: dict[str, Any], tools: Sequence[Tool]) -> Reply:
    text = split_thinking(message.get("content") or "")[1].strip()
    calls = tuple(_call(asked, tools) for asked in message.get("tool_calls") or ())
    if "<tool_call>" in text:
        raise MalformedReply("a call is written as text; start the server with the model's tool-call parser")
    if not text and not calls:
        raise MalformedReply(f"it is empty {message.get('refusal') or ''}".strip())
    return Reply(text, calls)


def _call(asked: dict[str, Any], tools: Sequence[Tool]) -> Call:
    function = asked.get("function") or {}
    name = function.get("name")
    if name not in {tool.name for tool in tools}:
        raise MalformedReply(f"it calls {name!r}, which is none of the tools")
    try:
        return Call(name, read_arguments(function.get("arguments") or ""), asked.get("id") or "")
    except ValueError as error:
        raise MalformedReply(f"the arguments of {name} cannot be read: {error}") from None
