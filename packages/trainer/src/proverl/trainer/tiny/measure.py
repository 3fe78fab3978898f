"""How well the model repeats what a demonstration's author would have written, under teacher forcing.

A message whose every token is the model's first choice is the message that greedy decoding would write, so these shares
are what a greedy episode achieves, as far as its own earlier messages were right.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from proverl.trainer.tiny.data import Batch
from proverl.trainer.tiny.tokenizer import CALL


@dataclass(slots=True)
class Counts:
    """Right and all of: digits that the model writes, messages with calls, whole demonstrations; and summed loss."""

    digits: np.ndarray
    calls: np.ndarray
    episodes: np.ndarray
    loss: np.ndarray  # sum in nats, tokens

    @classmethod
    def none(cls) -> "Counts":
        """Nothing seen."""
        return cls(*(np.zeros(2) for _ in range(4)))

    def add(self, other: "Counts", keep: float = 1.0) -> None:
        """Add counts, after scaling what is there by `keep`."""
        for name in ("digits", "calls", "episodes", "loss"):
            setattr(self, name, getattr(self, name) * keep + getattr(other, name))

    def shares(self) -> dict[str, float]:
        """Mean loss, and shares right; NaN where there was nothing."""
        names = ("digits", "calls", "episodes", "loss")
        with np.errstate(invalid="ignore"):
            return {name: float(np.divide(*getattr(self, name))) for name in names}


class Meter:
    """Counts right answers, for one tokenizer."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        self._digits = np.array(tokenizer.convert_tokens_to_ids(list("0123456789")))
        self._call = tokenizer.convert_tokens_to_ids(CALL)

    def count(self, batch: Batch, chosen: np.ndarray, loss: float) -> Counts:
        """`chosen` holds the model's first choice for every token under `batch.mask`, in row-major order."""
        right = np.ones(batch.ids.shape, dtype=bool)
        right[batch.mask] = chosen == batch.ids[batch.mask]
        digits = batch.mask & np.isin(batch.ids, self._digits)
        calls, exact = 0, 0
        for row, mask, ids in zip(right, batch.mask, batch.ids, strict=True):
            edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0))
            for start, end in zip(edges[::2], edges[1::2], strict=True):
                if ids[start] == self._call or self._call in ids[start:end]:
                    calls, exact = calls + 1, exact + bool(row[start:end].all())
        written = int(batch.mask.sum())
        return Counts(
            np.array([right[digits].sum(), digits.sum()]),
            np.array([exact, calls]),
            np.array([right.all(axis=1).sum(), len(right)]),
            np.array([loss * written, written]),
        )


def forward(model: Qwen3ForCausalLM, batch: Batch) -> tuple[torch.Tensor, np.ndarray]:
    """Mean loss over the tokens that the model writes, and its first choices for them.

    Padding stands at the end and attention is causal, so no attention mask is needed.
    """
    ids, mask = torch.from_numpy(batch.ids), torch.from_numpy(batch.mask)
    hidden = model.model(input_ids=ids[:, :-1], use_cache=False).last_hidden_state
    logits = model.lm_head(hidden[mask[:, 1:]])
    loss = cross_entropy(logits, ids[mask])
    return loss, logits.detach().argmax(-1).numpy()


def evaluate(model: Qwen3ForCausalLM, batches: Iterable[Batch], meter: Meter) -> dict[str, float]:
    """Shares over held-out batches."""
    counts = Counts.none()
    with torch.no_grad():
        for batch in batches:
            loss, chosen = forward(model, batch)
            counts.add(meter.count(batch, chosen, float(loss)))
    return counts.shares()
