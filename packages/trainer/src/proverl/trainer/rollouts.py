"""The episodes that were trained on, kept for reading and for rescoring: `rollouts/step-00040.parquet`, a file a step.

| columns | what |
|---|---|
| `step`, `group`, `rollout` | a group is the rollouts of one row of `rows.parquet`, by its position there |
| `task`, `kind`, `servers` | of the task that the group did |
| `stop`, `error` | why the episode ended |
| `prompt_tokens`, `response_tokens`, `sampled_tokens` | the first prompt; all after it; what of it the model wrote |
| `messages` | the conversation as JSON, in OpenAI's form, tool results cut as the model saw them |
| `calls` | each call with its whole result; arguments and content are JSON |
| `digest` | of the session's final state |
| `reward/*`, `episode/*`, `seconds/*` | the numbers that `metrics.py` averages |

A file is whole or absent; a step that is run again after a kill replaces its file.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from proverl.core import Call, CallRecord, Episode, ErrorCode, MalformedCall, Result, StopReason, Task

_CALL = pa.struct(
    [
        ("name", pa.string()),  # null, as arguments, for a call that could not be read
        ("arguments", pa.string()),
        ("id", pa.string()),
        ("text", pa.string()),  # of a call that could not be read, with the reason why
        ("reason", pa.string()),
        ("content", pa.string()),
        ("code", pa.string()),  # null for a success
        ("message", pa.string()),
        ("turn", pa.int32()),
        ("at", pa.int32()),  # index of the assistant's message
    ]
)
_COLUMNS = [
    ("step", pa.int32()),
    ("group", pa.int32()),
    ("rollout", pa.int32()),
    ("task", pa.string()),
    ("kind", pa.string()),
    ("servers", pa.list_(pa.string())),
    ("stop", pa.string()),
    ("error", pa.string()),
    ("prompt_tokens", pa.int32()),
    ("response_tokens", pa.int32()),
    ("sampled_tokens", pa.int32()),
    ("messages", pa.string()),
    ("calls", pa.list_(_CALL)),
    ("digest", pa.string()),
]
_NUMBERS = ("reward/", "episode/", "seconds/")
_TOTAL = "reward/total"


@dataclass(frozen=True, slots=True)
class Rollout:
    """One episode that was trained on. `episode` has no tokens, only their numbers; `numbers` are what was logged."""

    step: int
    group: int
    rollout: int
    kind: str
    servers: tuple[str, ...]
    prompt_tokens: int
    response_tokens: int
    sampled_tokens: int
    episode: Episode
    numbers: dict[str, float]


def packed(task: Task, group: int, rollout: int, episode: Episode) -> dict[str, Any]:
    """An episode as plain values for a file's columns, made where the episode ran: most of the work of writing it."""
    tokens = episode.transcript
    return {
        "group": group,
        "rollout": rollout,
        "task": task.id,
        "kind": str(task.kind),
        "servers": list(task.servers),
        "stop": str(episode.stop),
        "error": _storable(episode.error),
        "prompt_tokens": len(tokens.prompt_ids) if tokens else 0,
        "response_tokens": len(tokens.response_ids) if tokens else 0,
        "sampled_tokens": sum(tokens.mask) if tokens else 0,
        "messages": _text(episode.messages),
        "calls": [_packed_call(record) for record in episode.calls],
        "digest": episode.digest,
    }


def _packed_call(record: CallRecord) -> dict[str, Any]:
    call, result = record.call, record.result
    if isinstance(call, MalformedCall):
        written: dict[str, Any] = {"text": _storable(call.text), "reason": _storable(call.reason)}
    else:
        written = {"name": _storable(call.name), "arguments": _text(call.arguments), "id": call.id}
    code = None if result.code is None else str(result.code)
    returned = {"content": _text(result.content), "code": code, "message": _storable(result.message)}
    return written | returned | {"turn": record.turn, "at": record.message}


def _text(value: Any) -> str:
    return _storable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _storable(text: str) -> str:
    """A column holds no lone surrogate, which a model can write; its escape is also right inside JSON."""
    return text.encode("utf-8", "backslashreplace").decode()


def write(
    folder: Path, step: int, episodes: Sequence[Mapping[str, Any]], numbers: Sequence[Mapping[str, float]]
) -> None:
    """Write a step's packed episodes and the numbers logged of each, or replace what an earlier try wrote."""
    logged = [name for name in numbers[0] if name.startswith(_NUMBERS)] if numbers else []
    schema = pa.schema([*_COLUMNS, *((name, pa.float64()) for name in logged)])
    rows = [
        {"step": step} | dict(episode) | {name: values[name] for name in logged}
        for episode, values in zip(episodes, numbers, strict=True)
    ]
    folder.mkdir(exist_ok=True)
    path = _path(folder, step)
    partial = path.with_suffix(".partial")
    pq.write_table(pa.Table.from_pylist(rows, schema), partial, compression="zstd")
    partial.replace(path)


def _path(folder: Path, step: int) -> Path:
    return folder / f"step-{step:05d}.parquet"


def steps(folder: Path) -> list[int]:
    """The steps whose episodes are there, in order. Raises FileNotFoundError when none is."""
    found = sorted(int(path.stem.removeprefix("step-")) for path in folder.glob("step-*[0-9].parquet"))
    if not found:
        raise FileNotFoundError(f"no rollouts in {folder}; a GRPO stage keeps them from its first step on")
    return found


def read(folder: Path, step: int) -> list[Rollout]:
    """The episodes of a step, in the order of groups and rollouts.

    Raises ValueError when they are not there, or the file is damaged.
    """
    path = _path(folder, step)
    if not path.exists():
        there = steps(folder)
        raise ValueError(f"no rollouts of step {step} in {folder}; there are steps {there[0]} to {there[-1]}")
    with intact(path):
        rows = pq.read_table(path, memory_map=True).to_pylist()
        if rows and _TOTAL not in rows[0]:
            raise LookupError(f"no column {_TOTAL}")
        return sorted((_rollout(row) for row in rows), key=lambda rollout: (rollout.group, rollout.rollout))


@contextmanager
def intact(path: Path) -> Iterator[None]:
    """Turn what reading a damaged file raises into a ValueError that names it."""
    try:
        yield
    except FileNotFoundError:
        raise ValueError(f"{path} is not there; copy it back from the run, or train anew") from None
    except (pa.ArrowException, LookupError, OSError, TypeError, ValueError, YAMLError, OmegaConfBaseException) as error:
        reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        raise ValueError(f"{path} is damaged, or no file of this run ({reason})") from None


def overview(folder: Path, step: int) -> Iterator[dict[str, Any]]:
    """`step`, `group`, `rollout`, `task`, `stop`, `reward` and names of the `tools` called, of a step's episodes.

    Raises ValueError when the file is damaged.
    """
    plain = ["step", "group", "rollout", "task", "stop", _TOTAL]
    with intact(_path(folder, step)):
        for row in pq.ParquetFile(_path(folder, step)).read([*plain, "calls.list.element.name"]).to_pylist():
            tools = {call["name"] for call in row.pop("calls")}
            yield row | {"reward": row.pop(_TOTAL), "tools": tools}


def _rollout(row: dict[str, Any]) -> Rollout:
    numbers = {name: value for name, value in row.items() if name.startswith(_NUMBERS)}
    episode = Episode(
        task_id=row["task"],
        messages=json.loads(row["messages"]),
        calls=[_call(call) for call in row["calls"]],
        stop=StopReason(row["stop"]),
        error=row["error"],
        digest=row["digest"],
        seconds={
            name.removeprefix("seconds/"): value for name, value in numbers.items() if name.startswith("seconds/")
        },
        reward={name.removeprefix("reward/"): value for name, value in numbers.items() if name.startswith("reward/")},
    )
    kept = ("step", "group", "rollout", "kind", "prompt_tokens", "response_tokens", "sampled_tokens")
    return Rollout(
        servers=tuple(row["servers"]), episode=episode, numbers=numbers, **{name: row[name] for name in kept}
    )


def _call(row: dict[str, Any]) -> CallRecord:
    call: Call | MalformedCall
    if row["name"] is None:
        call = MalformedCall(row["text"], row["reason"])
    else:
        call = Call(row["name"], json.loads(row["arguments"]), row["id"])
    code = None if row["code"] is None else ErrorCode(row["code"])
    return CallRecord(call, Result(json.loads(row["content"]), code, row["message"]), row["turn"], row["at"])
