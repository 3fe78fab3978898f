"""Finding servers by name: every distribution may bring some through the entry point group `proverl.servers`."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from proverl.envs.server import Server


@cache
def _entries() -> dict[str, EntryPoint]:
    found = entry_points(group="proverl.servers")
    return {entry.name: entry for entry in sorted(found, key=lambda item: (item.name, item.value))}


def server_names() -> tuple[str, ...]:
    """Names of all installed servers, sorted."""
    return tuple(_entries())


def check_server(name: str) -> None:
    """Raise ValueError, naming the nearest server, when no server of this name is installed."""
    if name not in _entries():
        near = get_close_matches(name, server_names(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"installed: {', '.join(server_names())}"
        raise ValueError(f"no server {name!r}; {hint}")


def server_module(name: str) -> str:
    """The module that an installed server is made in. Raises ValueError when there is none of this name."""
    check_server(name)
    return _entries()[name].module


@cache
def load_server(name: str) -> Server:
    """Import and return a server. Raises ValueError when there is none of this name, or it is something else."""
    check_server(name)
    entry = _entries()[name]
    others = {other.value for other in entry_points(group="proverl.servers", name=name)} - {entry.value}
    if others:
        raise ValueError(f"server {name!r} is both {entry.value!r} and {others.pop()!r}; uninstall or rename one")
    try:
        with _no_collection():
            server = entry.load()
    except Exception as error:
        told = f"entry point {name!r} = {entry.value!r} cannot be loaded: {type(error).__name__}: {error}"
        raise ValueError(told) from error
    if not isinstance(server, Server):
        raise ValueError(
            f"entry point {name!r} = {entry.value!r} is a {type(server).__name__}, not a proverl.envs.Server"
        )
    if server.name != name:
        raise ValueError(f"entry point {name!r} = {entry.value!r} is a server named {server.name!r}; use one name")
    server.check()
    return server


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the garbage collector: an import makes many objects that stay, and looking through them takes a fifth."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
