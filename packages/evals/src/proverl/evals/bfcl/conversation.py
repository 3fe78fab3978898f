"""The loop over turns and steps between a policy and the executables of an entry."""

import json
from collections.abc import Callable
from typing import Any

from proverl.agent import Chat, Message, Reply
from proverl.core import Call, Json, MalformedCall, Tool
from proverl.evals.isolated import IsolatedError, World

MOST_STEPS = 20  # of one turn; the package stops behind the first one more


class Conversation:
    """One entry. `opened` makes a chat with the tools it is given; every step's calls run in `world`."""

    def __init__(
        self, opened: Callable[[tuple[Tool, ...]], Chat], world: World, prompting: bool, step_seconds: float
    ) -> None:
        self._opened, self._world, self._prompting, self._step_seconds = opened, world, prompting, step_seconds
        self._history: list[Message] = []
        self._unseen: list[Message] = []  # by the chat
        self._asked = 0  # calls, for their ids
        self._ended = ""  # why, when the policy's calls broke the world

    async def run(self) -> dict[str, Json]:
        """Every turn in turn; the answer in the package's format, and why it ended early when the calls did not."""
        result: list[Json] = []
        for turn in await self._world.run("turns"):
            if turn["tools"] is not None:
                self._chat = self._opened(tuple(_tool(function) for function in turn["tools"]))
                self._unseen = list(self._history)  # a chat keeps its tools: a new one hears all that was said
            self._say(turn["messages"])
            steps, over = await self._turn()
            result.append(steps)
            if over:
                break
        return {"result": result, "ended": self._ended, "prompting": self._prompting}

    async def _turn(self) -> tuple[list[Json], bool]:
        """The steps of a turn as they were written, and whether the conversation is over."""
        steps: list[Json] = []
        ran = 0
        while self._room():
            reply = await self._chat.reply()
            steps.append(reply.text if self._prompting else _written(reply))
            try:
                told = await self._world.run("step", steps[-1], seconds=self._step_seconds)
            except (TimeoutError, IsolatedError) as error:  # what the policy wrote did that
                self._ended = str(error)
                return steps, True
            self._remember(reply, told)
            if told is None:
                return steps, False
            ran += 1
            if ran > MOST_STEPS:
                return steps, True
        return steps, True

    def _room(self) -> bool:
        self._chat.observe(self._unseen)
        self._unseen = []
        room = self._chat.room
        return room is None or room > 0

    def _say(self, messages: list[Message]) -> None:
        self._history += messages
        self._unseen += messages

    def _remember(self, reply: Reply, told: list[str] | None) -> None:
        """Keep the reply, and answer its calls; with prompting the results come as the user's words."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        self._history.append(message)
        if self._prompting:
            self._say([{"role": "user", "content": text} for text in told or ()])
            return
        if not reply.calls:
            return
        message["tool_calls"] = [self._asked_for(call) for call in reply.calls]
        told = told or ["Error: the calls could not be read, so none of them was run"] * len(reply.calls)
        self._say(
            [
                {"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": text}
                for call, text in zip(message["tool_calls"], told, strict=True)
            ]
        )

    def _asked_for(self, call: Call | MalformedCall) -> dict[str, Any]:
        self._asked += 1
        function: dict[str, Any] = {"name": "malformed_call", "arguments": {}}
        if isinstance(call, Call) and _arguments(call) is not None:
            function = {"name": call.name, "arguments": call.arguments}
        return {"id": f"call_{self._asked - 1}", "type": "function", "function": function}


def _tool(function: dict[str, Any]) -> Tool:
    return Tool(function["name"], function["description"], function["parameters"], function.get("response", {}))


def _written(reply: Reply) -> Json:
    """A reply as the package keeps those of OpenAI's models: the calls when there are some, else the text."""
    return [_written_call(call) for call in reply.calls] or reply.text


def _written_call(call: Call | MalformedCall) -> dict[str, Json]:
    if isinstance(call, MalformedCall):
        return {"": f"malformed: {call.text}"}  # no JSON, so that the step cannot be read
    return {call.name: _arguments(call) or "malformed"}


def _arguments(call: Call) -> str | None:
    """The arguments as JSON text; None when they are none, such as a number of a million digits."""
    try:
        return json.dumps(call.arguments)
    except (ValueError, TypeError, RecursionError):
        return None
