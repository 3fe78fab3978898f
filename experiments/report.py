"""What a job found: its figures, the table a person reads, the curve of the reward, and pages of episodes."""

import socket
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.table import Table

from experiments.alarms import summary as alarms
from experiments.cache import Entry
from experiments.config import Config
from experiments.evaluation_figures import Evaluated, evaluated
from experiments.evaluations import output
from experiments.requirements import METRICS
from experiments.tracking import rows_by_step
from proverl.evals.figures import ALL
from proverl.trainer.metrics import PARTS

WINDOW = 8  # steps under one point of the curve
LABELS = {
    "total": "reward",
    "validity": "  validity",
    "coverage": "  coverage",
    "efficiency": "  efficiency",
    "name": "  name",
    "arg": "  arg",
    "success": "task success",
    "calls": "calls per task",
}


def figures(config: Config, outputs: Mapping[str, Entry]) -> dict[str, Any]:
    """Everything that the job measured, as JSON: stages, training steps, and held-out figures before and after."""
    steps = rows_by_step(outputs["grpo"].directory / METRICS) if "grpo" in outputs else {}
    return {
        "experiment": config.experiment,
        "model": config.model.name,
        "seed": config.seed,
        "stages": {
            name: {"folder": str(entry.directory), "seconds": entry.manifest()["seconds"], "data": entry.data_hash()}
            for name, entry in outputs.items()
        },
        "steps": len(steps),
        "alarms": alarms(steps),
        "probe": _probe(config, outputs),
        "heldout": heldout_rows(evaluated(outputs)),
        "benchmarks": [found.as_json() for found in evaluated(outputs)],
    }


def _probe(config: Config, outputs: Mapping[str, Entry]) -> dict[str, Any] | None:
    if "probe" not in config.stages or "probe" not in outputs:
        return None
    from proverl.evals.probe import read_summary

    found = read_summary(outputs["probe"].directory)
    return {name: value for name, value in found.items() if name != "pass_rates"}


def probe_table(probe: Mapping[str, Any]) -> Table:
    """What the model could do before training, over all tasks, by server and by kind."""
    shown = Table(
        title=f"Before training: {probe['samples']} episodes of each task",
        caption="Groups that score alike teach GRPO nothing; trainer.pass_rate=[0.1,0.9] leaves such tasks out.",
        title_justify="left",
        caption_justify="left",
    )
    columns = {"tasks": "tasks", "pass_at_1": "pass@1", "pass_at_k": f"pass@{probe['k']}", "reward": "reward"}
    columns |= {"reward_variance": "variance", "zero_variance_share": "score alike", "truncation": "cut"}
    shown.add_column("", no_wrap=True)
    for heading in columns.values():
        shown.add_column(heading, justify="right")
    for group in probe["groups"]:
        cells = [f"{group[name]:.3f}" if name != "tasks" else str(group[name]) for name in columns]
        shown.add_row(group["name"].replace("_", " "), *cells)
        if group["by"] == "all":
            shown.add_section()
    return shown


def heldout_rows(found: Iterable[Evaluated]) -> list[dict[str, Any]]:
    """The figures of the held-out tasks, over all of them, in the order in which they are shown."""
    heldout = next((one for one in found if one.name == "heldout"), None)
    rows = {row["metric"]: row for row in heldout.rows() if row["by"] == ALL} if heldout else {}
    return [rows[metric] for metric in LABELS if metric in rows]


def markdown(found: Mapping[str, Any]) -> str:
    """The same table as MLflow shows it on a run's first page."""
    trained = any("after" in row for row in found["heldout"])
    columns = ("before", "after", "difference", "95% interval") if trained else ("figure",)
    head = f"| held out | {' | '.join(columns)} |\n|{'---|' * (1 + len(columns))}\n"
    lines = []
    for row in found["heldout"]:
        cells = [LABELS[row["metric"]].strip(), f"{row['before']:.3f}"]
        if "after" in row:
            cells += [f"{row['after']:.3f}", f"{row['difference']:+.3f}", _between(row)]
        lines.append(f"| {' | '.join(cells)} |\n")
    pages = "`episodes/before.html` and `episodes/after.html`" if trained else "`episodes/before.html`"
    episodes = f"\nEpisodes to read: Artifacts, {pages}.\n"
    return head + "".join(lines) + episodes


def _between(row: Mapping[str, Any]) -> str:
    """The interval; a single task has none."""
    return "" if row["low"] is None else f"{row['low']:+.3f} to {row['high']:+.3f}"


def table(found: Mapping[str, Any]) -> Table:
    """The held-out figures before and after, with 95% intervals of the paired difference."""
    episodes = found["heldout"][0]["episodes"]
    shown = Table(
        title=f"Held-out tasks before and after training ({episodes} episodes each)",
        caption="Nothing: what doing nothing gets. The parts are over tasks that expect calls. Bold: more than noise.",
        title_justify="left",
        caption_justify="left",
    )
    for heading in ("", "nothing", "before", "after", "difference", "95% interval"):
        shown.add_column(heading, justify="left" if not heading else "right")
    for row in found["heldout"]:
        cells = [f"{row['floor']:.3f}", f"{row['before']:.3f}"]
        if "after" in row:
            difference = f"{row['difference']:+.3f}"
            cells += [f"{row['after']:.3f}", difference if row["noise"] else f"[bold]{difference}[/bold]"]
            cells += [_between(row)]
        shown.add_row(LABELS[row["metric"]], *cells)
    return shown


def curve(config: Config, outputs: Mapping[str, Entry], folder: Path) -> Iterator[Path]:
    """Draw the training reward and its parts over the steps; nothing when there was no training."""
    rows = rows_by_step(outputs["grpo"].directory / METRICS) if "grpo" in outputs else {}
    if not rows:
        return
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    steps = sorted(rows)
    for part in ("total", *PARTS):
        values = [rows[step]["reward/mean" if part == "total" else f"reward/{part}"] for step in steps]
        width = 2.5 if part == "total" else 1.2
        (line,) = axes.plot(steps, trailing_means(values), label=LABELS[part].strip(), linewidth=width)
        if part == "total":
            axes.plot(steps, values, ".", color=line.get_color(), alpha=0.4)
    title = f"{config.model.name}, seed {config.seed}: means of the last {WINDOW} steps (dots: reward of each step)"
    axes.set(xlabel="GRPO step", ylabel="rollouts of the step, on training tasks", title=title)
    axes.title.set_fontsize("medium")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=6, frameon=False)
    path = folder / "reward.png"
    figure.savefig(path, dpi=130)
    plt.close(figure)
    yield path


def trailing_means(values: list[float]) -> list[float]:
    """The mean of the last WINDOW values at each: every step trains on other prompts, the trend shows over some."""
    return [fmean(values[max(0, end - WINDOW) : end]) for end in range(1, len(values) + 1)]


def episode_pages(config: Config, outputs: Mapping[str, Entry], folder: Path) -> Iterator[Path]:
    """Write evaluated episodes as pages to read, one before and one after training."""
    from experiments.episodes import page

    for name in ("before", "after"):
        if output(name, "heldout") not in outputs:
            continue
        from proverl.evals import attempted, read_records

        records = read_records(outputs[output(name, "heldout")].directory)[: config.tracking.episodes]
        shown = [(attempted(record), bool(record.figures["success"])) for record in records]
        path = folder / "episodes" / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        lead = f"{config.experiment}, seed {config.seed}: {len(records)} held-out tasks, {name} training."
        title = f"{config.model.name} {name} training"
        path.write_text(page(title, lead, ((one.task, one.episode, success) for one, success in shown)))
        yield path


def ui_command(uri: str) -> str:
    """The command that opens MLflow on this store, on a port that is free."""
    if uri.startswith("http"):
        return f"open {uri}"
    return f"uv run mlflow ui --backend-store-uri {uri} --port {_free_port(5000)}"


def _free_port(first: int) -> int:
    for port in range(first, first + 100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    return first
