"""Sessions of other people's servers in a worker process: it is killed when a tool does not come back.

One worker holds the sessions of all episodes of this process, and runs their calls in threads. A session is its seed
and its calls, so after a worker's end each session is made again in the next one, from its successful calls. Where
it is not sure which call was at fault, each that ran runs again in a worker of its own, where only itself can be.
"""

import ctypes
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import count
from multiprocessing.connection import Connection, Pipe
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from proverl.core import Json, Result

if TYPE_CHECKING:
    from proverl.envs.session import Session

CALLS_AT_ONCE = 64
GRACE_SECONDS = 1.0  # after its deadline, in which a tool is interrupted
_OPEN_SECONDS = 60.0  # to import the servers, and to repeat the calls after a worker's end
_PR_SET_PDEATHSIG = 1
_CODE = "from proverl.envs.worker_process import serve; serve()"

Done = tuple[str, dict[str, Json], Result]


class WorkerEnded(Exception):
    """The worker has died, or was killed, maybe since this request was `late`; `guilty`: surely for that."""

    def __init__(self, late: bool, guilty: bool) -> None:
        super().__init__("its process has ended")
        self.late, self.guilty = late, guilty


class WorkerFailed(Exception):
    """The worker cannot have the session, or send what it should."""


class Worker:
    """A process that holds sessions. It ends with the process that started it, however that ends."""

    def __init__(self, lanes: int) -> None:
        """`lanes` requests can be made at once."""
        self.path = list(sys.path)
        pairs = [Pipe() for _ in range(lanes)]
        numbers = [there.fileno() for _, there in pairs]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _CODE, *map(str, [os.getpid(), *numbers])],
            pass_fds=numbers,
            stdin=subprocess.DEVNULL,
            stdout=2,  # a tool may print, and our own output may be a protocol
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(str(path) or os.curdir for path in sys.path),
                "PYTHONHASHSEED": "0",  # a tool that goes through a set does the same when its call is repeated
            },
        )
        self.kill = weakref.finalize(self, _kill, self._process)
        self._free: SimpleQueue[Connection] = SimpleQueue()
        for here, there in pairs:
            there.close()
            self._free.put(here)
        self._asking: set[Connection] = set()
        self._forgotten: SimpleQueue[int] = SimpleQueue()
        self._ending = threading.Lock()
        self._ended = False
        self._only: Connection | None = None  # the one request at the end
        self._answered = False  # others, when it was killed

    @property
    def alive(self) -> bool:
        """Whether it can be asked; never in a process forked from the one that started it."""
        return not self._ended and self._process.poll() is None

    def ask(self, seconds: float, method: str, *arguments: Any) -> Any:
        """Have a method of its sessions run. When that takes longer than `seconds` and some grace, it is killed.

        Raises WorkerEnded, or WorkerFailed with what the method raised.
        """
        lane = self._free.get()
        self._asking.add(lane)
        due = time.monotonic() + seconds
        try:
            lane.send((method, arguments, self._to_close()))
            if not lane.poll(seconds + GRACE_SECONDS):
                raise self._end(lane, late=True)
            good, answer = lane.recv()
        except (EOFError, OSError):
            raise self._end(lane, late=time.monotonic() > due + GRACE_SECONDS / 2) from None
        finally:
            self._asking.discard(lane)
            self._free.put(lane)
        if not good:
            raise WorkerFailed(answer)
        return answer

    def forget(self, key: int) -> None:
        """Close a session with the next request; a finalizer may call it at any moment."""
        self._forgotten.put(key)

    def tidy(self) -> None:
        """Close the forgotten sessions now."""
        if self.alive:
            with suppress(WorkerEnded):
                self.ask(_OPEN_SECONDS, "answer")

    def _to_close(self) -> list[int]:
        keys = []
        try:
            while True:
                keys.append(self._forgotten.get_nowait())
        except Empty:
            return keys

    def _end(self, lane: Connection, late: bool) -> WorkerEnded:
        """Kill it, once, and tell whether the request of this lane is at fault."""
        with self._ending:
            if not self._ended:
                self._only = lane if self._asking == {lane} else None
                self._answered = late and self._only is None and self._answers()
                self._ended = True
                self.kill()
        return WorkerEnded(late, guilty=late and (self._answered or lane is self._only))

    def _answers(self) -> bool:
        """Whether it still answers others, so that a late request holds up itself."""
        try:
            lane = self._free.get(timeout=GRACE_SECONDS)
        except Empty:
            return False
        try:
            lane.send(("answer", (), []))
            return lane.poll(GRACE_SECONDS) and bool(lane.recv()[0])
        except (EOFError, OSError):
            return False
        finally:
            self._free.put(lane)


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


# a worker lives as long as the thread that started it, by Linux's prctl: these stay until the end
threads = ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix="proverl-tool")
_shared: Worker | None = None
_starting = threading.Lock()
_keys = count()


def _shared_worker() -> Worker:
    global _shared
    with _starting:
        # a server may have been installed, or a folder added, since the worker was started
        if _shared is None or not _shared.alive or _shared.path != sys.path:
            _shared = Worker(CALLS_AT_ONCE + 1)
        return _shared


class WorkerSession:
    """A session that lives in a worker. Its methods block, and come back soon after the deadline."""

    def __init__(self, servers: Sequence[str], seed: int, id: str, call_seconds: float) -> None:
        self._made = (servers, seed, id, call_seconds)
        self._seconds = call_seconds
        self._key = next(_keys)
        self._worker: Worker | None = None
        self._leave = weakref.finalize(self, _nothing)
        self.done: list[Done] = []  # the calls that succeeded and wrote

    def call(self, name: str, arguments: dict[str, Json], writes: bool) -> tuple[Result, datetime]:
        """The result of a call, and the session's time after it.

        Raises WorkerEnded when the call ends its worker, and WorkerFailed when a worker cannot have the session.
        """
        result, now = self._ask(self._seconds, "call", name, arguments)
        if writes and result.ok:
            self.done.append((name, arguments, result))
        return result, now

    def digest(self) -> str:
        """The digest of the states. Raises as `call` does."""
        return str(self._ask(_OPEN_SECONDS, "digest"))

    def close(self) -> None:
        """Give the state up; closing again does nothing."""
        if self._leave.alive and self._worker is not None:
            self._leave()
            with suppress(RuntimeError):  # this process is about to end, and the worker with it
                threads.submit(self._worker.tidy)

    def _ask(self, seconds: float, method: str, *arguments: Any) -> Any:
        worker = self._worker if self._worker is not None and self._worker.alive else _shared_worker()
        try:
            return self._ask_in(worker, seconds, method, *arguments)
        except WorkerEnded as ended:
            if ended.guilty:
                raise
        return self._ask_in(Worker(1), seconds, method, *arguments)

    def _ask_in(self, worker: Worker, seconds: float, method: str, *arguments: Any) -> Any:
        if worker is not self._worker:
            self._leave()
            self._worker = worker
            leave = partial(worker.forget, self._key) if worker is _shared else worker.kill
            self._leave = weakref.finalize(self, leave)
            self._leave.atexit = False
            worker.ask(_OPEN_SECONDS, "open", self._key, *self._made, self.done)
        return worker.ask(seconds, method, self._key, *arguments)


def _nothing() -> None:
    """Leave no worker."""


class _Sessions:
    """The worker's side: its sessions, by key."""

    def __init__(self) -> None:
        self._open: dict[int, Session] = {}

    def answer(self) -> int:
        """How many there are."""
        return len(self._open)

    def open(
        self, key: int, servers: Sequence[str], seed: int, id: str, call_seconds: float, done: Sequence[Done]
    ) -> None:
        from proverl.envs.session import Session

        session = self._open[key] = Session(servers, seed, id, call_seconds)
        for name, arguments, result in done:
            if session.call(name, arguments) != result:
                raise RuntimeError(f"{name}, called again after a worker's end, answers otherwise than before")

    def call(self, key: int, name: str, arguments: dict[str, Json]) -> tuple[Result, datetime]:
        session = self._open[key]
        return session.call(name, arguments), session.now

    def digest(self, key: int) -> str:
        return self._open[key].digest()

    def serve(self, lane: Connection) -> None:
        """Answer one request after the other."""
        try:
            while True:
                method, arguments, to_close = lane.recv()
                for key in to_close:
                    if session := self._open.pop(key, None):
                        session.close()
                lane.send_bytes(self._answer(method, arguments))
        except (EOFError, OSError):  # nobody asks any more
            os._exit(0)

    def _answer(self, method: str, arguments: tuple[Any, ...]) -> bytes:
        try:
            return pickle.dumps((True, getattr(self, method)(*arguments)))
        except BaseException as error:  # a server's import may raise anything
            return pickle.dumps((False, f"{type(error).__name__}: {error}"))


def serve() -> None:
    """Run a worker: the arguments are the id of the process to serve, and the file descriptors of the lanes."""
    parent, *lanes = map(int, sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that is served
    if sys.platform == "linux":  # else it ends by its lanes, when no tool keeps the interpreter from looking
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    sessions = _Sessions()
    serving = [threading.Thread(target=sessions.serve, args=(Connection(lane),)) for lane in lanes]
    for thread in serving:
        thread.start()
