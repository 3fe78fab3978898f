"""Interrupting a tool that runs too long: its Python code by an exception, its SQL statement by SQLite's interrupt.

One watching thread looks ten times a second at what runs, so that a call in time pays next to nothing.
"""

import ctypes
import sqlite3
import threading
import time
from types import TracebackType

_LOOK_SECONDS = 0.1
_PRESS_SECONDS = 0.001
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc


class Overdue(BaseException):
    """Raised inside a tool at its deadline; not an Exception, so that a tool's own handlers let it through."""


class Deadline:
    """A block of code in this thread that is interrupted after `seconds`, again and again until it gives up.

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
        self.end()

    def end(self) -> None:
        """Stop watching. The block's exit may itself be hit, so whoever catches Overdue calls it again."""
        while _running.get(self._thread) is self:
            try:
                with _lock:
                    _running[self._thread] = None
            except Overdue:
                pass
        if self.passed:  # an exception that is still on its way would hit the code after the block
            _raise_in(ctypes.c_ulong(self._thread), None)

    def expire_if_due(self, now: float) -> bool:
        """Interrupt when the time is over, and tell; the watching thread calls it and holds the lock."""
        if now > self._expires:
            self.passed = True
            self._connection.interrupt()
            _raise_in(ctypes.c_ulong(self._thread), ctypes.py_object(Overdue))
        return self.passed


_lock = threading.Lock()
# by thread: a thread runs one tool at a time; keys stay, since a dict that is emptied again and again moves in memory
_running: dict[int, Deadline | None] = {}
_wake = threading.Lock()  # free once something has run; an Event would make a new lock for every wait
_watcher: threading.Thread | None = None


def _watch(deadline: Deadline) -> None:
    global _watcher
    with _lock:
        _running[deadline._thread] = deadline
        if _watcher is None or not _watcher.is_alive():  # not alive in a forked child
            _watcher = threading.Thread(target=_look, name="proverl-deadlines", daemon=True)
            _watcher.start()
        if _wake.locked():
            _wake.release()


def _look() -> None:
    while True:
        if not any(tuple(_running.values())):
            _wake.acquire()
        # more often while a tool catches what interrupts it: sooner or later it is hit outside its handler
        time.sleep(_PRESS_SECONDS if _interrupt_late() else _LOOK_SECONDS)


def _interrupt_late() -> bool:
    """Whether a tool is late. Apart from the loop, where a local would keep the last tool's state."""
    with _lock:
        now = time.monotonic()
        return sum(deadline.expire_if_due(now) for deadline in _running.values() if deadline) > 0
