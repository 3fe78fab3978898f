"""Processes of their own for what a policy's words must not reach: the endpoint's secrets, and the evaluation's time.

One process is started with an environment that holds no secret. It forks one for every benchmark, which loads it and
forks again whenever a new process is wanted: cheap, however long the benchmark's packages take to import. That process
serves one connection, runs methods of the benchmark (or of an object that one of them returned) and ends with it; one
that misses its deadline is killed.
"""

import asyncio
import atexit
import gc
import json
import os
import pickle
import re
import select
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from subprocess import PIPE, Popen
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from proverl.core import Json

if TYPE_CHECKING:
    from proverl.evals.benchmark import Benchmark

_SECRET = re.compile(r"key|token|secret|passw|passphrase|_pass$|_pwd$|cred|auth|cookie|private", re.IGNORECASE)
_IN_URL = re.compile(r"://[^/\s]*:[^/\s]*@")  # of a proxy or a database, with a password
_LINE = 2**28  # bytes of one message at most
_START_SECONDS = 120.0
_READY = b"ready\n"


class IsolatedError(RuntimeError):
    """A method failed in its process, or the process ended; the message says how."""


def clean_environment() -> dict[str, str]:
    """This process's environment without what looks like a secret."""
    return {name: value for name, value in os.environ.items() if not (looks_secret(name) or _IN_URL.search(value))}


def looks_secret(name: str) -> bool:
    """Whether a variable of that name is kept from the processes that score."""
    return bool(_SECRET.search(name))


class World:
    """One process. Use it from one task at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pid: int) -> None:
        self._reader, self._writer, self._pid = reader, writer, pid

    async def run(self, method: str, *arguments: Json, seconds: float = 60.0) -> Any:
        """Run a method there and return what it returned.

        Raises TimeoutError when it takes longer, after which the process is gone, and IsolatedError when it raised.
        """
        return await self._told([method, arguments], seconds)

    async def _told(self, asked: list[Any], seconds: float) -> Any:
        self._writer.write(json.dumps(asked).encode() + b"\n")
        try:
            async with asyncio.timeout(seconds):
                await self._writer.drain()
                line = await self._reader.readline()
        except TimeoutError:
            self.kill()
            raise TimeoutError(f"{asked[0]} took longer than {seconds:g} seconds") from None
        except ConnectionError:
            line = b""
        except ValueError:
            self.kill()
            raise IsolatedError(f"{asked[0]} returned more than {_LINE // 2**20} MiB") from None
        if not line:
            raise IsolatedError(f"the process that ran {asked[0]} ended")
        told = json.loads(line)
        if "error" in told:
            raise IsolatedError(told["error"])
        return told["value"]

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._writer.close()
        try:
            os.kill(self._pid, signal.SIGKILL)
        except ProcessLookupError:
            return


class Isolated:
    """Where a benchmark's processes come from; open it with `async with`."""

    def __init__(self, benchmark: "Benchmark") -> None:
        self._benchmark = benchmark

    async def __aenter__(self) -> "Isolated":
        source = _source()
        self._path = str(Path(source).with_name(uuid4().hex[:16]))
        reader, self._line = await asyncio.open_unix_connection(source)
        pickled = pickle.dumps(self._benchmark)
        self._line.write(f"{self._path}\n{len(pickled)}\n".encode() + pickled)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._line.drain()
                ready = await reader.readline()
        except (TimeoutError, ConnectionError):
            ready = b""
        if ready != _READY:
            self._line.close()
            told = ready.decode().strip() or "its error stands above"
            raise IsolatedError(f"the process for {self._benchmark.name} did not start: {told}")
        return self

    async def __aexit__(self, *exception: object) -> None:
        self._line.close()  # which ends the benchmark's processes

    async def open(self) -> World:
        """A process that runs methods of the benchmark; whoever asks for it kills it.

        Raises IsolatedError when the process that would start it is gone.
        """
        try:
            reader, writer = await asyncio.open_unix_connection(self._path, limit=_LINE)
            told = await reader.readline()
        except OSError:
            told = b""
        if not told:
            raise IsolatedError(f"the process that starts those of {self._benchmark.name} is gone")
        return World(reader, writer, int(told))

    @asynccontextmanager
    async def world(self, method: str = "", *arguments: Json) -> AsyncIterator[World]:
        """A process that runs methods of what `method` of the benchmark returned, or of the benchmark itself."""
        world = await self.open()
        try:
            if method:
                await world._told([method, arguments, "stay"], _START_SECONDS)
            yield world
        finally:
            world.kill()


@cache
def _source() -> str:
    """The socket of the process that all others are forked from; it ends with this process."""
    folder = tempfile.mkdtemp(prefix="proverl-", dir="/tmp")  # socket paths must be short
    path = str(Path(folder) / "source")
    environment = {**clean_environment(), "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", f"from {__name__} import main; main()", path]
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # where that process was killed
    process = Popen(command, stdin=PIPE, stdout=PIPE, env=environment, start_new_session=True)
    atexit.register(process.wait)
    assert process.stdin and process.stdout
    atexit.register(process.stdin.close)  # the last one registered runs first
    if process.stdout.readline() != _READY:
        raise IsolatedError("the process that scores did not start; its error stands above")
    return path


def _serve(connection: socket.socket, benchmark: "Benchmark") -> None:
    """Run the methods asked for, on the benchmark or on what a method that says "stay" returned."""
    stream = connection.makefile("rwb")
    stream.write(f"{os.getpid()}\n".encode())
    stream.flush()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # else every program that a scorer runs seems to end with status 0
    target: Any = benchmark
    itself = os.getpid()
    for line in stream:
        method, arguments, *stay = json.loads(line)
        try:
            value = getattr(target, method)(*arguments)
            if stay:
                target, value = value, None
            told = json.dumps({"value": value}, default=_plain)
        except Exception as error:
            told = json.dumps({"error": f"{type(error).__name__}: {error}"})
        if os.getpid() != itself:
            os._exit(0)  # a copy that the method made and forgot must not answer as well
        stream.write(told.encode() + b"\n")
        stream.flush()


def _plain(value: Any) -> Any:
    """Scores are dataclasses; whatever else JSON does not know is a fault."""
    return asdict(value)


def _serve_benchmark(connection: socket.socket) -> None:
    """Load a benchmark, and fork for everyone who asks, until whoever wanted it is gone."""
    os.setpgid(0, 0)
    stream = connection.makefile("rwb")
    path = stream.readline().decode().strip()
    try:
        benchmark = pickle.loads(stream.read(int(stream.readline())))
        benchmark.prepare()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
        gc.freeze()  # a collection in a fork would write to, and so copy, everything that was loaded before
        listening = _listen(path)
        told = _READY
    except Exception as error:
        told = f"{type(error).__name__}: {' '.join(str(error).split())}\n".encode()
    stream.write(told)
    stream.flush()
    if told == _READY:
        _fork_for_each(listening, connection.fileno(), lambda one: _serve(one, benchmark))
        Path(path).unlink(missing_ok=True)
        os.killpg(0, signal.SIGKILL)  # those who still compute for somebody who is gone


def _listen(path: str) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen(1024)
    return listening


def _fork_for_each(listening: socket.socket, line: int, serve: Callable[[socket.socket], None]) -> list[int]:
    """Serve every connection in a process of its own until `line`, a file that nobody writes to, ends.

    Returns the ids of these processes.
    """
    waiting: list[Any] = [listening, line]
    forks: list[int] = []
    while True:
        ready, _, _ = select.select(waiting, [], [])
        if line in ready:
            return forks
        connection, _ = listening.accept()
        forks.append(os.fork())
        if not forks[-1]:
            listening.close()
            try:
                serve(connection)
            finally:
                os._exit(0)
        connection.close()


def main() -> None:
    """Be the process that the others are forked from."""
    opened = _listen(sys.argv[1])
    os.write(1, _READY)
    os.dup2(2, 1)  # what packages print is nobody's answer
    for started in _fork_for_each(opened, 0, _serve_benchmark):
        with suppress(ProcessLookupError):
            os.killpg(started, signal.SIGKILL)  # one may still be loading; not waited for, so its id is nobody else's
    shutil.rmtree(Path(sys.argv[1]).parent, ignore_errors=True)
