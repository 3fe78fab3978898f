"""Which tools must run before which, proven on live sessions (the paper's implicit edges; Synthesis 1).

`before -> after` holds when a fresh session refuses `after`, and the very same call succeeds once `before` has run on
the same entities. A counter-example removes it: `after` also succeeds without `before` a minute later (the clock alone
opened the way), or `before` leaves the same refusal in place at least as often as it lifts it.
"""

import hashlib
import importlib.util
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx

from proverl.core import ErrorCode, Json, Tool
from proverl.envs import Server, load_server, server_module
from proverl.synth.chains.sampler import sample_entities
from proverl.synth.chains.values import NoValue, invent
from proverl.synth.graphs.graph import server_graph, visible_tools
from proverl.synth.graphs.store import kept
from proverl.synth.schema import entities_of, entity_of, plain
from proverl.synth.session import fresh_session

_SEEDS = (0, 1, 2)
_DRAWS = 24  # calls of one tool that look for refusals, per world
_CAUSES = 6  # situations kept of one tool, each with a cause of its own, per world
_TRIES = 3  # calls of `before` that try to lift one refusal
_DECIDED = 2  # by how many times more one outcome is seen than the other, after which the two are tried no more
_CALLS = 15_000  # calls that one server may cost, all worlds together
_TICK = timedelta(minutes=1)  # what a writing call takes

Arguments = dict[str, Json]


def full_graph(server: str, folder: Path | None = None) -> nx.DiGraph:
    """The same with the implicit edges: `kind` "implicit", and the `entities` that flow along them, if any do.

    Proving those takes seconds; with a `folder` it is done once for the server's schemas and code. Raises ValueError
    for an unknown server.
    """
    graph = server_graph(server).copy()
    key: Json = [
        "state edges",
        [[tool.name, tool.parameters, tool.returns] for tool in visible_tools(server)],
        code(server),
    ]
    pairs: Any = kept(folder, key, lambda: [list(pair) for pair in sorted(state_edges(server))])
    for before, after in pairs:
        entities = graph.get_edge_data(before, after, {}).get("entities", ())
        graph.add_edge(before, after, kind="implicit", entities=entities)
    return graph


def code(server: str) -> str:
    """A hash of an installed server's source: the files of its package, or its one module."""
    found = importlib.util.find_spec(server_module(server))
    path = Path(str(found and found.origin))
    files = sorted(path.parent.glob("*.py")) if path.name == "__init__.py" else [path]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def state_edges(server: str, calls: int = _CALLS) -> frozenset[tuple[str, str]]:
    """The proven pairs (before, after) of an installed server's visible tools; at most `calls` calls are spent.

    Raises ValueError for an unknown server.
    """
    lifted: Counter[tuple[str, str, str]] = Counter()  # by before, after and the cause of the refusal
    left: Counter[tuple[str, str, str]] = Counter()
    for seed in _SEEDS:
        world = _World(load_server(server), seed, calls // len(_SEEDS))
        for refused in world.refusals():
            for before in world.writers:
                trial = before.name, refused.tool.name, refused.cause
                if trial[0] == trial[1] or abs(lifted[trial] - left[trial]) >= _DECIDED:
                    continue
                outcome = world.lifts(before, refused)
                lifted[trial] += outcome is True
                left[trial] += outcome is False
    return frozenset(trial[:2] for trial, number in lifted.items() if number > left[trial])


@dataclass(frozen=True)
class _Refused:
    """A call that a fresh session refuses, and why."""

    tool: Tool
    arguments: Arguments
    cause: str


class _World:
    """Calls on fresh sessions of one server and seed."""

    def __init__(self, server: Server, seed: int, calls: int) -> None:
        self.server, self.seed, self.room = server, seed, calls
        self.tools = [tool for tool in server.tools if not tool.hidden]
        self.writers = [tool for tool in self.tools if not tool.read_only]
        self.entities = sample_entities(server.name, seed)
        self.rng = Random(f"state:{server.name}:{seed}")

    def refusals(self) -> Iterator[_Refused]:
        """Refused calls, until the world's calls are spent; one of every tool before the next of any."""
        causes: dict[str, set[str]] = {tool.name: set() for tool in self.tools}
        for _ in range(_DRAWS):
            for tool in self.tools:
                found = self._draw(tool) if len(causes[tool.name]) < _CAUSES and self.room > 0 else None
                if found and found.cause not in causes[tool.name]:
                    causes[tool.name].add(found.cause)
                    if self.refusal((tool, found.arguments), later=True):  # else the clock alone opens the way
                        yield found

    def _draw(self, tool: Tool) -> _Refused | None:
        arguments = self.arguments(tool, {})
        cause = None if arguments is None else self.refusal((tool, arguments))
        return _Refused(tool, arguments, cause) if arguments is not None and cause else None

    def lifts(self, before: Tool, refused: _Refused) -> bool | None:
        """Whether a call of `before` lifts the refusal; None when it never succeeds or only changes the refusal."""
        outcome = None
        schemas = refused.tool.parameters["properties"]
        given = {entity: value for name, value in refused.arguments.items() for entity in entities_of(schemas[name])}
        for _ in range(_TRIES if self.room > 0 else 0):
            arguments = self.arguments(before, given)
            if arguments is None:
                return None
            cause = self.refusal((before, arguments), (refused.tool, refused.arguments))
            if cause is None:
                return True
            outcome = False if cause == refused.cause else outcome
        return outcome

    def refusal(self, *calls: tuple[Tool, Arguments], later: bool = False) -> str | None:
        """Why the last of these calls is refused on a fresh session; "" for another fault, None when it succeeds."""
        with fresh_session([self.server], self.seed) as session:
            session.now += _TICK * later
            for index, (tool, arguments) in enumerate(calls, 1):
                self.room -= 1
                result = session.call(tool.name, arguments)
                if not result.ok:
                    known = result.code == ErrorCode.REJECTED and index == len(calls)
                    return masked(result.message) if known else ""
        return None

    def arguments(self, tool: Tool, given: dict[str, Json]) -> Arguments | None:
        """Plausible arguments; `given` holds values of entities that must be taken where a parameter asks for one."""
        schemas = tool.parameters["properties"]
        names = [name for name in schemas if name in tool.required or self.rng.random() < 0.3]
        chosen: Arguments = {}
        try:
            for name in names:
                if "x-source" not in plain(schemas[name]):
                    chosen[name] = self._value(schemas[name], given, list(chosen.values()))
            for name in [name for name in names if name not in chosen]:
                chosen[name] = self._secret(plain(schemas[name])["x-source"], tool, chosen)
        except NoValue:
            return None
        return chosen

    def _value(self, schema: dict[str, Any], given: dict[str, Json], taken: list[Json]) -> Json:
        entities = entities_of(schema)
        if not entities:
            with fresh_session([self.server], self.seed) as session:
                return invent(schema, session.now, self.rng)
        pinned = [given[entity] for entity in entities if entity in given and given[entity] not in taken]
        pool = pinned or [value for entity in entities for value in self.entities.get(entity, ()) if value not in taken]
        if not pool:
            raise NoValue(f"no {entities} to name")
        value = self.rng.choice(pool)
        return [value] if plain(schema).get("type") == "array" else value

    def _secret(self, source: str, tool: Tool, known: Arguments) -> Json:
        """What the user would know by heart: a hidden tool tells it."""
        name, _, field = source.partition(".")
        hidden = self.server.functions[name].tool
        by_entity = {entity_of(tool.parameters["properties"][key]): value for key, value in known.items()}
        wanted = {key: by_entity.get(entity_of(hidden.parameters["properties"][key])) for key in hidden.required}
        with fresh_session([self.server], self.seed) as session:
            content = session.call(name, wanted).content
        if not isinstance(content, dict) or field not in content:
            raise NoValue(f"{source} tells nothing for {wanted}")
        return content[field]


def masked(message: str) -> str:
    """A refusal's cause: its message up to the hint, without what differs from value to value."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|\S*[\d/@]\S*", "_", message.partition(";")[0])
