"""Running a benchmark: attempts side by side, each with a deadline, scored in another process, kept as they end."""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from proverl.agent import Policy
from proverl.evals.benchmark import Benchmark, Item
from proverl.evals.isolated import Isolated, IsolatedError
from proverl.evals.listening import ListenedPolicy
from proverl.evals.record import Record, append_record, by_attempt, read_records, resume, write_records

Progress = Callable[[int, int, str], None]
UNSCORABLE = "could not be scored, counts as the floor"
_SCORE_SECONDS = 60.0
_HOPELESS = 16  # failures without any success


class EvaluationFailed(RuntimeError):
    """Every attempt fails. What was evaluated before is kept, and the same call goes on from there."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt that has no score, because the policy, the world or the clock failed."""

    item: str
    trial: int
    reason: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The records of a benchmark, in the order of items and trials, and the attempts that failed."""

    records: list[Record]
    failures: list[Failure]


def evaluate(
    benchmark: Benchmark,
    policy: Policy,
    folder: Path,
    seed: int = 0,
    progress: Progress = lambda done, total, note: None,
) -> Evaluation:
    """Let the policy do every item `benchmark.trials` times; records lie in `folder` as well.

    Attempts that `folder` already has are not made again; those that failed are, the next time. `progress` is called
    with the attempts done, their total and the mean so far. Raises EvaluationFailed when nothing but
    failures comes, ValueError when records in `folder` are of other items.
    """
    return asyncio.run(_Running(benchmark, policy, folder, seed, progress).run())


def score_again(benchmark: Benchmark, folder: Path) -> list[Record]:
    """Score the answers in `folder` anew, write the records back and return them. Raises as `read_records`."""
    return asyncio.run(_scored_again(benchmark, folder))


class _Running:
    """One evaluation: what is left to do, and where its records go."""

    def __init__(self, benchmark: Benchmark, policy: Policy, folder: Path, seed: int, progress: Progress) -> None:
        self.benchmark, self.policy, self.folder, self.seed, self.progress = benchmark, policy, folder, seed, progress
        self.items = benchmark.items()
        done = resume(folder)
        _check_same(self.items, done, folder)
        self.done = by_attempt(done)
        self.figures = [record.figures[benchmark.headline] for record in done]
        self.failures: list[Failure] = []
        self.slots = asyncio.Semaphore(benchmark.concurrency)

    async def run(self) -> Evaluation:
        """Run what is missing, as many attempts at a time as the settings allow."""
        self._report()
        missing = [
            (position, trial)
            for position, item in enumerate(self.items)
            for trial in range(self.benchmark.trials)
            if (item.id, trial) not in self.done
        ]
        if missing:
            async with Isolated(self.benchmark) as isolated:
                await asyncio.gather(*(self._one(isolated, *attempt) for attempt in missing))
        return Evaluation(resume(self.folder), self.failures)

    async def _one(self, isolated: Isolated, position: int, trial: int) -> None:
        item = self.items[position]
        async with self.slots:
            try:
                record = await self._attempted(isolated, position, trial)
            except Exception as error:  # the policy's, the world's, or the clock's
                told = f"{type(error).__name__}: {error}"
                self.failures.append(Failure(item.id, trial, told))
                if len(self.failures) >= _HOPELESS and not self.figures:
                    raise EvaluationFailed(f"the first {_HOPELESS} attempts failed, the last with {told}") from error
            else:
                append_record(record, self.folder)
                self.figures.append(record.figures[self.benchmark.headline])
        self._report()

    async def _attempted(self, isolated: Isolated, position: int, trial: int) -> Record:
        item, seed = self.items[position], self.seed * self.benchmark.trials + trial
        heard, start = ListenedPolicy(self.policy), time.monotonic()
        try:
            async with asyncio.timeout(self.benchmark.seconds) as clock:
                answer = await self.benchmark.attempt(item, heard, seed, isolated)
        except TimeoutError as error:
            late = f"took longer than evals.{self.benchmark.name}.seconds={self.benchmark.seconds:g}"
            raise TimeoutError(late) if clock.expired() else error from None
        record = Record(
            item=item.id,
            position=position,
            strata=dict(item.strata),
            trial=trial,
            seed=seed,
            answer=answer,
            figures={},
            floor={},
            messages=heard.messages,
            replies=heard.replies,
            calls=heard.calls,
            prompt_tokens=heard.prompt_tokens,
            completion_tokens=heard.completion_tokens,
            truncated=heard.truncated,
            seconds=time.monotonic() - start,
        )
        return await _scored(isolated, record)

    def _report(self) -> None:
        mean = f"{self.benchmark.headline} {fmean(self.figures):.3f}" if self.figures else ""
        failed = f"{len(self.failures)} failed" if self.failures else ""
        done = len(self.figures) + len(self.failures)
        self.progress(done, len(self.items) * self.benchmark.trials, ", ".join(filter(None, (mean, failed))))


async def _scored(isolated: Isolated, record: Record) -> Record:
    """The record with its figures, from a process that scores nothing else."""
    async with isolated.world() as world:
        floor = await world.run("floor_of", record.item, seconds=_SCORE_SECONDS)
        try:
            found = await world.run("score_of", record.item, record.answer, seconds=_SCORE_SECONDS)
        except (TimeoutError, IsolatedError) as error:
            found = {"figures": floor["figures"], "detail": f"{UNSCORABLE}: {error}"}
    return replace(record, figures=found["figures"], floor=floor["figures"], detail=found["detail"])


async def _scored_again(benchmark: Benchmark, folder: Path) -> list[Record]:
    records = read_records(folder)
    _check_same(benchmark.items(), records, folder)
    slots = asyncio.Semaphore(os.cpu_count() or 1)
    async with Isolated(benchmark) as isolated:

        async def one(record: Record) -> Record:
            async with slots:
                return await _scored(isolated, record)

        scored = await asyncio.gather(*(one(record) for record in records))
    write_records(scored, folder)
    return list(scored)


def _check_same(items: Sequence[Item], records: Sequence[Record], folder: Path) -> None:
    for record in records:
        if record.position >= len(items) or record.item != items[record.position].id:
            raise ValueError(f"{folder} holds records of other items, such as {record.item}; use another folder")
