"""Interrupting a tool that runs too long: its Python code by an exception, its SQL statement by SQLite's interrupt.

One watching thread looks ten times a second at what runs, so that a call in time pays next to nothing.
"""

import ctypes
import sqlite3
import threading
import time
from types import TracebackType

_LOOK_SECONDS = 0.1
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc


class Overdue(BaseException):
    """Raised inside a tool at its deadline; not an Exception, so that a tool's own handlers let it through."""


class Deadline:
    """A block of code in this thread that is interrupted after `seconds`.

    Interrupted code sees Overdue, or sqlite3's OperationalError from a statement; `passed` says whether it was. Code
    that neither runs Python nor SQL (a blocking system call) is interrupted when it comes back.
    """

    def __init__(self, seconds: float, connection: sqlite3.Connection) -> None:
        self.passed = False
        self._seconds = seconds
        self._connection = connection
        self._thread = 0

    def __enter__(self) -> "Deadline":
        self._thread = threading.get_ident()
        self._expires = time.monotonic() + self._seconds
        _watch(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _lock:
            _running.pop(self._thread, None)
        if self.passed and kind is not Overdue:
            _await_exception()

    def expire_if_due(self, now: float) -> None:
        """Interrupt, once, when the time is over; the watching thread calls it and holds the lock."""
        if not self.passed and now > self._expires:
            self.passed = True
            self._connection.interrupt()
            _raise_in(ctypes.c_ulong(self._thread), ctypes.py_object(Overdue))


_lock = threading.Lock()
_running: dict[int, Deadline] = {}  # by thread: a thread runs one tool at a time
_something_runs = threading.Event()
_watcher: threading.Thread | None = None


def _watch(deadline: Deadline) -> None:
    global _watcher
    with _lock:
        _running[deadline._thread] = deadline
        if _watcher is None or not _watcher.is_alive():  # not alive in a forked child
            _watcher = threading.Thread(target=_look, name="proverl-deadlines", daemon=True)
            _watcher.start()
    if not _something_runs.is_set():
        _something_runs.set()


def _look() -> None:
    while True:
        _something_runs.wait()
        time.sleep(_LOOK_SECONDS)
        with _lock:
            now = time.monotonic()
            for deadline in _running.values():
                deadline.expire_if_due(now)
            if not _running:
                _something_runs.clear()


def _await_exception() -> None:
    """Take the exception that is on its way to this thread, so that it does not hit the code after the block."""
    try:
        for _ in range(1_000):
            time.sleep(0.001)
    except Overdue:
        pass
