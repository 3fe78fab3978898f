"""verl's FSDP2 engine, registered for the CPU."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from verl.workers.engine.base import EngineRegistry
from verl.workers.engine.fsdp import transformer_impl
from verl.workers.engine.fsdp.transformer_impl import FSDPEngineWithLMHead


@EngineRegistry.register(model_type="language_model", backend=["fsdp2"], device="cpu")
class CpuEngine(FSDPEngineWithLMHead):
    """The same engine: only the reference model's offloading must not pin memory, which needs a GPU."""

    def _build_fsdp_module(self, module: torch.nn.Module) -> torch.nn.Module:
        with _unpinned_offload():
            return super()._build_fsdp_module(module)


@contextmanager
def _unpinned_offload() -> Iterator[None]:
    policy = transformer_impl.CPUOffloadPolicy

    def unpinned(**_: Any) -> Any:
        return partial(policy, pin_memory=False)()

    transformer_impl.CPUOffloadPolicy = unpinned
    try:
        yield
    finally:
        transformer_impl.CPUOffloadPolicy = policy
