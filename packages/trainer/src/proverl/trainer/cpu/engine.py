"""verl's FSDP2 engine, registered for the CPU."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from verl.utils.tensordict_utils import index_select_tensor_dict
from verl.workers.engine.base import EngineRegistry
from verl.workers.engine.fsdp import transformer_impl
from verl.workers.engine.fsdp.transformer_impl import FSDPEngineWithLMHead


@EngineRegistry.register(model_type="language_model", backend=["fsdp2"], device="cpu")
class CpuEngine(FSDPEngineWithLMHead):
    """The same engine, where a CPU needs it otherwise.

    The reference model's offloading must not pin memory, which needs a GPU. Packing needs flash-attn, so rows are
    padded: micro-batches hold rows of similar length, and attend causally without a mask, as all padding is behind.
    """

    def _build_fsdp_module(self, module: torch.nn.Module) -> torch.nn.Module:
        policy = transformer_impl.CPUOffloadPolicy
        with _replaced("CPUOffloadPolicy", lambda **_: policy(pin_memory=False)):
            return super()._build_fsdp_module(module)

    def forward_backward_batch(self, data: Any, loss_function: Any, forward_only: bool = False) -> Any:
        """verl's, with micro-batches by length."""
        with _replaced("prepare_micro_batches", micro_batches_by_length):
            return super().forward_backward_batch(data, loss_function, forward_only)

    def prepare_model_inputs(self, micro_batch: Any) -> Any:
        """verl's, without mask and positions: the model's own defaults are the same for rows padded at the end."""
        inputs, arguments = super().prepare_model_inputs(micro_batch)
        for name in ("attention_mask", "position_ids"):
            inputs.pop(name)
        return inputs, arguments


def micro_batches_by_length(data: Any, dp_group: Any = None, **_: Any) -> tuple[list[Any], list[list[int]]]:
    """Split a batch of nested rows into micro-batches of at most `max_token_len_per_gpu` tokens, padding included.

    All ranks of `dp_group` get the same number of micro-batches, since each forward pass gathers weights from all.
    Returns the micro-batches and, for each, the positions of its rows in the batch.
    """
    lengths = data["input_ids"].offsets().diff().tolist()
    groups: list[list[int]] = [[]]
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if groups[-1] and (len(groups[-1]) + 1) * lengths[row] > data["max_token_len_per_gpu"]:
            groups.append([])
        groups[-1].append(row)
    wanted = torch.tensor(len(groups))
    torch.distributed.all_reduce(wanted, op=torch.distributed.ReduceOp.MAX, group=dp_group)
    while len(groups) < wanted:
        longest = max(range(len(groups)), key=lambda index: len(groups[index]))
        half = len(groups[longest]) // 2
        groups[longest : longest + 1] = [groups[longest][:half], groups[longest][half:]]
    return [index_select_tensor_dict(data, group) for group in groups], groups


@contextmanager
def _replaced(name: str, value: Any) -> Iterator[None]:
    """Let verl's engine module see another value under a name for a while."""
    own = getattr(transformer_impl, name)
    setattr(transformer_impl, name, value)
    try:
        yield
    finally:
        setattr(transformer_impl, name, own)
