"""The map over processes: order, look-ahead, and what happens when one of them or their parent is killed."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count, islice
from pathlib import Path

import pytest
from workloads import dies, dies_once, fails

from proverl.synth.processes import Processes, ProcessesDied

SCRIPT = """
from itertools import count
from workloads import slow_pid
from proverl.synth.processes import Processes
if __name__ == "__main__":
    with Processes(2) as pool:
        for pid in pool.map(slow_pid, count()):
            print(pid, flush=True)
"""


def test_results_come_in_order_from_an_endless_iterable():
    with Processes(2) as pool:
        assert list(islice(pool.map(abs, count()), 100)) == list(range(100))


def test_what_a_killed_process_was_making_is_made_again(tmp_path):
    marks = [tmp_path / str(number) for number in range(3)]
    marks[0].touch()
    with Processes(2) as pool:
        assert list(pool.map(dies_once, marks)) == ["0", "1", "2"]


def test_what_kills_every_process_is_given_up_with_a_sentence():
    with Processes(2) as pool, pytest.raises(ProcessesDied, match="killed 3 times in a row.*fewer than 2"):
        list(pool.map(dies, range(4)))


def test_a_failure_does_not_wait_for_the_others():
    started = time.monotonic()
    with pytest.raises(ValueError, match="no"), Processes(2) as pool:
        list(pool.map(fails, range(3)))
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_outlives_its_parent(how):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    parent = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    workers = {int(parent.stdout.readline()) for _ in range(20)}
    for _ in range(3):  # Python loses a Ctrl-C that comes while it runs a callback, as people know
        parent.send_signal(how)
        with suppress(subprocess.TimeoutExpired):
            parent.wait(15)
            break
    parent.stdout.close()
    end = time.monotonic() + 10
    while any(map(runs, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert workers and not any(map(runs, workers))


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
