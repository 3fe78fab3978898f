"""Runs as MLflow recorded them: which ones a comparison is of, and what each has. Nothing but the store is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.attempts import FOLDER, read_attempts
from experiments.config import RunError
from experiments.sweep import sweep_runs

CURVES = (
    *(f"reward/{name}" for name in ("mean", "validity", "coverage", "efficiency", "name", "arg")),
    "episode/calls",
    "episode/success",
)
_MOST = 50_000  # runs in one answer of MLflow
_EVALUATION = ("before-", "after-")


@dataclass(frozen=True)
class Run:
    """One finished job. `curves` are by metric and step; `evaluations` are files by name, such as `after-heldout`."""

    id: str
    name: str
    experiment: str
    model: str
    seed: int
    started: int  # milliseconds since 1970
    tags: dict[str, str]
    params: dict[str, str]
    metrics: dict[str, float]
    curves: dict[str, dict[int, float]]
    evaluations: dict[str, Path]

    @property
    def trained(self) -> bool:
        """Whether something was evaluated after training."""
        return any(name.startswith("after-") for name in self.evaluations)


@dataclass(frozen=True)
class LeftOut:
    """A run that was asked for and is not compared."""

    name: str
    reason: str


@dataclass(frozen=True)
class Selection:
    """The runs to compare, oldest first, those that can't be, and the sweep that all of them are of, if any."""

    runs: list[Run]
    left_out: list[LeftOut]
    experiment_id: str = ""
    sweep: str = ""  # its MLflow run's id
    sweep_command: str = ""


def find(
    client: Any, group: str, names: Sequence[str] = (), experiments: Sequence[str] = (), tags: Sequence[str] = ()
) -> Selection:
    """Select runs of an MLflow experiment.

    `names` are ids (their first characters do) or names of runs, or ids or names of sweeps, which stand for their runs;
    `experiments` overlays; `tags` KEY=VALUE. Nothing given is all. Raises RunError when a name is nobody's.
    """
    found = client.get_experiment_by_name(group)
    if found is None:
        return Selection([], [])
    everything = client.search_runs([found.experiment_id], max_results=_MOST, order_by=["attributes.start_time"])
    wanted = {run.info.run_id for name in names for run in _named(client, found.experiment_id, everything, name)}
    conditions = [_condition(tag) for tag in tags]
    kept, left = [], []
    for run in everything:
        overlay = run.data.tags.get("experiment", "")
        if not overlay or (names and run.info.run_id not in wanted) or (experiments and overlay not in experiments):
            continue
        if any(run.data.tags.get(key) != value for key, value in conditions):
            continue
        files = [file.path for file in client.list_artifacts(run.info.run_id, FOLDER)]
        if reason := _unfit(run, files):
            left.append(LeftOut(str(run.info.run_name), reason))
        else:
            try:
                kept.append(_read(client, run, files))
            except Exception as error:  # whatever a store or a damaged file says
                told = (str(error) or type(error).__name__).splitlines()[0][:200]
                left.append(LeftOut(str(run.info.run_name), f"has attempts that can't be read ({told})"))
    sweep = _sweep(everything, kept)
    about = (sweep.info.run_id, sweep.data.tags.get("sweep.command", "")) if sweep else ()
    return Selection(kept, left, found.experiment_id, *about)


def _condition(tag: str) -> tuple[str, str]:
    key, sign, value = tag.partition("=")
    if not key or not sign:
        raise RunError(f"--tag {tag} is no KEY=VALUE, e.g. --tag model=tiny.")
    return key, value


def _named(client: Any, experiment_id: str, runs: Sequence[Any], name: str) -> list[Any]:
    """The runs that a name stands for."""
    if not name:
        raise RunError("A name is empty: give a run's or a sweep's, or nothing for all runs.")
    if any(name in (run.data.tags.get("sweep.id"), run.data.tags.get("sweep")) for run in runs):
        return sweep_runs(client, experiment_id, name)
    begun = [run for run in runs if run.info.run_id.startswith(name)]
    if len(begun) > 1:
        raise RunError(f"{name} is the start of {len(begun)} runs: give more of the id.")
    found = begun or [run for run in runs if run.info.run_name == name]
    if found and (sweep := found[-1].data.tags.get("sweep.id")):
        return sweep_runs(client, experiment_id, sweep)
    if not found:
        raise RunError(f"{name} is neither the id nor the name of a run or a sweep of this store.")
    return found


def _sweep(everything: Sequence[Any], runs: Sequence[Run]) -> Any | None:
    """The run of the latest sweep that has all of these runs."""
    sweeps = [run for run in everything if "sweep.id" in run.data.tags]
    whole = [one for one in sweeps if all(f"sweep.{one.data.tags['sweep.id']}" in run.tags for run in runs)]
    return whole[-1] if whole and runs else None


def _unfit(run: Any, files: Sequence[str]) -> str:
    """Why a run can't be compared, or nothing."""
    if run.info.status != "FINISHED":
        ended = {"RUNNING": "is still running, or was killed", "FAILED": "failed", "KILLED": "was stopped"}
        return ended.get(run.info.status, f"is {run.info.status.lower()}")
    if "rerun.of" in run.data.tags:
        return f"is a rerun of {run.data.tags['rerun.of'][:8]}"
    evaluated = {
        f"{when}-{name.partition('/')[0]}"
        for name in run.data.metrics
        if (when := name.rpartition("/")[2]) in ("before", "after")
    }
    if lost := evaluated - {_stem(file) for file in files}:
        return f"lacks attempts among its artifacts ({', '.join(sorted(lost))}): its command, typed again, adds them"
    return "" if files else "evaluated nothing"


def _stem(file: str) -> str:
    return Path(file).name.partition(".")[0]


def _read(client: Any, run: Any, files: Sequence[str]) -> Run:
    key, tags = run.info.run_id, run.data.tags
    local = {_stem(file): Path(client.download_artifacts(key, file)) for file in files}
    evaluations = {name: path for name, path in local.items() if name.startswith(_EVALUATION)}
    for path in evaluations.values():
        read_attempts(path)
    return Run(
        id=key,
        name=str(run.info.run_name),
        experiment=tags["experiment"],
        model=_who(tags, run.data.params),
        seed=int(tags.get("seed", 0)),
        started=run.info.start_time,
        tags=dict(tags),
        params=dict(run.data.params),
        metrics=dict(run.data.metrics),
        curves={
            name: {point.step: point.value for point in client.get_metric_history(key, name)}
            for name in CURVES
            if name in run.data.metrics
        },
        evaluations=evaluations,
    )


def _who(tags: Mapping[str, str], params: Mapping[str, str]) -> str:
    """The model that a run is of; what answered in its place, in an evaluation of an endpoint or a script."""
    kind = params.get("policy.kind", "model")
    if kind == "model":
        return tags.get("model", "")
    return params.get("policy.model") or f"the {kind} policy"
