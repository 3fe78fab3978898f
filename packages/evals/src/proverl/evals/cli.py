"""`proverl score`: figures of stored answers, anew, and of result files of the benchmarks' own packages."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from proverl.agent import Limits
from proverl.evals.benchmark import Benchmark, benchmark
from proverl.evals.evaluation import ABOUT, score
from proverl.evals.heldout import Heldout, attempted
from proverl.evals.isolated import IsolatedError
from proverl.evals.record import Record, read_records, write_records
from proverl.evals.statistics import compare, floor, summarize
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
        compared = _differences(found, other, scored) if against else None
    except (ValueError, OSError, IsolatedError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    console = Console(highlight=False)
    console.print(_table(found, scored))
    for note in found.notes(scored):
        console.print(note, soft_wrap=True)
    changed = [
        (old, new) for old, new in zip(records, scored, strict=True) if old.figures and old.figures != new.figures
    ]
    if source.is_dir():
        console.print(f"{len(changed)} of {len(records)} answers are scored otherwise than before.")
        for old, new in changed[:10]:
            console.print(f"  {new.item}, trial {new.trial}: {old.figures} before, {new.figures} now", soft_wrap=True)
    if compared:
        console.print(compared)
    if output:
        output.mkdir(parents=True, exist_ok=True)
        write_records(scored, output)
        console.print(str(output / "records.jsonl"), soft_wrap=True)


def _differences(found: Benchmark, first: Sequence[Record], second: Sequence[Record]) -> Table:
    """This evaluation against another of the same items."""
    shown = Table(title="Against the other evaluation, item by item", title_justify="left")
    for heading in ("", "other", "this", "difference", "95% interval", "p", ""):
        shown.add_column(heading, justify="right" if heading else "left")
    for figure in dict.fromkeys(name for record in second for name in record.figures):
        result = compare(first, second, figure, found.macro, figure in found.shares)
        if result:
            gap = result.difference
            between = f"{gap.low:+.3f} to {gap.high:+.3f}"
            p = "" if result.p is None else f"{result.p:.3f}"
            cells = [f"{result.before:.3f}", f"{result.after:.3f}", f"{gap.mean:+.3f}", between, p]
            shown.add_row(figure.replace("_", " "), *cells, "" if result.clear else "noise")
    return shown


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


def _table(found: Benchmark, records: Sequence[Record]) -> Table:
    shown = Table(title=f"{found.name} ({found.version})", title_justify="left")
    for heading in ("", "items", "nothing", "figure", "95% interval"):
        shown.add_column(heading, justify="right" if heading else "left")
    for figure in dict.fromkeys(name for record in records for name in record.figures):
        _add(shown, found, records, figure, figure.replace("_", " "), found.macro)
    for key in dict.fromkeys(key for record in records for key in record.strata):
        for value in dict.fromkeys(record.strata[key] for record in records if key in record.strata):
            inside = [record for record in records if record.strata.get(key) == value]
            macro = [other for other in found.macro if other != key]
            _add(shown, found, inside, found.headline, f"  {key} {value}", macro)
    return shown


def _add(
    shown: Table, found: Benchmark, records: Sequence[Record], figure: str, label: str, macro: Sequence[str]
) -> None:
    interval = summarize(records, figure, macro, figure in found.shares)
    if interval:
        least = floor(records, figure, macro)  # figures may differ from answer to answer, and so may those of silence
        nothing = "" if least is None else f"{least:.3f}"
        between = "" if math.isnan(interval.low) else f"{interval.low:.3f} to {interval.high:.3f}"
        shown.add_row(label, str(interval.n), nothing, f"{interval.mean:.3f}", between)
