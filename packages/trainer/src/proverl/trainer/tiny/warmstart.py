"""Warm up the tiny model: supervised training on demonstrations, through the curriculum, on one core.

    python -m proverl.trainer.tiny.warmstart FOLDER [seed=0] [tokens=6200000] [live=module:function]

The folder fills with `state.pt` (a killed run goes on from it), `progress.jsonl`, and `snapshots/<tokens>/`, each a
complete checkpoint that transformers loads. The last one is the end of training; an earlier, weaker one may be the
better start for reinforcement learning. This is the one training loop beside verl's: plain, short, and without GPU.
"""

import json
import sys
import time
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import torch
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from proverl.trainer.tiny.card import write_card
from proverl.trainer.tiny.curriculum import CURRICULUM, Source, Stage
from proverl.trainer.tiny.data import Batch, Feed, batches, demonstrations, render
from proverl.trainer.tiny.measure import Counts, Meter, evaluate, forward
from proverl.trainer.tiny.model import build_model, tiny_config
from proverl.trainer.tiny.tokenizer import END, PAD, VOCABULARY, train_tokenizer

_HELD_OUT = 10**9  # block number that training never reaches
_CORPUS = 10**9 + 1
_RECENT = 0.98  # weight that a batch leaves to those before it, in the running shares


@dataclass(frozen=True)
class WarmstartConfig:
    """Settings of the warm-up.

    tokens: of context, padding included, in all; batch_tokens: in one batch.
    matrix_rate is Muon's learning rate for the hidden matrices, other_rate AdamW's for embeddings and norms; both rise
    over `rise` steps and fall linearly to 0 over the last `fall` of the tokens.
    vocabulary is the tokenizer's size, corpus the number of demonstrations per stage that it is trained on.
    held_out: demonstrations of the last stage that every snapshot is measured on.
    snapshot_tokens between snapshots; state_steps between saved states.
    """

    tokens: int = 6_200_000
    batch_tokens: int = 4096
    matrix_rate: float = 1e-2
    other_rate: float = 2e-3
    rise: int = 50
    fall: float = 0.2
    vocabulary: int = VOCABULARY
    corpus: int = 200
    held_out: int = 128
    stages: tuple[Stage, ...] = CURRICULUM
    snapshot_tokens: int = 1_000_000
    state_steps: int = 100

    def __post_init__(self) -> None:
        for name in (
            "tokens",
            "batch_tokens",
            "matrix_rate",
            "other_rate",
            "snapshot_tokens",
            "state_steps",
            "corpus",
            "held_out",
        ):
            if getattr(self, name) <= 0:
                raise ValueError(f"warmstart.{name} is {getattr(self, name)}; it must be above 0")
        if not self.stages:
            raise ValueError("warmstart.stages is empty; give at least one stage")
        if not 0 <= self.fall <= 1:
            raise ValueError(f"warmstart.fall is {self.fall}; it is a share between 0 and 1")


def warmstart(config: WarmstartConfig, folder: Path, seed: int, live: Source | None = None) -> Path:
    """Train, or go on training, in `folder`, and return the folder of the last snapshot.

    `live` gives demonstrations from live servers: a function of a module, called as (stage, seed, count) in another
    process. Without it all demonstrations have invented tools.
    """
    torch.set_num_threads(1)  # two threads on a busy machine are many times slower than one
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer(config, folder, seed, live)
    run = _Run(config, folder, seed, tokenizer, live)
    run.restore()
    with Feed(tokenizer, seed, config.batch_tokens, live) as feed:
        run.train(feed)
    return run.snapshot()


def _tokenizer(config: WarmstartConfig, folder: Path, seed: int, live: Source | None) -> PreTrainedTokenizerFast:
    """The run's tokenizer, trained once."""
    place = folder / "tokenizer"
    if not (place / "done").exists():
        texts = [
            render(item)
            for stage in config.stages
            for item in demonstrations(stage, seed, _CORPUS, config.corpus, live)
        ]
        train_tokenizer(texts, config.vocabulary).save_pretrained(place)
        (place / "done").touch()
    return PreTrainedTokenizerFast.from_pretrained(place)


class _Run:
    """The state of one warm-up, on disk and in memory."""

    def __init__(
        self, config: WarmstartConfig, folder: Path, seed: int, tokenizer: PreTrainedTokenizerFast, live: Source | None
    ) -> None:
        self.config, self.folder, self.seed, self.tokenizer, self.live = config, folder, seed, tokenizer, live
        pad, end = tokenizer.convert_tokens_to_ids([PAD, END])
        self.model = build_model(tiny_config(len(tokenizer), pad, end), seed)
        self.optimizers = _optimizers(self.model, config)
        self.meter = Meter(tokenizer)
        self.stage = self.block = self.batch = 0  # what comes next
        self.step = self.tokens = self.stage_tokens = 0  # what has been
        self.recent = Counts.none()
        self.rows: list[dict[str, Any]] = []
        self.clock = time.perf_counter()
        self.clock_tokens = 0

    def train(self, feed: Feed) -> None:
        """Train until the tokens are used up."""
        while self.tokens < self.config.tokens:
            stage = self.config.stages[self.stage]
            for block in feed.blocks(stage, self.block):
                if self._train_block(block):
                    break

    def _train_block(self, block: list[Batch]) -> bool:
        """Train on what is left of a block; true when the stage or the run is over."""
        for batch in block[self.batch :]:
            self._train_batch(batch)
            self.batch += 1
            over = self._stage_over()
            if over:
                self.stage, self.block, self.batch, self.stage_tokens = self.stage + 1, 0, 0, 0
                self.recent = Counts.none()
            self._keep(batch.tokens)
            if over or self.tokens >= self.config.tokens:
                return True
        self.block, self.batch = self.block + 1, 0
        return False

    def _train_batch(self, batch: Batch) -> None:
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["full_rate"] * _schedule(self.config, self.step, self.tokens)
        loss, chosen = forward(self.model, batch)
        loss.backward()
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        self.step += 1
        self.tokens += batch.tokens
        self.stage_tokens += batch.tokens
        self.recent.add(self.meter.count(batch, chosen, float(loss.detach())), keep=_RECENT)

    def _stage_over(self) -> bool:
        """Whether the next stage is due. Data is always fresh, so the running shares are of unseen demonstrations."""
        stage = self.config.stages[self.stage]
        if self.stage == len(self.config.stages) - 1:
            return False
        least, most = stage.tokens
        learnt = self.recent.shares()["digits"] >= stage.advance
        return self.stage_tokens >= most or (learnt and self.stage_tokens >= least)

    def _keep(self, new: int) -> None:
        """After a batch of `new` tokens: report, save the state, and take a snapshot, when due."""
        every = self.config.snapshot_tokens
        if self.tokens // every > (self.tokens - new) // every:
            self.snapshot()
        if self.step % self.config.state_steps == 0:
            self._report(self.recent.shares())
            self.save()

    def _report(self, shares: dict[str, float], **more: Any) -> None:
        now = time.perf_counter()
        rate = (self.tokens - self.clock_tokens) / max(now - self.clock, 1e-9)
        self.clock, self.clock_tokens = now, self.tokens
        stage = self.config.stages[self.stage].name
        row = {"step": self.step, "tokens": self.tokens, "stage": stage, "rate": round(rate)}
        self.rows.append(row | {name: round(share, 4) for name, share in shares.items()} | more)
        print(json.dumps(self.rows[-1]), flush=True)
        _write(self.folder / "progress.jsonl", "".join(json.dumps(row) + "\n" for row in self.rows).encode())

    def snapshot(self) -> Path:
        """Write a complete checkpoint with its held-out shares, and return its folder."""
        place = self.folder / "snapshots" / f"{self.tokens:09d}"
        if not (place / "README.md").exists():  # the card is written last
            shares = evaluate(self.model, self._held_out, self.meter)
            self._report(shares, held_out=self.config.stages[-1].name)
            self.model.save_pretrained(place)
            self.tokenizer.save_pretrained(place)
            write_card(
                place,
                self.seed,
                self.tokens,
                [stage.name for stage in self.config.stages],
                self.config.held_out,
                shares,
            )
        return place

    @cached_property
    def _held_out(self) -> list[Batch]:
        """Demonstrations of the last stage that training never reaches."""
        shown = demonstrations(self.config.stages[-1], self.seed, _HELD_OUT, self.config.held_out, self.live)
        return batches(shown, self.tokenizer, self.config.batch_tokens, Random(self.seed))

    def save(self) -> None:
        """Save everything that going on needs; a kill at any moment leaves the old or the new state."""
        state = {name: getattr(self, name) for name in _COUNTERS}
        state |= {"model": self.model.state_dict(), "optimizers": [item.state_dict() for item in self.optimizers]}
        place = self.folder / "state.pt"
        torch.save(state, place.with_suffix(".new"))
        place.with_suffix(".new").replace(place)

    def restore(self) -> None:
        """Go back to the saved state, if there is one."""
        place = self.folder / "state.pt"
        if not place.exists():
            return
        state = torch.load(place, weights_only=False)
        for name in _COUNTERS:
            setattr(self, name, state[name])
        self.model.load_state_dict(state["model"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self.clock_tokens = self.tokens


_COUNTERS = ("stage", "block", "batch", "step", "tokens", "stage_tokens", "recent", "rows")


def _optimizers(model: Qwen3ForCausalLM, config: WarmstartConfig) -> list[torch.optim.Optimizer]:
    """Muon on the hidden matrices, AdamW on everything else. AdamW alone never learns to copy at these rates."""
    matrices = [weight for name, weight in model.named_parameters() if weight.ndim == 2 and "embed" not in name]
    chosen = {id(weight) for weight in matrices}
    others = [weight for weight in model.parameters() if id(weight) not in chosen]
    optimizers = [
        torch.optim.Muon(matrices, lr=config.matrix_rate, weight_decay=0.0),
        torch.optim.AdamW(others, lr=config.other_rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["full_rate"] = group["lr"]
    return optimizers


def _schedule(config: WarmstartConfig, step: int, tokens: int) -> float:
    """The share of the full learning rate: up over the first steps, level, down over the last tokens."""
    left = (config.tokens - tokens) / max(config.tokens * config.fall, 1)
    return min(1.0, (step + 1) / config.rise, max(left, 0.0))


def _write(place: Path, data: bytes) -> None:
    new = place.with_suffix(".new")
    new.write_bytes(data)
    new.replace(place)


def main(arguments: list[str]) -> None:
    """The command of the module's docstring."""
    folder, *settings = arguments
    given = dict(item.split("=", 1) for item in settings)
    live = None
    if "live" in given:
        module, _, name = given["live"].partition(":")
        live = getattr(import_module(module), name)
    tokens = int(given.get("tokens", WarmstartConfig.tokens))
    print(warmstart(WarmstartConfig(tokens=tokens), Path(folder), int(given.get("seed", 0)), live))


if __name__ == "__main__":
    main(sys.argv[1:])
