"""The card that goes with a checkpoint of the tiny model."""

from collections.abc import Mapping, Sequence
from pathlib import Path

_CARD = """---
license: apache-2.0
---

# Tiny tool caller

A Qwen3-shaped model of about 1.2 million parameters with its own tokenizer, for trying the `proverl` pipeline on a
machine without GPU. It knows nothing of the world and is of no other use.

It was trained from random weights by supervised learning on {tokens:,} tokens of scripted demonstrations (stages:
{stages}; seed {seed}): conversations in which a script performs the expected calls, with invented tools first and tools
of live servers later. No text of any person or language model is in the data. Training stopped early on purpose, so
that reinforcement learning has something to improve.

On {held_out} demonstrations it never saw, under teacher forcing: {digits:.1%} of the digits, {calls:.1%} of the
messages with calls and {episodes:.1%} of the whole conversations are exactly right; mean loss {loss:.3f} nats a token.

To make it again: `python -m experiments.run experiment=tiny_warmstart`.
"""


def write_card(
    folder: Path, seed: int, tokens: int, stages: Sequence[str], held_out: int, shares: Mapping[str, float]
) -> None:
    """Write README.md into a checkpoint's folder."""
    text = _CARD.format(seed=seed, tokens=tokens, stages=", ".join(stages), held_out=held_out, **shares)
    (folder / "README.md").write_text(text, encoding="utf-8")
