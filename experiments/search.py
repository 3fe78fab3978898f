"""Search for reward weights: `python -m experiments.run -m experiment=reward_search`.

Optuna proposes weightings; the objective is the held-out task success of a short run. The first is the command's own. A
later one is first asked how well it ranks the rollouts that the first run kept: over all pairs of rollouts of one
prompt, of which one did the task and the other did not, the share that it scores in that order (a tie is half a pair).
Only one that ranks them at least as well as the first, less `margin`, is trained.

The study lies in `runs/search.db` and goes on after a kill. Each proposal is drawn with a seed of its own, from the
config's seed and its number, so the same seed and the same results give the same proposals, killed or not.
"""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass
from rich.table import Table

from experiments.config import ConfigError, RunError, typed
from experiments.sweep import Sweep, for_a_job, read_state, running
from proverl.trainer import RunPaths
from proverl.trainer.run_folder import training_folder

if TYPE_CHECKING:
    from optuna import Study, Trial
    from pandas import DataFrame

    from proverl.trainer.rescore import AnyReward


@checked_dataclass(frozen=True, config=ConfigDict(extra="forbid", allow_inf_nan=False))
class SearchConfig:
    """What may change, by how much, and how often. `margin` and `space` are in the reward's own units."""

    trials: int
    proposals: int
    margin: float
    space: dict[str, tuple[float, float]]  # lowest and highest
    step: float

    def __post_init__(self) -> None:
        for name in ("trials", "proposals"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it is at least 1")
        if not 0 <= self.margin <= 1:
            raise ValueError(f"margin is {self.margin}; it is between 0 and 1")
        if self.step <= 0:
            raise ValueError(f"step is {self.step}; it is above 0")
        for key, (low, high) in self.space.items():
            if not key.startswith("reward."):
                raise ValueError(f"space has {key}; only the reward is searched, e.g. reward.coverage")
            if low > high:
                raise ValueError(f"space.{key} is [{low:g}, {high:g}]; the lowest value comes first")


def settings_of(values: Mapping[str, Any]) -> SearchConfig:
    """The sweeper's settings, checked. Raises ConfigError with one sentence per problem."""
    try:
        return TypeAdapter(SearchConfig).validate_python({k: v for k, v in values.items() if k != "_target_"})
    except ValidationError as error:
        told = []
        for one in error.errors():
            place = ".".join(["hydra.sweeper", *(str(part) for part in one["loc"])])
            told.append(f"{place}: {one['msg'].removeprefix('Value error, ')}.")
        raise ConfigError("\n".join(told)) from None


def corners(settings: SearchConfig, given: Sequence[str]) -> list[list[str]]:
    """Overrides with the lowest and the highest of every value searched, for a check before anything starts."""
    return [[f"{key}={bounds[at]:g}" for key, bounds in free(settings, given).items()] for at in (0, 1)]


def free(settings: SearchConfig, given: Sequence[str]) -> dict[str, tuple[float, float]]:
    """What is searched: what the command does not set itself."""
    keys = {override.partition("=")[0] for override in given}
    return {key: bounds for key, bounds in settings.space.items() if key not in keys}


def search(
    values: Mapping[str, Any],
    given: Sequence[str],
    composed: Callable[[Sequence[str]], DictConfig],
    run: Callable[[Sequence[str], int], Path],
) -> None:
    """Search until enough weightings are trained or proposed, and show what was found.

    `given` are the command's own overrides, `composed` makes their config, `run` trains with some and returns the job's
    folder. Without the first run, by whose rollouts the later ones are measured, it ends.
    """
    from optuna.trial import TrialState

    settings, sweep = settings_of(values), running()
    space = free(settings, given)
    study = _study(sweep, {key: float(OmegaConf.select(composed(given), key)) for key in space})
    for earlier in study.trials:  # what this command found when it was typed before
        if folder := earlier.user_attrs.get("folder"):
            sweep.add(Path(folder), [*given, *_written(earlier.params)])
    kept: Kept | None = None
    while _goes_on(study, settings):
        trial = _next(study, sweep.config.seed)
        weights = {key: trial.suggest_float(key, *bounds, step=settings.step) for key, bounds in space.items()}
        overrides = [*given, *_written(weights)]
        if trial.number:
            kept = kept or kept_rollouts(Path(study.trials[0].user_attrs["folder"]), Path(sweep.config.runs_dir))
            agreement = kept.agreement(typed(composed(overrides)).reward)
            trial.set_user_attr("agreement", agreement)
            if why := _not_trained(study, trial, kept.own - settings.margin):
                sweep.screen.say(f"Proposal {trial.number} ({' '.join(_written(weights))}) is not trained: {why}.")
                study.tell(trial, state=TrialState.PRUNED)
                continue
            sweep.screen.say(f"Proposal {trial.number} ranks {agreement:.4f} of pairs right: trained.")
        folder = run(overrides, trial.number)
        trial.set_user_attr("folder", str(folder))
        if found := _success(folder):
            study.tell(trial, found["after"])
        elif trial.number:
            study.tell(trial, state=TrialState.FAIL)
        else:  # not told to the study, so that the same command tries it again
            sweep.screen.say("The search can't go on without its first run.")
            return
    _show(study, given, sweep, {0: kept.own} if kept else {})


def _written(weights: Mapping[str, float]) -> list[str]:
    return [f"{key}={round(value, 6):g}" for key, value in weights.items()]


def _not_trained(study: "Study", trial: "Trial", least: float) -> str:
    if any(other.params == trial.params for other in study.trials if other.state.is_finished()):
        return "it was proposed before"
    if (agreement := trial.user_attrs["agreement"]) < least:
        return f"it ranks {agreement:.4f} of the first run's pairs right, less than {least:.4f}"
    return ""


def _study(sweep: Sweep, first: Mapping[str, float]) -> "Study":
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = f"sqlite:///{Path(sweep.config.runs_dir, 'search.db')}"
    study = optuna.create_study(
        storage=storage, study_name=sweep.folder.name, direction="maximize", load_if_exists=True
    )
    if not study.trials:
        study.enqueue_trial(dict(first))
    return study


def _goes_on(study: "Study", settings: SearchConfig) -> bool:
    from optuna.trial import TrialState

    over = [trial.state for trial in study.trials if trial.state.is_finished()]
    return over.count(TrialState.COMPLETE) < settings.trials and len(over) < settings.proposals


def _next(study: "Study", seed: int) -> "Trial":
    """The trial that a kill left, or a new one."""
    import optuna
    from optuna.trial import TrialState

    for left in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        return optuna.Trial(study, left._trial_id)
    study.sampler = optuna.samplers.TPESampler(seed=seed + len(study.trials), multivariate=True)
    return study.ask()


@dataclass(frozen=True)
class Kept:
    """The rollouts of a run, and which of them did their task."""

    paths: RunPaths
    success: Mapping[tuple[int, int, int], bool]  # by step, group and rollout
    own: float  # agreement of the reward that the run was trained on

    def agreement(self, reward: "AnyReward") -> float:
        """The share of pairs, of a rollout that did its task and one of the same prompt that did not, ranked right."""
        from proverl.trainer.rescore import rescored

        return _agreement(rescored(self.paths, reward, _steps(self.success)), "after/total", self.success)


def kept_rollouts(job: Path, runs_dir: Path) -> Kept:
    """Read a job's rollouts. Raises RunError when they are gone, or no prompt has both kinds."""
    from proverl.trainer import rollouts
    from proverl.trainer.rescore import recorded_reward, rescored

    try:
        paths = RunPaths(training_folder(str(job), runs_dir))
        success = {
            (step, one.group, one.rollout): one.numbers["episode/success"] > 0
            for step in rollouts.steps(paths.rollouts)
            for one in rollouts.read(paths.rollouts, step)
        }
        frame = rescored(paths, recorded_reward(paths), _steps(success))
    except (OSError, ValueError) as error:
        raise RunError(f"{error}.") from None
    return Kept(paths, success, _agreement(frame, "before/total", success))


def _steps(success: Mapping[tuple[int, int, int], bool]) -> list[int]:
    return sorted({step for step, _, _ in success})


def _agreement(frame: "DataFrame", column: str, success: Mapping[tuple[int, int, int], bool]) -> float:
    right = pairs = 0.0
    for _, group in frame.groupby(["step", "group"]):
        did = [success[place] for place in zip(group["step"], group["group"], group["rollout"], strict=True)]
        totals = group[column].round(9).to_numpy()  # equal but for rounding is a tie
        good, bad = totals[did][:, None], totals[[not one for one in did]]
        right += (good > bad).sum() + (good == bad).sum() / 2
        pairs += good.size * bad.size
    if not pairs:
        raise RunError("The first run's rollouts of one prompt all do their task, or none does: train more steps.")
    return float(right / pairs)


def _success(folder: Path) -> dict[str, float] | None:
    """The held-out success of a job, with its difference from before and the interval of that; None if it failed."""
    if read_state(folder)["state"] != "finished":
        return None
    heldout = json.loads((folder / "figures.json").read_text())["heldout"]
    found: dict[str, float] = next(row for row in heldout if row["metric"] == "success")
    return found


def _show(study: "Study", given: Sequence[str], sweep: Sweep, agreement: Mapping[int, float]) -> None:
    """Print the trained weightings, best first; write them beside the sweep's result and into its MLflow run."""
    from optuna.trial import TrialState

    trained = study.get_trials(states=(TrialState.COMPLETE,))
    rows: list[dict[str, Any]] = [
        {
            "proposal": one.number,
            "weights": {key: round(value, 6) for key, value in one.params.items()},
            "agreement": one.user_attrs.get("agreement"),
            "folder": one.user_attrs["folder"],
            "success": _success(Path(one.user_attrs["folder"])),
        }
        for one in sorted(trained, key=lambda one: (-(one.value or 0.0), one.number))
    ]
    table = Table(
        title=f"Held-out task success of {len(rows)} weightings, {len(study.trials)} proposed",
        caption="Difference: from before training, paired, 95%. The best of several is also the luckiest.",
        title_justify="left",
        caption_justify="left",
    )
    for heading in ("proposal", *rows[0]["weights"], "pairs ranked right", "success", "difference"):
        table.add_column(heading.removeprefix("reward."), justify="right")
    for row in rows:
        found = row["success"]
        ranked = "" if row["agreement"] is None else f"{row['agreement']:.4f}"
        interval = f"{found['difference']:+.3f} \\[{found['low']:+.3f}, {found['high']:+.3f}]"
        weights = [f"{value:g}" for value in row["weights"].values()]
        table.add_row(str(row["proposal"]), *weights, ranked, f"{found['after']:.3f}", interval)
    sweep.screen.console.print(table)
    path = sweep.folder / "search.json"
    path.write_text(json.dumps({"study": study.study_name, "trained": rows}, indent=1) + "\n")
    sweep.tracker.artifact(path)
    best = [*_without_search(given, sweep.name), *_written(rows[0]["weights"]), "seed=1,2,3"]
    sweep.screen.say(f"The best at full length: uv run python -m experiments.run -m {shlex.join(best)}")
    sweep.screen.say(str(path))


def _without_search(given: Sequence[str], overlay: str) -> list[str]:
    """The command's overrides without the search's own overlay and seed."""
    kept = []
    for override in for_a_job(given):
        key, _, value = override.partition("=")
        names = [name for name in value.strip("[]").split(",") if name != overlay]
        if key == "experiment" and names:
            kept.append(f"experiment=[{','.join(names)}]")
        elif key not in ("experiment", "seed"):
            kept.append(override)
    return kept
