"""Reading tool schemas: which fields name entities, and what a parameter's value may be."""

from collections.abc import Iterator
from typing import Any

from proverl.core import Json


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of an optional value without its null alternative."""
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    if not options:
        return schema
    return {**{key: value for key, value in schema.items() if key != "anyOf"}, **options[0]}


def entity_of(schema: dict[str, Any]) -> str | None:
    """The entity that a value (or the items of a list of values) names, as `server.Entity`."""
    schema = plain(schema)
    if schema.get("type") == "array":
        schema = plain(schema.get("items", {}))
    entity = schema.get("x-entity")
    return entity if isinstance(entity, str) else None


def entities_of(schema: dict[str, Any]) -> tuple[str, ...]:
    """The entities that a parameter takes: its own and those that `x-accepts` lists (a path may be a file's)."""
    own = entity_of(schema)
    return (own, *plain(schema).get("x-accepts", ())) if own else ()


def result_entities(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Yield (path, entity) of every field of a result that names an entity; `*` stands for a list index."""
    schema = plain(schema)
    if schema.get("x-entity"):
        yield path, schema["x-entity"]
    elif schema.get("type") == "array":
        yield from result_entities(schema.get("items", {}), f"{path}.*" if path else "*")
    else:
        for name, part in schema.get("properties", {}).items():
            yield from result_entities(part, f"{path}.{name}" if path else name)


def values_at(content: Json, path: str) -> Iterator[tuple[str, Json]]:
    """Yield (path without `*`, value) of every value that a path with `*` leads to; missing ones are left out."""
    head, _, rest = path.partition(".")
    if isinstance(content, list):
        branches = [(str(index), item) for index, item in enumerate(content)] if head == "*" else []
    elif isinstance(content, dict) and head in content:
        branches = [(head, content[head])]
    else:
        branches = []
    for key, item in branches:
        if not rest:
            if item is not None:
                yield key, item
        else:
            for tail, value in values_at(item, rest):
                yield f"{key}.{tail}", value
