"""A job whose stages are stand-ins, run as a process of its own: `fake_run.py RUNS SECONDS_PER_STEP [override ...]`."""

import json
import logging
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

from experiments.compose import check
from experiments.job import job
from experiments.pipeline import Inputs
from experiments.progress import Screen
from experiments.report import PARTS
from experiments.stages import stages
from proverl.trainer.tiny import checkpoint_path

STEPS, SAVE_EVERY = 12, 3
RUNS, SECONDS = Path(sys.argv[1]), float(sys.argv[2])


def note(text: str) -> None:
    """Count the work that was really done."""
    with (RUNS / "work.log").open("a") as file:
        file.write(text + "\n")


def synth(inputs: Inputs, folder: Path) -> None:
    """Write what depends on the seed only."""
    note("synth")
    (folder / "train.parquet").write_text(f"tasks of seed {inputs.config.seed}")


def grpo(inputs: Inputs, folder: Path) -> None:
    """Append a row per step and, like the trainer, go on from the last checkpoint with the rows cut back to it."""
    saved, metrics = folder / "checkpoint", folder / "metrics.jsonl"
    start = int(saved.read_text()) if saved.exists() else 0
    rows = metrics.read_text().splitlines()[:start] if metrics.exists() else []
    metrics.write_text("".join(f"{row}\n" for row in rows))
    for step in range(start + 1, STEPS + 1):
        time.sleep(SECONDS)
        note(f"step {step}")
        with metrics.open("a") as file:
            file.write(
                json.dumps(
                    {
                        "step": step,
                        "reward/mean": step / STEPS,
                        "stop/completed": 0.5,
                        **dict.fromkeys((f"reward/{part}" for part in PARTS), 0.5),
                    }
                )
                + "\n"
            )
        if step % SAVE_EVERY == 0:
            saved.write_text(str(step))
    shutil.copytree(checkpoint_path(), folder / "model")


if __name__ == "__main__":
    RUNS.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(filename=RUNS / "run.log")  # as Hydra does
    work = {"synth": synth, "grpo": grpo}
    # no code in the keys: a file that is edited while the tests run must not look like a broken cache
    overrides = [f"runs_dir={RUNS}", f"trainer.steps={STEPS}", "stages=[synth,grpo,report]", *sys.argv[3:]]
    for config in check(overrides):
        plain = [replace(stage, needs=lambda config: [], code=()) for stage in stages(config) if stage.output in work]
        job(config, [replace(stage, work=work[stage.output]) for stage in plain], RUNS / "jobs" / "fake", Screen())
