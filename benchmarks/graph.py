"""The dependency graph that is inferred from tools without types, against the one that the types say.

    uv run python -m benchmarks.graph            # the 20 servers, a third party's server, 100 to 1,000 tools; minutes
    uv run python -m benchmarks.graph banking    # some servers

Types are hidden (`x-entity` and its like); then parameters and fields also get meaningless names of their own and lose
their descriptions, so that values and calls alone carry it.
"""

import argparse
import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.library import EDGES, library
from proverl.core import ErrorCode, Json, Result, Tool
from proverl.envs import server_names, start_time
from proverl.envs.client import RemoteSession
from proverl.synth.graphs.graph import dependency_graph, server_graph, visible_tools
from proverl.synth.graphs.infer import infer_types
from proverl.synth.graphs.probe import Ask, OpenSession, local_sessions, remote_sessions
from proverl.synth.schema import plain

Edges = set[tuple[str, str]]


@dataclass
class Figure:
    """How well one server's edges were found, and at what cost."""

    name: str
    tools: int
    found: Edges
    true: Edges
    calls: int
    seconds: float

    @property
    def precision(self) -> float:
        """Share of the edges found that are true."""
        return len(self.found & self.true) / max(len(self.found), 1)

    @property
    def recall(self) -> float:
        """Share of the true edges that were found."""
        return len(self.found & self.true) / max(len(self.true), 1)


def without_types(tools: Sequence[Tool]) -> list[Tool]:
    """Tools as a third party would describe them."""
    return [replace(tool, parameters=_hidden(tool.parameters), returns=_hidden(tool.returns)) for tool in tools]


def _hidden(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_hidden(item) for item in schema]
    if isinstance(schema, dict):
        return {key: _hidden(value) for key, value in schema.items() if not key.startswith("x-")}
    return schema


class Renamed:
    """Tools with every parameter and field under a meaningless name of its own, and without their descriptions."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._count = 26**3
        self._names: dict[str, tuple[dict[str, str], Any]] = {}
        self.tools = [self._tool(tool) for tool in tools]

    def sessions(self, real: OpenSession) -> OpenSession:
        """Sessions in which these names hold."""

        @contextmanager
        def opened(seed: int) -> Iterator[Ask]:
            with real(seed) as ask:

                def renamed(name: str, arguments: dict[str, Json]) -> Result:
                    back, fields = self._names[name]
                    result = ask(name, {back[key]: value for key, value in arguments.items()})
                    return replace(result, content=_named(result.content, fields))

                yield renamed

        return opened

    def _new(self) -> str:
        self._count += 1
        number, letters = self._count, ""
        while number:
            number, letter = divmod(number, 26)
            letters += chr(97 + letter)
        return letters

    def _tool(self, tool: Tool) -> Tool:
        new = {name: self._new() for name in tool.parameters["properties"]}
        properties = {new[name]: _bare(schema) for name, schema in tool.parameters["properties"].items()}
        parameters = {**tool.parameters, "properties": properties, "required": [new[name] for name in tool.required]}
        fields, returns = self._fields(tool.returns)
        self._names[tool.name] = {value: key for key, value in new.items()}, fields
        return replace(tool, parameters=parameters, returns=returns)

    def _fields(self, schema: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The new names of a result's fields, nested as they are, and its schema under these names."""
        schema = _bare(plain(schema))
        if schema.get("type") == "array":
            inner, items = self._fields(schema["items"])
            return inner, {**schema, "items": items}
        if "properties" not in schema:
            return {}, schema
        names, properties = {}, {}
        for name, part in schema["properties"].items():
            inner, described = self._fields(part)
            names[name] = self._new(), inner
            properties[names[name][0]] = described
        required = [names[name][0] for name in schema.get("required", ())]
        return names, {**schema, "properties": properties, "required": required}


def _bare(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "description"}


def _named(content: Json, fields: Any) -> Json:
    if isinstance(content, list):
        return [_named(item, fields) for item in content]
    if isinstance(content, dict) and fields:
        return {fields[key][0]: _named(value, fields[key][1]) for key, value in content.items()}
    return content


def measure(
    name: str,
    tools: Sequence[Tool],
    true: Edges,
    sessions: OpenSession,
    clock: Callable[[int], datetime],
    seeds: int = 3,
) -> Figure:
    """Infer the types of some tools and compare the edges."""
    start = time.perf_counter()
    inferred = infer_types(tools, sessions, range(seeds), clock)
    seconds = time.perf_counter() - start
    return Figure(name, len(tools), set(dependency_graph(inferred.tools).edges), true, inferred.calls, seconds)


def of_server(server: str, rename: bool) -> Figure:
    """One of our servers, types hidden, and renamed too where that is asked for."""
    tools, sessions = without_types(visible_tools(server)), local_sessions(server)
    if rename:
        renamed = Renamed(tools)
        tools, sessions = renamed.tools, renamed.sessions(sessions)
    return measure(server, tools, set(server_graph(server).edges), sessions, start_time)


def of_library() -> Figure:
    """The third party's server, over MCP, against the edges labelled by hand."""

    async def listed() -> tuple[Tool, ...]:
        async with RemoteSession(library()) as session:
            return session.tools

    return measure(
        "library", asyncio.run(listed()), EDGES, remote_sessions(library), lambda seed: datetime(2026, 5, 4), 1
    )


def of_size(number: int) -> Figure:
    """A server of `number` tools: five for each of number / 5 things, each thing owned by the one before."""
    first = ["bar", "cor", "den", "fol", "gam", "hep", "jun", "kil", "lom", "mer", "nox", "pil", "qua", "ros"]
    last = ["ace", "ber", "ido", "ock", "ump", "ant", "ell", "ish", "ory", "uve", "iva", "eon", "ash", "yle", "oft"]
    things = [a + b for a in first for b in last][: number // 5]
    rows = {thing: [f"{thing[:4].upper()}-{at}{index:02d}" for index in range(8)] for at, thing in enumerate(things)}
    tools, true = [], set()
    for place, thing in enumerate(things):
        owner = things[place - 1] if place % 4 else ""
        own, other = {f"{thing}_id": {"type": "string"}}, {f"{owner}_id": {"type": "string"}} if owner else {}
        listed = {
            "type": "object",
            "properties": {f"{thing}s": {"type": "array", "items": {"type": "object", "properties": own}}},
        }
        one = {"type": "object", "properties": own | {"status": {"type": "string"}}}
        made = {
            "list": (other, listed),
            "get": (own, one),
            "open": (own, one),
            "close": (own, one),
            "rename": (own | {"title": {"type": "string"}}, one),
        }
        for verb, (takes, gives) in made.items():
            asked = {"type": "object", "properties": takes, "required": list(takes)}
            tools.append(
                Tool(f"{verb}_{thing}", f"{verb} a {thing}", asked, gives, "big", read_only=verb in ("list", "get"))
            )
            true |= {(f"{verb}_{thing}", f"{to}_{thing}") for to in ("get", "open", "close", "rename") if to != verb}
            if place + 1 < len(things) and (place + 1) % 4:
                true.add((f"{verb}_{thing}", f"list_{things[place + 1]}"))

    @contextmanager
    def opened(seed: int) -> Iterator[Ask]:
        def ask(name: str, arguments: dict[str, Json]) -> Result:
            verb, _, thing = name.partition("_")
            for key, value in arguments.items():
                if key != "title" and value not in rows[key.removesuffix("_id")]:
                    return Result(None, ErrorCode.NOT_FOUND, f"nothing is called {value}")
            if verb == "list":
                return Result({f"{thing}s": [{f"{thing}_id": value} for value in rows[thing]]})
            return Result({f"{thing}_id": arguments[f"{thing}_id"], "status": verb})

        yield ask

    return measure(f"{number} tools", tools, true, opened, start_time, 1)


def show(title: str, figures: Sequence[Figure]) -> None:
    """Print figures and, below several, those of all their edges together."""
    table = Table("server", "tools", "edges", "precision", "recall", "calls", "seconds", title=title)
    for one in figures:
        row = (one.precision, one.recall)
        table.add_row(
            one.name,
            str(one.tools),
            str(len(one.true)),
            *(f"{share:.3f}" for share in row),
            f"{one.calls:,}",
            f"{one.seconds:.1f}",
        )
    if len(figures) > 1:
        both, found, true = (
            sum(len(edges) for edges in part)
            for part in zip(*((one.found & one.true, one.found, one.true) for one in figures), strict=True)
        )
        table.add_row(
            "all",
            str(sum(one.tools for one in figures)),
            str(true),
            f"{both / found:.3f}",
            f"{both / true:.3f}",
            "",
            "",
        )
    Console(width=110).print(table)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("servers", nargs="*")
    asked = parser.parse_args().servers
    for rename, title in ((False, "types hidden"), (True, "types hidden, fields and parameters renamed")):
        show(title, [of_server(server, rename) for server in asked or server_names()])
    if not asked:
        show("a third party's server, over MCP, labelled by hand", [of_library()])
        show("cost", [of_size(number) for number in (100, 300, 1_000)])


if __name__ == "__main__":
    main()
