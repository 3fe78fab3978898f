"""The pipeline: walk a chain, write the turns, perturb, replay, trace, deduplicate. Deterministic by seed."""

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Literal

from proverl.agent import Limits
from proverl.core import Episode, Task, TaskKind
from proverl.synth.assemble import abstention, missing_function, multi_turn
from proverl.synth.chain import walk
from proverl.synth.config import SynthConfig
from proverl.synth.validate import Deduplicator, Unproven, check_effect, check_sources, replay
from proverl.synth.values import NoValue

Split = Literal["train", "heldout"]

_FIRST_HELDOUT_WORLD = 1_000_000
_HELDOUT_SHARE = 5  # one chain in five is never trained on
_PATIENCE = 2_000  # draws for one task before the settings are called impossible
_FOREIGN = 0.6  # share of abstention tasks that ask for another server's tool


class Impossible(ValueError):
    """The settings leave no task to make."""


def is_heldout(names: tuple[str, ...]) -> bool:
    """Whether a chain of tool names belongs to the held-out tasks; it follows from the names alone."""
    return hashlib.blake2b(" ".join(names).encode(), digest_size=8).digest()[0] % _HELDOUT_SHARE == 0


def draw_kind(config: SynthConfig, rng: Random) -> TaskKind:
    """The kind of the next task, by the configured shares."""
    draw = rng.random()
    if draw < config.abstention:
        return TaskKind.ABSTENTION
    return TaskKind.CLARIFICATION if draw < config.abstention + config.clarification else TaskKind.MULTI_TURN


def candidate(config: SynthConfig, kind: TaskKind, rng: Random, id: str, split: Split) -> Task | None:
    """One unvalidated task, or None when this draw led nowhere."""
    world = rng.randrange(config.worlds) + (_FIRST_HELDOUT_WORLD if split == "heldout" else 0)
    server = rng.choice(config.servers)
    if kind == TaskKind.ABSTENTION:
        others = [name for name in config.servers if name != server]
        foreign = walk(rng.choice(others), world, 1, rng) if others and rng.random() < _FOREIGN else None
        return abstention(foreign, server, world, config, rng, id)
    chain = walk(server, world, rng.randint(*config.chain_length), rng)
    if chain is None or is_heldout(chain.names) != (split == "heldout"):
        return None
    return (missing_function if kind == TaskKind.CLARIFICATION else multi_turn)(chain, config, rng, id)


def stream(config: SynthConfig, seed: int, split: Split, limits: Limits) -> Iterator[tuple[Task, Episode]]:
    """Endless validated tasks with the oracle's episode on each, not yet deduplicated.

    Raises Impossible when no draw passes validation for a long time; the message says what failed last.
    """
    with asyncio.Runner() as runner:
        for number in count():
            rng = Random(f"{seed}:{split}:{number}")
            kind = draw_kind(config, rng)
            yield _prove(config, kind, rng, f"{split}-{seed}-{number}", split, limits, runner)


def _prove(
    config: SynthConfig, kind: TaskKind, rng: Random, id: str, split: Split, limits: Limits, runner: asyncio.Runner
) -> tuple[Task, Episode]:
    """Draw until a task of this kind passes every check."""
    last = "no chain of the wanted length was found"
    for _ in range(_PATIENCE):
        try:
            task = candidate(config, kind, rng, id, split)
            if task is not None:
                episode = runner.run(replay(task, limits))
                check_effect(task, episode)
                check_sources(task, episode)
                check_size(task, episode, config)
                return task, episode
        except (Unproven, NoValue) as error:
            last = str(error)
    raise Impossible(f"no {kind} task passed validation in {_PATIENCE} tries on {', '.join(config.servers)}: {last}")


def check_size(task: Task, episode: Episode, config: SynthConfig) -> None:
    """Raise Unproven when the oracle's episode is longer than the configured number of characters."""
    if not config.max_characters:
        return
    signatures = sum(len(name) + 1 for tool in task.tools for name in (tool.name, *tool.parameters["properties"]))
    spoken = sum(len(str(message.get("content") or "")) for message in episode.messages)
    called = sum(len(str(record.call)) for record in episode.calls)
    if signatures + spoken + called > config.max_characters:
        raise Unproven(f"{task.id}: {signatures + spoken + called} characters, over synth.max_characters")


def synthesize(
    config: SynthConfig,
    seed: int,
    split: Split,
    size: int,
    limits: Limits,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Task]:
    """`size` distinct tasks of a split, each proven by replay. The same arguments give the same tasks.

    `progress` is called with the number of tasks so far. Raises Impossible when the settings cannot give that many.
    """
    tasks: list[Task] = []
    unique = Deduplicator(config.jaccard)
    for drawn, (task, episode) in enumerate(stream(config, seed, split, limits)):
        if unique.is_new(task, episode):
            tasks.append(task)
            progress(len(tasks))
        if len(tasks) == size:
            break
        if drawn > 20 * (size + 10):
            raise Impossible(f"only {len(tasks)} of {size} tasks differ enough; ask for fewer or more synth.worlds")
    return tasks
