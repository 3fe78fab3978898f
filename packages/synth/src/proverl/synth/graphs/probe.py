"""Asking a server nothing is known about: which values its results hold, and which calls it takes."""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from random import Random
from typing import Any

from proverl.core import Call, ErrorCode, Json, Result, Tool, canonical_json
from proverl.envs import Session
from proverl.synth.schema import plain

Ask = Callable[[str, dict[str, Json]], Result]
OpenSession = Callable[[int], AbstractContextManager[Ask]]
Field = tuple[str, str]  # a tool and a path in its result, `*` for a list index
Value = str | int
Asked = tuple[str, dict[str, Json]]  # a tool and its arguments

_SECONDS = 60.0  # for each answer of a remote server
_LONGEST = 200  # characters of a value that may name something
_MOMENT = re.compile(r"\d{4}-\d\d(-\d\d.*)?|\d\d?:\d\d(:\d\d)?|-?\d{1,4}|-?\d+[.,]\d+")

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\S*\d\S*")


def local_sessions(server: str) -> OpenSession:
    """Sessions of an installed server."""

    @contextmanager
    def opened(seed: int) -> Iterator[Ask]:
        with Session([server], seed) as session:
            yield session.call

    return opened


def remote_sessions(server: Any) -> OpenSession:
    """Sessions of any MCP server: a URL, a command to start, or a function that makes an in-process server.

    Every one is a connection of its own; inferring calls what writes, so let it be a server whose state may be lost.
    A command or a function begins with a fresh state each time; behind a URL, the state stays. Asking raises ValueError
    when a call is not answered in time.
    """
    from anyio import fail_after
    from anyio.from_thread import start_blocking_portal

    from proverl.envs.client import RemoteSession  # imported late: ours need no MCP

    @contextmanager
    def opened(seed: int) -> Iterator[Ask]:
        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(RemoteSession(server() if callable(server) else server, seed)) as session,
        ):

            async def answer(name: str, arguments: dict[str, Json]) -> Result:
                try:
                    with fail_after(_SECONDS):
                        return await session.execute(Call(name, arguments))
                except TimeoutError:
                    raise ValueError(f"{name} of {server} has not answered within {_SECONDS:g} s") from None

            yield lambda name, arguments: portal.call(answer, name, arguments)

    return opened


class Probe:
    """Calls on clean sessions: one is kept open until a call has changed its state. Answers are remembered."""

    def __init__(self, tools: Sequence[Tool], open_session: OpenSession, seed: int) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.calls = 0
        self._settled = {(tool.name, path) for tool in tools for path in _settled(tool.returns, "")}
        self.values: dict[Field, dict[Value, None]] = {}  # what was seen in each field of a result
        self.successes: dict[str, list[tuple[dict[str, Json], Json]]] = {}  # of what writes: arguments and content
        self._open, self._seed = open_session, seed
        self._live: AbstractContextManager[Ask] | None = None
        self._ask: Ask | None = None
        self._answers: dict[str, Result] = {}
        self._first: dict[str, tuple[dict[str, Json], Result]] = {}  # of what only reads: its first success

    def ask(self, name: str, arguments: dict[str, Json]) -> Result:
        """The answer to one call on a clean session."""
        key = f"{name}{canonical_json(arguments)}"
        if key not in self._answers:
            if self._ask is None:
                self._live = self._open(self._seed)
                self._ask = self._live.__enter__()
            self.calls += 1
            result = self._answers[key] = self._ask(name, arguments)
            if result.ok:
                for path, value in self.leaves(name, result.content):
                    self.values.setdefault((name, path), {})[value] = None
                if self.tools[name].read_only:
                    self._first.setdefault(name, (arguments, result))
                else:
                    self.successes.setdefault(name, []).append((arguments, result.content))
                    self.close()
        return self._answers[key]

    def leaves(self, name: str, content: Json) -> list[tuple[str, Value]]:
        """Every value of a tool's result that may name something, with its path."""
        return [(path, value) for path, value in _leaves(content) if (name, path) not in self._settled]

    def ask_after(
        self, first: tuple[str, dict[str, Json]], then: Sequence[tuple[str, dict[str, Json]]]
    ) -> list[Result]:
        """The answers to some calls on one clean session in which another call has run."""
        self.close()
        self.calls += 1 + len(then)
        with self._open(self._seed) as ask:
            ask(*first)
            return [ask(*call) for call in then]

    def unsteady(self) -> set[str]:
        """The reading tools that answer a call on a fresh session with something else than before."""
        self.close()
        found: set[str] = set()
        with self._open(self._seed) as ask:
            for name, (arguments, result) in self._first.items():
                self.calls += 1
                if ask(name, arguments) != result:
                    found.add(name)
        return found

    def close(self) -> None:
        """Close the open session; the next call opens another."""
        live, self._live, self._ask = self._live, None, None
        if live is not None:
            live.__exit__(None, None, None)


def _leaves(content: Json, path: str = "") -> Iterator[tuple[str, Value]]:
    """Every value of a result that may name something, with its path."""
    if isinstance(content, dict):
        for key, item in content.items():
            yield from _leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(content, list):
        for item in content:
            yield from _leaves(item, f"{path}.*" if path else "*")
    elif isinstance(content, str):
        if 0 < len(content) <= _LONGEST and "\n" not in content and not _MOMENT.fullmatch(content):
            yield path, content
    elif isinstance(content, int) and not isinstance(content, bool):
        yield path, content


def _settled(schema: dict[str, Any], path: str) -> Iterator[str]:
    """The fields of a result that name nothing, by their schema: choices, moments."""
    schema = plain(schema)
    if {"enum", "const", "format"} & schema.keys():
        yield path
    if "items" in schema:
        yield from _settled(schema["items"], f"{path}.*" if path else "*")
    for name, part in schema.get("properties", {}).items():
        yield from _settled(part, f"{path}.{name}" if path else name)


def label(result: Result, values: Iterable[Json]) -> str:
    """What kind of answer this is: `ok`, or the error without these values, numbers and what is quoted."""
    if result.ok:
        return "ok"
    text = result.message.partition(";")[0]
    for value in sorted(map(str, values), key=len, reverse=True):
        text = text.replace(value, "_") if value else text
    return f"{result.code} {_QUOTED.sub('_', text)}"


def wrong(value: Value, turn: int, known: Container[Value]) -> Value:
    """A value of the same form that names nothing that is known; another one for every turn."""
    while True:
        other: Value = value + 7919 * turn if isinstance(value, int) else _turned(value, turn)
        if other not in known:
            return other
        turn += 3


def _turned(text: str, turn: int) -> str:
    """Every digit and the letters of the last word moved on, so that the form stays."""
    start = 0 if not any(map(str.isdigit, text)) else len(text)
    return "".join(
        chr((ord(char) - 48 + turn) % 10 + 48) if char.isascii() and char.isdigit()
        else _letter(char, turn) if index >= start else char
        for index, char in enumerate(text)
    )  # fmt: skip


def _letter(char: str, turn: int) -> str:
    for first in "aA":
        if 0 <= ord(char) - ord(first) < 26:
            return chr((ord(char) - ord(first) + turn) % 26 + ord(first))
    return char


def matching(pattern: str, rng: Random) -> str:
    """A text of this pattern, for the common parts of patterns; what it cannot read is left out."""
    return "".join(_pieces(re._parser.parse(pattern), rng))  # type: ignore[attr-defined]


def _pieces(parsed: Any, rng: Random) -> Iterator[str]:
    for code, part in parsed:
        match str(code):
            case "LITERAL":
                yield chr(part)
            case "IN":
                low, high = part[0][1] if str(part[0][0]) == "RANGE" else (48, 57)
                yield chr(rng.randint(low, high) if isinstance(low, int) else 48)
            case "MAX_REPEAT" | "MIN_REPEAT":
                for _ in range(max(part[0], min(part[1], 1))):
                    yield from _pieces(part[2], rng)
            case "SUBPATTERN":
                yield from _pieces(part[3], rng)
            case "BRANCH":
                yield from _pieces(part[1][0], rng)


def is_refused_name(result: Result, value: Value) -> bool:
    """Whether an answer says that this value names nothing, or has the wrong form."""
    if result.code == ErrorCode.INVALID_ARGUMENTS:
        return True
    return result.code == ErrorCode.NOT_FOUND and str(value) in result.message
