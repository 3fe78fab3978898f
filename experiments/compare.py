"""Compare recorded runs: tables with the paper's figures beside ours, and a page with pictures and episodes.

    uv run python -m experiments.compare                              # all runs of the default store
    uv run python -m experiments.compare ablation                     # a sweep, by its name or id; also ids of runs
    uv run python -m experiments.compare --experiment default --experiment no_name
    uv run python -m experiments.compare --tag model=granite --uri http://HOST:PORT

What is compared with what, and what counts as noise: docs/comparing.md. The page is also an artifact of the sweep's run
in MLflow, or of a run of its own where the runs are of no one sweep.
"""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from experiments.config import RunError
from experiments.failures import sentence
from experiments.store import opened, parsed
from proverl.core import printable

PAGE, FIGURES = "report.html", "figures.json"
_FOLDER = "compare"  # in the runs folder, and among the artifacts
_TAG = "compare.runs"  # of a run that holds nothing but a comparison: which runs it is of


def main() -> None:
    """Print the tables and the summary, write the page and, last, say where the figures are."""
    arguments = _arguments()
    console = Console(highlight=False)
    try:
        _compare(arguments, console)
    except Exception as error:
        if (told := sentence(error)) is None:
            raise
        print(told, file=sys.stderr)
        sys.exit(2)


def _compare(arguments: argparse.Namespace, console: Console) -> None:
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    from experiments.comparison.as_json import as_json
    from experiments.comparison.findings import findings
    from experiments.comparison.page import against, components, gains, main_results, page
    from experiments.comparison.recorded import find
    from experiments.comparison.words import RULE, sentences

    folder = Path(arguments.output or Path(arguments.runs_dir) / _FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    client = opened(arguments.uri)
    chosen = find(client, arguments.group, arguments.names, arguments.experiment, arguments.tag)
    if not chosen.runs:
        for one in chosen.left_out:
            console.print(f"Left out: {one.name} {one.reason}.", markup=False, soft_wrap=True)
        raise RunError(_nothing(arguments))
    found = findings(chosen.runs, chosen.left_out, arguments.reference)
    for grid in (*main_results(found), *gains(found, True), *against(found, True), *components(found)):
        for shown in _tables(grid, console.width):
            console.print(shown)
    for told in sentences(found):
        console.print(printable(told), markup=False, soft_wrap=True)
    console.print(RULE, markup=False, soft_wrap=True, style="dim")
    command = f"uv run python -m experiments.compare {shlex.join(sys.argv[1:])}".strip()
    _write(folder / PAGE, page(found, command, chosen.sweep_command))
    _write(folder / FIGURES, json.dumps(as_json(found), indent=1) + "\n")
    if not arguments.no_log:
        try:
            kept = log(client, chosen.experiment_id, chosen.sweep, [run.id for run in chosen.runs], folder)
            console.print(f"Also in MLflow: run {kept}, artifacts, {_FOLDER}/{PAGE}", markup=False, soft_wrap=True)
        except Exception as error:  # whatever a tracking server does, the page is in its folder
            reason = str(error).splitlines()[0][:200]
            console.print(f"MLflow has no copy of it: {reason}", markup=False, soft_wrap=True)
    console.print(f"To read: {folder / PAGE}", markup=False, soft_wrap=True)
    console.print(str(folder / FIGURES), markup=False, soft_wrap=True)


def _nothing(arguments: argparse.Namespace) -> str:
    asked = [*arguments.names, *arguments.experiment, *arguments.tag]
    if asked:
        return f"No run in {arguments.uri} can be compared that is {' and '.join(asked)}: leave some of it out."
    return (
        f"No run of {arguments.group} in {arguments.uri} can be compared: `uv run python -m experiments.run` makes one."
    )


def _tables(grid: Any, width: int) -> Iterator[Table]:
    """A table for the terminal, in as many pieces as its width asks for; each piece has the first column."""
    widths = [
        3 + max(len(text) for text in (*heading.split(), *(line for row in grid.rows for line in _lines(row[at]))))
        for at, heading in enumerate(grid.headings)
    ]
    pieces: list[list[int]] = [[]]
    room = 0
    for at in range(1, len(grid.headings)):
        if pieces[-1] and room + widths[at] > width - widths[0] - 1:
            pieces.append([])
            room = 0
        pieces[-1].append(at)
        room += widths[at]
    for number, piece in enumerate(pieces):
        last = number == len(pieces) - 1
        title = escape(printable(grid.title if number == 0 else f"{grid.title} (continued)"))
        caption = escape(printable(grid.caption)) if last else None
        shown = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
        for at in (0, *piece):
            shown.add_column(escape(printable(grid.headings[at])), justify="right" if at else "left")
        for row in grid.rows:
            shown.add_row(*(_text(row[at]) for at in (0, *piece)))
        yield shown


def _lines(cell: Any) -> list[str]:
    return [cell.text, *filter(None, cell.below)]


def _text(cell: Any) -> str:
    first, *below = (escape(printable(line)) for line in _lines(cell))
    return "\n".join(
        [f"[bold]{first}[/bold]" if cell.kind == "clear" else first, *(f"[dim]{one}[/dim]" for one in below)]
    )


def _write(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text)
    partial.replace(path)


def log(client: Any, experiment_id: str, sweep: str, runs: Sequence[str], folder: Path) -> str:
    """Keep page and figures in the sweep's MLflow run, or in one of their own; return its id."""
    from experiments.cache import digest

    run = sweep or _own_run(client, experiment_id, digest(" ".join(sorted(runs))))
    for name in (PAGE, FIGURES):
        client.log_artifact(run, str(folder / name), _FOLDER)
    return run


def _own_run(client: Any, experiment_id: str, of: str) -> str:
    """The run that holds the comparison of these runs, made when there is none."""
    known = client.search_runs([experiment_id], f"tags.`{_TAG}` = '{of}'")
    if known:
        return str(known[0].info.run_id)
    tags = {_TAG: of, "mlflow.source.name": "experiments.compare"}
    run = client.create_run(experiment_id, run_name="compare", tags=tags)
    client.set_terminated(run.info.run_id)
    return str(run.info.run_id)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a sweep's name or id, or a run's id or name")
    parser.add_argument("--experiment", action="append", default=[], help="an overlay's name; may be repeated")
    parser.add_argument("--tag", action="append", default=[], metavar="KEY=VALUE", help="a tag; may be repeated")
    parser.add_argument("--reference", default="", help="the variant to compare with; by default the whole method")
    parser.add_argument("--output", help="the folder to write to; by default compare in the runs folder")
    parser.add_argument("--no-log", action="store_true", help="write nothing to MLflow")
    parser.add_argument("--group", default="proverl", help="MLflow's experiment (tracking.experiment)")
    return parsed(parser)


if __name__ == "__main__":
    main()
