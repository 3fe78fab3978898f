"""What a GRPO run is: the Hydra groups `trainer` and `model`."""

import math
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ModelConfig:
    """The model to train. `path` is a Hugging Face id or a local folder; empty means the tiny model shipped here.

    `format` names a chat format of `proverl.agent`. `learning_rate` is the paper's for this model (Training). `gpu`
    says whether it needs GPUs: with them it runs in bfloat16 on vLLM, without them in float32 on transformers.
    `sft_learning_rate` is that of supervised fine-tuning, which the paper does not name.
    """

    name: str = "tiny"
    path: str = ""
    format: str = "tiny"
    learning_rate: float = 3e-4
    gpu: bool = False
    sft_learning_rate: float = 1e-3


@dataclass(frozen=True)
class TrainerConfig:
    """GRPO (paper, Training). The fields that the paper leaves open have its table's defaults.

    steps: updates; each samples `rollouts` episodes for each of `prompts` tasks and makes one update of all of them.
    kl: coefficient of the KL loss against the start model (low-variance estimator); 0 drops the reference model.
    clip: of the probability ratio. temperature: of sampling.
    micro_batch_tokens: most tokens, padding left out, that one forward pass takes on one device.
    parallel_sequences: most sequences that one rollout engine decodes at once.
    save_every: steps between checkpoints; the last `keep_checkpoints` stay.
    cpu_ranks: processes that train and sample on a machine without GPUs, one core each; floats are summed in another
    order for another number.
    nodes, gpus_per_node, tensor_parallel, gpu_memory: only with GPUs; gpu_memory is the share that vLLM takes.
    ray: address of a running Ray to join, `auto` or HOST:PORT; empty starts one on this machine. Only with GPUs.
    agent_workers: processes that run episodes, with GPUs; without, they run in the trainer's own process.
    verl_overrides: anything else, by its dotted name in verl's config; it wins over the fields above.
    """

    steps: int = 25
    prompts: int = 8
    rollouts: int = 8
    learning_rate: float = 3e-4
    kl: float = 0.01
    clip: float = 0.2
    temperature: float = 1.0
    micro_batch_tokens: int = 4096
    parallel_sequences: int = 64
    save_every: int = 1
    keep_checkpoints: int = 2
    cpu_ranks: int = 2
    nodes: int = 1
    gpus_per_node: int = 0
    tensor_parallel: int = 1
    gpu_memory: float = 0.5
    ray: str = ""
    agent_workers: int = 8
    verl_overrides: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"trainer.{name} is {value!r}; it must be a whole number of at least {least}")
        for name in ("learning_rate", "kl", "clip", "temperature", "gpu_memory"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise ValueError(f"trainer.{name} is {value!r}; it must be a finite number of at least 0")
        if not self.temperature > 0:
            raise ValueError("trainer.temperature is 0; GRPO needs rollouts that differ, so it must be above 0")
        if not 0 < self.gpu_memory <= 1:
            raise ValueError(f"trainer.gpu_memory is {self.gpu_memory!r}; it must be above 0 and at most 1")
        if self.ranks % self.tensor_parallel:
            raise ValueError(
                f"trainer.tensor_parallel is {self.tensor_parallel}; it must divide the {self.ranks} GPUs of "
                "trainer.nodes x trainer.gpus_per_node"
            )
        if self.prompts * self.rollouts % self.ranks:
            raise ValueError(
                f"trainer.prompts x trainer.rollouts is {self.prompts * self.rollouts}; it must be a multiple of the "
                f"{self.ranks} {'GPUs' if self.gpus_per_node else 'processes of trainer.cpu_ranks'}"
            )

    @property
    def ranks(self) -> int:
        """Processes that share the update: one for each GPU, or `cpu_ranks`."""
        return self.nodes * self.gpus_per_node or self.cpu_ranks


_LEAST = {
    "steps": 1,
    "prompts": 1,
    "rollouts": 2,  # an advantage is relative to the group
    "micro_batch_tokens": 1,
    "parallel_sequences": 1,
    "save_every": 1,
    "keep_checkpoints": 1,
    "cpu_ranks": 1,
    "nodes": 1,
    "gpus_per_node": 0,
    "tensor_parallel": 1,
    "agent_workers": 1,
}
