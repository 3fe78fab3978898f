"""Tools of other people's servers run in a worker process, which a bad one may end without harm to others."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proverl.core import Call, ErrorCode
from proverl.envs import Session, load_server, registry, worker_process

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "own_server.md"


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory):
    """The stubborn server, and the library of the docs, found through their entry points."""
    site = tmp_path_factory.mktemp("site")
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (site / "library_server.py").write_text(code)
    about = site / "library_server-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: library-server\nVersion: 0.1\n")
    (about / "entry_points.txt").write_text("[proverl.servers]\nlibrary = library_server:server\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE / "site"))
        patch.syspath_prepend(str(site))
        registry._entries.cache_clear()
        yield
    registry._entries.cache_clear()
    load_server.cache_clear()


def worker_pid() -> int:
    return worker_process._shared_worker()._process.pid


def gone(pid: int, seconds: float = 5.0) -> bool:
    """Whether a process ends in time; one that nobody has asked for its status counts as ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("servers", [["library"], ["banking", "library"]])
async def test_results_digests_and_time_are_those_of_a_session_in_this_process(servers):
    calls = [
        Call("find_books", {"title": "o", "limit": 40}, "one"),
        Call("borrow_book", {"book_id": "nothing"}, "two"),
        Call("borrow_books", {}, "three"),
        Call("find_books", {"limit": float("nan")}, "four"),
        Call("list_accounts", {}, "five"),
    ]
    for depth in (10, 300, 2_000, 100_000):
        nested: list = []
        for _ in range(depth):
            nested = [nested]
        calls.append(Call("find_books", {"title": nested}, "nested" if depth > 10_000 else ""))
    with Session(servers, 3) as here, Session(servers, 3) as there:
        books = here.call("find_books", {"title": "o", "limit": 40}).content["books"]
        calls += [Call("borrow_book", {"book_id": book["book_id"]}, book["book_id"]) for book in books]
        calls += [Call("borrow_book", {"book_id": books[1]["book_id"]}, books[1]["book_id"])]  # a repeated id
        for call in calls:
            expected = here.call(call.name, call.arguments, call.id)
            found = await there.execute(call)
            assert (found, found.text(), there.now) == (expected, expected.text(), here.now)
            assert await there.state_digest() == here.digest()
        assert there._away and not there._states
        assert there.diff() == here.diff() != {}  # the session comes into this process
        assert (await there.execute(calls[-1]), there.now) == (expected, here.now)
        assert await there.state_digest() == here.digest()


async def test_our_own_servers_stay_in_this_process():
    with Session(["banking", "calendar"], 3) as session:
        await session.execute(Call("list_accounts", {}))
        await session.state_digest()
        assert session._away is None


async def test_many_sessions_at_once_are_those_run_alone():
    async def run(seed: int) -> tuple:
        with Session(["stubborn"], seed) as session:
            results = [await session.execute(Call("add", {"text": str(number)})) for number in range(5)]
            return results, await session.execute(Call("list_rows", {})), await session.state_digest()

    found = await asyncio.gather(*(run(seed) for seed in range(100)))
    for seed, (results, rows, digest) in enumerate(found):
        with Session(["stubborn"], seed) as session:
            assert results == [session.call("add", {"text": str(number)}) for number in range(5)]
            assert rows == session.call("list_rows", {})
            assert digest == session.digest()


async def test_a_tool_that_can_be_interrupted_is_undone_and_the_session_goes_on():
    with Session(["stubborn"], 0, call_seconds=0.2) as session:
        assert (await session.execute(Call("add", {"text": "x"}))).ok
        before, pid = await session.state_digest(), worker_pid()
        result = await session.execute(Call("compute", {}))
        assert (result.code, result.message) == (
            ErrorCode.TIMEOUT,
            "compute took longer than 0.2 seconds and was undone",
        )
        assert await session.state_digest() == before
        assert (await session.execute(Call("add", {"text": "y"}))).ok
        assert worker_pid() == pid


@pytest.mark.parametrize("tool", ["sleep", "resist", "block"])
async def test_a_tool_that_does_not_stop_is_given_up_and_others_go_on(tool):
    with Session(["stubborn"], 0, call_seconds=0.2) as lost, Session(["stubborn"], 1) as other:
        await lost.execute(Call("add", {"text": "x"}))
        await other.execute(Call("add", {"text": "y"}))
        digest, pid = await other.state_digest(), worker_pid()
        stuck = asyncio.create_task(lost.execute(Call(tool, {})))
        await asyncio.sleep(0.05)
        if tool != "block":  # nothing of this worker runs until it is killed
            assert (await other.execute(Call("list_rows", {}))).ok and not stuck.done()
        result = await stuck
        assert (result.code, result.message) == (
            ErrorCode.TIMEOUT,
            f"{tool} took longer than 0.2 seconds and does not stop; the session is lost",
        )
        assert (await lost.execute(Call("add", {"text": "z"}))).code == ErrorCode.CRASHED
        with pytest.raises(RuntimeError, match=f"{tool} has not come back; the session is lost"):
            await lost.state_digest()
        assert gone(pid)
        assert await other.state_digest() == digest  # made again in the next worker
        assert (await other.execute(Call("add", {"text": "z"}))).ok


async def test_a_call_that_runs_when_another_blocks_the_worker_runs_again_and_is_not_blamed():
    with Session(["stubborn"], 0, call_seconds=0.3) as lost, Session(["stubborn"], 1, call_seconds=1) as other:
        await lost.execute(Call("add", {"text": "x"}))
        await other.execute(Call("add", {"text": "y"}))
        innocent = asyncio.create_task(other.execute(Call("doze", {})))
        await asyncio.sleep(0.05)
        assert (await lost.execute(Call("block", {}))).code == ErrorCode.TIMEOUT
        assert (await innocent).ok
        with Session(["stubborn"], 1) as alone:
            alone.call("add", {"text": "y"})
            alone.call("doze", {})
            assert await other.state_digest() == alone.digest()


async def test_a_tool_that_ends_its_process_crashes_alone():
    with Session(["stubborn"], 0) as lost, Session(["stubborn"], 1) as other, Session(["stubborn"], 2) as third:
        for session in (lost, other, third):
            await session.execute(Call("add", {"text": "x"}))
        digest = await third.state_digest()
        innocent = asyncio.create_task(other.execute(Call("doze", {})))
        await asyncio.sleep(0.05)
        result = await lost.execute(Call("leave", {}))
        assert (result.code, result.message) == (
            ErrorCode.CRASHED,
            "leave has ended its process; the session is lost",
        )
        assert (await innocent).ok
        assert await third.state_digest() == digest
        with pytest.raises(RuntimeError, match="leave has ended its process"):
            lost.digest()


async def test_a_worker_that_is_killed_between_calls_is_replaced():
    with Session(["stubborn"], 0) as session:
        await session.execute(Call("add", {"text": "x"}, "one"))
        digest, pid = await session.state_digest(), worker_pid()
        os.kill(pid, signal.SIGKILL)
        assert gone(pid)
        assert await session.state_digest() == digest
        assert worker_pid() != pid


async def test_a_session_that_does_not_come_out_the_same_is_lost():
    with Session(["stubborn"], 0) as session:
        pid = int((await session.execute(Call("name_process", {}))).content["id"])
        os.kill(pid, signal.SIGKILL)
        assert gone(pid)
        result = await session.execute(Call("list_rows", {}))
        assert result.code == ErrorCode.CRASHED
        assert "answers otherwise than before; the session is lost" in result.message


async def test_sessions_that_are_closed_or_forgotten_leave_the_worker():
    sessions = [Session(["stubborn"], seed) for seed in range(4)]
    for session in sessions:
        await session.execute(Call("list_rows", {}))
    worker = worker_process._shared_worker()
    count = worker.ask(5, "answer")
    for session in sessions[:3]:
        session.close()
    with pytest.raises(RuntimeError, match="is closed"):
        await sessions[0].execute(Call("list_rows", {}))
    del sessions, session
    while worker.ask(5, "answer") > count - 4:
        await asyncio.sleep(0.01)


PARENT = """
import asyncio, sys
from proverl.core import Call
from proverl.envs import Session, worker_process

async def main():
    session = Session(["stubborn"], 0, call_seconds=60)
    await session.execute(Call("say", {"text": "printed by a tool"}))
    print(worker_process._shared_worker()._process.pid, flush=True)
    if len(sys.argv) > 1:
        await session.execute(Call(sys.argv[1], {}))

asyncio.run(main())
"""


@pytest.mark.parametrize("tool", ["", "sleep", "block"])
def test_the_worker_ends_with_the_process_that_started_it(tool):
    path = os.pathsep.join(filter(None, [str(HERE / "site"), os.environ.get("PYTHONPATH")]))
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, *filter(None, [tool])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as parent:
        pid = int(parent.stdout.readline())  # what a tool prints is not on this stream
        if tool:
            time.sleep(0.2)
            parent.kill()
        else:
            assert parent.wait(10) == 0
        assert gone(pid)
        assert "printed by a tool" in parent.stderr.read()
