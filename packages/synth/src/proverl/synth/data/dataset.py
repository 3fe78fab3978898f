"""Tasks as Parquet files that `datasets` loads, and as JSON lines.

The columns beside `task` are for people and for queries; `task` holds all of a task as JSON and alone is read back.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from proverl.core import Task, canonical_json, task_from_json, task_to_json

_texts = pa.list_(pa.string())
_call = pa.struct([("name", pa.string()), ("arguments", pa.string()), ("turn", pa.int32())])
_edge = pa.struct([("before", pa.int32()), ("after", pa.int32()), ("kind", pa.string())])
# written down, so that a file whose first rows have empty lists has the same types as any other
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("kind", pa.string()),
        ("servers", _texts),
        ("seed", pa.int64()),
        ("system", pa.string()),
        ("turns", _texts),
        ("tools", _texts),
        ("calls", pa.list_(_call)),
        ("edges", pa.list_(_edge)),
        ("persona", pa.string()),
        ("information", pa.string()),
        ("perturbations", _texts),
        ("digest", pa.string()),
        ("task", pa.string()),
    ]
)
_GROUP = 256  # rows held in memory, a few MB
_NOTES = {"distractors": "distractors", "enums_stripped": "enums_stripped", "irrelevant": "irrelevant_query"}


def perturbations(task: Task) -> list[str]:
    """What was made harder in a task (paper, Synthesis 4)."""
    names = [name for note, name in _NOTES.items() if task.notes.get(note)]
    return [*names, "missing_function"] if task.notes.get("missing") else names


def task_row(task: Task) -> dict[str, Any]:
    """The row of a task, as `SCHEMA` types it."""
    truth = task.ground_truth
    return {
        "id": task.id,
        "kind": str(task.kind),
        "servers": list(task.servers),
        "seed": task.seed,
        "system": task.system,
        "turns": list(task.turns),
        "tools": [tool.name for tool in task.tools],
        "calls": [
            {"name": step.name, "arguments": canonical_json(step.arguments), "turn": step.turn} for step in truth.steps
        ],
        "edges": [{"before": edge.before, "after": edge.after, "kind": edge.kind} for edge in truth.edges],
        "persona": str(task.notes.get("persona") or ""),
        "information": str(task.notes.get("information") or ""),
        "perturbations": perturbations(task),
        "digest": task.digest,
        "task": task_to_json(task),
    }


def write_tasks(tasks: Iterable[Task], path: Path) -> None:
    """Write one row a task, with memory for a few hundred. Atomic; equal tasks give equal bytes."""
    write_rows(map(task_row, tasks), path)


def write_rows(rows: Iterable[dict[str, Any]], path: Path) -> None:
    """Write rows of `task_row`, as `write_tasks` does."""
    partial = path.with_name(path.name + ".partial")
    left = iter(rows)
    try:
        with pq.ParquetWriter(partial, SCHEMA, compression="zstd") as writer:
            while group := list(islice(left, _GROUP)):
                writer.write_table(pa.Table.from_pylist(group, SCHEMA))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def read_tasks(path: Path) -> list[Task]:
    """Read all tasks of a file; raises what `iter_tasks` does."""
    return list(iter_tasks(path))


def iter_tasks(path: Path) -> Iterator[Task]:
    """Read tasks one by one from Parquet or, by the suffix `.jsonl`, from JSON lines.

    Raises FileNotFoundError, or ValueError that names the row and what is wrong in it.
    """
    for number, row in enumerate(iter_rows(path, ["task"])):
        try:
            yield task_from_json(row["task"])
        except ValueError as error:
            raise ValueError(f"{path}, row {number}: {brief(error)}") from None


def iter_rows(path: Path, names: Sequence[str] = SCHEMA.names) -> Iterator[dict[str, Any]]:
    """The rows of a file, unchecked, with those of the named columns that it has; JSON lines have `task` alone.

    Raises FileNotFoundError, or ValueError for a file that cannot be read or has no `task`.
    """
    if not path.exists():
        raise FileNotFoundError(f"no tasks at {path}; run the synth stage first")
    try:
        yield from _lines(path) if path.suffix == ".jsonl" else _rows(path, names)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no UTF-8 text: {error.reason} at byte {error.start}") from None
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8-sig") as lines:
        yield from ({"task": line} for line in lines if line.strip())


def _open(path: Path) -> Any:
    try:
        return pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} is no Parquet file: {error}") from None


def _rows(path: Path, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    with _open(path) as file:
        there = file.schema_arrow.names
        if "task" not in there:
            raise ValueError(f"{path} has no column 'task'; its columns are {', '.join(there)}")
        for batch in file.iter_batches(_GROUP, columns=[name for name in names if name in there]):
            yield from batch.to_pylist()


def misfits(path: Path) -> list[str]:
    """The columns of a Parquet file that are missing or of another type. Raises ValueError for another kind of file."""
    if not path.exists() or path.suffix == ".jsonl":
        return []
    with _open(path) as file:
        types = {field.name: field.type for field in file.schema_arrow}
    missing = [f"there is no column {name!r}" for name in SCHEMA.names if name not in types]
    return missing + [
        f"column {field.name!r} is of type {types[field.name]}, not {field.type}"
        for field in SCHEMA
        if field.name in types and types[field.name] != field.type
    ]


def brief(error: ValueError) -> str:
    """One line of what is wrong with a text that is no task: the first field, and what was found there."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "unexpected_keyword_argument":
        return f"{where}: there is no such field"
    told = first["msg"]
    if first["type"] == "value_error":  # a rule of ours, which names the value
        return told.removeprefix("Value error, ")
    return f"{where + ': ' if where else ''}{told}, got {str(first['input'])[:80]!r}"


def count_rows(path: Path) -> int | None:
    """The number of rows of a Parquet file; None for JSON lines, which do not say. Raises ValueError for others."""
    if not path.exists() or path.suffix == ".jsonl":
        return None
    return int(_open(path).metadata.num_rows)
