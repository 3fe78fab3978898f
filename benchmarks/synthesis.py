"""What synthesis costs: rows a second and memory, for two sizes of the paper's mix and for one and more processes.

    uv run python -m benchmarks.synthesis                  # 500 and 2,000 rows, some three minutes
    uv run python -m benchmarks.synthesis --rows 13517

Every line is the whole command, its start and the card included. The bounds are ratios between lines of the same run:
memory must not grow with the rows, and processes must share the work.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

MEMORY_RATIO = 1.3  # of the larger size to a quarter of it
SPEED_RATIO = 0.6  # of the number of processes; the start and the card are one process's


@dataclass(frozen=True)
class Cost:
    """One command: how many rows with how many processes, wall-clock seconds, and MiB of its largest process."""

    rows: int
    processes: int
    seconds: float
    mib: float
    digest: str

    @property
    def rate(self) -> float:
        """Rows a second."""
        return self.rows / self.seconds


def measure(folder: Path, rows: int, processes: int) -> Cost:
    """Make `rows` training rows (and a sixteenth of it held out) in a command of its own."""
    settings = [f"synth.train_tasks={rows}", f"synth.heldout_tasks={rows // 16}", f"runs_dir={folder}"]
    settings += ["stages=[synth]", "synth=paper", "envs=paper", f"profile.synth_processes={processes}"]
    start = time.monotonic()
    with (folder.parent / f"{folder.name}.log").open("wb") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "experiments.run", *settings], stdout=log, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(child.pid, 0)  # of the command and of the processes that it waited for
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"the command failed; see {log.name}")
    made = next(folder.glob("stages/synth-*/train.parquet")).read_bytes()
    digest = hashlib.blake2b(made, digest_size=16).hexdigest()
    return Cost(rows + rows // 16, processes, time.monotonic() - start, usage.ru_maxrss / 1024, digest)


def main() -> None:
    """Measure three commands, print a table, and end with an error when the bytes depend on the processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000, help="of the larger size")
    rows = parser.parse_args().rows
    most = max(2, os.cpu_count() or 2)
    folder = Path(tempfile.mkdtemp(prefix="proverl-synthesis-"))
    small, large, shared = (
        measure(folder / f"{size}-{processes}", size, processes)
        for size, processes in ((rows // 4, 1), (rows, 1), (rows, most))
    )
    table = Table("rows", "processes", "seconds", "rows/s", "MiB of the largest process")
    for cost in (small, large, shared):
        cells = (f"{cost.seconds:.1f}", f"{cost.rate:.1f}", f"{cost.mib:.0f}")
        table.add_row(f"{cost.rows:,}", str(cost.processes), *cells)
    memory, speed = large.mib / small.mib, shared.rate / large.rate
    console = Console()
    console.print(table)
    console.print(f"memory, four times the rows: {memory:.2f} times (must be <= {MEMORY_RATIO})")
    console.print(f"speed, {most} processes: {speed:.2f} times (must be >= {SPEED_RATIO * most:.1f})")
    path = folder / "synthesis.json"
    path.write_text(json.dumps({"memory_ratio": memory, "speed_ratio": speed, "rows_per_second": shared.rate}) + "\n")
    console.print(str(path))
    if large.digest != shared.digest:
        raise SystemExit(f"the bytes depend on the number of processes; compare the runs in {folder}")


if __name__ == "__main__":
    main()
