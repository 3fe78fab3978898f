"""Which parameters and result fields name the same thing, for tools that do not say so themselves (Synthesis 1).

Groups of result fields that share values become entities; a parameter asks for those whose values the server accepts
for it (`explore`). What a result lists apart (files, directories) is told apart where some parameter takes only one of
them. A field that was never seen gets the entity of fields of its name, or of its place in a result of the same shape.
Nothing here reads `x-entity`; the tools returned carry it, so that the sampler and the graph work on them.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from proverl.core import Tool
from proverl.synth.graphs.explore import Explorer, Parameter
from proverl.synth.graphs.kinds import Entity, Evidence, entities_in, groups
from proverl.synth.graphs.pools import subject, words
from proverl.synth.graphs.probe import Field, OpenSession
from proverl.synth.schema import plain

_AGREED = 0.8  # share of like fields with the same entity, from which one that was never seen gets it


@dataclass
class Inferred:
    """Tools with `x-entity` filled in, and what finding that out took."""

    tools: list[Tool]
    calls: int
    unproven: tuple[Field, ...]  # fields that were never seen and typed by name or shape alone
    unsteady: tuple[str, ...]  # reading tools that answer the same call on the same state with something else


def infer_types(
    tools: Sequence[Tool],
    open_session: OpenSession,
    seeds: Sequence[int] = (0, 1, 2),
    clock: Callable[[int], datetime] = lambda seed: datetime.now(),
) -> Inferred:
    """Find the entities of a server's tools by calling them, on sessions whose state may be lost.

    `clock` tells the time of a session, for arguments that are dates. Hidden tools are to be left out.
    """
    worlds = [Explorer(tools, open_session, seed, clock(seed)) for seed in seeds]
    for world in worlds:
        try:
            world.explore()
        finally:
            world.probe.close()  # an open connection of a server that fails would keep this process from ending
    evidence = Evidence(worlds)
    entities = [entity for group in groups(worlds) for entity in entities_in(group, evidence)]
    _name(entities, tools)
    of_field = {one: entity.name for entity in entities for one in entity.fields}
    seen = {one for world in worlds for one in world.probe.values}
    guessed = _guessed(tools, of_field, seen)
    asked: dict[Parameter, list[str]] = defaultdict(list)
    for entity in sorted(entities, key=lambda entity: -len(entity.fields)):
        for key in entity.parameters:
            asked[key].append(entity.name)
    typed = [_typed(tool, {**guessed, **of_field}, asked) for tool in tools]
    unsteady = sorted({name for world in worlds for name in world.probe.unsteady()})
    return Inferred(typed, sum(world.probe.calls for world in worlds), tuple(sorted(guessed)), tuple(unsteady))


def _name(entities: Sequence[Entity], tools: Sequence[Tool]) -> None:
    """Name every entity by what its fields and parameters are mostly called."""
    server = tools[0].server or "server" if tools else ""
    used: Counter[str] = Counter()
    for entity in sorted(entities, key=lambda entity: -len(entity.fields)):
        said = [subject(one) for one in entity.fields] + [words(name) for _, name in entity.parameters]
        common = Counter(" ".join(word for word in text if word != "id") for text in said).most_common(1)[0][0]
        name = "".join(map(str.capitalize, common.split())) or "Thing"
        used[name] += 1
        entity.name = f"{server}.{name}{used[name] if used[name] > 1 else ''}"


def _guessed(tools: Sequence[Tool], known: dict[Field, str], seen: set[Field]) -> dict[Field, str]:
    """Entities of fields that were never seen: those of fields of their name, or of their place in a like object."""
    votes: dict[Any, Counter[str | None]] = defaultdict(Counter)
    unseen: dict[Field, list[Any]] = {}
    for tool in tools:
        for path, clues in _clues(tool.returns, ""):
            one = (tool.name, path)
            keys = [("name", *subject(one), path.rpartition(".")[2]), *clues]
            if one in seen:
                for key in keys:
                    votes[key][known.get(one)] += 1
            else:
                unseen[one] = keys
    guessed: dict[Field, str] = {}
    for one, keys in unseen.items():
        cast = next((votes[key] for key in keys if key in votes), Counter())
        for entity, number in cast.most_common(1):
            if entity and number >= _AGREED * cast.total():
                guessed[one] = entity
    return guessed


def _clues(schema: dict[str, Any], path: str, place: Any = None) -> Iterator[tuple[str, list[Any]]]:
    """Every text or number in a result with its place: the form of the object that it is in, names left out."""
    schema = plain(schema)
    if schema.get("type") == "array":
        yield from _clues(schema.get("items", {}), f"{path}.*" if path else "*", place)
    elif "properties" in schema:
        form = json.dumps([_form(part) for part in schema["properties"].values()])
        for index, (name, part) in enumerate(schema["properties"].items()):
            yield from _clues(part, f"{path}.{name}" if path else name, (form, index))
    elif schema.get("type") in ("string", "integer") and not {"enum", "const", "format"} & schema.keys():
        yield path, [place] if place and place[0].count(",") > 0 else []


def _form(schema: Any) -> Any:
    """A schema without names and texts."""
    if isinstance(schema, dict):
        if "properties" in schema:
            return [_form(part) for part in schema["properties"].values()]
        return {
            key: _form(value) for key, value in sorted(schema.items()) if key not in ("description", "title", "default")
        }
    return [_form(item) for item in schema] if isinstance(schema, list) else schema


def _typed(tool: Tool, of_field: dict[Field, str], asked: dict[Parameter, list[str]]) -> Tool:
    parameters, returns = deepcopy(tool.parameters), deepcopy(tool.returns)
    for (name, path), entity in of_field.items():
        if name == tool.name:
            _mark(returns, path.split("."), {"x-entity": entity})
    for parameter, schema in parameters.get("properties", {}).items():
        names = asked.get((tool.name, parameter))
        if names:
            own = {"x-entity": names[0], **({"x-accepts": names[1:]} if names[1:] else {})}
            _mark(schema, ["*"] if plain(schema).get("type") == "array" else [], own)
    return replace(tool, parameters=parameters, returns=returns)


def _mark(schema: dict[str, Any], path: list[str], mark: dict[str, Any]) -> None:
    """Add keywords to the part of a schema that a path leads to; parts that are missing are added."""
    for option in schema.get("anyOf", ()):
        if option.get("type") != "null":
            return _mark(option, path, mark)
    if not path:
        schema.update(mark)
    elif path[0] == "*":
        schema.setdefault("type", "array")
        _mark(schema.setdefault("items", {}), path[1:], mark)
    else:
        schema.setdefault("type", "object")
        _mark(schema.setdefault("properties", {}).setdefault(path[0], {}), path[1:], mark)
    return None
