"""One block of tasks: what one start state of one server gives. Blocks know nothing of each other.

So they can be made anywhere in any order, and the same block has the same bytes.
"""

import hashlib
from asyncio import gather
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from proverl.agent import Limits
from proverl.core import Episode, Task, TaskKind
from proverl.synth.assemble import Assembly
from proverl.synth.chains.walk import walk
from proverl.synth.config import SynthConfig
from proverl.synth.data.overlap import repeats_benchmark
from proverl.synth.graphs.graph import visible_tools
from proverl.synth.plan import draw_information
from proverl.synth.reasons import Reason, Unproven
from proverl.synth.scene import Information, Teacher
from proverl.synth.teachers.unrelated import unrelated
from proverl.synth.validate import check_sources, replay

Split = Literal["train", "heldout"]

_FIRST_HELDOUT_WORLD = 1_000_000
_HELDOUT_SHARE = 5  # one chain in five is never trained on
_TRIES = 90  # draws for one task before its place in the block stays empty
_AIMED = (15, 70)  # draws that must have both of the wanted tools, and one of them
_FOREIGN = 0.6  # share of abstention tasks that ask for another server's tool


@dataclass(frozen=True)
class Made:
    """A validated task with the oracle's episode on it."""

    task: Task
    episode: Episode


@dataclass
class Block:
    """The tasks of one block, and how many draws were dropped for which reason."""

    made: list[Made] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def is_heldout(names: tuple[str, ...]) -> bool:
    """Whether a chain of tool names belongs to the held-out tasks; it follows from the names alone."""
    return hashlib.blake2b(" ".join(names).encode(), digest_size=8).digest()[0] % _HELDOUT_SHARE == 0


def kind_at(config: SynthConfig, place: int) -> TaskKind:
    """The kind of the task at a place of a server: spread evenly, so that any n in a row have the configured shares."""
    special = config.abstention + config.clarification
    earlier = _upto(place, special)
    if _upto(place + 1, special) == earlier:
        return TaskKind.MULTI_TURN
    share = config.abstention / special
    return TaskKind.ABSTENTION if _upto(earlier + 1, share) > _upto(earlier, share) else TaskKind.CLARIFICATION


def _upto(number: int, share: float) -> int:
    """How many of the first `number` are of a kind with this share."""
    return int(number * share + 0.5)


@dataclass(frozen=True)
class BlockMaker:
    """Makes blocks with one teacher."""

    config: SynthConfig
    seed: int
    limits: Limits
    teacher: Teacher

    async def make(self, split: Split, server: str, number: int) -> Block:
        """Block `number` of a server: at most `tasks_per_world` tasks, fewer when draws lead nowhere."""
        block = Block()
        size = self.config.tasks_per_world
        places = range(number * size, (number + 1) * size)
        # side by side: a teacher behind an endpoint takes seconds to answer
        made = await gather(*(self._draw(split, server, number, place, block.dropped) for place in places))
        block.made += [item for item in made if item is not None]
        return block

    async def _draw(self, split: Split, server: str, number: int, place: int, dropped: Counter[str]) -> Made | None:
        rng = Random(f"{self.seed}:{split}:{server}:{place}")
        kind = kind_at(self.config, place)
        world = number + (_FIRST_HELDOUT_WORLD if split == "heldout" else 0)
        information = draw_information(self.config, rng)
        question = unrelated(rng) if rng.random() < self.config.irrelevant else ""
        refusing = kind == TaskKind.MULTI_TURN and rng.random() < self.config.recovery
        targets = [] if refusing else _targets(server, place)
        for attempt in range(_TRIES):
            aims = targets[: sum(attempt < bound for bound in _AIMED)]
            draw = _Draw(self, split, server, world, f"{split}-{self.seed}-{server}-{place}", aims, refusing, rng)
            try:
                task = await draw.task(kind, information, question)
                check_sources(task)
                episode = await replay(task, self.limits)
                check_size(task, episode, self.config)
                if repeats_benchmark(task):
                    raise Unproven(Reason.OVERLAP)
                return Made(task, episode)
            except Unproven as error:
                dropped[error.reason] += 1
        return None


def _targets(server: str, place: int) -> list[str]:
    """Two tools that the task at this place is to have, so that every tool has its turn twice."""
    tools = [tool.name for tool in visible_tools(server)]
    first, lap = place % len(tools), place // len(tools)
    second = (first + 1 + lap % (len(tools) - 1)) % len(tools) if len(tools) > 1 else first
    return list(dict.fromkeys((tools[first], tools[second])))


@dataclass(frozen=True)
class _Draw:
    """One try at a task."""

    maker: BlockMaker
    split: Split
    server: str
    world: int
    id: str
    targets: Sequence[str]
    refusing: bool
    rng: Random

    async def task(self, kind: TaskKind, information: Information, question: str) -> Task:
        """An unvalidated task. Raises Unproven when this draw leads nowhere."""
        config, rng = self.maker.config, self.rng
        assembly = Assembly(config, self.maker.teacher, rng, self.id)
        if kind == TaskKind.ABSTENTION:
            others = [name for name in config.servers if name != self.server]
            asks = others and rng.random() < _FOREIGN
            foreign = walk(rng.choice(others), self.world, 1, rng, indirect=config.indirect) if asks else None
            return await assembly.abstention(foreign, self.server, self.world)
        length = rng.randint(*config.chain_length)
        chain = walk(
            self.server,
            self.world,
            length,
            rng,
            indirect=config.indirect,
            targets=self.targets[:length],
            refusing=self.refusing,
        )
        if chain is None:
            raise Unproven(Reason.STUCK)
        if is_heldout(chain.names) != (self.split == "heldout"):
            raise Unproven(Reason.WRONG_SPLIT)
        if kind == TaskKind.CLARIFICATION:
            task = await assembly.missing_function(chain)
        else:
            task = await assembly.multi_turn(chain, information, question)
        made = tuple(step.name for step in task.ground_truth.steps)
        # what is expected may be less than the chain, or, with some teachers, other than planned
        if made and is_heldout(made) != (self.split == "heldout"):
            raise Unproven(Reason.WRONG_SPLIT)
        return task


def check_size(task: Task, episode: Episode, config: SynthConfig) -> None:
    """Raise Unproven when the oracle's episode is longer than the configured number of characters."""
    if not config.max_characters:
        return
    signatures = sum(len(name) + 1 for tool in task.tools for name in (tool.name, *tool.parameters["properties"]))
    spoken = sum(len(str(message.get("content") or "")) for message in episode.messages)
    called = sum(len(str(record.call)) for record in episode.calls)
    if signatures + spoken + called > config.max_characters:
        raise Unproven(Reason.TOO_LONG, f"{signatures + spoken + called} characters")
