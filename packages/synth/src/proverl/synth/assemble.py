"""From a proven chain to a task: a demonstrated conversation, its ground truth, tools on offer, perturbations."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from proverl.core import GroundTruth, Json, Task, TaskKind, Tool, resolve
from proverl.envs import load_server, start_time
from proverl.synth.chains.chain import Argument, Chain
from proverl.synth.config import SynthConfig
from proverl.synth.conversation import Conversation
from proverl.synth.plan import plan
from proverl.synth.proof import state_edges
from proverl.synth.reasons import Reason, Unproven
from proverl.synth.rivals import rivals
from proverl.synth.scene import Ask, Attempt, Information, Scene, Teacher
from proverl.synth.session import fresh_session
from proverl.synth.teachers.unrelated import unrelated
from proverl.synth.trace import Trace

_MOST_ERRORS = 0.3  # paper, Synthesis 5


def system_text(seed: int) -> str:
    """The system message: the role and the reference date of this session."""
    return f"Act for the user with these tools. Today is {start_time(seed):%A %Y-%m-%d}."


class Assembly:
    """Makes tasks with one teacher; the same rng gives the same task where the teacher's answers are the same."""

    def __init__(self, config: SynthConfig, teacher: Teacher, rng: Random, id: str) -> None:
        self.config, self.teacher, self.rng, self.id = config, teacher, rng, id

    async def multi_turn(self, chain: Chain, information: Information, question: str) -> Task:
        """The whole chain, asked over the configured number of user turns, with all its tools on offer.

        `question` is asked in between and needs no tool, or is empty.
        """
        asks = plan(chain, information, question, self.config, self.rng)
        tools, notes = self._offer([step.tool for step in chain.steps], (), chain.server)
        if question:
            notes["irrelevant"] = True
        return await self._task(TaskKind.MULTI_TURN, chain, asks, tools, {"information": str(information), **notes})

    async def missing_function(self, chain: Chain) -> Task:
        """One tool of the chain is not on offer; expected is what can be done before it, and then to say so."""
        hidden = self.rng.randrange(1, len(chain.steps)) if len(chain.steps) > 1 and self.rng.random() < 0.8 else 0
        missing = chain.steps[hidden].tool
        if missing.read_only:  # another tool may tell as much
            raise Unproven(Reason.STUCK, "the missing tool only reads")
        if rivals(missing.name) & {tool.name for tool in _visible(chain.server)}:
            raise Unproven(Reason.STUCK, "another tool may do as much")
        before = replace(chain, steps=chain.steps[: hidden + 1])
        if missing.name in before.names[:-1] or any(step.refused for step in before.steps):
            raise Unproven(Reason.STUCK, "the missing tool is needed before")
        asks = plan(before, Information.COMPLETE, "", self.config, self.rng) if hidden else [Ask(tuple(before.steps))]
        tools, notes = self._offer([step.tool for step in before.steps[:-1]], (missing.name,), chain.server)
        notes |= {"missing": missing.name, "information": str(Information.COMPLETE)}
        return await self._task(TaskKind.CLARIFICATION, chain, asks, tools, notes, missing.name)

    async def abstention(self, foreign: Chain | None, server: str, seed: int) -> Task:
        """A request that the offered tools cannot serve: for another server's tool, or for no tool at all."""
        excluded = [tool.name for tool in load_server(foreign.server).tools] if foreign else ()
        tools, notes = self._offer([], excluded, server)
        ask = Ask(tuple(foreign.steps)) if foreign else Ask(unrelated=unrelated(self.rng))
        missing = foreign.steps[0].tool.name if foreign else ""
        offered = {tool.name for tool in tools}
        if rivals(missing) & offered or _objects(missing) & {word for name in offered for word in _objects(name)}:
            raise Unproven(Reason.STUCK, "a tool on offer may serve the request")
        return await self._task(TaskKind.ABSTENTION, Chain(server, seed), [ask], tools, notes, missing)

    async def _task(
        self,
        kind: TaskKind,
        chain: Chain,
        asks: Sequence[Ask],
        tools: Sequence[Tool],
        notes: dict[str, Json],
        missing: str = "",
    ) -> Task:
        scene = await self._demonstrated(chain, asks, tools, missing)
        servers = tuple(dict.fromkeys([chain.server, *(tool.server for tool in tools)]))
        kept = _kept(scene)
        _check_performed(asks, missing, kept)
        trace = Trace(scene.texts, scene.today)
        hints = _hints(asks, missing)
        for attempt, hint in zip(kept, hints if len(hints) == len(kept) else [{}] * len(kept), strict=True):
            trace.add(attempt, _tool(scene, attempt), hint)
        truth, digest = self._ground_truth(chain, servers, trace, [not _tool(scene, item).read_only for item in kept])
        notes = {
            "chain": [step.name for step in truth.steps] if kind == TaskKind.MULTI_TURN else list(chain.names),
            "server": chain.server,
            "persona": scene.persona,
            "teacher": self.teacher.name,
            "sources": trace.sources,  # type: ignore[dict-item]
            **notes,
            **_recovery(scene),
        }
        texts = tuple(scene.texts)
        return Task(self.id, kind, servers, chain.seed, scene.system, texts, tuple(tools), truth, notes, digest)

    def _ground_truth(
        self, chain: Chain, servers: Sequence[str], trace: Trace, writes: Sequence[bool]
    ) -> tuple[GroundTruth, str]:
        """The ground truth with its state edges, and the digest of the final state."""
        truth = trace.ground_truth(set())
        digest = final_digest(servers, chain.seed, truth)
        edges = state_edges(servers, chain.seed, truth.steps, writes, digest)
        return trace.ground_truth(edges), digest

    async def _demonstrated(self, chain: Chain, asks: Sequence[Ask], tools: Sequence[Tool], missing: str) -> Scene:
        """The finished conversation. Raises Unproven when too many of its calls were refused."""
        asked = [step.tool.server for ask in asks for step in ask.steps]
        scene = Scene(
            server=asked[0] if asked else chain.server,
            seed=chain.seed,
            persona=self.rng.choice(self.config.personas),
            today=start_time(chain.seed).date(),
            system=system_text(chain.seed),
            asks=asks,
            tools=tools,
            rng=self.rng,
            missing=missing,
        )
        with fresh_session([chain.server], chain.seed) as session:
            await Conversation(scene, session, self.teacher).run()
        failed = sum(not attempt.result.ok for attempt in scene.attempts)
        if failed > _MOST_ERRORS * len(scene.attempts):
            raise Unproven(Reason.ERRORS, f"{failed} of {len(scene.attempts)}")
        return scene

    def _offer(
        self, needed: Sequence[Tool], excluded: Sequence[str], server: str
    ) -> tuple[list[Tool], dict[str, Json]]:
        """The tools on offer, shuffled: the needed ones, others of the server, distractors of other servers."""
        config, rng = self.config, self.rng
        notes: dict[str, Json] = {}
        needed = list({tool.name: tool for tool in needed}.values())
        names = {tool.name for tool in needed} | set(excluded)
        room = config.max_tools - len(needed) if config.max_tools else 10_000
        distractors: list[Tool] = []
        unwanted = names.union(*map(rivals, names))
        others = [
            tool for name in config.servers if name != server for tool in _visible(name) if tool.name not in unwanted
        ]
        if others and room > 0 and rng.random() < config.distractors:
            distractors = rng.sample(others, min(rng.randint(*config.distractor_tools), room, len(others)))
            notes["distractors"] = [tool.name for tool in distractors]
        own = [tool for tool in _visible(server) if tool.name not in names]
        room = min(room - len(distractors), len(own))
        fill = rng.sample(own, rng.randint(min(1, room), room) if config.max_tools else room)
        offered = [*needed, *distractors, *fill]
        rng.shuffle(offered)
        if rng.random() < config.strip_enums:
            offered = [strip_enums(tool) for tool in offered]
            notes["enums_stripped"] = True
        return offered, notes


def final_digest(servers: Sequence[str], seed: int, truth: GroundTruth) -> str:
    """The digest of the state after the ground truth's calls as they were made."""
    contents: dict[int, Json] = {}
    with fresh_session(servers, seed) as session:
        for index, step in enumerate(truth.steps):
            arguments: Any = resolve(step.arguments, contents)
            contents[index] = session.call(step.name, arguments).content
        return session.digest()


def _kept(scene: Scene) -> list[Attempt]:
    """The successful calls, without those that only read, were not asked for and told nothing that was used later."""
    done = [attempt for attempt in scene.attempts if attempt.result.ok]
    asked = [{step.tool.name for step in ask.steps} for ask in scene.asks]
    return [
        attempt
        for place, attempt in enumerate(done)
        if not _tool(scene, attempt).read_only
        or attempt.call.name in asked[attempt.turn]
        or _is_used(attempt, done[place + 1 :], scene)
    ]


def _check_performed(asks: Sequence[Ask], missing: str, kept: Sequence[Attempt]) -> None:
    """Raise Unproven when the demonstration lacks something that the user asked for."""
    made = {attempt.call.name for attempt in kept}
    asked = [step.tool.name for ask in asks for step in ask.steps]
    wanted = asked[: asked.index(missing)] if missing in asked else asked
    if left := sorted(set(wanted) - made):
        raise Unproven(Reason.TEACHER, f"it did not call {', '.join(left)}")


def _is_used(attempt: Attempt, later: Sequence[Attempt], scene: Scene) -> bool:
    """Whether a later call takes a value from what this one returned that no user turn tells."""
    told = attempt.result.text()
    said = " ".join(scene.texts)
    values = [value for other in later for value in other.call.arguments.values() if isinstance(value, str)]
    return any(value in told and value not in said for value in values)


def _tool(scene: Scene, attempt: Attempt) -> Tool:
    return next(tool for tool in scene.tools if tool.name == attempt.call.name)


def _hints(asks: Sequence[Ask], missing: str) -> list[dict[str, Argument]]:
    """What the chain knows about the arguments of each step that is to be made."""
    steps = [step for ask in asks for step in ask.steps]
    made = next((place for place, step in enumerate(steps) if step.tool.name == missing), len(steps))
    return [step.arguments for step in steps[:made]]


def _recovery(scene: Scene) -> dict[str, Json]:
    """The first refused call of the demonstration, and what became of it."""
    for place, attempt in enumerate(scene.attempts):
        if attempt.result.ok:
            continue
        then = [other for other in scene.attempts[place + 1 :] if other.turn == attempt.turn]
        kind = "give_up" if not then else "corrected" if then[0].call.name == attempt.call.name else "alternative"
        call: Json = {"name": attempt.call.name, "arguments": attempt.call.arguments}
        told: Json = {"kind": kind, "turn": attempt.turn, "call": call, "code": str(attempt.result.code)}
        return {"recovery": {**told, "message": attempt.result.message}}  # type: ignore[dict-item]
    return {}


def _objects(name: str) -> set[str]:
    """What a tool is about: the words of its name behind the verb, in the singular."""
    return {word.removesuffix("s") for word in name.split("_")[1:]}


def _visible(server: str) -> list[Tool]:
    return [tool for tool in load_server(server).tools if not tool.hidden]


def strip_enums(tool: Tool) -> Tool:
    """The tool as shown without the lists of allowed values; its own schema stays the one that counts."""
    return replace(tool, parameters=_without_enums(copy.deepcopy(tool.parameters)))


def _without_enums(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_enums(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: _without_enums(value) for key, value in schema.items() if key != "enum"}
    return {"type": "string", **kept} if "enum" in schema and "type" not in schema else kept
