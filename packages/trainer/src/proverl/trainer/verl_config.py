"""The one function that turns our settings into verl's.

verl's own default config is composed, the fields that a run decides are set, and `trainer.verl_overrides` comes last.
Nothing here imports verl (10 s); `validate` does, and has verl's dataclasses check the result.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

from proverl.agent.limits import Limits
from proverl.trainer.algorithms import algorithm_settings
from proverl.trainer.config import ModelConfig, TrainerConfig

AGENT = "proverl"  # the name under which our agent loop is registered with verl


@dataclass(frozen=True)
class RunPaths:
    """Where one run's files lie, all below its folder."""

    folder: Path

    @property
    def verl(self) -> Path:
        """The whole config given to verl, for reading and for the process that trains."""
        return self.folder / "verl.yaml"

    @property
    def agent_loop(self) -> Path:
        """verl's list of agent loops: ours, with its settings."""
        return self.folder / "agent_loop.yaml"

    @property
    def rows(self) -> Path:
        """The tasks of all steps in the order they are used."""
        return self.folder / "rows.parquet"

    @property
    def dev_rows(self) -> Path:
        """The tasks of a validation."""
        return self.folder / "dev_rows.parquet"

    @property
    def metrics(self) -> Path:
        """One JSON line per step."""
        return self.folder / "metrics.jsonl"

    @property
    def rollouts(self) -> Path:
        """The episodes of every step (`rollouts.py`)."""
        return self.folder / "rollouts"

    @property
    def checkpoints(self) -> Path:
        """verl's checkpoints, `global_step_N`."""
        return self.folder / "checkpoints"

    @property
    def model(self) -> Path:
        """The trained model, a Hugging Face folder."""
        return self.folder / "model"

    @property
    def log(self) -> Path:
        """What the training processes print."""
        return self.folder / "train.log"


def verl_config(
    trainer: TrainerConfig, model: ModelConfig, model_path: str, limits: Limits, paths: RunPaths, seed: int
) -> DictConfig:
    """verl's config of a run. Raises ValueError for an unknown key in `trainer.verl_overrides`."""
    megatron = trainer.engine == "megatron"
    config = grpo_defaults(trainer)
    tokens = limits.prompt_tokens + limits.response_tokens
    settings = algorithm_settings(trainer, limits.response_tokens) | _data(trainer, limits, paths, seed)
    settings |= _run(trainer, paths) | _mode(trainer)
    settings |= _model(trainer, model, model_path, max(trainer.micro_batch_tokens, tokens), seed)
    settings |= (_megatron if megatron else _fsdp2)(trainer, model, seed)
    settings |= _rollout(trainer, model, tokens, paths, seed)
    for key, value in settings.items():
        OmegaConf.update(config, key, value, force_add=True)
    for key, value in settings_of(config, trainer.verl_overrides).items():
        override(config, key, value, "trainer.verl_overrides")
    return config


def grpo_defaults(trainer: TrainerConfig) -> DictConfig:
    """verl's own config, which `verl_config` starts from."""
    family = f"model_engine={'megatron' if trainer.engine == 'megatron' else 'dp'}"
    return verl_defaults("ppo_trainer", "actor_rollout_ref.rollout.name=vllm", family)


def validate(config: DictConfig) -> None:
    """Let verl check its config (imports verl; on CPU after `compat.install`). Raises what verl raises."""
    from verl.utils.config import validate_config

    uses_reference = config.actor_rollout_ref.actor.use_kl_loss or config.algorithm.use_kl_in_reward
    validate_config(config, use_reference_policy=uses_reference, use_critic=False)


def verl_defaults(name: str, *overrides: str) -> DictConfig:
    """A copy of the config that one of verl's trainers has by default. Raises ValueError when verl is not installed."""
    return deepcopy(_composed(name, overrides))


@cache
def _composed(name: str, overrides: tuple[str, ...]) -> DictConfig:
    spec = find_spec("verl")
    if spec is None or not spec.submodule_search_locations:
        raise ValueError("verl is not installed; install proverl-trainer with its dependencies")
    folder = Path(spec.submodule_search_locations[0]) / "trainer" / "config"
    outer = GlobalHydra.instance().hydra  # we may be called inside a Hydra job
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(config_dir=str(folder), version_base=None):
            return compose(name, overrides=list(overrides))
    finally:
        if outer is not None:
            GlobalHydra.instance().initialize(outer)


def _data(trainer: TrainerConfig, limits: Limits, paths: RunPaths, seed: int) -> dict[str, Any]:
    return {
        "data.train_files": [str(paths.rows)],
        "data.val_files": [str(paths.dev_rows if trainer.validate_every else paths.rows)],  # verl wants some
        "data.val_max_samples": -1 if trainer.validate_every else 1,
        "data.validation_shuffle": False,
        "data.shuffle": False,  # the rows are written in the order of use
        "data.seed": seed,
        "data.dataloader_num_workers": 0,
        "data.max_prompt_length": limits.prompt_tokens,
        "data.max_response_length": limits.response_tokens,
        "data.return_multi_modal_inputs": False,
    }


def _run(trainer: TrainerConfig, paths: RunPaths) -> dict[str, Any]:
    return {
        "trainer.total_epochs": 1,
        "trainer.total_training_steps": trainer.steps,
        "trainer.save_freq": trainer.save_every,
        "trainer.test_freq": trainer.validate_every or -1,
        "trainer.val_before_train": False,
        "trainer.default_local_dir": str(paths.checkpoints),
        "trainer.keep_checkpoints": trainer.keep_checkpoints,
        "trainer.checkpoint_callback_class": "proverl.trainer.checkpoints.MarkAfterStep",
        "trainer.resume_mode": "disable",  # the training process looks for the last complete checkpoint itself
        "trainer.logger": [],
        "trainer.nnodes": trainer.nodes,
        "trainer.n_gpus_per_node": trainer.ranks // trainer.nodes,
        "ray_kwargs.ray_init.address": trainer.ray or None,
        "reward.num_workers": 0,  # the agent loop scores
        "transfer_queue.enable": True,
        "transfer_queue.backend.SimpleStorage.num_data_storage_units": 2 * trainer.nodes
        if trainer.gpus_per_node
        else 1,
        "actor_rollout_ref.actor.checkpoint.save_contents": ["model", "optimizer", "extra", "hf_model"],
        "actor_rollout_ref.actor.checkpoint.load_contents": ["model", "optimizer", "extra"],
    }


def _mode(trainer: TrainerConfig) -> dict[str, Any]:
    """Whether sampling waits for training, shares its GPUs, or has nodes of its own."""
    settings: dict[str, Any] = {"trainer.v1.trainer_mode": trainer.mode}
    if trainer.mode == "separate_async":
        settings |= {
            "trainer.v1.separate_async.parameter_sync_step": 1,  # new weights after every update
            "actor_rollout_ref.rollout.nnodes": trainer.rollout_nodes,
            "actor_rollout_ref.rollout.n_gpus_per_node": trainer.gpus_per_node,
            "actor_rollout_ref.rollout.checkpoint_engine.backend": "nccl",
        }
    return settings


def _model(trainer: TrainerConfig, model: ModelConfig, path: str, tokens: int, seed: int) -> dict[str, Any]:
    actor = "actor_rollout_ref.actor."
    return {
        "actor_rollout_ref.model.path": path,
        "actor_rollout_ref.model.use_remove_padding": False,  # packing needs flash-attn; `verl_overrides` turns it on
        "actor_rollout_ref.model.enable_gradient_checkpointing": model.gpu,
        "actor_rollout_ref.model.external_lib": None if model.gpu else "proverl.trainer.cpu.engine",
        "actor_rollout_ref.model.override_config": {"attn_implementation": "sdpa"},
        "trainer.device": "cuda" if model.gpu else "cpu",
        actor + "strategy": trainer.engine,
        actor + "data_loader_seed": seed,
        actor + "use_torch_compile": model.gpu,
        actor + "use_dynamic_bsz": True,
        actor + "ppo_max_token_len_per_gpu": tokens,
        "actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu": tokens,
        "actor_rollout_ref.ref.log_prob_max_token_len_per_gpu": tokens,
    }


def _fsdp2(trainer: TrainerConfig, model: ModelConfig, seed: int) -> dict[str, Any]:
    actor, reference = "actor_rollout_ref.actor.fsdp_config.", "actor_rollout_ref.ref.fsdp_config."
    dtype = "bf16" if model.gpu else "fp32"
    settings: dict[str, Any] = {actor + "seed": seed}
    for engine in (actor, reference):
        settings |= {
            engine + "strategy": "fsdp2",
            engine + "use_torch_compile": model.gpu,
            engine + "mixed_precision": {"param_dtype": dtype, "reduce_dtype": "fp32", "buffer_dtype": "fp32"},
        }
    return settings


def _megatron(trainer: TrainerConfig, model: ModelConfig, seed: int) -> dict[str, Any]:
    actor, reference = "actor_rollout_ref.actor.megatron.", "actor_rollout_ref.ref.megatron."
    return {
        actor + "seed": seed,
        actor + "tensor_model_parallel_size": trainer.tensor_parallel,
        actor + "use_remove_padding": False,
        reference + "param_offload": True,  # as FSDP2's reference model, which always is
    }


def _rollout(trainer: TrainerConfig, model: ModelConfig, tokens: int, paths: RunPaths, seed: int) -> dict[str, Any]:
    rollout = "actor_rollout_ref.rollout."
    return {
        rollout + "name": "vllm" if model.gpu else "transformers",
        rollout + "mode": "async",
        rollout + "dtype": "bfloat16" if model.gpu else "float32",
        rollout + "seed": seed,
        rollout + "tensor_model_parallel_size": trainer.tensor_parallel,
        rollout + "gpu_memory_utilization": trainer.gpu_memory,
        rollout + "max_num_seqs": trainer.parallel_sequences,
        rollout + "max_model_len": tokens,
        rollout + "free_cache_engine": model.gpu,
        rollout + "engine_kwargs.transformers": {"format": model.format},
        rollout + "agent.num_workers": min(trainer.agent_workers, trainer.episodes),
        rollout + "agent.default_agent_loop": AGENT,
        rollout + "agent.agent_loop_config_path": str(paths.agent_loop),
    }


def settings_of(config: DictConfig, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides as dotted names and values; a tree is followed as far as verl's config has groups."""
    found: dict[str, Any] = {}
    for key, value in overrides.items():
        if isinstance(value, Mapping) and value and isinstance(OmegaConf.select(config, key), DictConfig):
            found |= settings_of(config, {f"{key}.{part}": item for part, item in value.items()})
        else:
            found[key] = value
    return found


def override(config: DictConfig, key: str, value: Any, place: str) -> None:
    """Set an existing key; `+key` adds one that verl's defaults leave out, as in Hydra.

    Raises ValueError, which names `place`, for a key that does not exist.
    """
    if key.startswith("+"):
        OmegaConf.update(config, key[1:], value, force_add=True)
        return
    parent, _, name = key.rpartition(".")
    node = OmegaConf.select(config, parent) if parent else config
    if not isinstance(node, DictConfig) or name not in node:
        known = [str(item) for item in node] if isinstance(node, DictConfig) else []
        near = get_close_matches(name, known, n=1)
        there = f"{parent}.{near[0]}" if near and parent else (near or [""])[0]
        hint = f"did you mean {there}?" if near else f"write +{key} to add it"
        raise ValueError(f"{place}: verl's config has no {key}; {hint}")
    OmegaConf.update(config, key, value)
