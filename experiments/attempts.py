"""What every attempt of a run's evaluations earned, with its conversation: the artifacts that runs are compared by.

A run's stages lie on the machine that computed them; its MLflow run is what others can read. So each evaluation is
also one small file there, `attempts/before-heldout.json.gz`: the stage's records without what only scoring needs, and
with long texts cut.
"""

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from experiments.cache import Entry, digest
from experiments.evaluation_figures import Evaluated
from proverl.core import Json
from proverl.evals.evaluation import read_failures
from proverl.evals.heldout import Heldout, attempted
from proverl.evals.record import Record
from proverl.reward import Breakdown, RewardConfig
from proverl.reward.score import budget, efficiency, weighted_sum
from proverl.trainer.metrics import PARTS

FOLDER = "attempts"  # among a run's artifacts
_LONGEST = 2_000  # characters of one text in a conversation


@dataclass(frozen=True)
class Attempts:
    """One evaluation: how it was made (`about`), how its figures make up one, and its records.

    Items have one id when they are the same item, also in other runs. A held-out task's answer is the list of the calls
    it expects, as JSON; other answers are left out.
    """

    about: dict[str, Any]
    headline: str
    macro: list[str]
    shares: list[str]
    failed: int
    records: list[Record]

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return str(self.about["benchmark"])


def write_attempts(outputs: Mapping[str, Entry], folder: Path) -> Iterator[Path]:
    """Write a file for each evaluation among a job's outputs."""
    for name, entry in outputs.items():
        when, _, of = name.partition("-")
        if when in ("before", "after") and of:
            yield write_one(_attempts(Evaluated(entry.directory)), folder / FOLDER / f"{name}.json.gz")


def write_one(found: Attempts, path: Path) -> Path:
    """Write one such file: the same bytes for equal attempts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(_adapter().dump_json(found), mtime=0))
    return path


def read_attempts(path: Path, conversations: bool = False) -> Attempts:
    """Read such a file; without `conversations`, which are most of it, records have no messages."""
    found = _adapter().validate_json(gzip.decompress(path.read_bytes()))
    if conversations:
        return found
    return replace(found, records=[replace(record, messages=[]) for record in found.records])


def rewarded_as(found: Attempts, settings: Mapping[str, Any] | None) -> Attempts:
    """Held-out attempts with the reward, and what the call budget decides, as other settings of the reward give them.

    An ablated reward has a scale of its own, so figures are compared on one. Where that takes more than the kept parts
    (a reward of the user's own, another rule of matching), what can't be compared is left out.
    """
    own = found.about.get("reward")
    if own == settings or own is None or settings is None:
        return found
    if "_target_" in own or "_target_" in settings or own.get("paper_exact") != settings.get("paper_exact"):
        return replace(found, records=[_without_reward(record) for record in found.records])
    reward = RewardConfig(**settings)
    return replace(found, records=[_rewarded(record, reward) for record in found.records])


def _without_reward(record: Record) -> Record:
    lost = ("total", "over_budget", *PARTS)
    return replace(record, figures={name: value for name, value in record.figures.items() if name not in lost})


def _rewarded(record: Record, reward: RewardConfig) -> Record:
    expected: Any = record.answer
    if not expected or not record.figures["calls"]:
        return record  # a task that expects no call has no parts, and no call earns nothing
    figures, calls = record.figures, int(record.figures["calls"])
    parts = Breakdown(
        validity=figures["validity"],
        coverage=figures["coverage"],
        efficiency=efficiency(calls, len(expected), reward.alpha, reward.beta),
        name=figures["name"],
        arg=figures["arg"],
    )
    total, over = weighted_sum(parts, reward), float(calls > budget(len(expected), reward.beta))
    return replace(record, figures={**figures, "efficiency": parts.efficiency, "total": total, "over_budget": over})


def _attempts(evaluated: Evaluated) -> Attempts:
    found = evaluated.benchmark
    records, _ = evaluated.records
    kept = [_heldout(record) if isinstance(found, Heldout) else replace(record, answer=None) for record in records]
    return Attempts(
        about=evaluated.about,
        headline=found.headline,
        macro=list(found.macro),
        shares=sorted(found.shares),
        failed=len(read_failures(evaluated.before)),
        records=[replace(record, messages=_cut(record.messages)) for record in kept],
    )


def _heldout(record: Record) -> Record:
    """Two synthesises may give other tasks one id, so the id of a held-out task is told apart by what is in it."""
    answer: Any = record.answer
    expected: list[Json] = [[step.name, step.arguments] for step in attempted(record).task.ground_truth.steps]
    return replace(record, item=f"{record.item} {digest(answer['task'])[:8]}", answer=expected)


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]} … ({len(value):,} characters)"
    if isinstance(value, Mapping):
        return {key: _cut(item) for key, item in value.items()}
    return [_cut(item) for item in value] if isinstance(value, list) else value


@cache
def _adapter() -> TypeAdapter[Attempts]:
    return TypeAdapter(Attempts)
