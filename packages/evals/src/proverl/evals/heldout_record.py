"""What is kept of every evaluated episode, and the file it goes to.

A record is one line of `records.jsonl`, written as a whole when its episode ends, so that an evaluation that was killed
goes on with the episodes it lacks. A last line without its end is what a killed writer left; it is dropped.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from proverl.core import Episode, Task
from proverl.reward import Breakdown

FILE = "records.jsonl"


@dataclass(frozen=True, slots=True)
class EvaluationRecord:
    """One episode of one task with its scores; `position` is the task's in the evaluated list.

    The episode has no transcript; its `reward` holds the breakdown's figures. `seed` is what the policy sampled with.
    """

    position: int
    repeat: int
    seed: int
    task: Task
    episode: Episode
    breakdown: Breakdown
    success: bool
    state_equal: bool

    @property
    def server(self) -> str:
        """The server that the task is about."""
        return self.task.servers[0]

    @property
    def expected_calls(self) -> int:
        """Number of ground-truth calls."""
        return len(self.task.ground_truth.steps)

    def figures(self) -> dict[str, float]:
        """Reward, its parts, success (0 or 1) and number of calls: the same keys in every record."""
        parts = self.breakdown.as_dict()
        kept = ("total", "validity", "coverage", "efficiency", "name", "arg", "calls")
        return {name: parts[name] for name in kept} | {"success": float(self.success)}


@cache
def _adapter() -> TypeAdapter[EvaluationRecord]:
    return TypeAdapter(EvaluationRecord)


def append_record(record: EvaluationRecord, folder: Path) -> None:
    """Add one record; it is on the disk when this returns."""
    with (folder / FILE).open("ab") as file:
        file.write(_adapter().dump_json(record) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_records(folder: Path) -> list[EvaluationRecord]:
    """Read the complete records in the order of tasks and repeats, whatever the order in which they were written.

    Raises FileNotFoundError when there is no file, ValueError that names the line when one is no record.
    """
    path = folder / FILE
    if not path.exists():
        raise FileNotFoundError(f"no evaluation records at {path}; run the evals stage first")
    records = []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        try:
            records.append(_adapter().validate_json(line))
        except ValidationError as error:
            raise ValueError(f"{path}, line {number} is no evaluation record: {error.errors()[0]['msg']}") from None
    return sorted(records, key=lambda record: (record.position, record.repeat))


def resume(folder: Path) -> list[EvaluationRecord]:
    """Make the folder ready to append to, and return what it has already."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    if not path.exists():
        return []
    with path.open("r+b") as file:
        file.truncate(file.read().rfind(b"\n") + 1)
    return read_records(folder)


def by_episode(records: Iterable[EvaluationRecord]) -> dict[tuple[str, int], EvaluationRecord]:
    """Return the records by task id and repeat."""
    return {(record.task.id, record.repeat): record for record in records}
