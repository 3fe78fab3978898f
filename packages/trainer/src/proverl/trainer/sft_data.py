"""Demonstrations for supervised fine-tuning: the oracle's live episodes, in the tokens a rollout would have had.

The oracle decides what is said, a `TokenChat` over the model's own chat template keeps the tokens, as in a rollout: the
prompt, the replies with a mask of 1, and what the environment adds between them with a mask of 0.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from proverl.agent import ChatTemplate, Generated, Limits, OracleChat, Reply, TokenChat, run_episode
from proverl.agent.chat import Message
from proverl.core import Episode, StopReason, Task, Transcript
from proverl.envs import Session

ATTEMPTS = 2  # a demonstration whose environment failed runs once more, on a fresh session
_LOG = logging.getLogger(__name__)
_IDS = pa.list_(pa.int32())
_SCHEMA = pa.schema({"task_id": pa.string(), "prompt_ids": _IDS, "response_ids": _IDS, "mask": pa.list_(pa.int8())})


class DemonstrationChat:
    """The oracle's chat on one task, which keeps the tokens that the model would have sampled to say the same."""

    def __init__(self, task: Task, template: ChatTemplate, limits: Limits) -> None:
        self._oracle = OracleChat(task, tokenizer=template.tokenizer)
        self._template = template
        self._tokens = TokenChat(template, self._generate, task.tools, limits)
        self._written: list[int] = []

    def observe(self, messages: Sequence[Message]) -> None:
        """Tell the oracle and keep the tokens."""
        self._oracle.observe(messages)
        self._tokens.observe(messages)

    async def reply(self) -> Reply:
        """The oracle's next message. Raises ValueError when it does not survive the model's format."""
        said = await self._oracle.reply()
        self._written = self._template.written(said)
        read = await self._tokens.reply()
        if read.finish == "stop" and (read.text, read.calls) != (said.text, said.calls):
            raise ValueError(f"format {self._template.format.name!r} reads {read} where {said} was written")
        return read

    async def _generate(self, ids: list[int], most: int) -> Generated:
        kept = self._written[:most]
        return Generated(kept, [0.0] * len(kept), "stop" if len(kept) == len(self._written) else "length")

    @property
    def room(self) -> int:
        """Tokens left for the next reply."""
        return self._tokens.room

    def clip(self, text: str, tokens: int) -> str:
        """Cut a tool result as the model would see it."""
        return self._tokens.clip(text, tokens)

    def transcript(self) -> Transcript:
        """The tokens so far."""
        return self._tokens.transcript()


async def demonstrate(task: Task, template: ChatTemplate, limits: Limits) -> Episode:
    """Perform a task on a live session; the episode's transcript is what is learned. A crash is tried once more."""
    for _ in range(ATTEMPTS):
        with Session(task.servers, task.seed, call_seconds=limits.call_seconds) as session:
            episode = await run_episode(task, session, DemonstrationChat(task, template, limits), limits)
        if episode.stop != StopReason.CRASHED:
            break
    return episode


def write_demonstrations(tasks: Sequence[Task], template: ChatTemplate, limits: Limits, path: Path) -> int:
    """Write one row for each task whose demonstration completes within the limits; return how many there are.

    Columns: task_id; prompt_ids and response_ids, tokens; mask, 1 where the model wrote the token of response_ids.
    What is left out is counted by stop reason in `demonstrations.json` beside the file, and logged. A file that is
    there already is kept. Raises ValueError when no demonstration is left.
    """
    if path.exists():
        return int(pq.read_metadata(path).num_rows)
    rows, stops, error = asyncio.run(_rows(tasks, template, limits))
    if not rows:
        raise ValueError(f"none of {len(tasks)} demonstrations can be used ({_counts(stops)}{error})")
    if len(rows) < len(tasks):
        left = len(tasks) - len(rows)
        _LOG.warning("%s of %s demonstrations are left out (%s%s)", left, len(tasks), _counts(stops), error)
    path.with_name("demonstrations.json").write_text(json.dumps(dict(sorted(stops.items())), indent=1) + "\n")
    partial = path.with_suffix(".partial")
    pq.write_table(pa.Table.from_pylist(rows, _SCHEMA), partial)
    partial.replace(path)
    return len(rows)


async def _rows(
    tasks: Sequence[Task], template: ChatTemplate, limits: Limits
) -> tuple[list[dict[str, Any]], Counter[str], str]:
    rows, stops, error = [], Counter[str](), ""
    for task in tasks:
        episode = await demonstrate(task, template, limits)
        stops[str(episode.stop)] += 1
        error = f"; {episode.error}" if episode.error else error
        transcript = episode.transcript
        if episode.stop == StopReason.COMPLETED and transcript:
            tokens = {name: getattr(transcript, name) for name in ("prompt_ids", "response_ids", "mask")}
            rows.append({"task_id": task.id, **tokens})
    return rows, stops, error


def _counts(stops: Counter[str]) -> str:
    left = (f"{reason} {count}" for reason, count in stops.items() if reason != StopReason.COMPLETED)
    return ", ".join(sorted(left))
