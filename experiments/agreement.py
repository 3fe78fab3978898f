"""Whether two runs of the same config agree, figure by figure: exactly, within noise, or not.

Evaluations are compared attempt by attempt on the same items, training step by step (both runs train on the same
prompts in the same order). A figure agrees exactly when every pair is equal; within noise when a paired permutation
test finds no difference, at 5% for all figures of the run together (Holm 1979). Synthesised tasks must be equal.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from experiments.attempts import FOLDER as ATTEMPTS
from experiments.attempts import read_attempts
from experiments.report import PARTS
from proverl.evals.over_seeds import holm
from proverl.evals.record import Record
from proverl.evals.statistics import compare

_LEVEL = 0.05
_LEAST_SHARED = 0.95  # of the attempts of each run
_GRPO = (*(f"reward/{part}" for part in ("mean", *PARTS)), "episode/success", "episode/calls")
_SFT = ("sft/loss",)


@dataclass(frozen=True)
class Agreement:
    """One figure of both runs, the 95% interval of the paired difference, and the test's p (1: nothing differs)."""

    figure: str
    then: float | str
    now: float | str
    low: float | None = None
    high: float | None = None
    p: float = 1.0
    verdict: str = "exactly"

    @property
    def agrees(self) -> bool:
        """Whether it agrees, exactly or within noise."""
        return self.verdict != "not"

    def cells(self) -> tuple[str, ...]:
        """As a row of a table."""
        if isinstance(self.then, str) or isinstance(self.now, str):
            return self.figure, str(self.then)[:8], str(self.now)[:8], "", self.verdict
        noise = "" if self.low is None or self.verdict == "exactly" else f" \\[{self.low:+.3f}, {self.high:+.3f}]"
        difference = f"{self.now - self.then:+.3f}{noise}"
        return self.figure, f"{self.then:.3f}", f"{self.now:.3f}", difference, self.verdict

    def as_json(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def compared(client: Any, then: Any, now: Any, folder: Path) -> list[Agreement]:
    """The figures that two recorded runs share; `folder` is for files fetched from MLflow."""
    found = [*_tasks(then, now), *_evaluations(client, then, now, folder), *_trainings(client, then, now)]
    return judged(found)


def judged(found: Sequence[Agreement]) -> list[Agreement]:
    """The figures with their verdict, by Holm's correction over those that are not equal."""
    corrected = iter(holm([one.p for one in found if one.verdict == "within noise"]))
    return [
        replace(one, verdict="not") if one.verdict == "within noise" and next(corrected) <= _LEVEL else one
        for one in found
    ]


def paired(
    name: str, then: Sequence[Record], now: Sequence[Record], macro: Sequence[str] = (), shares: Sequence[str] = ()
) -> Iterator[Agreement]:
    """Compare each figure of two lists of records of the same items."""
    both = {(one.item, one.trial) for one in then} & {(one.item, one.trial) for one in now}
    if len(both) < _LEAST_SHARED * max(len(then), len(now)):
        yield Agreement(f"{name} items", str(len(then)), f"{len(both)} the same", verdict="not")
        return
    first, second = ([one for one in kept if (one.item, one.trial) in both] for kept in (then, now))
    by_attempt = {(one.item, one.trial): one.figures for one in second}
    for figure in dict.fromkeys(figure for record in first for figure in record.figures):
        told = compare(first, second, figure, macro, figure in shares)
        if told is None:
            continue
        equal = all(one.figures.get(figure) == by_attempt[one.item, one.trial].get(figure) for one in first)
        gap = told.difference
        p = (_LEVEL if gap.clear else 1.0) if told.p is None else told.p
        low, high = (None if math.isnan(bound) else bound for bound in (gap.low, gap.high))
        verdict = "exactly" if equal else "within noise"
        yield Agreement(f"{name} {figure}", told.before, told.after, low, high, p, verdict)


def _tasks(then: Any, now: Any) -> Iterator[Agreement]:
    before, after = (run.data.tags.get("data.synth") for run in (then, now))
    if before and after:
        yield Agreement("tasks (data hash)", before, after, verdict="exactly" if before == after else "not")


def _evaluations(client: Any, then: Any, now: Any, folder: Path) -> Iterator[Agreement]:
    names, again = ([one.path for one in client.list_artifacts(run.info.run_id, ATTEMPTS)] for run in (then, now))
    for number, name in enumerate(names):
        label = Path(name).name.removesuffix(".json.gz")
        if name not in again:
            yield Agreement(f"{label} items", "recorded", "none", verdict="not")
            continue
        files = []
        for which, run in (("then", then), ("now", now)):
            place = folder / f"{which}-{number}"
            place.mkdir()
            files.append(Path(client.download_artifacts(run.info.run_id, name, str(place))))
        first, second = map(read_attempts, files)
        yield from paired(label, first.records, second.records, first.macro, first.shares)


def _trainings(client: Any, then: Any, now: Any) -> Iterator[Agreement]:
    for names in (_GRPO, _SFT):
        first, second = (_steps(client, run, names) for run in (then, now))
        if first or second:
            yield from paired("training", first, second)


def _steps(client: Any, run: Any, names: Iterable[str]) -> list[Record]:
    """A run's training as records, a step each."""
    steps: dict[int, dict[str, float]] = {}
    for name in names:
        if name in run.data.metrics:
            for point in client.get_metric_history(run.info.run_id, name):
                steps.setdefault(point.step, {})[name] = point.value
    return [Record(str(step), step, {}, 0, 0, None, figures, {}) for step, figures in sorted(steps.items())]
