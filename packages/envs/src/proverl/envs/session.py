"""A session: one isolated copy of the state of the servers that one episode uses. Single use, deterministic."""

import asyncio
import hashlib
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from difflib import get_close_matches
from functools import lru_cache
from random import Random
from traceback import clear_frames
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection

from proverl.core import Call, ErrorCode, Json, Result, Tool, canonical_json
from proverl.envs.context import Context
from proverl.envs.deadline import Deadline, Overdue
from proverl.envs.errors import Refusal
from proverl.envs.registry import load_server, server_names
from proverl.envs.schema import brief, explain
from proverl.envs.server import Server, ToolFunction
from proverl.envs.state import Row, digest, dump, raw_connection
from proverl.envs.worker_process import GRACE_SECONDS, WorkerEnded, WorkerFailed, WorkerSession, threads

_EPOCH = datetime(2026, 1, 5, 9, 0)  # a Monday
_TICK = timedelta(minutes=1)
CALL_SECONDS = 5.0
_Run = Callable[[str, dict[str, Json]], Result]
_MOST_BYTES = 2**20  # of a result, read by tokenizers between the turns of all other episodes
_MOST_MESSAGE = 4000  # characters
_EXACT = 2**53  # up to here a float that is whole is that integer


@lru_cache(maxsize=256)  # thousands of sessions on the same servers share it
def _tools_of(servers: tuple[Server, ...], counts: tuple[int, ...]) -> Mapping[str, tuple[Server, ToolFunction]]:
    """Every tool by its name; `counts` (of tools) tells a server that has grown from what it was."""
    found: dict[str, tuple[Server, ToolFunction]] = {}
    named: dict[str, Server] = {}
    for server in servers:
        if named.setdefault(server.name, server) is not server:
            raise ValueError(f"two servers are named {server.name!r}; give one another name")
        for name, function in server.functions.items():
            if name in found:
                raise ValueError(f"servers {found[name][0].name} and {server.name} both have a tool {name!r}")
            found[name] = (server, function)
    return found


def _installed(servers: Sequence[Server]) -> bool:
    """Whether another process finds these servers by their names."""
    try:
        return all(server.name in server_names() and load_server(server.name) is server for server in servers)
    except ValueError:
        return False


def start_time(seed: int) -> datetime:
    """When a session with this seed begins: nine o'clock on a weekday within two years of January 2026."""
    weeks, day = divmod(Random(f"clock:{seed}").randrange(520), 5)
    return _EPOCH + timedelta(weeks=weeks, days=day)


class Session:
    """Isolated state of some servers, with its own clock and ids.

    A state is opened when its server is first used and closed with the session. Every call is one transaction: it
    commits as a whole or leaves the state as it was. The clock moves one minute with each successful writing call.
    """

    def __init__(
        self, servers: Sequence[str | Server], seed: int, id: str = "", call_seconds: float = CALL_SECONDS
    ) -> None:
        """A tool that runs longer than `call_seconds` is interrupted and undone.

        Raises ValueError for an unknown server, or when two servers offer tools of the same name.
        """
        self.id = id or f"session-{seed}"
        self.seed = seed
        self.call_seconds = call_seconds
        self.now = start_time(seed)
        self._start = self.now
        self._servers = [load_server(server) if isinstance(server, str) else server for server in servers]
        self._functions = _tools_of(tuple(self._servers), tuple(len(server.functions) for server in self._servers))
        self._states: dict[str, Connection] = {}
        self._written: set[str] = set()  # servers whose state may differ from the start
        self._answered: dict[str, tuple[str, Result]] = {}
        self._closed = False
        self._busy = False  # while a tool runs
        self._running: asyncio.Future[Any] | None = None  # the last call in a thread
        self._away: WorkerSession | None = None  # where the states are when they are in a worker
        self._lost = ""  # the reason, when it is lost
        # our own tools take a millisecond, can be interrupted, and keep the order of a batch of episodes
        self._ours = all(
            entry.function.__module__.startswith("proverl.envs.servers.") for _, entry in self._functions.values()
        )
        self._turn = asyncio.Lock()  # calls of one session run one after the other

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that models see, in the order of the servers."""
        return tuple(entry.tool for _, entry in self._functions.values() if not entry.tool.hidden)

    def call(self, name: str, arguments: dict[str, Json], call_id: str = "") -> Result:
        """Run one tool. Never raises for a bad call; a `call_id` seen before returns its first result and does not act.

        Raises RuntimeError when the session is closed.
        """
        self._check_open()
        return self._answer(self._run, name, arguments, call_id)

    def _answer(self, run: _Run, name: str, arguments: dict[str, Json], call_id: str) -> Result:
        self._busy = True
        try:
            return self._once(run, name, arguments, call_id) if call_id else run(name, arguments)
        except RecursionError:
            return Result(None, ErrorCode.INVALID_ARGUMENTS, "the arguments are nested too deeply; make them flatter")
        finally:
            self._busy = False
            if self._closed:  # meanwhile, by another thread, which left the states to this one
                self._release()

    def _once(self, run: _Run, name: str, arguments: dict[str, Json], call_id: str) -> Result:
        try:
            text = repr((name, arguments))
        except ValueError:  # Python writes no integer of so many digits
            return Result(None, ErrorCode.INVALID_ARGUMENTS, "a number has thousands of digits; use a smaller one")
        if call_id not in self._answered:
            self._answered[call_id] = (text, run(name, arguments))
        first, result = self._answered[call_id]
        if first != text:
            told = f"call id {call_id!r} was used for another call; use a new id"
            return Result(None, ErrorCode.INVALID_ARGUMENTS, told)
        return result

    async def execute(self, call: Call) -> Result:
        """The same as `call`, in the shape that the episode loop shares with remote environments.

        Tools of others run elsewhere, so that a slow one holds up nothing else: those of installed servers in a worker
        process, other ones in a thread. One that cannot be interrupted (it waits for something outside Python and SQL)
        is given up after its deadline, and with it the session; so is one that ends its process.
        """
        if self._ours:
            return self.call(call.name, call.arguments, call.id)
        async with self._turn:
            await self._last_one()
            if self._lost:
                return Result(None, ErrorCode.CRASHED, self._lost)
            run = self._run_away if self._goes_away() else self._run
            running = asyncio.get_running_loop().run_in_executor(
                threads, self._answer, run, call.name, call.arguments, call.id
            )
            self._running = running
            return running.result() if await self._wait_for(running) else self._give_up(call.name)

    async def state_digest(self) -> str:
        """The same as `digest`, in that shape. Raises RuntimeError when the session is lost."""
        async with self._turn:
            await self._last_one()
            if self._lost:
                raise RuntimeError(self._lost)
            if self._ours or not self._goes_away():
                return self.digest()
            running = asyncio.get_running_loop().run_in_executor(threads, self._away_digest)
            self._running = running
            return await running

    def _goes_away(self) -> bool:
        """Whether the states are in a worker process, or can be: none was written here, and their servers are there."""
        if self._closed:
            raise RuntimeError(f"session {self.id} is closed; open a new one")
        if self._away is None and not self._written and _installed(self._servers):
            names = [server.name for server in self._servers]
            self._away = WorkerSession(names, self.seed, self.id, self.call_seconds)
        return self._away is not None

    def _run_away(self, name: Any, arguments: Any) -> Result:
        assert self._away is not None
        reads = isinstance(name, str) and name in self._functions and self._functions[name][1].tool.read_only
        try:
            result, self.now = self._away.call(name, arguments, writes=not reads)
            return result
        except WorkerEnded as ended:
            if ended.late:
                return self._give_up(name)
            self._lost = f"{name} has ended its process; the session is lost"
        except WorkerFailed as failed:
            self._lost = f"{failed}; the session is lost"
        return Result(None, ErrorCode.CRASHED, self._lost)

    def _away_digest(self) -> str:
        assert self._away is not None
        try:
            return self._away.digest()
        except (WorkerEnded, WorkerFailed) as error:
            self._lost = f"{error}; the session is lost"
            raise RuntimeError(self._lost) from error

    def _give_up(self, tool: str) -> Result:
        self._lost = f"{tool} has not come back; the session is lost"
        told = f"{tool} took longer than {self.call_seconds:g} seconds and does not stop; the session is lost"
        return Result(None, ErrorCode.TIMEOUT, told)

    async def _last_one(self) -> None:
        """Wait for a call that runs on though its caller went away."""
        if not self._lost and not await self._wait_for(self._running):
            self._give_up("a tool")

    async def _wait_for(self, running: "asyncio.Future[Any] | None") -> bool:
        """Whether this call has come back, before its deadline and some grace; one from a worker always does."""
        if running is None or running.done():
            return True
        limit = None if self._away else self.call_seconds + GRACE_SECONDS
        done, _ = await asyncio.wait([running], timeout=limit)
        return bool(done)

    def digest(self) -> str:
        """SHA-256 (hex) of the content of all states, audit columns left out."""
        self._check_open()
        parts = [
            digest(self._states[server.name], server.storage)
            if server.name in self._written
            else server.digest(self.seed, self._start)
            for server in self._servers
        ]
        return hashlib.sha256("".join(parts).encode()).hexdigest()

    def diff(self) -> dict[str, dict[str, dict[str, Row | None]]]:
        """What differs from the start: `server.table` -> primary key -> {"before": row | None, "after": row | None}."""
        self._check_open()
        with Session(self._servers, self.seed) as fresh:
            before, after = fresh._content(), self._content()
        changes: dict[str, dict[str, dict[str, Row | None]]] = {}
        for table, rows in after.items():
            for key in sorted(before[table].keys() | rows.keys()):
                old, new = before[table].get(key), rows.get(key)
                if old != new:
                    changes.setdefault(table, {})[key] = {"before": old, "after": new}
        return changes

    def check_invariants(self) -> None:
        """Raise AssertionError, naming the law, when the state breaks one of its servers'."""
        self._check_open()
        for server in self._servers:
            for check in server.invariants:
                try:
                    check(self._context(server, ""))
                except AssertionError as error:
                    law = check.__doc__ or "give it a docstring that says the law"
                    told = f"{server.name}, seed {self.seed}, breaks {check.__name__} ({law.strip()}): {error}"
                    raise AssertionError(told) from error

    def _check_open(self) -> None:
        """Raise RuntimeError when the session is closed or lost; get states back that were in a worker."""
        if self._closed:
            raise RuntimeError(f"session {self.id} is closed; open a new one")
        if self._away is None:
            return
        if self._lost:
            raise RuntimeError(self._lost)
        if self._running is not None and not self._running.done():
            raise RuntimeError(f"a call of session {self.id} runs in another process; wait for it")
        away, self._away, self.now = self._away, None, self._start
        away.close()
        for name, arguments, _ in away.done:
            self._run(name, arguments)

    def close(self) -> None:
        """Release every state, after a call that still runs; closing again does nothing."""
        self._closed = True
        if not self._busy:
            self._release()

    def _release(self) -> None:
        if self._away is not None:
            self._away.close()
        while self._states:
            self._states.popitem()[1].close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _content(self) -> dict[str, dict[str, Row]]:
        return {
            f"{server.name}.{table}": rows
            for server in self._servers
            for table, rows in dump(self._state(server), server.storage).items()
        }

    def _state(self, server: Server) -> Connection:
        state = self._states.get(server.name)
        if state is None:
            state = server.storage.connect(server.image(self.seed, self._start))
            self._states[server.name] = state
        return state

    def _context(self, server: Server, call_key: str) -> Context:
        return Context(self._state(server), self.now, f"{self.seed}|{server.name}|{call_key}")

    def _run(self, name: str, arguments: Any) -> Result:
        if not isinstance(name, str) or name not in self._functions:
            near = get_close_matches(str(name)[:200], list(self._functions), n=1)  # its time grows with the name
            hint = f"did you mean {near[0]!r}?" if near else "call one of the tools offered"
            return Result(None, ErrorCode.UNKNOWN_TOOL, f"no tool {brief(name)}; {hint}")
        server, entry = self._functions[name]
        try:
            checked = entry.model.model_validate(_whole(arguments))
        except ValidationError as error:
            return Result(None, ErrorCode.INVALID_ARGUMENTS, explain(error, entry.model.model_fields))
        values = {field: getattr(checked, field) for field in entry.model.model_fields}
        # from the checked values: 5 and 5.0, or a default said and not said, are the same call
        key = "" if entry.tool.read_only else f"{name}|{canonical_json(values)}"
        return self._transact(server, entry, values, key)

    def _transact(self, server: Server, entry: ToolFunction, values: dict[str, Any], key: str) -> Result:
        context = self._context(server, key)
        raw = raw_connection(context.db)
        raw.execute("BEGIN")
        changes = raw.total_changes
        deadline = Deadline(self.call_seconds, raw)
        try:
            with deadline:
                content = entry.function(context, **values)
            entry.check_result(content, raw.total_changes > changes)
            if not self._ours:
                _check_json(content)
            if deadline.passed:  # the tool has caught the interruption
                raise Overdue
            raw.execute("ROLLBACK" if entry.tool.read_only else "COMMIT")
        except BaseException as error:
            deadline.end()
            clear_frames(error.__traceback__)  # a cursor that is still open there would keep the statement running
            self._undo(raw, server)
            if isinstance(error, KeyboardInterrupt):
                raise
            return self._failure(entry.tool.name, error, deadline.passed)
        if not entry.tool.read_only:
            self._written.add(server.name)
            self.now += _TICK
        return Result(content)

    def _undo(self, raw: sqlite3.Connection, server: Server) -> None:
        if raw.in_transaction:
            raw.execute("ROLLBACK")
        else:  # the tool itself has ended the transaction, so what it wrote stays
            self._written.add(server.name)

    def _failure(self, tool: str, error: BaseException, late: bool) -> Result:
        if late:
            told = f"{tool} took longer than {self.call_seconds:g} seconds and was undone"
            return Result(None, ErrorCode.TIMEOUT, told)
        if isinstance(error, Refusal):
            return Result(None, error.code, _readable(str(error)))
        # a fault of the tool: the episode goes on, the state is as before
        cause = getattr(error, "orig", None) or error  # without SQLAlchemy's statement and links
        return Result(None, ErrorCode.CRASHED, _readable(f"{tool} failed inside: {type(cause).__name__}: {cause}"))


def _check_json(content: Any) -> None:
    """Raise TypeError or ValueError for a result that is no JSON (NaN, half a character), or too much of it to read."""
    size = len(canonical_json(content).encode())
    if size > _MOST_BYTES:
        raise ValueError(f"it returned {size} bytes of JSON, {_MOST_BYTES} are the most")


def _readable(message: str) -> str:
    """A message that any tokenizer takes, of a length that somebody reads."""
    return message[:_MOST_MESSAGE].encode("utf-8", "backslashreplace").decode()


def _whole(value: Any) -> Any:
    """The same JSON with 2.0 as 2: JSON knows one kind of number, and a tool that wants 2 is content."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < _EXACT else value
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value
