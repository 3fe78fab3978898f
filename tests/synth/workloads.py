"""What the processes of `test_processes.py` are given; a module of its own, since they import it."""

import os
import signal
import time
from pathlib import Path


def slow_pid(number: int) -> int:
    time.sleep(0.05)
    return os.getpid()


def dies_once(mark: Path) -> str:
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return mark.name


def dies(number: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def sleeps(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def fails(number: int) -> int:
    if number == 0:
        raise ValueError("no")
    return int(sleeps(60))
