"""What is kept of every attempt, and the file it goes to.

A record is one line of `records.jsonl`, written as a whole when its attempt is scored, so that an evaluation that was
killed goes on with what it lacks. A last line without its end is what a killed writer left; it is dropped.
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from proverl.core import Json

FILE = "records.jsonl"


@dataclass(frozen=True, slots=True)
class Record:
    """One attempt at one item with its figures.

    `position` is the item's in the benchmark, `floor` what doing nothing scores there. `messages` is the conversation,
    for reading; `answer` is what was scored, and can be scored again. `seed` is what the policy sampled with. Tokens
    are those the policy read (each reply's whole context) and wrote; `truncated` says that a reply was cut or that no
    room was left for one.
    """

    item: str
    position: int
    strata: dict[str, str]
    trial: int
    seed: int
    answer: Json
    figures: dict[str, float]
    floor: dict[str, float]
    detail: str = ""
    messages: list[dict[str, Any]] = field(default_factory=list)
    replies: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    truncated: bool = False
    seconds: float = 0.0


@cache
def _adapter() -> TypeAdapter[Record]:
    return TypeAdapter(Record)


def as_line(record: Record) -> bytes:
    """The record as JSON. Raises ValueError when JSON cannot hold it, such as NaN, a set, or half a character."""
    try:
        json.dumps(record.answer, allow_nan=False)  # pydantic would write NaN as null, which is scored otherwise
        return _adapter().dump_json(record, warnings="error") + b"\n"
    except (ValueError, TypeError, RecursionError) as error:
        told = " ".join(str(error).split())[:300]
        raise ValueError(f"what is kept of {record.item} can't be written as JSON: {told}") from None


def append_line(line: bytes, folder: Path) -> None:
    """Add a record; it is on the disk when this returns, and nothing of it is when this raises OSError."""
    with (folder / FILE).open("ab", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        try:
            written = file.write(line)
            if written < len(line):  # a disk that is nearly full takes a part
                file.write(line[written:])
            os.fsync(file.fileno())
        except OSError:
            file.truncate(end)
            raise


def write_records(records: Iterable[Record], folder: Path) -> None:
    """Write all records anew, all at once."""
    partial = folder / f"{FILE}.partial"
    with partial.open("wb") as file:
        for record in records:
            file.write(as_line(record))
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / FILE)


def read_records(folder: Path) -> list[Record]:
    """Read the complete records in the order of items and trials, whatever the order in which they were written.

    Raises FileNotFoundError when there is no file, ValueError that names the line when one is no record.
    """
    path = folder / FILE
    if not path.exists():
        raise FileNotFoundError(f"no evaluation records at {path}; run the evaluation first")
    records = []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        try:
            records.append(_adapter().validate_json(line))
        except ValidationError as error:
            raise ValueError(f"{path}, line {number} is no evaluation record: {error.errors()[0]['msg']}") from None
    return sorted(records, key=lambda record: (record.position, record.trial))


def resume(folder: Path) -> list[Record]:
    """Make the folder ready to append to, and return what it has already."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    if not path.exists():
        return []
    with path.open("r+b") as file:
        file.truncate(file.read().rfind(b"\n") + 1)
    return read_records(folder)


def by_attempt(records: Sequence[Record]) -> dict[tuple[str, int], Record]:
    """Return the records by item and trial."""
    return {(record.item, record.trial): record for record in records}
