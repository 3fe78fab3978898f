"""Commands on datasets: `proverl data verify`, `proverl data show`, `proverl data card`."""

import heapq
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from proverl.core import Task, TaskKind, printable
from proverl.synth.data.dataset import count_rows, iter_rows, iter_tasks, misfits

app = typer.Typer(help="Check, read and describe datasets of tasks.", no_args_is_help=True)
console = Console(soft_wrap=True)

_STYLES = {
    "user": "bold cyan",
    "assistant": "green",
    "call": "yellow",
    "refused": "red",
    "source": "dim",
    "result": "default",
    "system": "dim",
    "note": "dim italic",
}
File = Annotated[Path, typer.Argument(help="A .parquet or .jsonl file of tasks")]


def _fail(error: Exception | str) -> typer.Exit:
    typer.echo(str(error), err=True)
    return typer.Exit(2)


@app.command()
def verify(
    path: File,
    workers: Annotated[int, typer.Option(min=1, help="Processes")] = 2,
) -> None:
    """Perform every row again on the installed servers; exit code 1 when one differs."""
    from proverl.synth.data.verify import verify as verdicts  # imported late: `show` needs none of it
    from proverl.synth.processes import ProcessesDied

    differ = rows = 0
    try:
        for what in (odd := misfits(path)):
            console.print(Text(printable(what)))
        with Progress(console=console, transient=True) as progress:
            bar = progress.add_task(f"verifying {path.name}", total=count_rows(path))
            for row, name, found in verdicts(iter_rows(path), workers):
                progress.advance(bar)
                rows += 1
                differ += bool(found)
                for what in found:
                    progress.console.print(Text(printable(f"row {row} ({name}): {what}")))
    except (OSError, ValueError, ProcessesDied) as error:
        raise _fail(error) from None
    if not rows:
        raise _fail(f"{path} has no rows")
    console.print(f"{rows:,} rows, {differ:,} differ")
    if differ or odd:
        raise typer.Exit(1)


@app.command()
def show(
    path: File,
    row: Annotated[int | None, typer.Option(help="Only the row of this number, from 0", min=0)] = None,
    sample: Annotated[int, typer.Option(help="So many rows drawn by --seed", min=1)] = 3,
    seed: Annotated[int, typer.Option(help="Which rows are drawn")] = 0,
    kind: Annotated[TaskKind | None, typer.Option(help="Only rows of this kind")] = None,
    width: Annotated[int, typer.Option(help="Characters shown of a result")] = 240,
) -> None:
    """Print conversations for reading."""
    from proverl.synth.data.transcript import lines

    try:
        rows = ((number, task) for number, task in enumerate(iter_tasks(path)) if kind in (None, task.kind))
        chosen = list(_row(rows, row) if row is not None else _sample(rows, sample, seed))
    except (OSError, ValueError) as error:
        raise _fail(error) from None
    if not chosen:
        raise _fail(f"{path} has no such row" + (f" of kind {kind}" if kind else ""))
    for number, task in chosen:
        world = f"{', '.join(task.servers) or 'no server'}, seed {task.seed}"
        console.print(Text(printable(f"\nrow {number}: {task.id}, {task.kind}, {world}"), "bold underline"))
        try:
            for what, text in lines(task, width):
                console.print(Text(printable(text), _STYLES[what]))
        except (LookupError, TypeError, ValueError) as error:  # notes or references of another form
            raise _fail(f"{path}, row {number}: it cannot be shown: {error}") from None


def _row(rows: Iterable[tuple[int, Task]], wanted: int) -> Iterator[tuple[int, Task]]:
    return islice((pair for pair in rows if pair[0] == wanted), 1)


def _sample(rows: Iterable[tuple[int, Task]], size: int, seed: int) -> list[tuple[int, Task]]:
    """Rows with the least hash of seed and number: the same for a seed, found in one pass."""
    least = heapq.nsmallest(size, rows, key=lambda pair: blake2b(f"{seed}:{pair[0]}".encode()).digest())
    return sorted(least, key=lambda pair: pair[0])


@app.command()
def card(
    folder: Annotated[Path, typer.Argument(help="Folder with train.parquet, heldout.parquet and counts.json")],
    t_eval: Annotated[Path | None, typer.Option(help="Folder with T-Eval's JSON files, to compare with")] = None,
) -> None:
    """Write the dataset's card and its pictures into the folder; compares with the benchmarks that are installed."""
    from proverl.synth.data.card import write_card  # imported late: matplotlib
    from proverl.synth.data.references import references

    try:
        typer.echo(str(write_card(folder, references(t_eval))))
    except (OSError, ValueError) as error:
        raise _fail(error) from None
