"""The pipeline: walk a chain, write the turns, perturb, replay, trace, deduplicate. Deterministic by seed."""

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from random import Random
from typing import Literal

from proverl.agent import Limits
from proverl.core import Episode, Task
from proverl.synth.assemble import abstention, missing_function, multi_turn
from proverl.synth.chain import Chain, walk
from proverl.synth.config import SynthConfig
from proverl.synth.validate import Deduplicator, Unproven, check_sources, replay
from proverl.synth.values import NoValue

Split = Literal["train", "heldout"]

_FIRST_HELDOUT_WORLD = 1_000_000
_HELDOUT_SHARE = 5  # one chain in five is never trained on
_PATIENCE = 60  # tries per task before the settings are called impossible


class Impossible(ValueError):
    """The settings leave no task to make."""


def is_heldout(names: tuple[str, ...]) -> bool:
    """Whether a chain of tool names belongs to the held-out tasks; it follows from the names alone."""
    return hashlib.blake2b(" ".join(names).encode(), digest_size=8).digest()[0] % _HELDOUT_SHARE == 0


def candidate(config: SynthConfig, rng: Random, id: str, split: Split) -> Task | None:
    """One unvalidated task, or None when this draw led nowhere."""
    world = rng.randrange(config.worlds) + (_FIRST_HELDOUT_WORLD if split == "heldout" else 0)
    server = rng.choice(config.servers)
    draw = rng.random()
    if draw < config.abstention:
        others = [name for name in config.servers if name != server]
        foreign = walk(rng.choice(others), world, 1, rng) if others and rng.random() < 0.6 else None
        return abstention(foreign, server, world, config, rng, id)
    chain = _chain(server, world, config, rng, split)
    if chain is None:
        return None
    kind = missing_function if draw < config.abstention + config.clarification else multi_turn
    return kind(chain, config, rng, id)


def _chain(server: str, world: int, config: SynthConfig, rng: Random, split: Split) -> Chain | None:
    chain = walk(server, world, rng.randint(*config.chain_length), rng)
    return chain if chain is not None and is_heldout(chain.names) == (split == "heldout") else None


def stream(config: SynthConfig, seed: int, split: Split, limits: Limits) -> Iterator[tuple[Task, Episode]]:
    """Endless validated tasks with the oracle's episode on each, not yet deduplicated.

    Raises Impossible when no draw passes validation for a long time; the message says what failed last.
    """
    loop = asyncio.new_event_loop()
    try:
        number, failed, last = 0, 0, "no chain of the wanted length was found"
        while True:
            rng = Random(f"{seed}:{split}:{number}")
            number += 1
            try:
                task = candidate(config, rng, f"{split}-{seed}-{number}", split)
                if task is not None:
                    episode = loop.run_until_complete(replay(task, limits))
                    check_sources(task, episode)
                    check_size(task, episode, config)
                    failed = 0
                    yield task, episode
                    continue
            except (Unproven, NoValue) as error:
                last = str(error)
            failed += 1
            if failed >= _PATIENCE * 10:
                raise Impossible(f"no task passed validation in {failed} tries on {config.servers}; the last: {last}")
    finally:
        loop.close()


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
    count: int,
    limits: Limits,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Task]:
    """`count` distinct tasks of a split, each proven by replay. The same arguments give the same tasks.

    `progress` is called with the number of tasks so far. Raises Impossible when the settings cannot give that many.
    """
    tasks: list[Task] = []
    unique = Deduplicator(config.jaccard)
    rejected = 0
    for task, episode in stream(config, seed, split, limits):
        if len(tasks) == count:
            break
        if not unique.is_new(task, episode):
            rejected += 1
            if rejected > _PATIENCE * max(count, 10):
                raise Impossible(
                    f"only {len(tasks)} of {count} tasks differ enough; ask for fewer or widen synth.worlds"
                )
            continue
        tasks.append(task)
        progress(len(tasks))
    return tasks
