"""Walking a chain of calls on a live session: every step is executed as it is chosen; only successful ones are kept.

The walk remembers what the conversation has on its mind (`salient`): a later step takes an entity from there, as people
do ("that account"), or a fresh one from the sampled state. A value that only a result knows becomes a reference to it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

import networkx as nx

from proverl.core import Edge, GroundTruth, Json, Step, Tool, reference, resolve
from proverl.envs import Server, Session, load_server, phrase_slots
from proverl.synth.graph import parameter_entities, server_graph
from proverl.synth.sampler import Entities, sample_entities
from proverl.synth.schema import entities_of, entity_of, plain, result_entities, values_at
from proverl.synth.values import NoValue, invent

Said = Literal["value", "that", "first", "same"]

_ATTEMPTS = 8  # tries for one step before the walk gives up
_CONNECTED = 0.85  # share of steps that must take up something salient
_RECALL = 0.85  # share of entity arguments taken from what is salient, where that is possible
_WRITING = 3  # how much likelier a writing tool is than a reading one: readers succeed far more often
_FLOWING = 3  # how much likelier a tool is that can use what only a result told
_OPTIONAL = 0.4  # share of optional parts of a phrase that are said


@dataclass(frozen=True)
class Argument:
    """One argument: its value, where it comes from (step, path) unless the user says it, and how the user says it."""

    value: Json
    origin: tuple[int, str] | None = None
    said: Said = "value"
    entity: str | None = None  # what it names, where it names something

    @property
    def expected(self) -> Json:
        """The form in the ground truth: the value itself, or a reference to the result that knows it."""
        return self.value if self.origin is None else reference(*self.origin)


@dataclass(frozen=True)
class ChainStep:
    """One executed step, with the phrase (optional parts settled) that asks for it."""

    tool: Tool
    phrase: str
    arguments: dict[str, Argument]
    content: Json


@dataclass
class Chain:
    """A proven chain on one server and world."""

    server: str
    seed: int
    steps: list[ChainStep] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """Tool names in order."""
        return tuple(step.tool.name for step in self.steps)

    def ground_truth(self, turns: Sequence[int]) -> GroundTruth:
        """Steps with their user turns, value edges from the references, state edges proven by leaving steps out."""
        steps = tuple(
            Step(step.tool.name, {name: item.expected for name, item in step.arguments.items()}, turn, step.content)
            for step, turn in zip(self.steps, turns, strict=True)
        )
        value = {
            (argument.origin[0], index)
            for index, step in enumerate(self.steps)
            for argument in step.arguments.values()
            if argument.origin is not None
        }
        state = set(self._state_edges(steps, value))
        edges = [Edge(*pair, "value") for pair in sorted(value)] + [Edge(*pair, "state") for pair in sorted(state)]
        return GroundTruth(steps, tuple(edges))

    def _state_edges(self, steps: tuple[Step, ...], value: set[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        flow = nx.DiGraph(list(value))
        flow.add_nodes_from(range(len(steps)))
        for left_out, step in enumerate(self.steps):
            if step.tool.read_only:
                continue
            lost = nx.descendants(flow, left_out) | {left_out}
            contents: dict[int, Json] = {}
            with Session([self.server], self.seed) as session:
                for index, later in enumerate(steps):
                    if index in lost:
                        continue
                    try:
                        arguments: Any = resolve(later.arguments, contents)
                    except KeyError:
                        lost.add(index)
                        continue
                    result = session.call(later.name, arguments)
                    contents[index] = result.content
                    if not result.ok:
                        lost |= nx.descendants(flow, index) | {index}
                        if index > left_out:
                            yield left_out, index


@dataclass(frozen=True)
class _Mention:
    value: str
    origin: tuple[int, str] | None
    said: Said


class _Walk:
    """The state of one walk."""

    def __init__(self, server: Server, session: Session, entities: Entities, rng: Random) -> None:
        self.server = server
        self.session = session
        self.entities = entities
        self.rng = rng
        self.tools = {tool.name: tool for tool in server.tools if not tool.hidden}
        self.graph = server_graph(server.name)
        self.chain = Chain(server.name, session.seed)
        self.salient: dict[str, _Mention] = {}
        self.origins: dict[str, tuple[int, str] | None] = {}  # where each value was first seen; None: the user said it

    def step(self) -> bool:
        """Add one step; False when no attempt succeeds."""
        for _ in range(_ATTEMPTS):
            tool = self._choose()
            if tool is None:
                return False
            try:
                phrase = self._settle(self.rng.choice(self.server.phrases[tool.name]))
                arguments = self._arguments(tool, phrase)
            except NoValue:
                continue
            result = self.session.call(tool.name, {name: argument.value for name, argument in arguments.items()})
            if result.ok:
                self._remember(tool, arguments, result.content)
                self.chain.steps.append(ChainStep(tool, phrase, arguments, result.content))
                return True
        return False

    def _choose(self) -> Tool | None:
        used = set(self.chain.names)
        fresh = [tool for name, tool in self.tools.items() if name not in used and self.server.phrases[name]]
        if self.chain.steps and self.rng.random() < _CONNECTED:
            fresh = [tool for tool in fresh if parameter_entities(tool) & self.salient.keys()]
        elif not self.chain.steps:
            fresh = [tool for tool in fresh if self.graph.out_degree(tool.name)]
        weights = [
            (1 if tool.read_only else _WRITING) * (_FLOWING if self._takes_up_result(tool) else 1) for tool in fresh
        ]
        return self.rng.choices(fresh, weights)[0] if fresh else None

    def _takes_up_result(self, tool: Tool) -> bool:
        known = parameter_entities(tool) & self.salient.keys()
        return any(self.salient[entity].origin is not None for entity in known)

    def _settle(self, phrase: str) -> str:
        def keep(match: re.Match[str]) -> str:
            return match[1] if self.rng.random() < _OPTIONAL else ""

        return re.sub(r"\[(.*?)\]", keep, phrase)

    def _arguments(self, tool: Tool, phrase: str) -> dict[str, Argument]:
        arguments: dict[str, Argument] = {}
        slots = phrase_slots(phrase)
        properties = tool.parameters["properties"]
        late = [name for name in properties if name in slots and "x-source" in plain(properties[name])]
        for name in [name for name in properties if name in slots and name not in late]:
            arguments[name] = self._argument(properties[name], [item.value for item in arguments.values()])
        for name in late:
            arguments[name] = Argument(self._reveal(plain(properties[name])["x-source"], tool, arguments))
        return {name: arguments[name] for name in properties if name in arguments}

    def _argument(self, schema: dict[str, Any], taken: list[Json]) -> Argument:
        entities = entities_of(schema)
        if not entities:
            return Argument(invent(schema, self.session.now, self.rng))
        several = plain(schema).get("type") == "array"
        for entity in reversed(self.salient):  # the latest first
            mention = self.salient[entity]
            usable = entity in entities and not several and mention.value not in taken
            if usable and self.rng.random() < _RECALL:
                return Argument(mention.value, mention.origin, mention.said, entity)
        entity = self.rng.choice([entity for entity in entities if self.entities.get(entity)] or entities)
        pool = [value for value in self.entities.get(entity, ()) if value not in taken]
        pool = [value for value in pool if self.origins.get(str(value)) is None]
        if not pool:
            raise NoValue(f"no {entity} to name")
        if several:
            return Argument(self.rng.sample(pool, min(len(pool), self.rng.randint(1, 2))), entity=entity)
        return Argument(self.rng.choice(pool), entity=entity)

    def _reveal(self, source: str, tool: Tool, arguments: dict[str, Argument]) -> Json:
        """What the user would know by heart (a PIN): the synthesizer asks a hidden tool for it."""
        name, _, field_name = source.partition(".")
        hidden = self.server.functions[name].tool
        by_entity = {argument.entity: argument.value for argument in arguments.values()}
        wanted = {key: by_entity.get(entity_of(hidden.parameters["properties"][key])) for key in hidden.required}
        content = self.session.call(name, wanted).content
        if not isinstance(content, dict) or field_name not in content:
            raise NoValue(f"{source} tells nothing for {wanted}")
        return content[field_name]

    def _remember(self, tool: Tool, arguments: dict[str, Argument], content: Json) -> None:
        index = len(self.chain.steps)
        mentioned: dict[str, dict[str, Said]] = {}
        for argument in arguments.values():
            entity = argument.entity
            for value in argument.value if isinstance(argument.value, list) else [argument.value]:
                if entity and isinstance(value, str):
                    self.origins.setdefault(value, argument.origin)
                    mentioned.setdefault(entity, {})[value] = "same"
        for pattern, entity in result_entities(tool.returns):
            for path, value in values_at(content, pattern):
                if isinstance(value, str):
                    if self.origins.setdefault(value, (index, path)) is not None and "*" in pattern:
                        self.origins[value] = (index, path)
                    listed = "*" in pattern and self._several(content, pattern)
                    mentioned.setdefault(entity, {}).setdefault(value, "first" if listed else "that")
        for entity, values in mentioned.items():
            self._focus(entity, values)

    def _several(self, content: Json, pattern: str) -> bool:
        return len(list(values_at(content, pattern))) > 1

    def _focus(self, entity: str, values: dict[str, Said]) -> None:
        """Keep what can be spoken of without ambiguity: the only one mentioned, or the first of a list."""
        self.salient.pop(entity, None)
        (value, said), *others = values.items()
        if others and any(kind != "first" for kind in values.values()):
            return
        origin = self.origins[value]
        if said == "first" and origin is None:
            return
        self.salient[entity] = _Mention(value, origin, said if origin is None or said != "same" else "that")


def walk(server: str, seed: int, length: int, rng: Random) -> Chain | None:
    """A chain of exactly `length` successful calls on a fresh session, or None when the walk got stuck."""
    with Session([server], seed) as session:
        state = _Walk(load_server(server), session, sample_entities(server, seed), rng)
        for _ in range(length):
            if not state.step():
                return None
    return state.chain
