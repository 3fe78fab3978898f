"""Between two runs any part of the runs folder may be deleted: the same command makes it again."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FAKE = Path(__file__).parent / "fake_run.py"


def run(folder):
    done = subprocess.run([sys.executable, FAKE, folder, "0"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "can't" not in done.stdout, done.stdout
    return json.loads((folder / "jobs" / "fake" / "figures.json").read_text())


@pytest.mark.parametrize("part", ["stages", "jobs", "mlflow.db"])
def test_a_part_that_is_gone_is_made_again(part, tmp_path, with_store):
    runs = tmp_path / "runs"
    runs.mkdir()
    with_store(runs)
    before = run(runs)
    gone = runs / part
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    if part == "mlflow.db":
        with_store(runs)  # a new one, as MLflow would make it in ten seconds
    after = run(runs)
    assert after["steps"] == before["steps"]
    worked = (runs / "work.log").read_text().count("synth")
    assert worked == (2 if part == "stages" else 1)
    assert (after["mlflow"]["run"] == before["mlflow"]["run"]) == (part == "stages")
