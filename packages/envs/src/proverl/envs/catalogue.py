"""Every installed server and tool as one Markdown page: `proverl catalogue > docs/servers.md`."""

from collections.abc import Iterator
from typing import Any

from proverl.core import Tool
from proverl.envs.registry import load_server, server_names
from proverl.envs.server import Server

_HEAD = """# Servers

Made by `proverl catalogue > docs/servers.md`; a test fails when it is out of date. Parameters in *italics* may be left
out. **R** reads only, **D** destroys something, **I** may be repeated without further effect.
"""


def catalogue(names: tuple[str, ...] = ()) -> str:
    """The page about these servers, by default all that are installed."""
    servers = [load_server(name) for name in names or server_names()]
    counts = {server.name: sum(not tool.hidden for tool in server.tools) for server in servers}
    total = f"{len(servers)} servers, {sum(counts.values())} tools.\n"
    contents = [f"| [{name}](#{name}) | {count} | {load_server(name).description} |" for name, count in counts.items()]
    overview = ["| server | tools | what it is |", "|---|---|---|", *contents, ""]
    return "\n".join([_HEAD, total, *overview, *(line for server in servers for line in _about(server))])


def _about(server: Server) -> Iterator[str]:
    yield f"## {server.name}\n"
    yield f"{server.description}\n"
    yield f"Entities: {', '.join(server.nouns.values())}.\n"
    yield "| tool | parameters | what it does | |"
    yield "|---|---|---|---|"
    for tool in server.tools:
        if not tool.hidden:
            yield f"| `{tool.name}` | {_parameters(tool)} | {_cell(tool.description)} | {_marks(tool)} |"
    yield ""


def _parameters(tool: Tool) -> str:
    shown = []
    for name, schema in tool.parameters["properties"].items():
        text = f"{name}: {_kind(schema)}"
        shown.append(text if name in tool.required else f"*{text}*")
    return _cell(", ".join(shown))


def _kind(schema: dict[str, Any]) -> str:
    """The type in a word or two; an entity's name where it refers to one."""
    schema = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)
    if "x-entity" in schema:
        return str(schema["x-entity"]).split(".")[-1]
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}"
    if "enum" in schema:
        return " / ".join(map(str, schema["enum"]))
    return str(schema.get("format") or schema.get("const") or schema.get("type"))


def _marks(tool: Tool) -> str:
    if tool.read_only:
        return "R"
    return " ".join(mark for mark, holds in (("D", tool.destructive), ("I", tool.idempotent)) if holds)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
