"""Supervised fine-tuning on demonstrations: the Hydra group `sft`, and the one function that turns it into verl's."""

from dataclasses import dataclass, field
from typing import Any

from omegaconf import DictConfig, OmegaConf

from proverl.agent.limits import Limits
from proverl.trainer.config import ModelConfig, whole_number
from proverl.trainer.verl_config import RunPaths, override, settings_of, verl_defaults


@dataclass(frozen=True)
class SFTConfig:
    """The paper's SFT baseline: the data of GRPO, 3 epochs (paper, Training). It names no other setting.

    epochs: passes over the demonstrations. batch: demonstrations that one update averages over, by token.
    learning_rate: after a linear rise over `warmup` (a share of the steps); it falls to 0 along a cosine.
    micro_batch_tokens: most tokens, padding left out, that one forward pass takes on one device.
    save_every: steps between checkpoints; the last `keep_checkpoints` stay.
    gpus_per_node, cpu_ranks: processes on this machine, one for each GPU or, without GPUs, one for each core.
    verl_overrides: anything else, by its dotted name in the config of verl's SFT trainer.
    """

    epochs: int = 3
    batch: int = 32
    learning_rate: float = 1e-3
    warmup: float = 0.05
    micro_batch_tokens: int = 4096
    save_every: int = 8
    keep_checkpoints: int = 2
    gpus_per_node: int = 0
    cpu_ranks: int = 2
    verl_overrides: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "micro_batch_tokens", "save_every", "keep_checkpoints", "cpu_ranks"):
            whole_number(f"sft.{name}", getattr(self, name), 1)
        whole_number("sft.gpus_per_node", self.gpus_per_node, 0)
        if not 0 < self.learning_rate <= 1:
            raise ValueError(f"sft.learning_rate is {self.learning_rate!r}; it must be above 0 and at most 1")
        if not 0 <= self.warmup < 1:
            raise ValueError(f"sft.warmup is {self.warmup!r}; it is a share of the steps, at least 0 and below 1")

    @property
    def ranks(self) -> int:
        """Processes that share an update."""
        return self.gpus_per_node or self.cpu_ranks

    def steps(self, demonstrations: int) -> int:
        """Updates that show every demonstration `epochs` times; the last one is filled up from the next pass."""
        return -(-self.epochs * demonstrations // self.batch)


def sft_verl_config(
    sft: SFTConfig, model: ModelConfig, model_path: str, limits: Limits, paths: RunPaths, seed: int, demonstrations: int
) -> DictConfig:
    """The config of verl's SFT trainer.

    Raises ValueError for an unknown key in `sft.verl_overrides`, and for a batch that the processes can't share or that
    all epochs together do not fill.
    """
    _check_batch(sft, demonstrations)
    config = verl_defaults("sft_trainer_engine")
    tokens = limits.prompt_tokens + limits.response_tokens
    settings = _data(sft, tokens, paths, seed, demonstrations) | _model(sft, model, model_path, seed)
    for key, value in (settings | _run(sft, model, paths, sft.steps(demonstrations))).items():
        OmegaConf.update(config, key, value, force_add=True)
    for key, value in settings_of(config, sft.verl_overrides).items():
        override(config, key, value, "sft.verl_overrides")
    return config


def _check_batch(sft: SFTConfig, demonstrations: int) -> None:
    if sft.batch % sft.ranks:
        processes = "GPUs of sft.gpus_per_node" if sft.gpus_per_node else "processes of sft.cpu_ranks"
        raise ValueError(f"sft.batch is {sft.batch}; it must be a multiple of the {sft.ranks} {processes}")
    if sft.batch > sft.epochs * demonstrations:
        raise ValueError(
            f"sft.batch is {sft.batch}; it must be at most the {sft.epochs} x {demonstrations} demonstrations of all "
            "epochs"
        )


def _data(sft: SFTConfig, longest: int, paths: RunPaths, seed: int, demonstrations: int) -> dict[str, Any]:
    return {
        "data.train_files": [str(paths.rows)],
        "data.custom_cls.path": "pkg://proverl.trainer.sft_trainer",
        "data.custom_cls.name": "Demonstrations",
        "data.train_batch_size": sft.batch,
        "data.use_dynamic_bsz": True,
        "data.max_token_len_per_gpu": max(sft.micro_batch_tokens, longest),
        "data.max_length": longest,
        "data.num_workers": 0,
        "data.demonstrations": demonstrations,
        "data.rows": sft.steps(demonstrations) * sft.batch,  # in the order of use
        "data.seed": seed,
    }


def _model(sft: SFTConfig, model: ModelConfig, path: str, seed: int) -> dict[str, Any]:
    dtype = "bf16" if model.gpu else "fp32"
    return {
        "model.path": path,
        "model.use_remove_padding": False,  # packing needs flash-attn; `verl_overrides` turns it on
        "model.enable_gradient_checkpointing": model.gpu,
        "model.external_lib": None if model.gpu else "proverl.trainer.cpu.engine",
        "model.override_config": {"attn_implementation": "sdpa"},
        "engine.strategy": "fsdp2",
        "engine.seed": seed,
        "engine.use_torch_compile": model.gpu,
        "engine.mixed_precision": {"param_dtype": dtype, "reduce_dtype": "fp32", "buffer_dtype": "fp32"},
        "optim.lr": sft.learning_rate,
        "optim.lr_warmup_steps_ratio": sft.warmup,
        "optim.lr_scheduler_type": "cosine",
    }


def _run(sft: SFTConfig, model: ModelConfig, paths: RunPaths, steps: int) -> dict[str, Any]:
    return {
        "trainer.device": "cuda" if model.gpu else "cpu",
        "trainer.total_epochs": 1,  # one long pass over rows in the order of use: no edge that resuming could miss
        "trainer.total_training_steps": steps,
        "trainer.save_freq": sft.save_every,
        "trainer.default_local_dir": str(paths.checkpoints),
        "trainer.keep_checkpoints": sft.keep_checkpoints,
        "trainer.resume_mode": "disable",  # the training process looks for the last complete checkpoint itself
        "trainer.logger": [],
        "trainer.n_gpus_per_node": sft.ranks,
        "checkpoint.save_contents": ["model", "optimizer", "extra", "hf_model"],
        "checkpoint.load_contents": ["model", "optimizer", "extra"],
    }
