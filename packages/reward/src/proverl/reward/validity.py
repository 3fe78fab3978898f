"""R_validity: how far each call got, in three equal levels (paper, Reward)."""

from collections.abc import Mapping, Sequence
from typing import Any

from proverl.core import Call, CallRecord, Json, Tool

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}


def validity(calls: Sequence[CallRecord], tools: Mapping[str, Tool]) -> float:
    """R_validity, the mean of `call_validity` over the calls; 0 without calls."""
    return sum(call_validity(record, tools) for record in calls) / len(calls) if calls else 0.0


def call_validity(record: CallRecord, tools: Mapping[str, Tool]) -> float:
    """Return 0, 1/3, 2/3 or 1: a candidate tool's name; then complete, well-typed parameters; then a success.

    `tools` are the candidate tools by name, with their own schemas. A malformed call earns 0.
    """
    call = record.call
    if not isinstance(call, Call) or call.name not in tools:
        return 0.0
    if not has_required(call.arguments, tools[call.name].parameters):
        return 1 / 3
    return 1.0 if record.result.ok else 2 / 3


def has_required(arguments: Mapping[str, Json], schema: Mapping[str, Any]) -> bool:
    """Whether every required parameter is there with a compatible JSON type; no other parameter is looked at."""
    properties = schema.get("properties", {})
    return all(
        name in arguments and compatible(arguments[name], properties.get(name, {}), schema)
        for name in schema.get("required", ())
    )


def compatible(value: Json, schema: Any, root: Mapping[str, Any]) -> bool:
    """Whether a value's JSON types fit a schema, at every depth; enums, bounds and patterns are not looked at.

    `root` is the schema that `$ref` points into. 1.0 is an integer, true is no number, and a schema without a type
    takes anything.
    """
    if not isinstance(schema, Mapping):
        return schema is not False
    if "$ref" in schema:
        return compatible(value, _referred(schema["$ref"], root), root)
    types = schema.get("type", ())
    if types and not any(_is_type(value, name) for name in ([types] if isinstance(types, str) else types)):
        return False
    if not all(compatible(value, part, root) for part in schema.get("allOf", ())):
        return False
    for union in (schema.get("anyOf"), schema.get("oneOf")):
        if union and not any(compatible(value, part, root) for part in union):
            return False
    if isinstance(value, list):
        return all(compatible(item, schema.get("items", {}), root) for item in value)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        return all(compatible(item, properties.get(key, {}), root) for key, item in value.items())
    return True


def _is_type(value: Json, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, _PYTHON_TYPES.get(name, ()))


def _referred(pointer: str, root: Mapping[str, Any]) -> Any:
    """Return the part of `root` that a pointer such as `#/$defs/Money` names; one that leads nowhere takes anything."""
    node: Any = root
    for key in pointer.removeprefix("#").split("/")[1:]:
        node = node.get(key.replace("~1", "/").replace("~0", "~"), {}) if isinstance(node, Mapping) else {}
    return node
