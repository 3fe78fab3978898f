"""What a GRPO step needs of each GPU, reckoned beforehand: memory by part and seconds by phase, with their formulas.

Estimates for a dense model on FSDP2 in mode sync. Left out: the collectives' buffers, fragmentation, tools that take
long, and handing the new weights to the sampler. Lengths are in tokens, sizes in bytes.
"""

import json
from dataclasses import dataclass, fields

from omegaconf import OmegaConf

from proverl.agent.limits import Limits
from proverl.trainer.config import Architecture, ModelConfig, TrainerConfig
from proverl.trainer.machine import config_file

GIB = 2**30
FILLED = 0.25  # of the token limits, by an average episode
PADDED = 2.0  # tokens that the trainer computes over those of the rows: verl pads to the longest, unless it packs
PACKING = "actor_rollout_ref.model.use_remove_padding"
COMPUTE, BANDWIDTH = 0.35, 0.6  # of the GPU's peaks that are reached

SYMBOLS = (
    f"P parameters, A the trained ones, G GPUs, d padding ({PADDED:g}, 1 when packing), T tokens of a forward pass "
    "(d times its bound), "
    "h hidden size, f MLP size, L layers, V vocabulary, K KV heads x head size, t tensor_parallel, M the GPU's memory; "
    "N tokens of a step, c episodes decoded at once, w their waves, p and r tokens of an average prompt and response "
    f"({FILLED:.0%} of the limits), "
    f"C and B peak operations and bytes a second, of which {COMPUTE:.0%} and {BANDWIDTH:.0%} are reached"
)


@dataclass(frozen=True)
class Gpu:
    """One GPU: memory in GiB, dense bfloat16 peak in 10^12 operations a second, memory bandwidth in 10^12 bytes."""

    memory: float
    tflops: float
    bandwidth: float


@dataclass(frozen=True)
class Part:
    """One line of an estimate; `amount` is in GiB or in seconds."""

    phase: str
    name: str
    formula: str
    amount: float


@dataclass(frozen=True)
class Estimate:
    """Memory parts of the phases `update` and `sample`, seconds of a step, and what vLLM has room for."""

    memory: tuple[Part, ...]
    seconds: tuple[Part, ...]
    cache_tokens: float  # of all episodes that one sampler decodes at once

    def gib(self, phase: str) -> float:
        """The memory that a phase needs on each GPU."""
        return sum(part.amount for part in self.memory if part.phase == phase)

    @property
    def step_seconds(self) -> float:
        """One step, without saving."""
        return sum(part.amount for part in self.seconds)

    def too_much(self, gpu: Gpu) -> list[str]:
        """A sentence for each phase that does not fit the GPU, with what to try."""
        hints = {
            "update": "pack sequences, which needs flash-attn "
            f"('+trainer.verl_overrides={{{PACKING}: true}}'), compute the loss without whole logits "
            "('+trainer.verl_overrides={actor_rollout_ref.model.use_fused_kernels: true}'), lower envs.limits or "
            "trainer.micro_batch_tokens, or use more GPUs or trainer.lora_rank",
            "sample": "lower trainer.gpu_memory, or keep the optimizer on the CPU meanwhile: "
            "'+trainer.verl_overrides={actor_rollout_ref.actor.fsdp_config.optimizer_offload: true}'",
        }
        told = [
            f"{phase} needs about {self.gib(phase):.0f} GiB of each GPU, which has {gpu.memory:.0f}: {hint}"
            for phase, hint in hints.items()
            if self.gib(phase) > gpu.memory
        ]
        if self.cache_tokens <= 0:
            told.append(
                "trainer.gpu_memory leaves vLLM no room beside the weights: raise it or trainer.tensor_parallel"
            )
        return told


def architecture(model: ModelConfig) -> Architecture:
    """The model's shape: that of its config.json where it is here, else of its config; all 0 when it is not known."""
    file = config_file(model.path)
    if file is None:
        return model.architecture
    read = json.loads(file.read_text())
    found = {field.name: read[field.name] for field in fields(Architecture) if read.get(field.name) is not None}
    heads = found.get("num_attention_heads")
    if heads and "hidden_size" in found:
        found.setdefault("head_dim", found["hidden_size"] // heads)
        found.setdefault("num_key_value_heads", heads)
    return Architecture(**found)


def estimate(trainer: TrainerConfig, shape: Architecture, limits: Limits, gpu: Gpu) -> Estimate:
    """Reckon a step. Raises ValueError when the model's shape is not known."""
    if not shape.parameters or not shape.hidden_size:
        raise ValueError("model.architecture is not known; it must hold the sizes in the model's config.json")
    cache = _cache_tokens(trainer, shape, gpu)
    memory = (*_update_memory(trainer, shape, limits), *_sample_memory(trainer, shape, gpu))
    return Estimate(memory, tuple(_seconds(trainer, shape, limits, gpu, cache)), cache)


def trained_parameters(trainer: TrainerConfig, shape: Architecture) -> int:
    """Parameters that are trained: all, or those of an adapter on every linear layer."""
    if not trainer.lora_rank:
        return shape.parameters
    attention = shape.head_dim * (shape.num_attention_heads + shape.num_key_value_heads)
    ends = 4 * shape.hidden_size + 2 * attention + 3 * (shape.hidden_size + shape.intermediate_size)
    return trainer.lora_rank * ends * shape.num_hidden_layers


def _update_memory(trainer: TrainerConfig, shape: Architecture, limits: Limits) -> list[Part]:
    bound = max(trainer.micro_batch_tokens, limits.prompt_tokens + limits.response_tokens)
    tokens = _padding(trainer) * bound
    hidden, layers, ranks = shape.hidden_size, shape.num_hidden_layers, trainer.ranks
    trained = trained_parameters(trainer, shape)
    sizes = (
        ("weights", "4 P / G", 4 * shape.parameters / ranks),
        ("gradients", "4 A / G", 4 * trained / ranks),
        ("optimizer", "8 A / G", 8 * trained / ranks),
        ("gathered", "2 (embeddings + 2 layers)", 2 * (shape.embeddings + 2 * shape.layer)),
        (
            "activations",
            "2 T (h L + 8 h + 4 f)",
            2 * tokens * (hidden * layers + 8 * hidden + 4 * shape.intermediate_size),
        ),
        ("logits", "10 T V", 10 * tokens * shape.vocab_size),
    )
    return [Part("update", name, formula, size / GIB) for name, formula, size in sizes]


def _sample_memory(trainer: TrainerConfig, shape: Architecture, gpu: Gpu) -> list[Part]:
    resident = (4 * shape.parameters + 8 * trained_parameters(trainer, shape)) / trainer.ranks
    weights = 2 * shape.parameters / trainer.tensor_parallel
    share = trainer.gpu_memory * gpu.memory * GIB
    sizes = (
        ("trainer's weights, optimizer", "(4 P + 8 A) / G", resident),
        ("sampler's weights", "2 P / t", weights),
        ("KV cache", "gpu_memory M - 2 P / t", share - weights),
    )
    return [Part("sample", name, formula, size / GIB) for name, formula, size in sizes]


def _token_bytes(trainer: TrainerConfig, shape: Architecture) -> float:
    """The KV cache of one token on each GPU: keys and values, two bytes each, in every layer."""
    return 4 * shape.num_hidden_layers * shape.num_key_value_heads * shape.head_dim / trainer.tensor_parallel


def _cache_tokens(trainer: TrainerConfig, shape: Architecture, gpu: Gpu) -> float:
    room = trainer.gpu_memory * gpu.memory * GIB - 2 * shape.parameters / trainer.tensor_parallel
    return room / _token_bytes(trainer, shape)


def _seconds(trainer: TrainerConfig, shape: Architecture, limits: Limits, gpu: Gpu, cache_tokens: float) -> list[Part]:
    prompt, response = FILLED * limits.prompt_tokens, FILLED * limits.response_tokens
    episodes = trainer.prompts * trainer.rollouts * max(1, trainer.filter_groups)
    compute = trainer.ranks * gpu.tflops * 1e12 * COMPUTE
    flops = shape.parameters * trainer.prompts * trainer.rollouts * (prompt + response)
    padded = _padding(trainer) * flops
    mine = episodes * trainer.tensor_parallel / trainer.ranks  # episodes of one sampler
    at_once = max(1.0, min(mine, trainer.parallel_sequences, cache_tokens / (prompt + response)))
    read = 2 * shape.parameters / trainer.tensor_parallel
    read += at_once * (prompt + response / 2) * _token_bytes(trainer, shape)
    decode = max(1.0, mine / at_once) * response * read / (gpu.bandwidth * 1e12 * BANDWIDTH)
    reference = 2 * padded / compute if trainer.kl else 0.0
    return [
        Part("sample", "read prompts and results", "2 P N / (G C)", 2 * flops / compute),
        Part("sample", "decode", "w r (2 P / t + 4 c (p + r/2) L K / t) / B", decode),
        Part("update", "old probabilities", "2 d P N / (G C)", 2 * padded / compute),
        Part("update", "reference", "2 d P N / (G C)", reference),
        Part("update", "gradient", "8 d P N / (G C)", 8 * padded / compute),
    ]


def _padding(trainer: TrainerConfig) -> float:
    """Tokens that the trainer computes over tokens of the rows."""
    overrides = OmegaConf.create()
    for key, value in trainer.verl_overrides.items():  # dotted names, or a tree
        OmegaConf.update(overrides, key.removeprefix("+"), value)
    return 1.0 if OmegaConf.select(overrides, PACKING) else PADDED
