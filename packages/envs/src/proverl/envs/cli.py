"""The command for people: `proverl servers`, `proverl tools SERVER`, `proverl call`, `proverl serve`.

Other distributions add commands through the entry point group `proverl.commands`; each names a typer app.
"""

import asyncio
import json
import socket
import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from typer.core import TyperGroup

from proverl.core import Json
from proverl.envs.registry import load_server, server_names
from proverl.envs.server import Server
from proverl.envs.session import Session


@cache
def _added() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in sorted(entry_points(group="proverl.commands"))}


class _Commands(TyperGroup):
    """Our own commands, then those of other distributions, which are imported when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands."""
        own = super().list_commands(ctx)
        return own + [name for name in _added() if name not in own]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name; one that cannot be loaded says so when it is run."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in _added():
            return own
        entry = _added()[cmd_name]
        try:
            command = typer.main.get_command(entry.load())
        except Exception as error:
            command = typer.main.get_command(_broken(entry, error))
        command.name = cmd_name
        return command


def _broken(entry: EntryPoint, error: Exception) -> typer.Typer:
    told = f"command {entry.name!r} = {entry.value!r} cannot be loaded: {type(error).__name__}: {error}"
    broken = typer.Typer(add_completion=False)

    @broken.command(help=told, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
    def tell() -> None:
        raise _fail(told)

    return broken


app = typer.Typer(
    cls=_Commands,
    help="Servers, tasks, rollouts and results; `proverl doctor` says what this machine can run.",
    no_args_is_help=True,
)
console = Console(soft_wrap=True)


def _fail(message: str) -> typer.Exit:
    typer.echo(message, err=True)
    return typer.Exit(2)


def _load(name: str) -> Server:
    try:
        return load_server(name)
    except ValueError as error:
        raise _fail(str(error)) from None


def _named(incomplete: str) -> list[str]:
    return [name for name in server_names() if name.startswith(incomplete)]


@app.command()
def servers() -> None:
    """List the installed servers."""
    table = Table("server", "tools", "what it is")
    faults = []
    for name in server_names():
        try:
            server = load_server(name)
            table.add_row(name, str(sum(not tool.hidden for tool in server.tools)), server.description)
        except ValueError as error:  # one faulty server does not hide the others
            faults.append(str(error))
    console.print(table)
    if faults:
        raise _fail("\n".join(faults))


@app.command()
def tools(server: Annotated[str, typer.Argument(help="Name of a server", autocompletion=_named)]) -> None:
    """List the tools of a server with their parameters."""
    table = Table("tool", "parameters", "what it does", title=server)
    for tool in _load(server).tools:
        if not tool.hidden:
            required = set(tool.required)
            names = [name if name in required else f"{name}?" for name in tool.parameters["properties"]]
            table.add_row(tool.name, ", ".join(names), tool.description.splitlines()[0])
    console.print(table)


@app.command()
def catalogue(
    server: Annotated[list[str] | None, typer.Argument(help="Servers; all when none is named")] = None,
) -> None:
    """Print every tool of some servers as a Markdown page."""
    from proverl.envs.catalogue import catalogue as page

    typer.echo(page(tuple(_load(name).name for name in server or ())), nl=False)


@app.command()
def call(
    server: Annotated[str, typer.Argument(help="Name of a server", autocompletion=_named)],
    calls: Annotated[list[str], typer.Argument(help="""Calls in order: TOOL or TOOL={"name": value, ...}""")],
    seed: Annotated[int, typer.Option(help="Seed of the session")] = 0,
) -> None:
    """Run calls on one fresh session and print each result as JSON."""
    with Session([_load(server)], seed) as session:
        for name, arguments in [_parsed(text) for text in calls]:
            result = session.call(name, arguments)
            typer.echo(result.text())
            if not result.ok:
                raise typer.Exit(1)


def _parsed(text: str) -> tuple[str, dict[str, Json]]:
    name, _, body = text.partition("=")
    if not name.isidentifier():
        raise _fail(f'{name!r} is no tool\'s name; write TOOL or TOOL={{"parameter": value}} as one argument')
    try:
        arguments = json.loads(body or "{}")
    except (ValueError, RecursionError) as error:
        raise _fail(f'arguments of {name} are not JSON ({error}); write {name}={{"parameter": value}}') from None
    if not isinstance(arguments, dict):
        raise _fail(f'arguments of {name} are {body}; write a JSON object: {name}={{"parameter": value}}')
    return name, arguments


@app.command()
def serve(
    server: Annotated[list[str], typer.Argument(help="Servers to serve together")],
    http: Annotated[int | None, typer.Option(help="Serve streamable HTTP on this port instead of stdio")] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; anything but loopback needs --token")] = "127.0.0.1",
    token: Annotated[str, typer.Option(envvar="PROVERL_TOKEN", help="Bearer token that clients must send")] = "",
    seed: Annotated[int, typer.Option(help="Seed for clients that name no session")] = 0,
) -> None:
    """Serve over MCP: stdio by default, streamable HTTP at http://HOST:PORT/mcp with --http PORT."""
    from proverl.envs.hosting import Sessions, http_server, serve_stdio  # imported late: the other commands need no MCP

    try:
        sessions = Sessions([_load(name) for name in server], seed)
        with Session(sessions.servers, seed) as session:  # a fault of a server shows here, not at the first call
            session.check_invariants()
            session.digest()
    except (ValueError, AssertionError) as error:
        raise _fail(str(error)) from None
    if http is None:
        asyncio.run(serve_stdio(sessions))
        return
    if host not in ("127.0.0.1", "localhost", "::1") and not token:
        raise _fail(f"--host {host} is reachable from elsewhere; give --token (or PROVERL_TOKEN), or use 127.0.0.1")
    _check_port(host, http)
    print(f"serving {', '.join(server)} at http://{host}:{http}/mcp", file=sys.stderr)
    http_server(sessions, host, http, token).run()


def _check_port(host: str, port: int) -> None:
    if not 0 < port < 65_536:
        raise _fail(f"--http {port}: a port is a number from 1 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise _fail(
                f"port {port} on {host} cannot be used ({error.strerror}); choose another with --http"
            ) from None


if __name__ == "__main__":
    app()
