"""Commands on kept rollouts: `proverl show` prints episodes for reading, `proverl rescore` tries another reward."""

import heapq
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from proverl.core import MalformedCall, StopReason, Task, call_text, printable, shortened
from proverl.trainer import rollouts
from proverl.trainer.metrics import PARTS
from proverl.trainer.rows import task_reader
from proverl.trainer.run_folder import training_folder
from proverl.trainer.verl_config import RunPaths

if TYPE_CHECKING:
    from pandas import DataFrame

show_app = typer.Typer(add_completion=False, help="Print training episodes for reading.")
rescore_app = typer.Typer(add_completion=False, help="Rewards and advantages of a run's rollouts under another reward.")
console = Console(soft_wrap=True)

_STYLES = {
    "user": "bold cyan",
    "assistant": "green",
    "call": "yellow",
    "refused": "red",
    "system": "dim",
    "note": "dim",
}
Run = Annotated[str, typer.Argument(help="An MLflow run's id, a job's folder, or a GRPO stage's folder")]
Step = Annotated[int | None, typer.Option(help="Only this step", min=1)]
RunsDir = Annotated[Path, typer.Option(help="The runs folder, where an MLflow run is looked up")]


def _paths(run: str, runs_dir: Path) -> RunPaths:
    return RunPaths(training_folder(run, runs_dir))


def _fail(error: Exception | str) -> typer.Exit:
    typer.echo(str(error), err=True)
    return typer.Exit(2)


@show_app.command()
def show(
    run: Run,
    step: Step = None,
    worst: Annotated[
        int | None, typer.Option(help="So many with the lowest reward (3 when nothing is said)", min=1)
    ] = None,
    best: Annotated[int | None, typer.Option(help="So many with the highest reward", min=1)] = None,
    task: Annotated[str | None, typer.Option(help="Only episodes of this task")] = None,
    stop: Annotated[StopReason | None, typer.Option(help="Only episodes that ended for this reason")] = None,
    tool: Annotated[str | None, typer.Option(help="Only episodes that called this tool")] = None,
    width: Annotated[int, typer.Option(help="Characters shown of a result", min=1)] = 240,
    runs_dir: RunsDir = Path("runs"),
) -> None:
    """Print training episodes for reading: what was asked, said, called and returned, and what it earned."""

    def wanted(row: Mapping[str, Any]) -> bool:
        return task in (None, row["task"]) and stop in (None, row["stop"]) and (tool is None or tool in row["tools"])

    try:
        paths = _paths(run, runs_dir)
        steps = rollouts.steps(paths.rollouts)
        if step is not None and step not in steps:
            rollouts.read(paths.rollouts, step)  # says which there are
        rows = [row for one in (steps if step is None else [step]) for row in rollouts.overview(paths.rollouts, one)]
        chosen = _extreme([row for row in rows if wanted(row)], worst, best)
        if not chosen:
            raise ValueError(f"none of the {len(rows)} episodes fits; leave out one of --step, --task, --stop, --tool")
        task_of = task_reader(paths.rows)
        for row in chosen:
            _print(_one(paths, row), task_of, width)
    except (OSError, ValueError) as error:
        raise _fail(error) from None


def _extreme(rows: list[dict[str, Any]], worst: int | None, best: int | None) -> list[dict[str, Any]]:
    def reward(row: Mapping[str, Any]) -> tuple[float, int, int, int]:
        return row["reward"], row["step"], row["group"], row["rollout"]

    lowest = heapq.nsmallest(worst or (3 if best is None else 0), rows, key=reward)
    return lowest + heapq.nlargest(best or 0, rows, key=reward)


def _one(paths: RunPaths, row: Mapping[str, Any]) -> rollouts.Rollout:
    place = row["group"], row["rollout"]
    return next(one for one in rollouts.read(paths.rollouts, row["step"]) if (one.group, one.rollout) == place)


def _print(rollout: rollouts.Rollout, task_of: Callable[[int], Task], width: int) -> None:
    place = f"step {rollout.step}, group {rollout.group}, rollout {rollout.rollout}"
    console.print(Text(printable(f"\n{place}: {rollout.episode.task_id}, {rollout.kind}"), "bold underline"))
    for what, text in lines(rollout, task_of(rollout.group), width):
        console.print(Text(printable(text), _STYLES[what]))


def lines(rollout: rollouts.Rollout, task: Task, width: int) -> Iterator[tuple[str, str]]:
    """An episode line by line, each with what it is: what it earned, the messages, calls with results, the expected."""
    episode = rollout.episode
    parts = ", ".join(f"{name} {episode.reward[name]:.2f}" for name in PARTS)
    yield "note", f"reward {episode.reward['total']:.3f}: {parts}"
    tokens = f"{rollout.prompt_tokens} prompt tokens, {rollout.response_tokens} after, {rollout.sampled_tokens} its own"
    yield "note", f"ended: {episode.stop}{f' ({episode.error})' if episode.error else ''}; {tokens}"
    for position, message in enumerate(episode.messages):
        if message["role"] != "tool" and (message.get("content") or message["role"] == "user"):
            yield message["role"], f"{message['role']}: {message['content']}"
        for record in episode.calls:
            if record.message == position:
                call = record.call
                malformed = isinstance(call, MalformedCall)
                text = (
                    f"{call.text} ({call.reason})"
                    if isinstance(call, MalformedCall)
                    else call_text(call.name, call.arguments)
                )
                yield "refused" if malformed or not record.result.ok else "call", f"  {text}"
                yield "note", f"      -> {shortened(record.result.text(), width)}"
    expected = "; ".join(call_text(step.name, step.arguments) for step in task.ground_truth.steps)
    yield "note", f"expected: {expected or 'no call'}"


@rescore_app.command()
def rescore(
    run: Run,
    changes: Annotated[list[str], typer.Argument(help="As for a run: reward.beta=0, or reward=NAME")],
    step: Step = None,
    examples: Annotated[int, typer.Option(help="So many of the episodes that change most", min=0)] = 5,
    runs_dir: RunsDir = Path("runs"),
) -> None:
    """Score a run's rollouts with another reward and show what would have changed. Nothing is run again."""
    from proverl.trainer import rescore as scoring  # imported late: `show` needs no pandas

    try:
        paths = _paths(run, runs_dir)
        before = scoring.recorded_reward(paths)
        after = scoring.changed_reward(before, changes)
        steps = rollouts.steps(paths.rollouts) if step is None else [step]
        frame = scoring.rescored(paths, after, track(steps, "Scoring", console=console, transient=True))
        found = scoring.summary(frame, before, after)
    except (OSError, ValueError) as error:
        raise _fail(error) from None
    most = scoring.changed_most(frame, examples)
    _tell(found, changes)
    if examples:
        console.print(_examples(most))
    report = paths.folder.with_name(f"{paths.folder.name}.rescore.json")
    report.write_text(json.dumps({**found, "changed_most": most.to_dict("records")}, indent=1))
    console.print(str(report))


def _tell(found: Mapping[str, Any], changes: list[str]) -> None:
    title = f"{found['rollouts']} rollouts of {found['groups']} groups, as trained and with {' '.join(changes)}"
    table = Table(title=title, title_justify="left")
    for heading in ("", "mean before", "mean after", "in advantage before", "in advantage after"):
        table.add_column(heading, justify="right" if heading else "left")
    for name in ("total", *PARTS):
        cells = [found[when][what][name] for what in ("mean", "spread") for when in ("before", "after")]
        label = "reward" if name == "total" else f"  {name}"
        table.add_row(label, *("" if cell is None else f"{cell:.3f}" for cell in cells))
    console.print(table)
    ranks = found["rank_correlation"]
    console.print(
        f"Rank correlation of rewards {_figure(ranks['total'])}, of advantages {_figure(ranks['advantage'])}."
    )
    console.print(
        f"Another rollout would have been best in {found['best_changed_share']:.1%} of groups; the advantage would "
        f"have changed its sign for {found['advantage_turned_share']:.1%} of rollouts; groups that score alike: "
        f"{found['before']['zero_variance_share']:.1%} before, {found['after']['zero_variance_share']:.1%} after."
    )
    if found["differ_from_record"]:
        console.print(
            f"Scored again with the run's own reward, {found['differ_from_record']} rollouts differ from what was "
            "recorded: the code of the reward or of the servers is not the run's."
        )


def _figure(value: float | None) -> str:
    return "undefined (all alike)" if value is None else f"{value:.3f}"


def _examples(most: "DataFrame") -> Table:
    table = Table(title="Changed most (read one with proverl show RUN --step STEP --task TASK)", title_justify="left")
    for heading in ("step", "group", "rollout", "task", "reward", "advantage"):
        table.add_column(heading, overflow="fold")  # whole, to be copied
    for row in most.to_dict("records"):
        moved = (f"{row[f'before/{name}']:.3f} -> {row[f'after/{name}']:.3f}" for name in ("total", "advantage"))
        table.add_row(*(str(row[name]) for name in ("step", "group", "rollout", "task")), *moved)
    return table
