"""Running a benchmark: attempts side by side, each with a deadline, scored in another process, kept as they end."""

import asyncio
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean

from proverl.agent import Policy
from proverl.evals.benchmark import Benchmark, Item
from proverl.evals.isolated import Isolated, IsolatedError, World
from proverl.evals.listening import ListenedPolicy
from proverl.evals.record import Record, append_line, as_line, by_attempt, resume

Progress = Callable[[int, int, str], None]
UNSCORABLE = "could not be scored, counts as the floor"
_SCORE_SECONDS = 60.0
_HOPELESS = 16  # failures without any success
_MOST_FAILED = 0.05  # of all attempts; above, the evaluation is not finished
_LONGEST_REASON = 500  # characters; an endpoint may answer with a page
FAILURES = "failures.json"
ABOUT = "evaluation.json"  # who was evaluated, and how; whoever starts an evaluation writes it


class EvaluationFailed(RuntimeError):
    """Too many attempts failed. What was evaluated is kept, and the same call goes on from there."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt without a score: the policy or the world failed twice, or the clock ran out."""

    item: str
    trial: int
    reason: str


class _Late(Exception):
    """An attempt missed its deadline."""


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

    Attempts that `folder` already has are not made again. One that fails is made once more, then left out and counted.
    `progress` is called with the attempts done, their total and the mean so far. Raises EvaluationFailed when over 5%
    of the attempts fail, ValueError when records in `folder` are of other items or the benchmark's items make no sense.
    """
    return asyncio.run(_Running(benchmark, policy, folder, seed, progress).run())


def score(benchmark: Benchmark, records: Sequence[Record]) -> list[Record]:
    """The records with the figures that their answers have now. Raises ValueError when they are of other items."""
    return asyncio.run(_all_scored(benchmark, records))


class _Running:
    """One evaluation: what is left to do, and where its records go."""

    def __init__(self, benchmark: Benchmark, policy: Policy, folder: Path, seed: int, progress: Progress) -> None:
        self.benchmark, self.policy, self.folder, self.seed, self.progress = benchmark, policy, folder, seed, progress
        self.items = benchmark.distinct_items()
        done = resume(folder)
        _check_same(self.items, done, folder)
        self.done = by_attempt(done)
        self.figures = [record.figures[benchmark.headline] for record in done]
        self.failures: list[Failure] = []
        self.hopeless = ""
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
                self.scorers = _Scorers(isolated)
                await asyncio.gather(*(self._one(isolated, *attempt) for attempt in missing))
        (self.folder / FAILURES).write_text(json.dumps([asdict(failure) for failure in self.failures], indent=1) + "\n")
        if self.hopeless:
            raise EvaluationFailed(self.hopeless)
        most = _MOST_FAILED * len(self.items) * self.benchmark.trials
        if len(self.failures) > most:
            worst = self.failures[-1]
            raise EvaluationFailed(
                f"{len(self.failures)} of {len(self.items) * self.benchmark.trials} attempts failed, the last one "
                f"({worst.item}) with {worst.reason}"
            )
        return Evaluation(resume(self.folder), self.failures)

    async def _one(self, isolated: Isolated, position: int, trial: int) -> None:
        item = self.items[position]
        async with self.slots:
            if self.hopeless:
                return
            for last in (False, True):
                try:
                    record = await self._attempted(isolated, position, trial)
                    line = as_line(record)
                except Exception as error:  # the policy's, the world's, or the clock's
                    if last or isinstance(error, _Late):
                        self._failed(Failure(item.id, trial, _sentence(error)))
                        break
                else:
                    append_line(line, self.folder)
                    self.figures.append(record.figures[self.benchmark.headline])
                    break
        self._report()

    def _failed(self, failure: Failure) -> None:
        self.failures.append(failure)
        if len(self.failures) >= _HOPELESS and not self.figures:
            self.hopeless = f"the first {len(self.failures)} attempts failed, the last one with {failure.reason}"

    async def _attempted(self, isolated: Isolated, position: int, trial: int) -> Record:
        item, seed = self.items[position], self.seed * self.benchmark.trials + trial
        heard, start = ListenedPolicy(self.policy), time.monotonic()
        try:
            async with asyncio.timeout(self.benchmark.seconds) as clock:
                answer = await self.benchmark.attempt(item, heard, seed, isolated)
        except TimeoutError:
            if clock.expired():
                raise _Late(f"longer than evals.{self.benchmark.name}.seconds={self.benchmark.seconds:g}") from None
            raise
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
        return await self.scorers.score(record)

    def _report(self) -> None:
        mean = f"{self.benchmark.headline} {fmean(self.figures):.3f}" if self.figures else ""
        failed = f"{len(self.failures)} failed" if self.failures else ""
        done = len(self.figures) + len(self.failures)
        self.progress(done, len(self.items) * self.benchmark.trials, ", ".join(filter(None, (mean, failed))))


class _Scorers:
    """Processes that score, one for each core. One that an answer ended or kept busy for too long is replaced."""

    def __init__(self, isolated: Isolated) -> None:
        self._isolated = isolated
        self._slots = asyncio.Semaphore(os.cpu_count() or 1)
        self._free: list[World] = []

    async def score(self, record: Record) -> Record:
        """The record with the figures that a process gives it."""
        async with self._slots:
            world = self._free.pop() if self._free else await self._isolated.open()
            floor: dict[str, float] | None = None
            try:
                floor = (await world.run("floor_of", record.item, seconds=_SCORE_SECONDS))["figures"]
                found = await world.run("score_of", record.item, record.answer, seconds=_SCORE_SECONDS)
                self._free.append(world)
            except BaseException as error:
                world.kill()
                if floor is None or not isinstance(error, TimeoutError | IsolatedError):
                    raise
                found = {"figures": floor, "detail": f"{UNSCORABLE}: {error}"}
        return replace(record, figures=found["figures"], floor=floor, detail=found["detail"])


async def _all_scored(benchmark: Benchmark, records: Sequence[Record]) -> list[Record]:
    _check_same(benchmark.items(), records, "what is to be scored")
    async with Isolated(benchmark) as isolated:
        scorers = _Scorers(isolated)
        return list(await asyncio.gather(*(scorers.score(record) for record in records)))


def read_failures(folder: Path) -> list[Failure]:
    """The attempts that failed in the evaluation kept in `folder`."""
    path = folder / FAILURES
    return [Failure(**told) for told in json.loads(path.read_text())] if path.exists() else []


def _sentence(error: Exception) -> str:
    kind = "" if isinstance(error, _Late) else f"{type(error).__name__}: "
    return f"{kind}{' '.join(str(error).split())}"[:_LONGEST_REASON]


def _check_same(items: Sequence[Item], records: Sequence[Record], source: Path | str) -> None:
    for record in records:
        if record.position >= len(items) or record.item != items[record.position].id:
            raise ValueError(f"{source} holds records of other items, such as {record.item}; use another folder")
