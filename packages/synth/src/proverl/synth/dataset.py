"""Tasks as Parquet files that `datasets` loads, and as JSON lines."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from proverl.core import Task, task_from_json, task_to_json


def write_tasks(tasks: Sequence[Task], path: Path) -> None:
    """Write one row a task: readable columns and `task`, all of it as JSON. Atomic; equal tasks give equal bytes."""
    columns = {
        "id": [task.id for task in tasks],
        "kind": [str(task.kind) for task in tasks],
        "server": [task.servers[0] for task in tasks],
        "seed": [task.seed for task in tasks],
        "turns": [list(task.turns) for task in tasks],
        "tools": [[tool.name for tool in task.tools] for task in tasks],
        "calls": [[step.name for step in task.ground_truth.steps] for task in tasks],
        "task": [task_to_json(task) for task in tasks],
    }
    partial = path.with_name(path.name + ".partial")
    pq.write_table(pa.table(columns), partial)
    partial.replace(path)


def read_tasks(path: Path) -> list[Task]:
    """Read tasks from Parquet or, by the suffix `.jsonl`, from JSON lines.

    Raises FileNotFoundError, or ValueError that names the row and what is wrong in it.
    """
    if not path.exists():
        raise FileNotFoundError(f"no tasks at {path}; run the synth stage first")
    if path.suffix == ".jsonl":
        texts = [line for line in path.read_text().splitlines() if line.strip()]
    else:
        texts = pq.read_table(path, columns=["task"])["task"].to_pylist()
    tasks = []
    for number, text in enumerate(texts):
        try:
            tasks.append(task_from_json(text))
        except ValueError as error:
            raise ValueError(f"{path}, row {number}: {error}") from None
    return tasks
