"""`proverl score`: figures of stored answers, anew, and of result files of the benchmarks' own packages."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from proverl.agent import Limits
from proverl.evals.benchmark import Benchmark, benchmark
from proverl.evals.evaluation import ABOUT, score
from proverl.evals.figures import figure_rows, figure_table
from proverl.evals.heldout import Heldout, attempted
from proverl.evals.isolated import IsolatedError
from proverl.evals.record import Record, read_records, write_records
from proverl.reward import reward_from

app = typer.Typer(add_completion=False)


@app.command(help="Score stored answers again, or a result file of a benchmark's own package.")
def score_command(
    source: Annotated[Path, typer.Argument(help="an evaluation's folder, or a result file such as BFCL's")],
    name: Annotated[str, typer.Option("--benchmark", help="whose result file it is")] = "bfcl",
    settings: Annotated[list[str] | None, typer.Option("--set", help="of that benchmark, as prompting=true")] = None,
    output: Annotated[Path | None, typer.Option(help="a folder for the records with their new figures")] = None,
    against: Annotated[Path | None, typer.Option(help="another evaluation's folder, to compare with")] = None,
) -> None:
    """Print the figures, and which answers are scored otherwise than before."""
    try:
        found, records = _stored(source) if source.is_dir() else _foreign(source, name, settings or [])
        scored = score(found, records)
        other = _stored(against)[1] if against else []
        rows = figure_rows(found, other, scored) if against else figure_rows(found, scored)
    except (ValueError, OSError, IsolatedError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    console = Console(highlight=False)
    title = f"{found.name} ({found.version})"
    console.print(figure_table(title, rows, found.headline, found.notes(scored), ("other", "this")))
    changed = [
        (old, new) for old, new in zip(records, scored, strict=True) if old.figures and old.figures != new.figures
    ]
    if source.is_dir():
        console.print(f"{len(changed)} of {len(records)} answers are scored otherwise than before.")
        for old, new in changed[:10]:
            console.print(f"  {new.item}, trial {new.trial}: {old.figures} before, {new.figures} now", soft_wrap=True)
    if output:
        output.mkdir(parents=True, exist_ok=True)
        write_records(scored, output)
        console.print(str(output / "records.jsonl"), soft_wrap=True)


def _stored(folder: Path) -> tuple[Benchmark, list[Record]]:
    records = read_records(folder)
    about: dict[str, Any] = json.loads((folder / ABOUT).read_text())
    found = benchmark(about["benchmark"], about["settings"])
    if isinstance(found, Heldout):
        tasks = {record.position: attempted(record).task for record in records}
        given = tuple(tasks[position] for position in sorted(tasks))
        found = replace(found, given=given, world=Limits(**about["limits"]), reward=reward_from(about["reward"]))
    return found, records


def _foreign(file: Path, name: str, settings: Sequence[str]) -> tuple[Benchmark, list[Record]]:
    told = (setting.partition("=") for setting in settings)
    found = benchmark(name, dict((key, value) for key, _, value in told))
    return found, found.read_results(file)
