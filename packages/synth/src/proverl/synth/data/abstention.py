"""Abstention rows from outside: When2Call and xLAM-Irrelevance (paper, Synthesis 6: 806 and 316 of 1,122).

Both are read through `datasets` from the hub or from a local copy of the repository. A row's own tools are offered; no
call is expected, and no server stands behind them.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from proverl.core import GroundTruth, Task, TaskKind
from proverl.synth.assemble import system_text
from proverl.synth.data.foreign_tools import UnreadableTool, read_tool

_SECONDS = 4.0  # for the hub's first answer
_WORLDS = 10_000  # seeds, which give the reference date


class SourceUnreachable(RuntimeError):
    """The hub, or the source on it, cannot be reached; the message names both and says why."""


class _Unusable(ValueError):
    """A row that is left out; the message is the reason that is counted."""


@dataclass(frozen=True)
class Source:
    """A dataset of the hub: where its rows are, at which revision, and how a row gives its user turns."""

    repository: str
    config: str
    revision: str
    turns: Callable[[dict[str, Any]], list[str]]


def _when2call(row: dict[str, Any]) -> list[str]:
    """Columns `tools` (JSON texts) and `messages`; the last is the right answer, a call reads <TOOLCALL>[...]."""
    messages = row.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise _Unusable("no messages")
    if not messages or messages[-1].get("role") != "assistant":
        raise _Unusable("no answer")
    if any("<TOOLCALL" in str(message.get("content")) or message.get("role") == "tool" for message in messages):
        raise _Unusable("the answer is a call")
    return [message.get("content") for message in messages if message.get("role") == "user"]


def _xlam(row: dict[str, Any]) -> list[str]:
    """Columns `query`, `tools` (JSON text) and `answers` (JSON text, an empty list)."""
    if str(row.get("answers") or "[]").strip() != "[]":
        raise _Unusable("the answer is a call")
    return [row.get("query")]  # type: ignore[list-item]


SOURCES = {
    "when2call": Source("nvidia/When2Call", "train_sft", "0582f7749df63a96fdc3070932e83e72396ace53", _when2call),
    "xlam_irrelevance": Source(
        "MadeAgents/xlam-irrelevance-7.5k", "default", "34323bf09efc7e4a394998a0fa91ff997617c369", _xlam
    ),
}


def load_abstention(
    source: str, count: int, seed: int, folder: Path | None = None, dropped: Counter[str] | None = None
) -> list[Task]:
    """At most `count` abstention tasks from a source of SOURCES, drawn by the seed.

    `folder` holds a copy of the source's repository; without it the hub is asked. Rows that cannot be used are left out
    and counted in `dropped` by reason. Raises SourceUnreachable within seconds when the hub does not answer, ValueError
    for another source.
    """
    if source not in SOURCES:
        raise ValueError(f"no source {source!r} of abstention rows; there are {', '.join(SOURCES)}")
    dropped = Counter() if dropped is None else dropped
    table = _load(source, SOURCES[source], folder)
    order = Random(f"{source}:{seed}").sample(range(len(table)), len(table))
    tasks: list[Task] = []
    for task in _tasks(source, ((number, table[number]) for number in order), seed, dropped):
        if len(tasks) == count:
            break
        tasks.append(task)
    return tasks


def _load(name: str, source: Source, folder: Path | None) -> Any:
    """The rows of a source; a first short question, because the hub's own retries take half a minute."""
    import datasets  # imported late: it takes seconds
    from huggingface_hub import HfApi, constants

    if folder is not None and not folder.is_dir():
        raise SourceUnreachable(f"{name}: there is no folder {folder}")
    try:
        if folder is not None:
            return datasets.load_dataset(str(folder), source.config, split="train")
        if not constants.HF_HUB_OFFLINE:  # then only its cache is read
            HfApi().dataset_info(source.repository, revision=source.revision, timeout=_SECONDS)
        return datasets.load_dataset(source.repository, source.config, split="train", revision=source.revision)
    except Exception as error:  # the hub's client and `datasets` raise errors of many families
        where = folder or f"{source.repository} on the Hugging Face hub"
        told = str(error).splitlines()[0] if str(error) else ""
        raise SourceUnreachable(f"{name}: {where} cannot be read: {type(error).__name__}: {told}") from error


def _tasks(source: str, rows: Iterable[tuple[int, dict[str, Any]]], seed: int, dropped: Counter[str]) -> Iterator[Task]:
    seen: set[tuple[str, ...]] = set()
    for number, row in rows:
        try:
            task = _task(source, number, row, Random(f"{source}:{seed}:{number}"))
            if task.turns in seen:
                raise _Unusable("the same turns as another row")
        except UnreadableTool:
            dropped["an unreadable tool"] += 1
        except _Unusable as error:
            dropped[str(error)] += 1
        else:
            seen.add(task.turns)
            yield task


def _task(source: str, number: int, row: dict[str, Any], rng: Random) -> Task:
    turns = SOURCES[source].turns(row)
    if not turns or not all(isinstance(turn, str) and turn.strip() for turn in turns):
        raise _Unusable("no user turn")
    tools = tuple(read_tool(raw) for raw in _listed(row.get("tools")))
    if not tools:
        raise _Unusable("no tools")
    if len({tool.name for tool in tools}) < len(tools):
        raise _Unusable("two tools of one name")
    world = rng.randrange(_WORLDS)
    id = str(row.get("id") or row.get("uuid") or number)
    notes: Any = {"origin": {"source": source, "repository": SOURCES[source].repository, "row": id}}
    stripped = tuple(turn.strip() for turn in turns)
    return Task(
        f"{source}-{number}", TaskKind.ABSTENTION, (), world, system_text(world), stripped, tools, GroundTruth(), notes
    )


def _listed(tools: Any) -> list[Any]:
    """A column of tools: a list of objects or of JSON texts, or one JSON text of a list."""
    if isinstance(tools, str):
        try:
            tools = json.loads(tools)
        except ValueError:
            raise UnreadableTool("the tools are no JSON") from None
    if not isinstance(tools, list):
        raise _Unusable("no tools")
    return tools
