"""The side of tau2-bench that runs in a process of its own: its orchestrator, its tools and its evaluator.

Only this module imports tau2. The agent and the user registered here think nothing themselves: they hand their turn to
whoever holds the `Simulation` and take the reply from there, so no model is asked from this process.
"""

import os
import sys
from collections.abc import Sequence
from itertools import count
from queue import SimpleQueue
from threading import Thread
from types import ModuleType
from typing import Any

from loguru import logger

os.environ["PYTHON_DOTENV_DISABLED"] = "1"  # tau2 reads every .env above its folder: no secret may come back here


class _NoClient(ModuleType):
    """Stands in for litellm, tau2's own way to models, which nobody needs here and which takes ten seconds to load."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return object


for _name in ("litellm", "litellm.caching", "litellm.caching.caching", "litellm.main"):
    sys.modules.setdefault(_name, _NoClient(_name))
logger.remove()

from tau2.agent.llm_agent import LLMAgent, LLMSoloAgent  # noqa: E402
from tau2.data_model.message import AssistantMessage, MultiToolMessage, ToolCall, UserMessage  # noqa: E402
from tau2.data_model.simulation import RewardInfo, SimulationRun  # noqa: E402
from tau2.data_model.tasks import Task  # noqa: E402
from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation  # noqa: E402
from tau2.registry import registry  # noqa: E402
from tau2.run import run_task  # noqa: E402
from tau2.user.user_simulator import UserSimulator  # noqa: E402

from proverl.core import Json  # noqa: E402

_turns: "SimpleQueue[Json]" = SimpleQueue()
_replies: "SimpleQueue[Any]" = SimpleQueue()
_numbers = count()  # of calls


class Simulation:
    """One simulation, in a thread of this process; a process has one at most."""

    def __init__(self, domain: str, task: dict[str, Any], solo: bool, max_steps: int, seed: int) -> None:
        self._started = False
        self._thread = Thread(target=_run, args=(domain, Task.model_validate(task), solo, max_steps, seed), daemon=True)

    def next(self, reply: Json) -> Json:
        """Pass on the reply to the last turn (None at the start) and return the next turn, or how it ended.

        A turn is {"to": "agent" | "user", "messages", "tools"}: to the agent only what is new to it, to the user always
        everything, as its model sees it. A reply is {"text", "calls": [{"name", "arguments"}]}. The end is {"done":
        the simulation as tau2 writes it} or {"broken": why the last reply broke it}.
        """
        if self._started:
            _replies.put(reply)
        else:
            self._started = True
            self._thread.start()
        return _turns.get()


def score(domain: str, task: dict[str, Any], simulation: Json, solo: bool) -> dict[str, Any]:
    """tau2's own evaluation of a simulation, as JSON. It replays all calls: never call it outside a fresh process."""
    info: RewardInfo = evaluate_simulation(
        SimulationRun.model_validate(simulation), Task.model_validate(task), EvaluationType.ALL, solo, domain
    )
    told: dict[str, Any] = info.model_dump(mode="json")
    return told


def _run(domain: str, task: Task, solo: bool, max_steps: int, seed: int) -> None:
    try:
        simulation = run_task(
            domain,
            task,
            agent="proverl_solo" if solo else "proverl",
            user="dummy_user" if solo else "proverl",
            llm_agent="the policy",  # tau2 wants names before it sets seeds
            llm_user="the user simulator",
            max_steps=max_steps,
            evaluation_type=EvaluationType.COMMUNICATE,  # the one that needs no replay; scores are made elsewhere
            seed=seed,
        )
    except Exception as error:
        _turns.put({"broken": f"{type(error).__name__}: {error}".splitlines()[0]})
    else:
        _turns.put({"done": simulation.model_dump(mode="json", exclude={"reward_info"})})


def _asked(to: str, messages: Sequence[Any], tools: Sequence[Any]) -> dict[str, Any]:
    """Hand a turn over and wait for the reply: the content and tool calls of a message."""
    schemas = [tool.openai_schema["function"] for tool in tools]
    _turns.put({"to": to, "messages": [_plain(message) for message in messages], "tools": schemas})
    reply = _replies.get()
    requestor = "assistant" if to == "agent" else "user"
    calls = [
        ToolCall(id=f"call_{next(_numbers)}", name=call["name"], arguments=call["arguments"], requestor=requestor)
        for call in reply["calls"]
    ]
    return {"content": reply["text"] or None, "tool_calls": calls or None, "usage": reply.get("usage")}


def _plain(message: Any) -> Json:
    """A message of tau2 as chats take it."""
    plain: dict[str, Json] = {"role": message.role, "content": message.content or ""}
    if getattr(message, "tool_calls", None):
        plain["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return plain


def _unpacked(message: Any) -> list[Any]:
    return list(message.tool_messages) if isinstance(message, MultiToolMessage) else [message]


class PolicyAgent(LLMAgent):
    """tau2's agent with its prompt; the policy speaks for it."""

    def generate_next_message(self, message: Any, state: Any) -> tuple[Any, Any]:
        """The policy's reply to what is new."""
        new = _unpacked(message)
        told_before = any(isinstance(one, UserMessage) for one in state.messages)
        unseen = new if told_before else [*state.system_messages, *state.messages, *new]
        said = AssistantMessage(role="assistant", **_asked("agent", unseen, () if told_before else self.tools))
        state.messages += [*new, said]
        return said, state


class PolicySoloAgent(LLMSoloAgent):
    """tau2's agent without a user, with its prompt and its tool to stop; the policy speaks for it."""

    def generate_next_message(self, message: Any, state: Any) -> tuple[Any, Any]:
        """The policy's reply to the results of its calls. Raises ValueError when it calls nothing, as tau2's does."""
        new = _unpacked(message) if message else state.system_messages
        said = AssistantMessage(role="assistant", **_asked("agent", new, () if message else self.tools))
        if not said.is_tool_call():
            raise ValueError("an agent without a user may only call tools")
        said = self._check_if_stop_toolcall(said)
        state.messages += [*(new if message else ()), said]
        return said, state


class HandedOnUser(UserSimulator):
    """tau2's user simulator with its prompt, its tools and its view of the conversation; its model is asked outside."""

    def generate_next_message(self, message: Any, state: Any) -> tuple[Any, Any]:
        """The user's reply, with the roles flipped as tau2 flips them."""
        state.messages += _unpacked(message)
        messages = [*state.system_messages, *state.flip_roles()]
        said = UserMessage(role="user", **_asked("user", messages, self.tools or ()))
        state.messages.append(said)
        return said, state


registry.register_agent(PolicyAgent, "proverl")
registry.register_agent(PolicySoloAgent, "proverl_solo")
registry.register_user(HandedOnUser, "proverl")
