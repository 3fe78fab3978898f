"""What a stage takes of the machine, over all its tries: seconds and peak memory, written down while it works.

Memory is that of this process and of all that it started: their private pages, and the largest shared part once. A Ray
that was joined, not started, and other machines are not in it. That of GPUs is what is in use on any one of those here.
"""

import json
import os
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

import psutil

_SECONDS = 1.0  # between two looks; a kill loses no more


@dataclass(frozen=True)
class Taken:
    """Seconds of all tries, how many they were, and bytes at the peak (None: not known)."""

    seconds: float = 0.0
    tries: int = 0
    peak_memory: int | None = None
    peak_gpu_memory: int | None = None


def read_taken(path: Path) -> Taken:
    """What earlier tries wrote down; nothing when there were none."""
    try:
        return Taken(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return Taken()


class Meter:
    """Measures the block and adds it to what earlier tries took, kept in the file `path`."""

    def __init__(self, path: Path, earlier: Taken) -> None:
        self._path, self._earlier = path, earlier
        self._memory, self._gpu = earlier.peak_memory, earlier.peak_gpu_memory
        self._started = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="meter", daemon=True)

    def __enter__(self) -> "Meter":
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()
        self._look()

    def taken(self) -> Taken:
        """All tries so far, this one included."""
        seconds = self._earlier.seconds + time.monotonic() - self._started
        return Taken(round(seconds, 3), self._earlier.tries + 1, self._memory, self._gpu)

    def _follow(self) -> None:
        while not self._stop.wait(_SECONDS):
            self._look()

    def _look(self) -> None:
        self._memory = _larger(self._memory, memory())
        self._gpu = _larger(self._gpu, gpu_memory())
        partial = self._path.with_suffix(".partial")
        with suppress(OSError):  # a full disk ends the stage's own writing, not this
            partial.write_text(json.dumps(asdict(self.taken())))
            partial.replace(self._path)


def memory() -> int | None:
    """Bytes that this process and all that it started hold now; None where the system does not say."""
    private, shared = 0, [0]
    try:
        here = psutil.Process(os.getpid())
        for process in (here, *here.children(recursive=True)):
            with suppress(psutil.Error):  # it ended meanwhile
                found = process.memory_info()
                common = getattr(found, "shared", 0)
                private += found.rss - common
                shared.append(common)
    except (psutil.Error, OSError):
        return None
    return private + max(shared)


def gpu_memory() -> int | None:
    """Bytes in use on the GPU of this machine that has most in use; None without GPUs or NVIDIA's library."""
    if not find_spec("pynvml"):
        return None
    import pynvml

    try:
        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        return max((int(pynvml.nvmlDeviceGetMemoryInfo(handle).used) for handle in handles), default=None)
    except pynvml.NVMLError:
        return None


def _larger(one: int | None, other: int | None) -> int | None:
    return max((value for value in (one, other) if value is not None), default=None)
