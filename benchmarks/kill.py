"""What being killed costs: the default run unbroken, and the same killed with -9 in one stage and typed again.

    uv run python -m benchmarks.kill                    # killed in training, a quarter of an hour
    uv run python -m benchmarks.kill --when "Evaluating before: 60" -- trainer.steps=5

Prints both times and their ratio, at most 1.2, and ends with an error when the two differ in the dataset, in a step's
figures or in the table.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table


def run(runs: Path, overrides: list[str], kill_at: str = "") -> float:
    """Type the command in a runs folder; return wall-clock seconds. Killed when a line begins with `kill_at`."""
    command = [sys.executable, "-u", "-m", "experiments.run", f"runs_dir={runs}", *overrides]
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if kill_at and line.startswith(kill_at):
                process.send_signal(signal.SIGKILL)
                break
        else:
            if process.wait():
                raise SystemExit(f"the run failed; see {runs}")
            kill_at = ""
    if kill_at and process.returncode != -signal.SIGKILL:
        raise SystemExit(f"no line began with {kill_at!r}; choose one that the run prints")
    return time.monotonic() - start


def results(runs: Path) -> dict[str, object]:
    """All that must be the same: dataset bytes, every step's reward figures, the final table."""
    steps = [json.loads(line) for line in next(runs.glob("stages/grpo-*/metrics.jsonl")).read_text().splitlines()]
    return {
        "datasets": {path.name: path.read_bytes() for path in sorted(runs.glob("stages/synth-*/*.parquet"))},
        "steps": [{k: v for k, v in step.items() if k == "step" or k.startswith("reward/")} for step in steps],
        "table": json.loads(next(runs.glob("jobs/*/figures.json")).read_text())["heldout"],
    }


def main() -> None:
    """Run, kill, run again, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--when", default="Training with GRPO: 12/", help="the line of output at which to kill")
    parser.add_argument("overrides", nargs="*", help="settings of the run")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="proverl-kill-"))
    unbroken = run(folder / "unbroken", asked.overrides)
    first = run(folder / "killed", asked.overrides, asked.when)
    again = run(folder / "killed", asked.overrides)
    ratio = (first + again) / unbroken
    table = Table("unbroken", "until killed", "typed again", "ratio", "must")
    table.add_row(f"{unbroken:.0f} s", f"{first:.0f} s", f"{again:.0f} s", f"{ratio:.2f}", "<= 1.2")
    Console().print(table)
    expected, found = results(folder / "unbroken"), results(folder / "killed")
    if wrong := [name for name in expected if expected[name] != found[name]]:
        raise SystemExit(f"the killed run ended otherwise: {', '.join(wrong)}; compare the runs in {folder}")
    path = folder / "kill.json"
    path.write_text(json.dumps({"unbroken_s": unbroken, "killed_s": first, "again_s": again, "ratio": ratio}))
    print(path)


if __name__ == "__main__":
    main()
