"""Demonstrations from live servers: the oracle's episodes on synthesized training tasks (never on held-out ones)."""

from collections.abc import Sequence
from itertools import islice

from proverl.agent import Limits
from proverl.synth import SynthConfig, stream
from proverl.trainer.tiny.curriculum import Demonstration, Stage


def live_demonstrations(stage: Stage, seed: int, count: int) -> Sequence[Demonstration]:
    """`count` demonstrations in the shape of a stage, the same for the same arguments."""
    config = SynthConfig(
        chain_length=stage.calls,
        user_turns=stage.turns,
        max_tools=stage.tools[1],
        abstention=stage.refuse / 2,
        clarification=stage.refuse / 2,
        information=(0.8, 0.1, 0.1) if stage.turns[1] > 1 else (1.0, 0.0, 0.0),
    )
    proven = islice(stream(config, seed, "train", Limits()), count)
    return [Demonstration(episode.messages, task.tools) for task, episode in proven]
