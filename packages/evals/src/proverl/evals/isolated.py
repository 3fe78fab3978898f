"""Processes of their own for what a policy's words must not reach: the endpoint's secrets, and the evaluation's time.

One process is started with an environment that holds no secret, loads the benchmark once, and forks whenever a new
process is wanted: cheap, however long the benchmark's packages take to import. A process serves one connection, runs
methods of the benchmark (or of an object that one of them returned) and ends with it; one that misses its deadline is
killed.
"""

import asyncio
import gc
import json
import os
import pickle
import re
import select
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proverl.core import Json

if TYPE_CHECKING:
    from proverl.evals.benchmark import Benchmark

_SECRET = re.compile(r"key|token|secret|password|credential|auth", re.IGNORECASE)
_LINE = 2**28  # bytes of one message at most
_START_SECONDS = 120.0


class IsolatedError(RuntimeError):
    """A method failed in its process, or the process ended; the message says how."""


def clean_environment() -> dict[str, str]:
    """This process's environment without what looks like a secret."""
    return {name: value for name, value in os.environ.items() if not _SECRET.search(name)}


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
        self._folder = tempfile.TemporaryDirectory(prefix="proverl-", dir="/tmp")  # socket paths must be short
        self._path = str(Path(self._folder.name) / "socket")
        self._source = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "proverl.evals.isolated",
            self._path,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**clean_environment(), "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            start_new_session=True,
        )
        assert self._source.stdin and self._source.stdout
        pickled = pickle.dumps(self._benchmark)
        self._source.stdin.write(b"%d\n%b" % (len(pickled), pickled))
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._source.stdin.drain()
                ready = await self._source.stdout.readline()
        except (TimeoutError, ConnectionError):
            ready = b""
        if not ready:
            await self.__aexit__()
            raise IsolatedError(f"the process for {self._benchmark.name} did not start; its error stands above")
        return self

    async def __aexit__(self, *exception: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._source.pid, signal.SIGKILL)
        await self._source.wait()
        self._folder.cleanup()

    @asynccontextmanager
    async def world(self, method: str = "", *arguments: Json) -> AsyncIterator[World]:
        """A process that runs methods of what `method` of the benchmark returned, or of the benchmark itself."""
        reader, writer = await asyncio.open_unix_connection(self._path, limit=_LINE)
        world = World(reader, writer, int(await reader.readline()))
        try:
            if method:
                await world._told([method, arguments, "stay"], _START_SECONDS)
            yield world
        finally:
            world.kill()


def _serve(connection: socket.socket, benchmark: "Benchmark") -> None:
    """Run the methods asked for, on the benchmark or on what a method that says "stay" returned."""
    stream = connection.makefile("rwb")
    stream.write(f"{os.getpid()}\n".encode())
    stream.flush()
    target: Any = benchmark
    for line in stream:
        method, arguments, *stay = json.loads(line)
        try:
            value = getattr(target, method)(*arguments)
            if stay:
                target, value = value, None
            told = json.dumps({"value": value}, default=_plain)
        except Exception as error:
            told = json.dumps({"error": f"{type(error).__name__}: {error}"})
        stream.write(told.encode() + b"\n")
        stream.flush()


def _plain(value: Any) -> Any:
    """Scores are dataclasses; whatever else JSON does not know is a fault."""
    return asdict(value)


def _main(path: str) -> None:
    """Load the benchmark that stands on standard input, then fork for every connection until the input ends."""
    stdin = sys.stdin.buffer
    benchmark = pickle.loads(stdin.read(int(stdin.readline())))
    benchmark.prepare()
    gc.freeze()  # a collection would write to every object, and so copy it into each process
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen(1024)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    os.write(1, b"ready\n")
    os.dup2(2, 1)  # what packages print is nobody's answer
    while True:
        ready, _, _ = select.select([listening, stdin], [], [])
        if stdin in ready:  # whoever started this is gone
            os.killpg(0, signal.SIGKILL)
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _serve(connection, benchmark)
            os._exit(0)
        connection.close()


if __name__ == "__main__":
    _main(sys.argv[1])
