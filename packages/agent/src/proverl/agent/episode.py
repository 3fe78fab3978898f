"""The one episode loop: synthesis replay, verl's agent loop and the held-out evaluation all run it."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Protocol

from proverl.agent.chat import Chat, Reply
from proverl.agent.limits import Limits
from proverl.core import Call, CallRecord, Episode, ErrorCode, MalformedCall, Result, StopReason, Task, Tool

# by the clock; of the environment also this thread's processor time, which is its own where a call never waits
TIMED = ("generate", "environment", "environment_processor")


class Environment(Protocol):
    """The live side of an episode: a session, in this process or behind MCP."""

    async def execute(self, call: Call) -> Result:
        """Run one call. Bad calls return a result with a code; raising means that the environment itself failed."""

    async def state_digest(self) -> str:
        """A digest of the whole state."""


async def run_episode(
    task: Task, environment: Environment, chat: Chat, limits: Limits, tools: Sequence[Tool] | None = None
) -> Episode:
    """Let `chat` work on `task` until it is done or a limit stops it. Never raises, except when it is cancelled.

    `tools` are those that may be called; by default those the task offers. Whoever opened the environment closes it.
    """
    return await _Loop(task, environment, chat, limits, task.tools if tools is None else tools).run()


class _Stop(Exception):
    """Ends an episode early, with its reason."""

    def __init__(self, reason: StopReason, error: str = "") -> None:
        super().__init__(error)
        self.reason = reason


class _Loop:
    """One running episode."""

    def __init__(self, task: Task, environment: Environment, chat: Chat, limits: Limits, tools: Sequence[Tool]) -> None:
        self.task, self.environment, self.chat, self.limits = task, environment, chat, limits
        self.offered = [tool.name for tool in tools]
        self.episode = Episode(task.id, seconds=dict.fromkeys(TIMED, 0.0))
        self.replies = 0
        self.rounds = 0  # of tool results and follow-up user turns
        self.asked = 0  # calls written, for their ids
        self.crash = ""  # what the environment raised

    async def run(self) -> Episode:
        """Run to the end and fill in what is known only then."""
        try:
            async with asyncio.timeout(self.limits.episode_seconds) as clock:
                await self._converse()
        except _Stop as stop:
            self._stop(stop.reason, str(stop))
        except Exception as error:
            late = isinstance(error, TimeoutError) and clock.expired()
            self._stop(StopReason.TIME if late else StopReason.CRASHED, "" if late else _sentence(error))
        try:
            with self._timed("environment"):
                self.episode.digest = await self.environment.state_digest()
            self.episode.transcript = self.chat.transcript()
        except Exception as error:
            self._stop(StopReason.CRASHED, self.episode.error or _sentence(error))
        return self.episode

    def _stop(self, reason: StopReason, error: str) -> None:
        self.episode.stop, self.episode.error = reason, error

    async def _converse(self) -> None:
        for turn, text in enumerate(self.task.turns):
            user = {"role": "user", "content": text}
            if turn == 0:
                self._say([{"role": "system", "content": self.task.system}, user] if self.task.system else [user])
            else:
                self._next_round()
                self._say([user])
            while (reply := await self._reply()).calls:
                results = await self._perform(reply, turn)
                self._stop_if_cut(reply)
                self._next_round()
                self.chat.observe(results)
            self._stop_if_cut(reply)

    def _say(self, messages: list[dict[str, Any]]) -> None:
        self.episode.messages += messages
        self.chat.observe(messages)

    def _stop_if_cut(self, reply: Reply) -> None:
        if reply.finish == "length":
            raise _Stop(StopReason.TOKENS)

    def _next_round(self) -> None:
        """Go on only if the policy may still answer what it is about to see."""
        if self.replies >= self.limits.assistant_turns:
            raise _Stop(StopReason.ASSISTANT_TURNS)
        self.rounds += 1
        if self.rounds > self.limits.user_turns:
            raise _Stop(StopReason.USER_TURNS)

    async def _reply(self) -> Reply:
        """The policy's next message, recorded with an id for every call."""
        room = self.chat.room
        if room is not None and room <= 0:
            raise _Stop(StopReason.TOKENS, "" if self.replies else "the first prompt is over limits.prompt_tokens")
        with self._timed("generate"):
            reply = await self.chat.reply()
        self.replies += 1
        self.episode.messages.append({"role": "assistant", "content": reply.text})
        if reply.thinking:
            self.episode.messages[-1]["reasoning_content"] = reply.thinking  # as chat templates and endpoints call it
        if reply.calls:
            self.episode.messages[-1]["tool_calls"] = [self._tool_call(call) for call in reply.calls]
        return reply

    def _tool_call(self, call: Call | MalformedCall) -> dict[str, Any]:
        """OpenAI's shape with arguments as an object; a call that could not be read stands there as its text."""
        self.asked += 1
        if isinstance(call, MalformedCall):
            function: dict[str, Any] = {"name": "malformed_call", "arguments": {"text": call.text}}
        else:
            function = {"name": call.name, "arguments": call.arguments}
        # ids of our own: some endpoints give every reply's calls the same ones
        return {"id": f"call_{self.asked - 1}", "type": "function", "function": function}

    async def _perform(self, reply: Reply, turn: int) -> list[dict[str, Any]]:
        """Run the calls of a reply in the order written, and return their results as messages."""
        at = len(self.episode.messages) - 1
        shown = []
        for call, asked in zip(reply.calls, self.episode.messages[at]["tool_calls"], strict=True):
            if len(self.episode.calls) >= self.limits.calls:
                raise _Stop(StopReason.CALLS)
            if isinstance(call, Call):
                call = replace(call, id=asked["id"])
            with self._timed("environment"):
                result = await self._execute(call)
            self.episode.calls.append(CallRecord(call, result, turn, at))
            content = self.chat.clip(result.text(), self.limits.tool_output_tokens)
            name = asked["function"]["name"]
            shown.append({"role": "tool", "tool_call_id": asked["id"], "name": name, "content": content})
            self.episode.messages.append(shown[-1])
            if self.crash:
                raise _Stop(StopReason.CRASHED, self.crash)
        return shown

    async def _execute(self, call: Call | MalformedCall) -> Result:
        if isinstance(call, MalformedCall):
            return Result(code=ErrorCode.INVALID_ARGUMENTS, message=f"the call could not be read: {call.reason}")
        if call.name not in self.offered:
            return Result(code=ErrorCode.UNKNOWN_TOOL, message=_unknown(call.name, self.offered))
        seconds = self.limits.call_seconds
        try:
            async with asyncio.timeout(seconds) as clock:
                return await self.environment.execute(call)
        except Exception as error:
            if isinstance(error, TimeoutError) and clock.expired():
                return Result(code=ErrorCode.TIMEOUT, message=f"{call.name} took longer than {seconds:g} seconds")
            self.crash = _sentence(error)
            return Result(code=ErrorCode.CRASHED, message=self.crash)

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        start, busy = time.perf_counter(), time.thread_time()
        try:
            yield
        finally:
            self.episode.seconds[part] += time.perf_counter() - start
            if part == "environment":
                self.episode.seconds["environment_processor"] += time.thread_time() - busy


def _unknown(name: str, offered: Sequence[str]) -> str:
    near = get_close_matches(name, offered, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else f"the tools are {', '.join(offered) or 'none'}"
    return f"there is no tool {name!r}; {hint}"


def _sentence(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
