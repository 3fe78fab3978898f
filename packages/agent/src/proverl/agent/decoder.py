"""Sampling from a transformers causal LM for many episodes at once, fast enough for small models on one CPU thread.

Keys and values live in one slab of slots, a sequence in each, its token at position p in column p. A slot keeps its
sequence after the reply is finished, so that the next turn of the episode runs only what is new, and the rollouts of
one task copy their common prompt instead of running it again. Rows enter and leave between any two tokens.
Left out on purpose: sliding windows, quantised caches, beam search.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

_FAR = -1e9  # added to a masked score
_PREFILL_TOKENS = 8192  # padded tokens in one forward pass over prompts


@dataclass(eq=False, slots=True)
class Row:
    """One request: its ids grow as it is sampled. `rng` gives one number a token, so a row depends on no other row."""

    ids: list[int]
    most: int
    rng: Random
    temperature: float = 1.0
    top_p: float = 1.0
    log_probs: list[float] = field(default_factory=list)
    finish: str = ""


@dataclass(eq=False, slots=True)
class _Slot:
    """One sequence of the slab: `ids` are those whose keys and values it holds; `row` is being sampled, if any."""

    ids: list[int] = field(default_factory=list)
    row: Row | None = None
    used: int = 0  # when it was last taken


class _SlabLayer(CacheLayerMixin):
    """One layer's keys and values during one forward pass: [slots, heads, columns, head size].

    `slots` are the slots that take part; a number means that many from the first, which need not be copied.
    """

    is_sliding = False

    def __init__(
        self, keys: torch.Tensor, values: torch.Tensor, slots: torch.Tensor | int, places: torch.Tensor
    ) -> None:
        super().__init__()
        self.keys, self.values, self.slots, self.places, self.is_initialized = keys, values, slots, places, True
        self.width = int(places.max()) + 1

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Nothing to do: the slab exists."""

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write each token at its slot and place; return all columns of these slots."""
        return self._put(self.keys, key_states), self._put(self.values, value_states)

    def _put(self, slab: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        slots = torch.arange(self.slots) if isinstance(self.slots, int) else self.slots
        slab[slots[:, None], :, self.places] = states.transpose(1, 2)
        shown = slab[:, :, : self.width]
        return shown[: self.slots] if isinstance(self.slots, int) else shown[self.slots]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Length and offset of the columns seen."""
        return self.width, 0

    def get_seq_length(self) -> int:
        """Columns seen."""
        return self.width

    def get_max_cache_shape(self) -> int:
        """Columns there are."""
        return self.keys.shape[-2]


def _shared(left: list[int], right: list[int]) -> int:
    """Length of the common beginning, by bisection over slice comparisons (they run in C)."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Decoder:
    """Advances up to `size` rows one token at a time. Raises ValueError for a model it cannot serve."""

    def __init__(self, model: Any, stop_ids: frozenset[int], size: int) -> None:
        config = model.config
        if any(kind != "full_attention" for kind in getattr(config, "layer_types", None) or ()):
            raise ValueError(f"{type(model).__name__} has layers other than full attention; serve it with vLLM instead")
        self.model = model
        self.size = size
        self._stop_ids = stop_ids
        self._slots: list[_Slot] = []
        self._clock = 0
        heads = config.num_key_value_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        # [layers, keys and values, slots, heads, columns, head size]; grows
        self._slab = torch.zeros(config.num_hidden_layers, 2, 0, heads, 0, width, dtype=model.dtype)

    @property
    def live(self) -> int:
        """How many rows are being sampled."""
        return sum(slot.row is not None for slot in self._slots)

    def forget(self) -> None:
        """Drop all keys and values of finished rows; needed whenever the weights change."""
        for slot in self._slots:
            if slot.row is None:
                slot.ids = []

    def drop(self) -> None:
        """Drop all rows, after an error."""
        self._slots = []

    @torch.inference_mode()
    def admit(self, rows: Sequence[Row]) -> list[Row]:
        """Take rows in (at most `size - live`) and sample the first token of each; return those that finished."""
        first = {tuple(row.ids): row for row in reversed(rows)}
        # a prompt that several rows share is run once; the others find it in the slab
        leaders = [row for row in rows if first[tuple(row.ids)] is row]
        return self._admit(leaders) + self._admit([row for row in rows if row not in leaders])

    @torch.inference_mode()
    def step(self) -> list[Row]:
        """Sample one more token of every live row; return those that finished."""
        self._pack()
        count = max((at for at, slot in enumerate(self._slots) if slot.row), default=-1) + 1
        slots = self._slots[:count]
        ids = torch.tensor([[slot.row.ids[-1] if slot.row else 0] for slot in slots])
        places = torch.tensor([[len(slot.ids)] for slot in slots])  # of an idle slot: behind what it holds
        logits = self._forward(ids, places, count)
        busy = [at for at, slot in enumerate(slots) if slot.row]
        return self._sample(logits[busy, 0], [slots[at] for at in busy])

    def _admit(self, rows: Sequence[Row]) -> list[Row]:
        taken = sorted((self._take(row) for row in rows), key=lambda slot: len(_ids(slot)) - len(slot.ids))
        finished = []
        for part in _parts(taken):
            finished += self._sample(self._prefill(part), part)
        return finished

    def _take(self, row: Row) -> _Slot:
        """Give the row a slot that holds as much of the beginning of its ids as is known anywhere."""
        shared = {slot: _shared(row.ids[:-1], slot.ids) for slot in self._slots}
        best = max(shared, key=shared.__getitem__, default=None)
        free = [slot for slot in self._slots if slot.row is None]
        same = [slot for slot in free if best and shared[slot] == shared[best] == len(slot.ids)]
        if same:  # the earlier turns of the same episode
            slot = same[0]
        elif len(self._slots) < self.size:
            slot = _Slot()
            self._slots.append(slot)
        else:
            slot = min(free, key=lambda one: one.used)
        self._reserve(len(row.ids) + 1)
        known = shared[best] if best else 0
        if best and best is not slot:
            source, target = self._slots.index(best), self._slots.index(slot)
            self._slab[:, :, target, :, :known] = self._slab[:, :, source, :, :known]
        self._clock += 1
        slot.ids, slot.row, slot.used = row.ids[:known], row, self._clock
        return slot

    def _reserve(self, columns: int) -> None:
        """Make the slab large enough for all slots and this many columns; it grows by half to be copied rarely."""
        layers, two, slots, heads, had, width = self._slab.shape
        if len(self._slots) <= slots and columns <= had:
            return
        slots = max(slots, min(self.size, 2 * len(self._slots)))
        wide = had if columns <= had else max(columns, had + had // 2) // 64 * 64 + 64
        slab = torch.zeros(layers, two, slots, heads, wide, width, dtype=self._slab.dtype)
        slab[:, :, : self._slab.shape[2], :, :had] = self._slab
        self._slab = slab

    def _pack(self) -> None:
        """Move live rows to the front when less than half of the slots up to the last live one are live."""
        busy = [at for at, slot in enumerate(self._slots) if slot.row]
        if 2 * len(busy) > busy[-1]:
            return
        idle = [at for at, slot in enumerate(self._slots[: len(busy)]) if not slot.row]
        for source, target in zip(busy[::-1], idle, strict=False):
            pair, swapped = [source, target], [target, source]
            self._slab[:, :, pair] = self._slab[:, :, swapped]
            self._slots[source], self._slots[target] = self._slots[target], self._slots[source]

    def _prefill(self, part: list[_Slot]) -> torch.Tensor:
        """Run what is new in each slot, padded on the right; the logits after its last id, [rows, vocabulary]."""
        rest = [_ids(slot)[len(slot.ids) :] for slot in part]
        width = max(len(ids) for ids in rest)
        self._reserve(max(len(slot.ids) for slot in part) + width)
        padded = torch.tensor([ids + [0] * (width - len(ids)) for ids in rest])
        places = torch.tensor([[len(slot.ids)] for slot in part]) + torch.arange(width)
        slots = torch.tensor([self._slots.index(slot) for slot in part])
        ends = sorted({len(ids) - 1 for ids in rest})
        logits = self._forward(padded, places, slots, torch.tensor(ends))
        return logits[range(len(part)), [ends.index(len(ids) - 1) for ids in rest]]

    def _forward(
        self, ids: torch.Tensor, places: torch.Tensor, slots: torch.Tensor | int, keep: torch.Tensor | int = 0
    ) -> torch.Tensor:
        """Logits [rows, kept positions, vocabulary] of tokens [rows, tokens] that stand at `places` of `slots`."""
        self._reserve(int(places.max()) + 1)
        layers = [_SlabLayer(keys, values, slots, places) for keys, values in self._slab]
        later = torch.arange(layers[0].width) > places[:, None, :, None]
        output = self.model(
            input_ids=ids,
            attention_mask=later.to(self._slab.dtype) * _FAR,
            position_ids=places,
            past_key_values=Cache(layers=layers),
            use_cache=True,
            logits_to_keep=keep,
        )
        return output.logits.float()

    def _sample(self, logits: torch.Tensor, slots: Sequence[_Slot]) -> list[Row]:
        """Append one token to the row of every slot, whose ids have just been run; return those that finished."""
        rows = [slot.row for slot in slots if slot.row]
        log_probs = logits.log_softmax(-1)
        chosen = _choose(log_probs, rows)
        picked = log_probs.gather(-1, chosen[:, None])[:, 0].tolist()
        for slot, row, token, log_prob in zip(slots, rows, chosen.tolist(), picked, strict=True):
            slot.ids += row.ids[len(slot.ids) :]
            row.ids.append(token)
            row.log_probs.append(log_prob)
            if token in self._stop_ids or len(row.log_probs) >= row.most:
                row.finish = "stop" if token in self._stop_ids else "length"
                slot.row = None
        return [row for row in rows if row.finish]


def _ids(slot: _Slot) -> list[int]:
    return slot.row.ids if slot.row else []


def _parts(slots: list[_Slot]) -> Iterator[list[_Slot]]:
    """Cut the slots (sorted by how much is new) into forward passes of a bounded number of padded tokens."""
    part: list[_Slot] = []
    for slot in slots:
        if part and (len(part) + 1) * (len(_ids(slot)) - len(slot.ids)) > _PREFILL_TOKENS:
            yield part
            part = []
        part.append(slot)
    if part:
        yield part


def _choose(log_probs: torch.Tensor, rows: Sequence[Row]) -> torch.Tensor:
    """One token a row: the most likely at temperature 0, else where the row's next random number falls.

    The number falls into the cumulated probabilities, of the most likely tokens only when top_p is below 1.
    """
    temperatures = torch.tensor([[row.temperature or 1.0] for row in rows])
    probs = (log_probs / temperatures).softmax(-1)
    top_p = torch.tensor([[row.top_p] for row in rows])
    if bool((top_p < 1).any()):
        ranked, order = probs.sort(-1, descending=True)
        ranked[ranked.cumsum(-1) - ranked >= top_p] = 0
        probs = torch.zeros_like(probs).scatter(-1, order, ranked)
    cumulated = probs.double().cumsum(-1)
    draws = torch.tensor([[row.rng.random()] for row in rows], dtype=torch.float64)
    chosen = torch.searchsorted(cumulated, draws * cumulated[:, -1:], right=True)[:, 0]
    greedy = torch.tensor([row.temperature == 0 for row in rows])
    return torch.where(greedy, log_probs.argmax(-1), chosen.clamp(max=log_probs.shape[-1] - 1))
