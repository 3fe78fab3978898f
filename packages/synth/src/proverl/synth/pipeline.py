"""From settings to a dataset: blocks made side by side, merged in one order, without near-duplicates.

Every finished block is kept on disk until the dataset is complete, so a killed run goes on where it was, and since
blocks know nothing of each other, it ends with the same bytes.
"""

import asyncio
import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from itertools import chain, count, islice, repeat, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proverl.agent import Limits
from proverl.core import Episode, Task, TaskKind, task_from_json
from proverl.synth.block import BlockMaker, Split, kind_at
from proverl.synth.config import SynthConfig
from proverl.synth.data.abstention import SourceUnreachable, load_abstention
from proverl.synth.data.dataset import task_row, write_rows
from proverl.synth.data.own import read_own_tasks
from proverl.synth.processes import Processes
from proverl.synth.reasons import Reason
from proverl.synth.scene import Teacher
from proverl.synth.teachers.scripted import ScriptedTeacher
from proverl.synth.validate import Deduplicator, signature

TRAIN, HELDOUT, COUNTS = "train.parquet", "heldout.parquet", "counts.json"
_PARTS = "parts"
_BARREN = 12  # blocks of a server in a row that bring nothing new before it is taken to have no more

Progress = Callable[[int, str], None]


class Impossible(ValueError):
    """The settings leave no task to make."""


@dataclass(frozen=True)
class Workers:
    """Who makes blocks: processes here, or those of the Ray cluster at an address ("auto" finds it)."""

    processes: int = 1
    ray: str = ""

    @contextmanager
    def map(self) -> Iterator[Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]]:
        """An ordered, lazy map over them."""
        if self.ray:
            from ray.util.multiprocessing import Pool

            with Pool(ray_address=self.ray) as pool:
                yield lambda function, items: _raised(pool.imap(function, items, chunksize=1))
        elif self.processes > 1:
            with Processes(self.processes) as pool:
                yield pool.map
        else:
            yield map


def _raised(results: Iterable[Any]) -> Iterator[Any]:
    """Results of Ray's pool, which hands over the errors of its workers like results."""
    for result in results:
        if isinstance(result, Exception):
            raise getattr(result, "underlying", result)
        yield result


@dataclass(frozen=True)
class _Order:
    """A block to make, with everything that a worker needs."""

    config: SynthConfig
    seed: int
    limits: Limits
    teacher: Teacher
    split: Split
    server: str
    number: int

    @property
    def file(self) -> str:
        return f"{self.split}-{self.server}-{self.number:05d}.jsonl"


@lru_cache(maxsize=1)
def _loop() -> asyncio.Runner:
    return asyncio.Runner()  # one per process: an endpoint's connections belong to a loop


def _make(order: _Order) -> tuple[str, str]:
    """The file name and the text of a block: what was dropped, then one line a task."""
    maker = BlockMaker(order.config, order.seed, order.limits, order.teacher)
    block = _loop().run(maker.make(order.split, order.server, order.number))
    lines = [json.dumps({"dropped": block.dropped})]
    for made in block.made:
        mark = sorted(signature(made.task, made.episode.calls))
        lines.append(json.dumps({"kind": made.task.kind, "signature": mark, "row": task_row(made.task)}))
    return order.file, "\n".join(lines) + "\n"


@dataclass
class _Stream:
    """The tasks of one server: what is still wanted, what was taken, and what was dropped."""

    server: str
    wanted: Counter[str]
    unique: Deduplicator
    taken: list[tuple[str, int]] = field(default_factory=list)  # file and line
    dropped: Counter[str] = field(default_factory=Counter)
    blocks: int = 0
    barren: int = 0
    ceded: int = 0  # tasks that others make in its place

    @property
    def left(self) -> int:
        """Tasks still wanted."""
        return sum(self.wanted.values())

    def merge(self, file: Path) -> int:
        """Take from a block what is wanted and new; return how many."""
        before = len(self.taken)
        lines = file.read_text().splitlines()
        self.dropped.update(json.loads(lines[0])["dropped"])
        for number, line in enumerate(lines[1:], 1):
            row = json.loads(line)
            if not self.wanted[row["kind"]]:
                continue
            if self.unique.is_new(frozenset(row["signature"])):
                self.wanted[row["kind"]] -= 1
                self.taken.append((file.name, number))
            else:
                self.dropped[Reason.SIMILAR] += 1
        self.barren = 0 if len(self.taken) > before else self.barren + 1
        return len(self.taken) - before

    def rows(self, folder: Path) -> Iterator[dict[str, Any]]:
        """The rows of the taken tasks in order, one block in memory at a time."""
        name, lines = "", list[str]()
        for file, number in self.taken:
            if file != name:
                name, lines = file, (folder / file).read_text().splitlines()
            yield json.loads(lines[number])["row"]


@dataclass
class Synthesis:
    """One synthesis; `seed` and settings determine every byte of it."""

    config: SynthConfig
    seed: int
    limits: Limits
    teacher: Teacher = field(default_factory=ScriptedTeacher)
    workers: Workers = field(default_factory=Workers)
    progress: Progress = lambda done, note: None

    def __post_init__(self) -> None:
        self.unique = Deduplicator(self.config.jaccard)

    def split(self, split: Split, size: int, folder: Path, abstentions: int = 0) -> list[_Stream]:
        """Make blocks under `folder` until every server has its share of `size` tasks.

        `abstentions` of them are there already. What one split has, another will not have again. Raises Impossible
        when the servers together cannot give that many different ones.
        """
        folder.mkdir(parents=True, exist_ok=True)
        config = self.config.of(split)
        streams = self._streams(config.servers, size, abstentions)
        started, before = time.monotonic(), 0
        with self.workers.map() as pool:
            while any(stream.left for stream in streams):
                orders = self._orders(config, split, streams)
                for stream, file in self._made(pool, orders, folder, streams):
                    stream.merge(file)
                    done = size - sum(other.left for other in streams)
                    before = before or done
                    self.progress(done, _note(done - before, size - done, time.monotonic() - started, streams))
                self._cede(split, streams)
        return streams

    def _streams(self, servers: Sequence[str], size: int, abstentions: int) -> list[_Stream]:
        """One stream a server, each with its share of every kind."""
        kinds = Counter(kind_at(self.config, number) for number in range(size))
        kinds[TaskKind.ABSTENTION] -= abstentions
        wanted = [Counter[str]() for _ in servers]
        # dealt kind by kind, so that no server has more than one of a kind above another
        for number, kind in enumerate(chain.from_iterable(repeat(kind, kinds[kind]) for kind in TaskKind)):
            wanted[number % len(servers)][kind] += 1
        return [_Stream(server, part, self.unique) for server, part in zip(servers, wanted, strict=True)]

    def _orders(self, config: SynthConfig, split: Split, streams: Sequence[_Stream]) -> list[tuple[_Stream, _Order]]:
        """The next blocks, as many as should do, the servers in turn."""
        rows: list[list[tuple[_Stream, _Order]]] = []
        for stream in streams:
            number = -(-stream.left // self.config.tasks_per_world)
            blocks = islice((block for block in count(stream.blocks) if self._helps(stream, block)), number)
            row = [
                (stream, _Order(config, self.seed, self.limits, self.teacher, split, stream.server, block))
                for block in blocks
            ]
            stream.blocks = row[-1][1].number + 1 if row else stream.blocks
            rows.append(row)
        return [pair for column in zip_longest(*rows) for pair in column if pair]

    def _helps(self, stream: _Stream, block: int) -> bool:
        """Whether a block has places for a kind that is still wanted."""
        size = self.config.tasks_per_world
        return any(stream.wanted[kind_at(self.config, place)] for place in range(block * size, (block + 1) * size))

    def _made(
        self, pool: Any, orders: Sequence[tuple[_Stream, _Order]], folder: Path, streams: Sequence[_Stream]
    ) -> Iterator[tuple[_Stream, Path]]:
        """Blocks in order; those on disk are not made again."""
        todo = [order for _, order in orders if not (folder / order.file).exists()]
        fresh = pool(_make, todo)
        for stream, order in orders:
            path = folder / order.file
            if not path.exists():
                name, text = next(fresh)
                partial_path = folder / f"{name}.partial"
                partial_path.write_text(text)
                partial_path.replace(path)
            yield stream, path

    def _cede(self, split: Split, streams: Sequence[_Stream]) -> None:
        """Let other servers make what one has no more of (a server of few tools has few chains)."""
        for stream in streams:
            if not stream.left or stream.barren < _BARREN:
                continue
            others = [other for other in streams if other.barren < _BARREN]
            if not others:
                why = ", ".join(f"{reason} ({number})" for reason, number in stream.dropped.most_common(3))
                made = sum(len(one.taken) for one in streams)
                raise Impossible(
                    f"{' and '.join(one.server for one in streams)} gave {made} {split} tasks that differ enough and "
                    f"no more {next(iter(+stream.wanted))} ones; ask for fewer with synth.{split}_tasks, or name more "
                    f"servers. Most draws were dropped because: {why}"
                )
            for number, kind in enumerate(stream.wanted.elements()):
                others[number % len(others)].wanted[kind] += 1
            stream.ceded += stream.left
            stream.wanted.clear()


def _note(done: int, left: int, seconds: float, streams: Sequence[_Stream]) -> str:
    kept = sum(len(stream.taken) for stream in streams)
    drawn = kept + sum(stream.dropped.total() for stream in streams)
    rate = done / seconds if seconds else 0.0
    rest = f", {left / rate:.0f} s left" if rate else ""
    return f"{rate:.0f} tasks/s, {kept / max(drawn, 1):.0%} of draws kept{rest}"


def synthesize(
    config: SynthConfig, seed: int, split: Split, size: int, limits: Limits, teacher: Teacher | None = None
) -> list[Task]:
    """`size` distinct tasks of a split, each proven by replay, made in this process. Raises Impossible."""
    synthesis = Synthesis(config, seed, limits, teacher or ScriptedTeacher())
    with TemporaryDirectory() as folder:
        streams = synthesis.split(split, size, Path(folder))
        return [task_from_json(row["task"]) for row in _interleaved(streams, Path(folder))]


def _interleaved(streams: Sequence[_Stream], folder: Path, further: Sequence[Task] = ()) -> Iterator[dict[str, Any]]:
    """Rows of the servers and of the further tasks in turn."""
    for group in zip_longest(*(stream.rows(folder) for stream in streams), map(task_row, further)):
        yield from (row for row in group if row is not None)


def write_dataset(synthesis: Synthesis, folder: Path) -> None:
    """Write train.parquet, heldout.parquet and counts.json; goes on with the blocks that a killed run left in `folder`.

    Raises Impossible when the settings cannot give that many tasks, InvalidTasks when `own_tasks` cannot be used.
    """
    config, parts = synthesis.config, folder / _PARTS
    if (folder / COUNTS).exists():  # written last: a run that was killed later has nothing left to make
        shutil.rmtree(parts, ignore_errors=True)
        return
    counts: dict[str, Any] = {"seed": synthesis.seed, "settings": asdict(config), "teacher": synthesis.teacher.name}
    own = read_own_tasks(Path(config.own_tasks), synthesis.limits) if config.own_tasks else []
    outside, counts["outside"] = _outside(config, synthesis.seed)
    sizes: dict[Split, int] = {"train": config.train_tasks, "heldout": config.heldout_tasks}
    report = synthesis.progress
    total = 0
    for split, file in (("train", TRAIN), ("heldout", HELDOUT)):
        size = sizes[split]  # type: ignore[index]
        synthesis.progress = partial(_shifted, report, total, split)
        further = [*own, *outside] if split == "train" else []
        streams = synthesis.split(split, size, parts, len(outside) if split == "train" else 0)  # type: ignore[arg-type]
        write_rows(_interleaved(streams, parts, further), folder / file)
        counts[split] = _counted(streams) | {"own": len(own), "outside": len(outside)} if further else _counted(streams)
        total += size
    partial_path = folder / f"{COUNTS}.partial"
    partial_path.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n")
    partial_path.replace(folder / COUNTS)
    shutil.rmtree(parts)


def _outside(config: SynthConfig, seed: int) -> tuple[list[Task], dict[str, str]]:
    """Abstention tasks of other data sets, and what became of each source; what is missing is made here."""
    tasks: list[Task] = []
    told: dict[str, str] = {}
    asked = {"when2call": config.when2call, "xlam_irrelevance": config.xlam_irrelevance}
    room, total = round(config.train_tasks * config.abstention), sum(asked.values())
    for source, number in asked.items():
        wanted = number * room // total if total > room else number
        if not wanted:
            continue
        try:
            found = load_abstention(source, wanted, seed)
            tasks += found
            told[source] = f"{len(found)} of {wanted} tasks"
        except SourceUnreachable as error:
            told[source] = f"none of {wanted} tasks: {error}"
    return tasks, told


def _shifted(report: Progress, total: int, split: str, done: int, note: str) -> None:
    report(total + done, f"{split}: {note}")


def _counted(streams: Sequence[_Stream]) -> dict[str, Any]:
    dropped = sum((stream.dropped for stream in streams), Counter[str]())
    kept = sum(len(stream.taken) for stream in streams)
    return {
        "candidates": kept + dropped.total(),
        "kept": kept,
        "dropped": {str(k): dropped[k] for k in sorted(dropped)},
        "ceded": {stream.server: stream.ceded for stream in streams if stream.ceded},
    }


def stream(config: SynthConfig, seed: int, split: Split, limits: Limits) -> Iterator[tuple[Task, Episode]]:
    """Endless validated tasks with the oracle's episode on each, the servers in turn, not deduplicated."""
    config = config.of(split)
    maker = BlockMaker(config, seed, limits, ScriptedTeacher())
    for number in count():
        blocks = [_loop().run(maker.make(split, server, number)) for server in config.servers]
        for group in zip_longest(*(block.made for block in blocks)):
            yield from ((made.task, made.episode) for made in group if made is not None)
