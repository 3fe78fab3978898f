"""Where a run's training lies, for commands that read it."""

import hashlib
import json
from pathlib import Path

STAGES_FILE = "stages.json"  # in a job's folder: its stages' folders, relative to it
TRACKING_FILE = "mlflow.json"  # in a job's folder: the id of its MLflow run
_STAGE = "grpo"


def training_folder(run: str, runs_dir: Path) -> Path:
    """The folder of a GRPO stage, complete or in work, by its path, a job's folder or its name, or an MLflow run's id.

    Of an id the first characters do, when they name one run of `runs_dir`. Raises ValueError that says what is there.
    """
    path = Path(run)
    if (path / "rollouts").is_dir():
        return path
    if (path / STAGES_FILE).is_file():
        return _of_job(path)
    jobs = [job for job in _jobs(runs_dir) if run and (_run_id(job).startswith(run) or job.name == run)]
    if len(jobs) > 1:
        names = ", ".join(f"{_run_id(job)} ({job.name})" for job in jobs)
        raise ValueError(f"{run} is the start of several MLflow runs: {names}")
    if jobs:
        return _of_job(jobs[0])
    there = ", ".join(str(job) for job in _jobs(runs_dir)) or "no job"
    raise ValueError(
        f"{run} is no stage's folder with rollouts, no job's folder and no MLflow run of {runs_dir}; there is {there}"
    )


def private_folder(run: Path) -> Path:
    """Temporary files, and a private Ray, of the run in this folder; a socket's path has 107 bytes, so it is short."""
    return Path("/tmp") / f"proverl-{hashlib.sha256(str(run).encode()).hexdigest()[:8]}"


def _jobs(runs_dir: Path) -> list[Path]:
    return sorted(file.parent for file in runs_dir.glob(f"jobs/*/{STAGES_FILE}"))


def _run_id(job: Path) -> str:
    file = job / TRACKING_FILE
    return str(_read(file)["run_id"]) if file.exists() else ""


def _read(file: Path) -> dict[str, str]:
    try:
        return dict(json.loads(file.read_text()))
    except ValueError:
        raise ValueError(f"{file} is damaged; type the run's command again, which writes it anew") from None


def _of_job(job: Path) -> Path:
    named = _read(job / STAGES_FILE).get(_STAGE)
    if named is None:
        raise ValueError(f"{job} has no stage {_STAGE}")
    done = (job / named).resolve()
    for folder in (done, done.with_name(f"{done.name}.partial")):
        if (folder / "rollouts").is_dir():
            return folder
    raise ValueError(f"{job} has no rollouts yet: they appear in {done} after the first step of training")
