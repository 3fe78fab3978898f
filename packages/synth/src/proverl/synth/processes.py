"""An ordered map over processes of this machine, of which any may be killed.

`multiprocessing.Pool` waits for ever for what a killed worker was making, and `ProcessPoolExecutor` leaves its workers
behind when its own process is killed.
"""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from typing import Any

_AHEAD = 16  # items for each process that are handed out before the first result is taken
_DEATHS = 3  # in a row, without a result in between


class ProcessesDied(RuntimeError):
    """Worker processes are killed again and again, mostly because the memory does not suffice."""


class Processes:
    """Worker processes; when one is killed, others make what it was making. A context manager."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._strangers = set(active_children())
        self._pool = self._started()

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, kind: type[BaseException] | None, *about: object) -> None:
        if kind is not None:  # nobody takes what they are making, and a teacher's answer may take minutes
            for child in set(active_children()) - self._strangers:
                child.kill()
        self._pool.shutdown(cancel_futures=True)

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """The results in the order of the items. Raises ProcessesDied, and what `function` raises."""
        left, deaths = iter(items), 0
        waiting: deque[Any] = deque()
        futures: deque[Future[Any]] = deque()  # of the first of those that wait
        while True:
            waiting.extend(islice(left, self._number * _AHEAD - len(waiting)))
            if not waiting:
                return
            try:
                for item in islice(waiting, len(futures), None):
                    futures.append(self._pool.submit(function, item))
                result = futures[0].result()
            except BrokenProcessPool:
                deaths += 1
                if deaths == _DEATHS:
                    raise ProcessesDied(
                        f"a worker process was killed {deaths} times in a row, mostly for want of memory: free some, "
                        f"or use fewer than {self._number} processes"
                    ) from None
                futures.clear()
                self._pool.shutdown()
                self._pool = self._started()
                continue
            deaths = 0
            waiting.popleft()
            futures.popleft()
            yield result

    def _started(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._number, get_context("spawn"), _prepare)


def _prepare() -> None:
    """A worker leaves Ctrl-C, which reaches it too, to its parent, and ends with it, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with, args=(parent_process(),), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)
