"""Compare recorded runs: held-out figures before and after with 95% intervals, and the reward over steps as a picture.

    uv run python -m experiments.compare                            # all runs of the default store
    uv run python -m experiments.compare --experiment no_name       # one overlay; repeat the option for several
    uv run python -m experiments.compare --tag model=granite --uri http://HOST:PORT

The paper's tables beside ours and a report are not here yet.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table

from experiments.report import WINDOW, trailing_means

_NO_SETTING = ("experiment", "seed", "stages", "plan", "runs_dir", "model", "tracking", "profile", "probe")
_FIGURES = {"total": "reward", "success": "task success", "calls": "calls per task"}


def main() -> None:
    """Print the table and, last, the path of its figures."""
    arguments = _arguments()
    console = Console(highlight=False)
    runs = find(arguments.uri, arguments.group, arguments.experiment, arguments.tag)
    if not runs:
        console.print(f"No run with held-out figures in {arguments.uri}: run `uv run python -m experiments.run` first.")
        raise SystemExit(2)
    console.print(table(runs))
    picture = Path(arguments.runs_dir) / "compare.png"
    if curves(arguments.uri, runs, picture):
        console.print(f"Reward over steps: {picture}", soft_wrap=True)
    path = Path(arguments.runs_dir) / "compare.json"
    path.write_text(json.dumps(runs, indent=1))
    console.print(str(path), soft_wrap=True)


def find(uri: str, group: str, experiments: Sequence[str] = (), tags: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the runs of an MLflow experiment that have held-out figures, oldest first, as plain values."""
    from mlflow.tracking import MlflowClient

    client = MlflowClient(uri)
    found = client.get_experiment_by_name(group)
    if found is None:
        return []
    conditions = []
    for tag in tags:
        key, _, value = tag.partition("=")
        conditions.append(f"tags.`{key}` = '{value}'")
    runs = client.search_runs([found.experiment_id], " and ".join(conditions), order_by=["attributes.start_time"])
    rows = [_row(run) for run in runs]
    rows = [row for row in rows if row["heldout"] and (not experiments or row["experiment"] in experiments)]
    return [{**row, "settings": _differing(row, rows)} for row in rows]


def _differing(run: dict[str, Any], runs: Sequence[dict[str, Any]]) -> dict[str, str]:
    """A run's settings that other runs of its experiment and model had otherwise."""
    alike = [one["settings"] for one in runs if all(one[key] == run[key] for key in ("experiment", "model"))]
    return {
        name: value for name, value in run["settings"].items() if any(one.get(name, value) != value for one in alike)
    }


def curves(uri: str, runs: Sequence[dict[str, Any]], path: Path) -> bool:
    """Draw the training reward over steps: a thin line per run, a thick one for the mean of an experiment's runs.

    Lines are trailing means. Returns False, and draws nothing, when no run has steps.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from mlflow.tracking import MlflowClient

    client = MlflowClient(uri)
    found: dict[str, list[dict[int, float]]] = {}
    for run in runs:
        history = {point.step: point.value for point in client.get_metric_history(run["run"], "reward/mean")}
        if history:
            found.setdefault(f"{run['experiment']}, {run['model']}", []).append(history)
    if not found:
        return False
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for number, (name, histories) in enumerate(found.items()):
        for history in histories:
            axes.plot(*_line(history), color=f"C{number}", linewidth=0.8, alpha=0.5)
        shared = sorted(set.intersection(*(set(history) for history in histories)))
        mean = {step: fmean(history[step] for history in histories) for step in shared}
        axes.plot(*_line(mean), color=f"C{number}", linewidth=2.5, label=f"{name}: mean of {len(histories)} runs")
    title = f"Reward of the training rollouts, mean of the last {WINDOW} steps"
    axes.set(xlabel="GRPO step", ylabel="reward", title=title)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return True


def _line(history: dict[int, float]) -> tuple[list[int], list[float]]:
    steps = sorted(history)
    return steps, trailing_means([history[step] for step in steps])


def table(runs: Sequence[dict[str, Any]]) -> Table:
    """One line per run."""
    shown = Table(title="Held-out tasks", title_justify="left")
    for heading in ("experiment", "model", "settings", "seed", "tasks"):
        shown.add_column(heading)
    for label in _FIGURES.values():
        shown.add_column(label, justify="right")
        shown.add_column("difference", justify="right")
    for run in runs:
        settings = ", ".join(f"{name}={value}" for name, value in run["settings"].items())
        cells = [run["experiment"], run["model"], settings, run["seed"], run["tasks"]]
        for metric in _FIGURES:
            cells += _cells(run["heldout"], metric)
        shown.add_row(*cells)
    return shown


def _cells(heldout: dict[str, float], metric: str) -> list[str]:
    before, after = (heldout.get(f"{metric}/{column}") for column in ("before", "after"))
    if before is None:
        return ["", ""]
    if after is None:
        return [f"{before:.3f}", ""]
    difference, low, high = (heldout[f"{metric}/{column}"] for column in ("difference", "low", "high"))
    return [f"{before:.3f} -> {after:.3f}", f"{difference:+.3f} [{low:+.3f}, {high:+.3f}]".replace("[", "\\[")]


def _row(run: Any) -> dict[str, Any]:
    metrics, params = run.data.metrics, run.data.params
    return {
        "run": run.info.run_id,
        **{name: run.data.tags.get(name, "") for name in ("experiment", "model", "seed", "git.commit")},
        "tasks": params.get("evals.heldout.tasks", ""),
        "settings": {name: params[name] for name in sorted(params) if name.partition(".")[0] not in _NO_SETTING},
        "heldout": {
            name.removeprefix("heldout/"): value for name, value in metrics.items() if name.startswith("heldout/")
        },
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.compare", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--experiment", action="append", default=[], help="an overlay's name; may be repeated")
    parser.add_argument("--tag", action="append", default=[], metavar="KEY=VALUE", help="a tag of the run")
    parser.add_argument("--group", default="proverl", help="MLflow's experiment (tracking.experiment)")
    parser.add_argument("--runs-dir", default="runs")
    parser.add_argument("--uri", help="the tracking URI; by default the SQLite store in the runs folder")
    arguments = parser.parse_args()
    arguments.uri = arguments.uri or f"sqlite:///{arguments.runs_dir}/mlflow.db"
    if arguments.uri.startswith("sqlite:///") and not Path(arguments.uri.removeprefix("sqlite:///")).exists():
        parser.error(f"{arguments.uri} is not there: run `uv run python -m experiments.run` first, or give --runs-dir.")
    return arguments


if __name__ == "__main__":
    main()
