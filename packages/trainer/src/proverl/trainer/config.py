"""What a GRPO run is: the Hydra groups `trainer` and `model`."""

import math
from dataclasses import dataclass, field, fields
from typing import Any, Literal


@dataclass(frozen=True)
class Architecture:
    """The shape of a dense decoder with gated MLPs: what `plan=true` reckons with. The names are those of config.json.

    All 0: not known, so nothing is reckoned.
    """

    hidden_size: int = 0
    intermediate_size: int = 0
    num_hidden_layers: int = 0
    num_attention_heads: int = 0
    num_key_value_heads: int = 0
    head_dim: int = 0
    vocab_size: int = 0
    tie_word_embeddings: bool = False

    def __post_init__(self) -> None:
        for size in fields(self):
            if getattr(self, size.name) < 0:
                raise ValueError(f"model.architecture.{size.name} is {getattr(self, size.name)}; it must be at least 0")

    @property
    def layer(self) -> int:
        """Parameters of one layer, its norms left out."""
        attention = 2 * self.hidden_size * self.head_dim * (self.num_attention_heads + self.num_key_value_heads)
        return attention + 3 * self.hidden_size * self.intermediate_size

    @property
    def embeddings(self) -> int:
        """Parameters of the embeddings and the output head."""
        return self.vocab_size * self.hidden_size * (1 if self.tie_word_embeddings else 2)

    @property
    def parameters(self) -> int:
        """All parameters, norms left out."""
        return self.num_hidden_layers * self.layer + self.embeddings


MOST = 10**6  # of anything that is counted


def whole_number(name: str, value: Any, least: int) -> None:
    """Raise ValueError that names a setting which is no whole number from `least` to MOST."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} is {value!r}; it must be a whole number of at least {least}")
    if value > MOST:
        raise ValueError(f"{name} is {value!r}; it must be at most {MOST}")


@dataclass(frozen=True)
class ModelConfig:
    """The model to train. `path` is a Hugging Face id or a local folder; empty means the tiny model shipped here.

    `format` names a chat format of `proverl.agent`. `learning_rate` is the paper's for this model (Training). `gpu`
    says whether it needs GPUs: with them it runs in bfloat16 on vLLM, without them in float32 on transformers.
    `sft_learning_rate` is that of supervised fine-tuning, which the paper does not name.
    `architecture` serves the estimates of `plan=true`; a local folder's config.json goes before it.
    """

    name: str = "tiny"
    path: str = ""
    format: str = "tiny"
    learning_rate: float = 3e-4
    gpu: bool = False
    sft_learning_rate: float = 1e-3
    architecture: Architecture = field(default_factory=Architecture)


@dataclass(frozen=True)
class TrainerConfig:
    """GRPO (paper, Training) and its relatives. What the paper leaves open has the defaults of the table in docs.

    steps: updates; each samples `rollouts` episodes for each of `prompts` tasks and makes one update of all of them.
    algorithm: `verl_config.ALGORITHMS` says what each is.
    kl: coefficient of the KL against the start model; 0 drops that model. kl_in: `loss` adds it to the loss
    (low-variance estimator), `reward` takes it off the reward of every token (log ratio).
    clip: of the probability ratio; None is the algorithm's own. temperature: of sampling.
    filter_groups: most batches of prompts that a step samples to find groups whose rollouts score differently; 0 takes
    the first batch as it comes (DAPO's dynamic sampling, arXiv 2503.14476, section 3.2).
    truncated: what becomes of an episode that a limit stopped: `scored` like any other, `masked` (none of its tokens is
    trained on; it stays in its group's mean), or `penalised` (it earns 0 at most).
    rollout_correction: weights each token, or each sequence, by trainer over rollout probability, at most 2.
    lora_rank: of an adapter that is trained in place of the weights, scaled by 2; 0 trains the weights.
    engine, mode: verl's, by verl's names; the asynchronous modes sample the next step while this one trains.
    rollout_nodes: nodes of `gpus_per_node` GPUs that only sample, in mode separate_async.
    micro_batch_tokens: most tokens, padding left out, that one forward pass takes on one device.
    parallel_sequences: most sequences that one rollout engine decodes at once.
    save_every: steps between checkpoints; the last `keep_checkpoints` stay.
    validate_every: steps between validations, a multiple of `save_every`; 0 makes none. `dev_tasks` held-out tasks, the
    last ones, are done greedily; the checkpoint with the highest mean reward there becomes the trained model.
    pass_rate: lowest and highest share of a probe's episodes that did a task, for it to be trained on; [0, 1] takes
    every task and needs no probe.
    cpu_ranks: processes that train and sample on a machine without GPUs, one core each; floats are summed in another
    order for another number.
    nodes, gpus_per_node, tensor_parallel, gpu_memory: only with GPUs; gpu_memory is the share that vLLM takes;
    tensor_parallel holds for sampling, and for the update too with megatron.
    ray: address of a running Ray to join, `auto` or HOST:PORT; empty starts one on this machine. Only with GPUs.
    agent_workers: processes that run episodes, with GPUs; without, they run in the trainer's own process.
    verl_overrides: anything else, by its dotted name in verl's config; it wins over the fields above.
    """

    steps: int = 25
    prompts: int = 8
    rollouts: int = 8
    algorithm: Literal["grpo", "dr_grpo", "gspo"] = "grpo"
    learning_rate: float = 3e-4
    kl: float = 0.01
    kl_in: Literal["loss", "reward"] = "loss"
    clip: float | None = None
    temperature: float = 1.0
    filter_groups: int = 0
    truncated: Literal["scored", "masked", "penalised"] = "scored"
    rollout_correction: Literal["none", "token", "sequence"] = "none"
    lora_rank: int = 0
    engine: Literal["fsdp2", "megatron"] = "fsdp2"
    mode: Literal["sync", "colocate_async", "separate_async"] = "sync"
    rollout_nodes: int = 0
    micro_batch_tokens: int = 4096
    parallel_sequences: int = 64
    save_every: int = 1
    keep_checkpoints: int = 2
    validate_every: int = 0
    dev_tasks: int = 64
    pass_rate: tuple[float, float] = (0.0, 1.0)
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
            whole_number(f"trainer.{name}", value, least)
        for name, most in _MOST.items():
            value = getattr(self, name)
            if value is None and name == "clip":
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise ValueError(f"trainer.{name} is {value!r}; it must be a finite number of at least 0")
            if value > most:
                raise ValueError(f"trainer.{name} is {value!r}; it must be at most {most}")
        if not self.temperature > 0:
            raise ValueError("trainer.temperature is 0; GRPO needs rollouts that differ, so it must be above 0")
        for name in ("learning_rate", "clip", "gpu_memory"):
            if getattr(self, name) == 0:
                raise ValueError(f"trainer.{name} is 0; it must be above 0")
        for names, count in (("steps x trainer.prompts", self.rows), ("prompts x trainer.rollouts", self.episodes)):
            if count > MOST:
                raise ValueError(f"trainer.{names} is {count}; {MOST} are the most, since all are held at once")
        self._check_parallel()
        self._check_combination()
        self._check_selection()

    def _check_parallel(self) -> None:
        if self.gpus_per_node and self.ranks % self.tensor_parallel:
            raise ValueError(
                f"trainer.tensor_parallel is {self.tensor_parallel}; it must divide the {self.ranks} GPUs of "
                "trainer.nodes x trainer.gpus_per_node"
            )
        if self.episodes % self.ranks:
            processes = "processes of trainer.cpu_ranks"
            named = "GPUs of trainer.nodes x trainer.gpus_per_node" if self.gpus_per_node else processes
            raise ValueError(
                f"trainer.prompts x trainer.rollouts is {self.episodes}; it must be a multiple of the "
                f"{self.ranks} {named}"
            )

    def _check_combination(self) -> None:
        """Refuse what verl can't do, or does otherwise than one would think."""
        if not self.gpus_per_node:
            for name, only in (("engine", "fsdp2"), ("mode", "sync"), ("nodes", 1), ("tensor_parallel", 1)):
                if getattr(self, name) != only:
                    raise ValueError(
                        f"trainer.{name} is {getattr(self, name)!r}, which needs GPUs, and there are none "
                        f"(trainer.gpus_per_node is 0): add a profile with GPUs, e.g. profile=h100x8, or make it {only}"
                    )
        if self.kl_in == "reward" and not self.kl:
            raise ValueError("trainer.kl_in is 'reward', but trainer.kl is 0: set kl above 0, or kl_in to loss")
        if (self.mode == "separate_async") != (self.rollout_nodes > 0):
            raise ValueError(
                f"trainer.rollout_nodes is {self.rollout_nodes} in mode {self.mode}; it must be at least 1 in mode "
                "separate_async, and 0 in others"
            )
        if self.filter_groups and self.mode != "sync":
            raise ValueError(
                f"trainer.filter_groups is {self.filter_groups} in mode {self.mode}, where nothing bounds it; it must "
                "be 0, or trainer.mode sync"
            )

    def _check_selection(self) -> None:
        """Of tasks by their difficulty, of checkpoints by the dev split."""
        if self.validate_every % self.save_every:
            raise ValueError(
                f"trainer.validate_every is {self.validate_every}; it must be 0 or a multiple of trainer.save_every, "
                f"which is {self.save_every}, so that what was best is there"
            )
        low, high = self.pass_rate
        if not 0 <= low <= high <= 1:
            raise ValueError(f"trainer.pass_rate is {[low, high]}; it must be a lower and an upper bound within [0, 1]")

    @property
    def filters(self) -> bool:
        """Whether tasks are chosen by the pass rates of a probe."""
        return tuple(self.pass_rate) != (0.0, 1.0)

    @property
    def ranks(self) -> int:
        """Processes that share the update: one for each GPU, or `cpu_ranks`."""
        return self.nodes * self.gpus_per_node or self.cpu_ranks

    @property
    def episodes(self) -> int:
        """Rollouts that a step trains on."""
        return self.prompts * self.rollouts

    @property
    def rows(self) -> int:
        """Prompts that all steps together may use."""
        return self.steps * self.prompts * max(1, self.filter_groups)


_MOST = {"learning_rate": 1.0, "kl": 1000.0, "clip": 10.0, "temperature": 100.0, "gpu_memory": 1.0}
_LEAST = {
    "steps": 1,
    "prompts": 1,
    "rollouts": 2,  # an advantage is relative to the group
    "filter_groups": 0,
    "lora_rank": 0,
    "rollout_nodes": 0,
    "micro_batch_tokens": 1,
    "parallel_sequences": 1,
    "save_every": 1,
    "validate_every": 0,
    "dev_tasks": 1,
    "keep_checkpoints": 1,
    "cpu_ranks": 1,
    "nodes": 1,
    "gpus_per_node": 0,
    "tensor_parallel": 1,
    "agent_workers": 1,
}
