"""MLflow: one run per job, written in batches, never twice, and never the reason why a job ends.

The MLflow run's id is kept in the job's folder, so a killed job goes on in the same run. Steps come from the trainer's
`metrics.jsonl`, which a thread reads as it grows; a step that the store already holds is left out. When the store can't
be reached the user is told once and everything stays readable in the job's folder.
"""

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock

from experiments.config import Config, RunError, TrackingConfig
from experiments.rollouts import log_trace
from experiments.store import be_brief
from proverl.core import Json
from proverl.trainer.rollouts import Rollout
from proverl.trainer.run_folder import TRACKING_FILE

IN_SWEEP = "PROVERL_SWEEP"  # variable of a sweep's jobs: the id, name and MLflow run of the sweep, as JSON
_STEP = "step"  # a metric of its own, also as a stage's counter: its history says which steps the store holds
_STEP_BATCH = 10  # of some 60 metrics each; MLflow takes 1000 metrics at once
_PARAM_BATCH = 100  # MLflow's own limits
_PARAM_LENGTH = 6000
_DESCRIPTION = 5000  # characters of a model version's description


def read_rows(path: Path, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
    """Return the complete lines of a growing JSON-lines file from a byte offset, and the offset after them.

    A file shorter than the offset was cut back to a checkpoint: it is read from its start again. Raises RunError for a
    line that can't be read.
    """
    if not path.exists():
        return [], 0
    offset = offset if path.stat().st_size >= offset else 0
    with path.open("rb") as file:
        file.seek(offset)
        data = file.read()
    end = data.rfind(b"\n") + 1
    try:
        return [json.loads(line) for line in data[:end].split(b"\n") if line.strip()], offset + end
    except ValueError:
        raise RunError(f"{path} has a line that is no JSON: delete that line, and the same command goes on.") from None


def rows_by_step(path: Path) -> dict[int, dict[str, Any]]:
    """The rows of `metrics.jsonl` by step; of a step that was repeated after a kill, the last."""
    return {int(row[_STEP]): row for row in read_rows(path)[0]}


class Tracker:
    """The MLflow run of one job. Every method returns quietly when the store can't be reached."""

    def __init__(self, config: Config, job_dir: Path, warn: Callable[[str], None] = print) -> None:
        self.config = config.tracking
        self.job_dir = job_dir
        self.warn = warn
        self.run_id = ""
        self._seen: dict[str, int] = {}  # counter -> the last step that the store holds
        self._broken = False
        self._lock = threading.Lock()
        self._try(lambda: self._open(config))

    def params(self, values: Mapping[str, Json]) -> None:
        """Log the flattened config as parameters."""
        from mlflow.entities import Param

        params = [Param(key, str(value)[:_PARAM_LENGTH]) for key, value in values.items()]
        for start in range(0, len(params), _PARAM_BATCH):
            batch = params[start : start + _PARAM_BATCH]
            self._try(lambda batch=batch: self._client.log_batch(self.run_id, params=batch))  # type: ignore[misc]

    def tags(self, values: Mapping[str, str]) -> None:
        """Set tags; a later value replaces an earlier one."""
        from mlflow.entities import RunTag

        tags = [RunTag(key, value) for key, value in values.items()]
        self._try(lambda: self._client.log_batch(self.run_id, tags=tags))

    def steps(self, rows: list[dict[str, Any]], counter: str = _STEP) -> list[int]:
        """Log the metrics of training steps in one batch and return the new steps; other rows are left out.

        The steps of each `counter` are counted on their own, and kept as a metric of that name.
        """
        with self._lock:
            seen = self._held(counter)
            fresh: dict[int, dict[str, Any]] = {}
            for row in rows:
                if int(row[_STEP]) > seen:
                    fresh.setdefault(int(row[_STEP]), _renamed(row, counter))
            steps = sorted(fresh)
            for start in range(0, len(steps), _STEP_BATCH):
                # a step goes in one transaction, so a kill leaves it whole or absent
                batch = [
                    metric for step in steps[start : start + _STEP_BATCH] for metric in _metrics(step, fresh[step])
                ]
                self._try(lambda batch=batch: self._client.log_batch(self.run_id, metrics=batch))  # type: ignore[misc]
            self._seen[counter] = max([seen, *steps])
        return steps

    def rollouts(self, found: Iterable[Rollout]) -> None:
        """Log training episodes as traces of the run."""
        if not self._broken:
            for rollout in found:
                self._try(partial(log_trace, self._client, self._experiment, self.run_id, rollout))

    def _held(self, counter: str) -> int:
        """The last step of a counter that the store holds, -1 for none."""

        def ask() -> None:
            history = self._client.get_metric_history(self.run_id, counter)
            self._seen[counter] = max((metric.step for metric in history), default=-1)

        if counter not in self._seen:
            self._try(ask)
        return self._seen.setdefault(counter, -1)

    def results(self, values: Mapping[str, float]) -> None:
        """Log final figures, metrics without a history; those that the store already holds are left out."""

        def log() -> None:
            held = self._client.get_run(self.run_id).data.metrics
            fresh = {key: float(value) for key, value in values.items() if held.get(key) != float(value)}
            self._client.log_batch(self.run_id, metrics=_metrics(0, fresh))

        self._try(log)

    def artifact(self, path: Path, folder: str = "") -> None:
        """Copy a file into the run's artifacts."""
        self._try(lambda: self._client.log_artifact(self.run_id, str(path), folder or None))

    def register(self, name: str, folder: Path, card: str, tags: Mapping[str, str]) -> None:
        """Make a trained model a version of `name` in the model registry, once a run; a server may have no registry."""
        if self._broken:
            return
        try:
            self._register(name, folder, card, tags)
        except Exception as error:  # the run goes on, as does what is still to be written of it
            self.warn(f"The model is in no registry ({_said(error)}); it lies in {folder}.")

    def _register(self, name: str, folder: Path, card: str, tags: Mapping[str, str]) -> None:
        with suppress(Exception):  # it is there already
            self._client.create_registered_model(name)
        stage = tags["stage"]
        kept = self._client.search_model_versions(f"name = '{name}' and run_id = '{self.run_id}'")
        known = next((version for version in kept if version.tags.get("stage") == stage), None)
        text = card[:_DESCRIPTION]
        if known:
            self._client.update_model_version(name, known.version, text)
            return
        # a server refuses paths of its users' machines: there the version stands on the card among the artifacts
        local = self.config.uri.startswith("sqlite:")
        source = folder.absolute().as_uri() if local else f"runs:/{self.run_id}/models/{stage}"
        folder_tag = {"folder": str(folder.absolute())}
        self._client.create_model_version(
            name, source, self.run_id, tags=dict(tags) | folder_tag, description=text, await_creation_for=0
        )

    @contextmanager
    def ended(self) -> Iterator[None]:
        """End the run as the block ends: finished, failed, or killed by Ctrl-C."""
        try:
            yield
        except KeyboardInterrupt:
            self.close("KILLED")
            raise
        except BaseException:
            self.close("FAILED")
            raise
        self.close("FINISHED")

    def close(self, status: str) -> None:
        """End the run as FINISHED, FAILED or KILLED."""
        self._try(lambda: self._client.set_terminated(self.run_id, status))

    def _open(self, config: Config) -> None:
        be_brief()  # a store that is down must not hold up the run
        os.environ.setdefault("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false")  # what was sent before a kill is there
        from mlflow import set_tracking_uri
        from mlflow.tracking import MlflowClient

        logging.getLogger("mlflow").setLevel(logging.WARNING)  # it tells of every table it makes
        if self.config.uri.startswith("sqlite:///"):
            Path(self.config.uri.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
        self.job_dir.mkdir(parents=True, exist_ok=True)
        runs = Path(config.runs_dir)
        runs.mkdir(parents=True, exist_ok=True)
        with FileLock(runs / "mlflow.lock"):  # two commands at once must not both make the store and its group of runs
            self._client = MlflowClient(self.config.uri)
            set_tracking_uri(self.config.uri)  # traces go there, whatever the client
            self._experiment = _experiment_id(self._client, self.config, runs)
        kept = self.job_dir / TRACKING_FILE
        if kept.exists() and self._goes_on(json.loads(kept.read_text())["run_id"]):
            self._experiment = self._client.get_run(self.run_id).info.experiment_id
            self.tags(_sweep_tags())
        else:
            made = self._client.create_run(self._experiment, run_name=self.job_dir.name, tags=_sweep_tags())
            self.run_id = made.info.run_id
            kept.write_text(json.dumps({**asdict(self.config), "run_id": self.run_id}))

    def _goes_on(self, run_id: str) -> bool:
        """Take up an earlier run; False when the store no longer has it, as when its file was deleted."""
        from mlflow.exceptions import MlflowException

        try:
            self._client.update_run(run_id, status="RUNNING")
        except MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
            return False
        self.run_id = run_id
        return True

    def _try(self, action: Callable[[], Any]) -> None:
        if self._broken:
            return
        try:
            action()
        except Exception as error:  # whatever a tracking server does, the training it records goes on
            self._broken = True
            self.warn(
                f"MLflow at {self.config.uri} can't be written ({_said(error)}); the run goes on, its metrics are kept "
                f"in {self.job_dir}. Typing the same command again later sends them."
            )


class Follower:
    """Reads a growing `metrics.jsonl` in a thread and hands new rows on, until the block ends."""

    def __init__(self, path: Path, handle: Callable[[list[dict[str, Any]]], None], seconds: float = 1.0) -> None:
        self.path = path
        self.handle = handle
        self.seconds = seconds
        self._offset = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="metrics", daemon=True)

    def __enter__(self) -> "Follower":
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()
        self._read()

    def _follow(self) -> None:
        while not self._stop.wait(self.seconds):
            self._read()

    def _read(self) -> None:
        rows, self._offset = read_rows(self.path, self._offset)
        if rows:
            self.handle(rows)


def _said(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]


def _renamed(row: Mapping[str, Any], counter: str) -> dict[str, Any]:
    return {counter if key == _STEP else key: value for key, value in row.items()}


def _metrics(step: int, values: Mapping[str, Any]) -> list[Any]:
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    numbers = {key: value for key, value in values.items() if isinstance(value, int | float)}
    return [Metric(key, float(value), now, step) for key, value in numbers.items()]


def _sweep_tags() -> dict[str, str]:
    """What makes a run one of the sweep that has started this process, if one has."""
    sweep = json.loads(os.environ.get(IN_SWEEP, "{}"))
    parent = {"mlflow.parentRunId": sweep["run"]} if sweep.get("run") else {}
    return {f"sweep.{sweep['id']}": sweep["name"]} | parent if sweep else {}


def _experiment_id(client: Any, config: TrackingConfig, runs: Path) -> str:
    found = client.get_experiment_by_name(config.experiment)
    if found:
        return str(found.experiment_id)
    # artifacts of a local store lie beside it; a server knows its own place
    location = (runs.absolute() / "artifacts").as_uri() if config.uri.startswith("sqlite:") else None
    tags = {"mlflow.experimentKind": "custom_model_development"}  # the UI then opens on metrics, not on traces
    return str(client.create_experiment(config.experiment, artifact_location=location, tags=tags))
