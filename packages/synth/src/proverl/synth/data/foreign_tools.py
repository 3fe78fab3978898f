"""Tools as other datasets write them, as `Tool`: several layouts, Python's names of types, checked JSON Schema.

Read are `{name, description, parameters}`, the same inside `{"type": "function", "function": ...}`, and parameters
either as JSON Schema (types of any name) or as a plain mapping of name to `{type, description, default}`.
"""

import ast
import json
import re
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]

from proverl.core import Tool

_NAME = re.compile(r"[A-Za-z_][\w.-]{0,63}")
_OPTIONAL = re.compile(r",?\s*\boptional\b(?!\[)", re.IGNORECASE)
_GENERIC = re.compile(r"(?:typing\.)?(\w+)\[(.*)\]", re.DOTALL)
_KEPT = ("description", "enum", "format", "minimum", "maximum")  # of a parameter's own schema
_JSON = {
    "string": "str string text char date datetime time timestamp uuid",
    "integer": "int integer long",
    "number": "float double number decimal numeric",
    "boolean": "bool boolean",
    "array": "list array tuple set sequence iterable arraylist",
    "object": "dict object map mapping hashmap json",
    "null": "none null nonetype",
}
_TYPES = {name: kind for kind, names in _JSON.items() for name in names.split()}


class UnreadableTool(ValueError):
    """A tool that cannot be offered; the message says why."""


def read_tool(raw: Any) -> Tool:
    """A tool from its JSON text or object. Raises UnreadableTool."""
    raw = _object(raw)
    raw = _object(raw["function"]) if isinstance(raw.get("function"), dict) else raw
    name = raw.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UnreadableTool(f"a tool is named {name!r}")
    given = raw.get("parameters") or {}
    parameters = _schema(_as_schema(_object(given), raw.get("required")))
    try:
        Draft202012Validator.check_schema(parameters)
    except SchemaError as error:
        raise UnreadableTool(f"{name}: {error.message}") from None
    return Tool(name, str(raw.get("description") or ""), parameters, {"type": "object"})


def _object(raw: Any) -> dict[str, Any]:
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except ValueError:
            raise UnreadableTool("a tool is no JSON") from None
    if not isinstance(raw, dict):
        raise UnreadableTool(f"a tool is a {type(raw).__name__}")
    return raw


def _as_schema(given: dict[str, Any], required: Any) -> dict[str, Any]:
    """The parameters as a schema of an object; in a plain mapping all without default or "optional" are required."""
    if isinstance(given.get("properties"), dict) or (isinstance(given.get("type"), str) and "properties" not in given):
        return {
            "type": "object",
            "properties": given.get("properties") or {},
            "required": given.get("required", required),
        }
    specs = {name: _object(spec) for name, spec in given.items()}
    needed = [
        name for name, spec in specs.items() if "default" not in spec and not _OPTIONAL.search(str(spec.get("type")))
    ]
    return {"type": "object", "properties": specs, "required": needed if required is None else required}


def _schema(raw: Any) -> dict[str, Any]:
    """A schema with JSON's types and the keywords that matter, at any depth."""
    raw = _object(raw)
    schema: dict[str, Any] = type_schema(raw["type"]) if "type" in raw else {}
    schema |= {key: raw[key] for key in _KEPT if raw.get(key) is not None}
    if isinstance(raw.get("items"), dict) and schema.get("type") == "array":
        schema["items"] = _schema(raw["items"])
    if isinstance(raw.get("properties"), dict) and schema.get("type") == "object":
        schema["properties"] = {str(name): _schema(spec) for name, spec in raw["properties"].items()}
        required = raw["required"] if isinstance(raw.get("required"), list) else []
        schema["required"] = [name for name in schema["properties"] if name in required]
    default = raw.get("default")
    if default is not None and Draft202012Validator(schema).is_valid(default):
        schema["default"] = default
    return schema


def type_schema(written: Any) -> dict[str, Any]:
    """A type as JSON Schema: "str, optional", "List[int]", "Union[str, None]", ["string", "null"], "Literal['a']", ...

    Raises UnreadableTool for what is no type of JSON values.
    """
    if isinstance(written, list):
        return _any_of([type_schema(part) for part in written])
    if not isinstance(written, str):
        raise UnreadableTool(f"{written!r} is no type")
    text = _OPTIONAL.sub("", written).strip()
    generic = _GENERIC.fullmatch(text)
    if generic and generic[1].lower() in ("union", "optional"):
        return _any_of([type_schema(part) for part in _split(generic[2], ",")])
    if len(parts := _split(text, "|")) > 1:
        return _any_of([type_schema(part) for part in parts])
    if generic and generic[1].lower() == "literal":
        return {"enum": _literals(generic[2])}
    return _plain(generic[1] if generic else text, generic[2] if generic else "", written)


def _plain(name: str, inner: str, written: str) -> dict[str, Any]:
    if name.lower() in ("any", ""):
        return {}
    kind = _TYPES.get(name.lower())
    if kind is None:
        raise UnreadableTool(f"{written!r} is no type of JSON values")
    if kind != "array" or not inner:
        return {"type": kind}
    items = [type_schema(part) for part in _split(inner, ",") if part != "..."]
    return {"type": "array", "items": _any_of(items)}


def _literals(inner: str) -> list[Any]:
    try:
        return list(ast.literal_eval(f"({inner},)"))
    except (SyntaxError, ValueError):
        raise UnreadableTool(f"Literal[{inner}] has other values than JSON's") from None


def _any_of(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """One schema for several; null is left out, since a call leaves out what it does not give."""
    kinds = [schema for at, schema in enumerate(schemas) if schema not in schemas[:at] and schema != {"type": "null"}]
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {}


def _split(text: str, mark: str) -> list[str]:
    """The parts between marks that stand in no bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[({") - (letter in "])}")
        if letter == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
