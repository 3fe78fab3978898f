"""From a proven chain to a task: user turns, tools on offer, and perturbations (paper, Synthesis 3 and 4)."""

import copy
from collections.abc import Sequence
from random import Random
from typing import Any

from proverl.core import GroundTruth, Json, Task, TaskKind, Tool
from proverl.envs import load_server, start_time
from proverl.synth.chain import Chain, ChainStep
from proverl.synth.config import SynthConfig
from proverl.synth.teacher import PERSONAS, UNRELATED, ask


def system_text(seed: int) -> str:
    """The system message: the role and the reference date of this session."""
    return f"Act for the user with these tools. Today is {start_time(seed):%A %Y-%m-%d}."


def multi_turn(chain: Chain, config: SynthConfig, rng: Random, id: str) -> Task:
    """The whole chain, asked over the configured number of user turns, with all its tools on offer."""
    turns, texts, persona = _conversation(chain, config, rng)
    tools, notes = _offer([step.tool for step in chain.steps], (), chain.server, config, rng)
    return _task(id, TaskKind.MULTI_TURN, chain, texts, tools, chain.ground_truth(turns), {"persona": persona, **notes})


def missing_function(chain: Chain, config: SynthConfig, rng: Random, id: str) -> Task:
    """One tool of the chain is not on offer; expected is what can be done before it, and then to say so."""
    hidden = rng.randrange(1, len(chain.steps)) if rng.random() < 0.8 else 0
    turns, texts, persona = _conversation(chain, config, rng)
    texts = texts[: turns[hidden] + 1]
    before = Chain(chain.server, chain.seed, chain.steps[:hidden])
    name = chain.steps[hidden].tool.name
    tools, notes = _offer([step.tool for step in before.steps], (name,), chain.server, config, rng)
    notes |= {"persona": persona, "missing": name}
    return _task(id, TaskKind.CLARIFICATION, chain, texts, tools, before.ground_truth(turns[:hidden]), notes)


def abstention(foreign: Chain | None, server: str, seed: int, config: SynthConfig, rng: Random, id: str) -> Task:
    """A request that the offered tools cannot serve: for another server, or for no tool at all."""
    text = ask(foreign.steps[:1], rng.choice(list(PERSONAS)), True, rng) if foreign else rng.choice(UNRELATED)
    excluded = [tool.name for tool in load_server(foreign.server).tools] if foreign else ()
    tools, notes = _offer([], excluded, server, config, rng)
    empty = Chain(server, seed)
    return _task(id, TaskKind.ABSTENTION, empty, [text], tools, GroundTruth(), {"irrelevant": True, **notes})


def _task(
    id: str,
    kind: TaskKind,
    chain: Chain,
    texts: Sequence[str],
    tools: Sequence[Tool],
    truth: GroundTruth,
    notes: dict[str, Json],
) -> Task:
    servers = tuple(dict.fromkeys([chain.server, *(tool.server for tool in tools)]))
    notes = {"chain": list(chain.names), "server": chain.server, **notes}
    return Task(id, kind, servers, chain.seed, system_text(chain.seed), tuple(texts), tuple(tools), truth, notes)


def _conversation(chain: Chain, config: SynthConfig, rng: Random) -> tuple[list[int], list[str], str]:
    """Split the chain into user turns: the turn of each step, the texts, the persona."""
    low, high = config.user_turns
    count = rng.randint(min(low, len(chain.steps)), min(high, len(chain.steps)))
    cuts = sorted(rng.sample(range(1, len(chain.steps)), count - 1))
    groups: list[list[ChainStep]] = [
        chain.steps[start:end] for start, end in zip([0, *cuts], [*cuts, len(chain.steps)], strict=True)
    ]
    persona = rng.choice(list(PERSONAS))
    turns = [turn for turn, group in enumerate(groups) for _ in group]
    return turns, [ask(group, persona, turn == 0, rng) for turn, group in enumerate(groups)], persona


def _offer(
    needed: Sequence[Tool], excluded: Sequence[str], server: str, config: SynthConfig, rng: Random
) -> tuple[list[Tool], dict[str, Json]]:
    """The tools on offer, shuffled: the needed ones, others of the server, distractors of other servers."""
    notes: dict[str, Json] = {}
    names = {tool.name for tool in needed} | set(excluded)
    room = config.max_tools - len(needed) if config.max_tools else 10_000
    distractors: list[Tool] = []
    others = [tool for name in config.servers if name != server for tool in _visible(name) if tool.name not in names]
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


def _visible(server: str) -> list[Tool]:
    return [tool for tool in load_server(server).tools if not tool.hidden]


def strip_enums(tool: Tool) -> Tool:
    """The tool as shown without the lists of allowed values; its own schema stays the one that counts."""
    return Tool(
        tool.name,
        tool.description,
        _without_enums(copy.deepcopy(tool.parameters)),
        tool.returns,
        tool.server,
        tool.read_only,
        tool.destructive,
        tool.idempotent,
        tool.hidden,
    )


def _without_enums(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_enums(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: _without_enums(value) for key, value in schema.items() if key != "enum"}
    return {"type": "string", **kept} if "enum" in schema and "type" not in schema else kept
