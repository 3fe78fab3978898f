"""Live-state sampling (paper, Synthesis 2): real entities, read through a server's own read-only tools."""

from functools import lru_cache
from itertools import product

from proverl.core import Json, Tool
from proverl.envs import Session
from proverl.synth.schema import entities_of, plain, result_entities, values_at

_PER_PARAMETER = 6  # entities tried for one parameter of a second-round tool
_CALLS = 60  # read calls a world may cost

Entities = dict[str, tuple[Json, ...]]


@lru_cache(maxsize=2048)
def sample_entities(server: str, seed: int) -> Entities:
    """Entities of a server's start state: `server.Entity` -> values, in the order in which the tools return them."""
    found: dict[str, dict[Json, None]] = {}
    with Session([server], seed) as session:
        readers = [tool for tool in session.tools if tool.read_only]
        asked: set[str] = set()
        for _ in range(2):  # first what needs nothing, then what needs an entity that was found
            for tool in readers:
                for arguments in _arguments(tool, found):
                    key = f"{tool.name}{arguments}"
                    if key in asked or len(asked) >= _CALLS:
                        continue
                    asked.add(key)
                    _collect(tool, session.call(tool.name, arguments).content, found)
    return {entity: tuple(values) for entity, values in found.items()}


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
