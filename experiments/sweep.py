"""A sweep: the jobs of one `-m` command, and its MLflow run, the parent of theirs.

A job of a sweep is the command that runs it alone, in a process of its own: one that fails or is killed takes nothing
with it, and the others go on. It says how it stands in its folder's `state.json`; the sweep reads these, keeps them as
tags of its run, and tells at the end what failed and how to run that again.

What a sweep stands for is its jobs, so the same command goes on in the same run, and a job that ran before joins it. A
run has one parent in MLflow, the sweep that was typed last; the tag `sweep.ID` finds it from each of its sweeps.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

from experiments.cache import digest
from experiments.compose import Command, job_name
from experiments.config import Config, ConfigError
from experiments.failures import sentence
from experiments.progress import Screen
from experiments.provenance import provenance
from experiments.tracking import IN_SWEEP, Tracker
from proverl.trainer.run_folder import TRACKING_FILE

STATE_FILE = "state.json"  # in a job's folder
_LOOK_SECONDS = 1.0  # between two looks at the jobs' states
_AGAIN_SECONDS = 20.0  # before a job that should have stopped is asked again
_TAG_LENGTH = 5000


@contextmanager
def state_kept(folder: Path) -> Iterator[None]:
    """Keep in a job's folder how it stands, for the time of the block: running, finished, failed (and why), stopped.

    Raises ConfigError when the job is not the one that its sweep has started: then the code has changed meanwhile.
    """
    folder, name = folder.with_name(json.loads(os.environ.get(IN_SWEEP, "{}")).get("job", folder.name)), folder.name
    _say_state(folder, "running")
    try:
        if folder.name != name:
            raise ConfigError(
                "The code has changed since the sweep began: type the sweep again, and all is of one code."
            )
        yield
    except KeyboardInterrupt:
        _say_state(folder, "stopped")
        raise
    except Exception as error:
        _say_state(folder, "failed", sentence(error) or f"{type(error).__name__}: {error}")
        raise
    _say_state(folder, "finished")


def _say_state(folder: Path, state: str, why: str = "") -> None:
    with suppress(OSError):  # a full disk, which the job tells of itself
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f"{STATE_FILE}.partial"
        partial.write_text(json.dumps({"state": state, "sentence": why}) + "\n")
        partial.replace(folder / STATE_FILE)


def failed(folder: Path, why: str) -> None:
    """Write down that a job failed which could not do so itself."""
    _say_state(folder, "failed", why)


def read_state(folder: Path) -> dict[str, str]:
    """The `state` of the job in a folder, and the `sentence` that says why it failed."""
    path = folder / STATE_FILE
    found: dict[str, str] = json.loads(path.read_text()) if path.exists() else {"state": "waiting", "sentence": ""}
    return found


def run_alone(overrides: Sequence[str], folder: Path, variables: Mapping[str, str], place: Path) -> None:
    """Run one job as a process of its own, from the folder `place`, and see to it that its `folder` says how it ended.

    It ends when this process does, in whatever way: its standard input closes then.
    """
    command = [sys.executable, "-m", "experiments.run", *overrides]
    variables = {**variables, IN_SWEEP: json.dumps({**json.loads(variables[IN_SWEEP]), "job": folder.name})}
    # a Ctrl-C is for this process alone: the job hears of it once, by its standard input
    process = subprocess.Popen(command, cwd=place, env=variables, stdin=subprocess.PIPE, start_new_session=True)
    assert process.stdin is not None
    try:
        code = process.wait()
    finally:
        process.stdin.close()
        process.wait()
    if code and read_state(folder)["state"] in ("waiting", "running"):
        failed(folder, f"its process {f'was killed by signal {-code}' if code < 0 else f'ended with code {code}'}.")


def end_with_sweep() -> None:
    """In the process of a sweep's job: when its standard input closes, end as after Ctrl-C."""
    if IN_SWEEP not in os.environ:
        return

    def watch() -> None:
        while os.read(0, 1024):
            pass
        while True:  # Python loses one that comes while it starts other processes
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(_AGAIN_SECONDS)

    Thread(target=watch, daemon=True).start()


def for_a_job(overrides: Iterable[str]) -> list[str]:
    """What of a sweep's overrides a single job needs: all but Hydra's own settings; its search path is the user's."""
    return [one for one in overrides if not one.startswith(("hydra.", "hydra/")) or one.startswith("hydra.searchpath")]


_RUNNING: list["Sweep"] = []  # the one of this process


def running() -> "Sweep":
    """The sweep that this process is recording."""
    return _RUNNING[-1]


@dataclass
class Sweep:
    """The jobs of a command, by their folders' names, with the overrides that run each alone."""

    name: str
    id: str
    command: str  # as it was typed
    keys: tuple[str, ...]
    jobs: dict[str, Sequence[str]]
    config: Config  # of any job: where the sweep is recorded

    @property
    def folder(self) -> Path:
        """Where its MLflow run's id and its result lie."""
        return Path(self.config.runs_dir) / "sweeps" / f"{self.name}-{self.id}"

    def add(self, folder: Path, overrides: Sequence[str]) -> None:
        """Count a job that is chosen on the way."""
        self.jobs[folder.name] = for_a_job(overrides)
        self.tracker.tags({"sweep.jobs": str(len(self.jobs))})

    @contextmanager
    def recorded(self, screen: Screen) -> Iterator[None]:
        """Have an MLflow run, and the jobs that start meanwhile as its children, for the time of the block."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for folder in self._folders():
            (folder / STATE_FILE).unlink(missing_ok=True)  # of an earlier time
        self.screen, self.tracker = screen, Tracker(self.config, self.folder, screen.say)
        tracker = self.tracker
        about = {"sweep": self.name, "sweep.id": self.id, "sweep.command": self.command}
        about |= {"sweep.keys": ", ".join(self.keys), "sweep.jobs": str(len(self.jobs))}
        tracker.tags(about | provenance() | {"mlflow.source.name": "experiments.run"})
        os.environ[IN_SWEEP] = json.dumps({"id": self.id, "name": self.name, "run": tracker.run_id})
        _RUNNING.append(self)
        try:
            with tracker.ended(), self._told(tracker):
                yield
        finally:
            del os.environ[IN_SWEEP]
            _RUNNING.pop()
        for name in (failed := self.failed()):  # a job that was killed could not close its run itself
            folder = Path(self.config.runs_dir) / "jobs" / name
            if (folder / TRACKING_FILE).exists():
                Tracker(self.config, folder, screen.say).close("FAILED")
        if failed:
            tracker.close("FAILED")

    def states(self) -> dict[str, dict[str, str]]:
        """How each job stands."""
        return {folder.name: read_state(folder) for folder in self._folders()}

    def failed(self) -> dict[str, str]:
        """Why each job that has not finished, now that the sweep is over, has not."""
        return {
            name: found["sentence"] or f"{found['state']}."
            for name, found in self.states().items()
            if found["state"] != "finished"
        }

    def conclude(self, screen: Screen) -> bool:
        """Say what failed and how to run it again, and last the path of the result; return whether all is well."""
        failed = self.failed()
        screen.say(f"Sweep {self.folder.name}: {len(self.jobs) - len(failed)} of {len(self.jobs)} jobs finished.")
        for name, why in failed.items():
            screen.say(f"Failed: {name}: {why}")
            screen.say(f"  again, alone: {self.alone(name)}")
        if failed:
            screen.say("The sweep typed again runs what failed and takes the rest as it is.")
        path = self.folder / "sweep.json"
        path.write_text(json.dumps(self._result(failed), indent=1) + "\n")
        screen.say(str(path))
        return not failed

    def alone(self, name: str) -> str:
        """The command that runs one job."""
        return f"uv run python -m experiments.run {shlex.join(self.jobs[name])}"

    def _result(self, failed: Mapping[str, str]) -> dict[str, Any]:
        jobs = [
            {
                "job": folder.name,
                "folder": str(folder),
                "command": self.alone(folder.name),
                "failed": failed.get(folder.name),
            }
            for folder in self._folders()
        ]
        return {"sweep": self.name, "id": self.id, "command": self.command, "keys": self.keys, "jobs": jobs}

    def _folders(self) -> list[Path]:
        return [Path(self.config.runs_dir) / "jobs" / name for name in self.jobs]

    @contextmanager
    def _told(self, tracker: Tracker) -> Iterator[None]:
        """Keep the jobs' states as tags of the sweep's run, from now to the end of the block."""
        over, known = Event(), dict[str, str]()

        def tell() -> None:
            now = {f"job.{name}": _line(found) for name, found in self.states().items()}
            if fresh := {key: line for key, line in now.items() if known.get(key) != line}:
                tracker.tags(fresh)
                known.update(fresh)

        def follow() -> None:
            while not over.wait(_LOOK_SECONDS):
                tell()

        tell()
        thread = Thread(target=follow, name="sweep", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            tell()


def sweep_of(command: Command, typed: Sequence[str]) -> Sweep | None:
    """The sweep that a command is; None for a single job, and for a plan."""
    if not command.sweep or any(job.config.plan for job in command.jobs):
        return None
    jobs = {job_name(job.composed): for_a_job(job.overrides) for job in command.jobs}
    words = f"uv run python -m experiments.run {shlex.join(typed[1:])}"
    identity = digest([*sorted(jobs)])[:8]
    return Sweep(
        command.sweep, identity, words, command.swept, {} if command.searches else dict(jobs), command.jobs[0].config
    )


def _line(found: Mapping[str, str]) -> str:
    return f"{found['state']}{': ' if found['sentence'] else ''}{found['sentence']}"[:_TAG_LENGTH]


def sweep_runs(client: Any, experiment_id: str, sweep: str) -> list[Any]:
    """The MLflow runs of a sweep's jobs, oldest first, by the sweep's id, or by its name: then the last one typed.

    Raises ValueError when there is none.
    """
    found = client.search_runs([experiment_id], f"tags.`sweep.id` = '{sweep}'") or client.search_runs(
        [experiment_id], f"tags.sweep = '{sweep}'", order_by=["attributes.start_time DESC"], max_results=1
    )
    if not found:
        raise ValueError(f"there is no sweep {sweep!r}")
    name = f"sweep.{found[0].data.tags['sweep.id']}"
    runs = client.search_runs(
        [experiment_id], f"tags.`{name}` LIKE '%'", max_results=5000, order_by=["attributes.start_time"]
    )
    return list(runs)
