"""Live-state sampling (paper, Synthesis 2): real entities and what is told of them, read through a server's own tools.

Only visible read-only tools are asked, through a session of their own, as a user of the server could ask them.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

from proverl.core import Json, Tool
from proverl.envs import load_server, start_time
from proverl.synth.chains.support import supports
from proverl.synth.graphs.graph import parameter_entities
from proverl.synth.schema import entities_of, entity_of, plain, result_entities, values_at
from proverl.synth.session import fresh_session

if TYPE_CHECKING:  # chains are walked on what is sampled here
    from proverl.synth.chains.chain import Argument, ChainStep

_PER_PARAMETER = 6  # entities tried for one parameter of a second-round tool
_CALLS = 60  # read calls a world may cost
_ALTERNATIVES = 4  # records beside the chain's own, for each entity that it takes
_FIELDS = 8  # of a record in a context
_TEXT = 80  # characters of a field in a context

Entities = dict[str, tuple[Json, ...]]
Record = dict[str, Json]
Records = dict[str, dict[Json, Record]]


def sample_entities(server: str, seed: int) -> Entities:
    """Entities of a server's start state: `server.Entity` -> values, in the order in which the tools return them."""
    return _sample(server, seed)[0]


def sample_records(server: str, seed: int) -> Records:
    """What the read-only tools tell of each sampled entity: `server.Entity` -> value -> fields.

    A field that has two values is none of the entity's own (a dish's quantity in two orders) and is left out.
    """
    return _sample(server, seed)[1]


@lru_cache(maxsize=32_768)  # a few hundred worlds of all tools
def supporting_entities(server: str, seed: int, tool: str = "") -> Entities:
    """The sampled entities without those that cannot support a step of this tool (without a name: of a writing tool).

    An entity all of whose values fall out keeps them: a step that may be refused is better than none.
    """
    entities, records = _sample(server, seed)
    today, step = start_time(seed).date(), load_server(server).functions[tool].tool if tool else None
    taken = parameter_entities(step) if step else entities.keys()
    able = {
        entity: tuple(value for value in values if supports(records.get(entity, {}).get(value, {}), today, step))
        for entity, values in entities.items()
        if entity in taken
    }
    return {entity: able.get(entity) or values for entity, values in entities.items()}


def chain_context(server: str, seed: int, steps: Sequence["ChainStep"]) -> dict[str, list[Record]]:
    """The records that a query about these steps may use: those it names, and a few that it could name instead.

    What only a result of the conversation knows is left out: a user cannot quote it.
    """
    named: dict[str, dict[Json, None]] = {}
    hidden: set[Json] = set()
    for argument in _arguments_of(steps):
        values = argument.value if isinstance(argument.value, list) else [argument.value]
        said = named.setdefault(argument.entity or "", {})
        if argument.origin is None:
            said.update(dict.fromkeys(values))
        else:
            hidden.update(values)
    records, live = sample_records(server, seed), supporting_entities(server, seed)
    context = {}
    for entity, own in named.items():
        others = [value for value in live.get(entity, ()) if value not in own and value not in hidden]
        shown = [value for value in own if value not in hidden] + others[:_ALTERNATIVES]
        context[entity] = [_short(records.get(entity, {}).get(value) or {"id": value}) for value in shown]
    return context


def _arguments_of(steps: Sequence["ChainStep"]) -> Iterator["Argument"]:
    """Arguments that name an entity, those of refused calls included."""
    for step in steps:
        for arguments in (step.arguments, step.refused.arguments if step.refused else {}):
            yield from (argument for argument in arguments.values() if argument.entity)


def _short(record: Record) -> Record:
    fields = [(key, value) for key, value in record.items() if isinstance(value, str | int | float | bool)]
    return {key: value[:_TEXT] if isinstance(value, str) else value for key, value in fields[:_FIELDS]}


@lru_cache(maxsize=2048)
def _sample(server: str, seed: int) -> tuple[Entities, Records]:
    found: dict[str, dict[Json, None]] = {}
    records: Records = {}
    with fresh_session([server], seed) as session:
        readers = [tool for tool in session.tools if tool.read_only]
        asked: set[str] = set()
        for _ in range(2):  # first what needs nothing, then what needs an entity that was found
            for tool in readers:
                for arguments in _arguments(tool, found):
                    key = f"{tool.name}{arguments}"
                    if key in asked or len(asked) >= _CALLS:
                        continue
                    asked.add(key)
                    content = session.call(tool.name, arguments).content
                    _collect(tool, content, found)
                    _merge(tool, content, records)
    return {entity: tuple(values) for entity, values in found.items()}, _settled(records)


def _arguments(tool: Tool, found: dict[str, dict[Json, None]]) -> list[dict[str, Json]]:
    choices: list[list[Json]] = []
    limit = plain(tool.parameters["properties"].get("limit", {})).get("maximum")
    most: dict[str, Json] = {} if limit is None else {"limit": limit}
    for name in tool.required:
        schema = plain(tool.parameters["properties"][name])
        entities = entities_of(schema)
        if not entities or schema.get("type") == "array":
            return []
        choices.append([value for entity in entities for value in found.get(entity, ())][:_PER_PARAMETER])
    given = list(product(*choices))[:_PER_PARAMETER]
    return [{**dict(zip(tool.required, values, strict=True)), **most} for values in given]


def _collect(tool: Tool, content: Json, found: dict[str, dict[Json, None]]) -> None:
    for path, entity in result_entities(tool.returns):
        for _, value in values_at(content, path):
            if isinstance(value, str):
                found.setdefault(entity, {})[value] = None


_DISPUTED: Any = object()  # stands for a field that was told twice with two values


def _merge(tool: Tool, content: Json, records: Records) -> None:
    for entity, key, row in _rows(tool.returns, [content]):
        record = records.setdefault(entity, {}).setdefault(row[key], {})
        for name, value in row.items():
            if value is not None and record.setdefault(name, value) != value:
                record[name] = _DISPUTED


def _settled(records: Records) -> Records:
    return {
        entity: {
            value: {key: item for key, item in record.items() if item is not _DISPUTED}
            for value, record in by_value.items()
        }
        for entity, by_value in records.items()
    }


def _rows(schema: dict[str, Any], contents: Sequence[Json]) -> Iterator[tuple[str, str, Record]]:
    """Yield (entity, name of its id, row) of all objects of one place in a result; `contents` are the values there."""
    schema = plain(schema)
    if schema.get("type") == "array":
        items = [item for content in contents if isinstance(content, list) for item in content]
        yield from _rows(schema.get("items", {}), items)
        return
    properties = schema.get("properties", {})
    rows = [content for content in contents if isinstance(content, dict)]
    key = _own_id(properties, rows)
    if key:
        yield from ((str(entity_of(properties[key])), key, row) for row in rows if isinstance(row.get(key), str))
    for name, part in properties.items():
        yield from _rows(part, [row[name] for row in rows if name in row])


def _own_id(properties: dict[str, Any], rows: Sequence[Record]) -> str | None:
    """The id that a row is about: it leads the row, and no two rows of a list have the same."""
    for name, schema in properties.items():
        if entity_of(schema) is None or plain(schema).get("type") == "array":
            return None
        values = [row.get(name) for row in rows]
        if len(set(values)) == len(values):
            return name
    return None
