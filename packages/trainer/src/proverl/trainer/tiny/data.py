"""Demonstrations to batches: tokens with a mask over what the model writes, in blocks of similar length.

Block `n` of a stage depends on the seed, the stage and `n` alone, so a resumed run sees the batches that an unbroken
one would have seen. A second process makes the blocks while the first one trains.
"""

import multiprocessing
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from random import Random

import numpy as np
from transformers import PreTrainedTokenizerFast
from transformers.utils.chat_template_utils import render_jinja_template

from proverl.agent import render_tools, tiny_chat_template
from proverl.trainer.tiny.curriculum import Demonstration, Source, Stage
from proverl.trainer.tiny.invented import invented
from proverl.trainer.tiny.tokenizer import ASSISTANT, END

BLOCK = 256  # demonstrations, sorted by length among themselves
AHEAD = 3  # blocks under way while one is trained on


@dataclass(frozen=True, slots=True)
class Batch:
    """`ids` (rows, longest) int64, padded at the end; `mask` of the same shape is true on tokens the model writes."""

    ids: np.ndarray
    mask: np.ndarray

    @property
    def tokens(self) -> int:
        """Tokens, padding included."""
        return int(self.ids.size)


def render(demonstration: Demonstration) -> str:
    """The text of a demonstration in the chat template, as a tokenizer that carries the template renders it."""
    messages, tools = list(demonstration.messages), render_tools(demonstration.tools)
    rendered, _ = render_jinja_template([messages], tools=tools or None, chat_template=tiny_chat_template())
    return str(rendered[0])


def encode(demonstration: Demonstration, tokenizer: PreTrainedTokenizerFast) -> tuple[np.ndarray, np.ndarray]:
    """Ids and mask of a demonstration: after `<|assistant|>`, up to and with the `<|end|>` that closes it."""
    ids = np.array(tokenizer.encode(render(demonstration), add_special_tokens=False))
    opens, closes = tokenizer.convert_tokens_to_ids([ASSISTANT, END])
    mask = np.zeros(len(ids), dtype=bool)
    writing = False
    for at, token in enumerate(ids):
        mask[at] = writing
        writing = token == opens or (writing and token != closes)
    return ids, mask


def demonstrations(stage: Stage, seed: int, block: int, count: int, live: Source | None) -> list[Demonstration]:
    """The demonstrations of one block: the stage's share from live servers, the rest invented."""
    rng = Random(f"{seed}/{stage.name}/{block}")
    of_live = round(count * stage.live) if live else 0
    shown = invented(stage, rng.getrandbits(62), count - of_live)
    return [*shown, *(live(stage, rng.getrandbits(62), of_live) if live and of_live else ())]


def batches(
    shown: Sequence[Demonstration], tokenizer: PreTrainedTokenizerFast, tokens: int, rng: Random
) -> list[Batch]:
    """Batches of at most `tokens` tokens (one row at least), each of similar lengths, in random order."""
    rows = sorted((encode(item, tokenizer) for item in shown), key=lambda row: len(row[0]))
    groups: list[list[tuple[np.ndarray, np.ndarray]]] = [[]]
    for row in rows:
        if groups[-1] and (len(groups[-1]) + 1) * len(row[0]) > tokens:
            groups.append([])
        groups[-1].append(row)
    made = [_pad(group, tokenizer.pad_token_id) for group in groups if group]
    rng.shuffle(made)
    return made


def _pad(rows: Sequence[tuple[np.ndarray, np.ndarray]], pad: int) -> Batch:
    shape = (len(rows), max(len(ids) for ids, _ in rows))
    ids, mask = np.full(shape, pad, dtype=np.int64), np.zeros(shape, dtype=bool)
    for at, (row, marks) in enumerate(rows):
        ids[at, : len(row)], mask[at, : len(row)] = row, marks
    return Batch(ids, mask)


def make_block(
    stage: Stage, seed: int, block: int, tokens: int, live: Source | None, tokenizer: PreTrainedTokenizerFast
) -> list[Batch]:
    """Block `block` of a stage, as batches in the order they are trained on."""
    shown = demonstrations(stage, seed, block, BLOCK, live)
    return batches(shown, tokenizer, tokens, Random(f"{seed}/{stage.name}/{block}/order"))


_worker: dict[str, PreTrainedTokenizerFast] = {}


def _start_worker(tokenizer: PreTrainedTokenizerFast) -> None:
    _worker["tokenizer"] = tokenizer
    parent = multiprocessing.parent_process()
    if parent is not None:  # a killed trainer must not leave this process behind
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _work(stage: Stage, seed: int, block: int, tokens: int, live: Source | None) -> list[Batch]:
    return make_block(stage, seed, block, tokens, live, _worker["tokenizer"])


class Feed:
    """Blocks of a run, made ahead by another process. A context manager; `live` must be importable from there."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, seed: int, tokens: int, live: Source | None) -> None:
        self._settings = (seed, tokens, live)
        spawn = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(1, spawn, _start_worker, (tokenizer,))

    def __enter__(self) -> "Feed":
        return self

    def __exit__(self, *exception: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def blocks(self, stage: Stage, first: int = 0) -> Iterator[list[Batch]]:
        """Blocks `first`, `first` + 1, ... of a stage; what is under way when the caller stops is dropped."""
        seed, tokens, live = self._settings
        waiting: list[Future[list[Batch]]] = []
        block = first
        try:
            while True:
                while len(waiting) < AHEAD:
                    waiting.append(self._pool.submit(_work, stage, seed, block, tokens, live))
                    block += 1
                yield waiting.pop(0).result()
        finally:
            for future in waiting:
                future.cancel()
