"""Calls as a careful, a careless and a hostile caller would make them, drawn from the tools' own schemas."""

import math
from collections.abc import Iterator
from datetime import timedelta
from random import Random
from typing import Any

from proverl.core import Json, Result, Tool
from proverl.envs import Server, Session

HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2.0, 2**31, -(2**63), 10**30, 1e308, math.nan, math.inf, -0.0, "", " ", "0", "null",
    [], {}, [[]], {"a": {"b": [None]}}, "'; DROP TABLE account; --", "' OR '1'='1", "%", "_", "\\",
    "../../../etc/passwd", "/" * 300, "{{7*7}}", "${HOME}", "{0}", "%s%n", "\x00", "\ud800", "\u202e", "日本語",
    "🦊" * 50, "e\u0301", "a" * 5_000, "2026-02-30", "9999-12-31", "0001-01-01", "9999-12-31T23:59",
    "0001-01-01T00:00", "24:00", "2026-W01", "１２",
)  # fmt: skip


def references(schema: dict[str, Any], value: Json) -> Iterator[tuple[str, str]]:
    """Entity and id of every typed reference inside a result."""
    for option in schema.get("anyOf", [schema]):
        if "x-entity" in option and isinstance(value, str):
            yield option["x-entity"], value
        elif isinstance(value, list) and "items" in option:
            for item in value:
                yield from references(option["items"], item)
        elif isinstance(value, dict):
            for name, inner in option.get("properties", {}).items():
                if name in value:
                    yield from references(inner, value[name])


class Caller:
    """Calls a session's tools with values that it was shown, as a user of the server would."""

    def __init__(self, server: Server, session: Session, rng: Random) -> None:
        self.server, self.session, self.rng = server, session, rng
        self.visible = [tool for tool in server.tools if not tool.hidden]
        self.seen: dict[str, dict[str, None]] = {}  # entity -> ids, in the order they were shown

    def look_around(self, rounds: int = 3) -> None:
        """Call the reading tools until most entities have been seen."""
        for _ in range(rounds):
            for tool in self.visible:
                if tool.read_only:
                    for _ in range(2):
                        self.call(tool, self.arguments(tool))

    def call(self, tool: Tool, arguments: dict[str, Any]) -> Result:
        """Call and remember the ids of the result."""
        result = self.session.call(tool.name, arguments)
        if result.ok:
            for entity, value in references(tool.returns, result.content):
                self.seen.setdefault(entity, {})[value] = None
        return result

    def arguments(self, tool: Tool) -> dict[str, Any]:
        """Plausible arguments: shown ids, example texts, the right secrets."""
        schemas = tool.parameters["properties"]
        names = [name for name in schemas if name in tool.required or self.rng.random() < 0.4]
        chosen = {name: self.value(schemas[name]) for name in names if "x-source" not in schemas[name]}
        return chosen | {name: self.secret(schemas[name], chosen) for name in names if "x-source" in schemas[name]}

    def secret(self, schema: dict[str, Any], known: dict[str, Any]) -> str:
        """What a person would know by heart; anything of that form when there is nothing to know."""
        source, field = schema["x-source"].split(".")
        needed = self.server.functions[source].tool.parameters["properties"]
        result = self.session.call(source, {name: known[name] for name in needed if name in known})
        return str(result.content[field]) if isinstance(result.content, dict) else "123456"

    def value(self, schema: dict[str, Any]) -> Any:
        """A plausible value."""
        rng = self.rng
        options = [option for option in schema.get("anyOf", [schema]) if option.get("type") != "null"]
        schema = rng.choice(options)
        if "x-entity" in schema and (self.seen.get(schema["x-entity"]) or not schema.get("examples")):
            return rng.choice(list(self.seen.get(schema["x-entity"], ["XXX-1"])))
        if "const" in schema:
            return schema["const"]
        for choices in (schema.get("enum"), schema.get("examples")):
            if choices:
                return rng.choice(choices)
        if "format" in schema:
            return self._moment(schema["format"])
        return self._by_type(schema)

    def _moment(self, form: str) -> str:
        moment = self.session.now + timedelta(days=self.rng.randint(-3, 30), hours=self.rng.randint(-2, 8))
        return {
            "date": moment.date().isoformat(),
            "time": moment.strftime("%H:%M"),
            "date-time": moment.isoformat(timespec="minutes"),
        }[form]

    def _by_type(self, schema: dict[str, Any]) -> Any:
        rng = self.rng
        match schema["type"]:
            case "array":
                return [self.value(schema["items"]) for _ in range(rng.randint(schema.get("minItems", 1), 3))]
            case "object":
                needed = set(schema.get("required", ()))
                properties = schema.get("properties", {}).items()
                return {name: self.value(inner) for name, inner in properties if name in needed or rng.random() < 0.5}
            case "boolean":
                return rng.random() < 0.5
            case "integer":
                return rng.randint(schema.get("minimum", 1), min(schema.get("maximum", 20), 20))
            case "number":
                return round(rng.choice((20, 200, 20_000)) * (1 - rng.random()) + 0.01, 2)
        return "word"

    def spoiled(self, tool: Tool) -> Any:
        """Arguments that are nearly right, or not right at all."""
        rng, arguments = self.rng, self.arguments(tool)
        names = list(tool.parameters["properties"])
        match rng.randrange(6):
            case 0 if arguments:
                arguments.pop(rng.choice(list(arguments)))
            case 1:
                arguments[rng.choice(["limit_", "", "__class__", "self", "ctx"])] = rng.choice(HOSTILE)
            case 2:
                return rng.choice(HOSTILE)
            case _ if names:
                arguments[rng.choice(names)] = self._spoil(arguments, rng.choice(names))
        return arguments

    def _spoil(self, arguments: dict[str, Any], name: str) -> Any:
        value, rng = arguments.get(name), self.rng
        if isinstance(value, str) and rng.random() < 0.5:
            return rng.choice([value + " ", value.lower(), value[:-1], value + "'", [value], {"id": value}, value * 2])
        if isinstance(value, list) and value and rng.random() < 0.5:
            return rng.choice([value * 2, value[0], [*value, None], [[value]]])
        if isinstance(value, int | float) and rng.random() < 0.5:
            return rng.choice([-value, value * 1e9, str(value), value + 0.001, 0])
        return rng.choice(HOSTILE)
