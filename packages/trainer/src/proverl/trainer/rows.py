"""Tasks as verl reads them: one Parquet row per prompt of every step, in the order of use.

The order is written down, so no epoch has an edge that could skip or repeat a row, and resuming needs a position only.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from proverl.core import Task, task_from_json, task_to_json
from proverl.trainer.rollouts import intact
from proverl.trainer.verl_config import AGENT


def write_rows(tasks: Sequence[Task], count: int, seed: int, path: Path, first: int = 0) -> None:
    """Write `count` rows: the tasks in a seeded order, shuffled anew each time all have been used.

    Rows are numbered from `first`; rollouts of different rows need different numbers.

    Raises ValueError when there is no task.
    """
    if not tasks:
        raise ValueError("no training tasks: the dataset is empty")
    rows = [_row(tasks[index], position) for position, index in enumerate(order(len(tasks), count, seed), first)]
    partial = path.with_suffix(".partial")
    pq.write_table(pa.Table.from_pylist(rows), partial)
    partial.replace(path)


def task_reader(path: Path) -> Callable[[int], Task]:
    """What returns the task of a row by its position; the file is mapped, a task is parsed when it is asked for.

    It, or what it returns, raises ValueError for a file that is not there or damaged.
    """
    with intact(path):
        column = pq.ParquetFile(path, memory_map=True).read(["extra_info.task"])["extra_info"]

    def task(position: int) -> Task:
        with intact(path):
            return task_from_json(column[position].as_py()["task"])

    return task


def order(size: int, count: int, seed: int) -> Iterator[int]:
    """Yield `count` indices below `size` in a seeded order, shuffled anew each time all have been used."""
    random = Random(f"rows:{seed}")
    left: list[int] = []
    for _ in range(count):
        if not left:
            left = random.sample(range(size), size)
        yield left.pop()


def _row(task: Task, position: int) -> dict[str, object]:
    messages = [{"role": "user", "content": task.turns[0]}]
    if task.system:
        messages.insert(0, {"role": "system", "content": task.system})
    return {
        "prompt": messages,
        "data_source": str(task.kind),
        "agent_name": AGENT,
        "reward_model": {"style": "rule", "ground_truth": ""},  # the agent loop scores; verl wants the field
        "extra_info": {"index": position, "task": task_to_json(task)},
    }
