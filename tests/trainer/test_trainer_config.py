"""What `TrainerConfig` refuses, and the one function that turns it into verl's config."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from proverl.agent import Limits
from proverl.trainer import ModelConfig, RunPaths, SFTConfig, TrainerConfig, sft_verl_config, verl_config
from proverl.trainer.config import Architecture
from proverl.trainer.verl_check import problems, verl_problems

LIMITS = Limits(prompt_tokens=1024, response_tokens=640)
PAPER = TrainerConfig(
    steps=350,
    prompts=16,
    rollouts=16,
    learning_rate=1e-6,
    save_every=50,
    micro_batch_tokens=32768,
    gpus_per_node=8,
    tensor_parallel=2,
)
QWEN = ModelConfig("qwen3_4b", "Qwen/Qwen3-4B-Instruct-2507", "qwen", 1e-6, gpu=True)


def config_of(trainer=None, model=None, limits=LIMITS, seed=0, path="/models/start"):
    paths = RunPaths(Path("/runs/one"))
    return verl_config(trainer or TrainerConfig(), model or ModelConfig(), path, limits, paths, seed)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("steps", 0),
        ("prompts", 0),
        ("rollouts", 1),
        ("learning_rate", -1e-6),
        ("learning_rate", 0.0),
        ("kl", float("nan")),
        ("clip", float("inf")),
        ("temperature", 0.0),
        ("save_every", 0),
        ("keep_checkpoints", True),
        ("gpu_memory", 1.5),
        ("agent_workers", 0),
        ("steps", 10**20),
        ("learning_rate", 1e20),
        ("kl", 1e20),
        ("temperature", 1e20),
        ("clip", 0.0),
    ],
)
def test_a_bad_value_is_named_with_its_field(field, value):
    with pytest.raises(ValueError, match=f"trainer.{field} is .*must|trainer.{field} is 0"):
        replace(TrainerConfig(), **{field: value})


def test_what_no_machine_holds_is_refused():
    with pytest.raises(ValueError, match=r"trainer.steps x trainer.prompts is 8000000; 1000000 are the most"):
        TrainerConfig(steps=10**6)
    with pytest.raises(ValueError, match=r"trainer.prompts x trainer.rollouts is 8000000; 1000000 are the most"):
        TrainerConfig(rollouts=10**6)


@pytest.mark.parametrize(("field", "value"), [("gpus_per_node", -1), ("epochs", 10**20), ("learning_rate", 1e20)])
def test_a_bad_value_of_fine_tuning_is_named_with_its_field(field, value):
    with pytest.raises(ValueError, match=f"sft.{field} is .*must be"):
        SFTConfig(**{field: value})


@pytest.mark.parametrize(
    ("setting", "right"), [({"engine": "megatron"}, "fsdp2"), ({"nodes": 2}, "1"), ({"tensor_parallel": 2}, "1")]
)
def test_what_only_gpus_do_is_refused_without_them(setting, right):
    (name,) = setting
    with pytest.raises(ValueError, match=f"trainer.{name} is .*which needs GPUs.*profile=h100x8, or make it {right}"):
        TrainerConfig(**setting)
    assert TrainerConfig(gpus_per_node=2, **setting)


def test_gpus_that_sample_together_must_divide_all():
    with pytest.raises(ValueError, match="trainer.tensor_parallel is 3; it must divide the 8 GPUs"):
        TrainerConfig(gpus_per_node=8, tensor_parallel=3)


def test_a_kl_off_the_reward_needs_a_coefficient():
    with pytest.raises(ValueError, match="trainer.kl_in is 'reward', but trainer.kl is 0"):
        TrainerConfig(kl=0, kl_in="reward")
    assert TrainerConfig(kl=0).kl_in == "loss"


def test_an_architecture_has_no_negative_sizes():
    with pytest.raises(ValueError, match="model.architecture.vocab_size is -1"):
        Architecture(vocab_size=-1)


def test_a_batch_must_divide_over_the_gpus():
    with pytest.raises(ValueError, match=r"trainer.prompts x trainer.rollouts is 9.*multiple of the 8 GPUs"):
        TrainerConfig(prompts=3, rollouts=3, gpus_per_node=8)
    with pytest.raises(ValueError, match=r"multiple of the 2 processes of trainer.cpu_ranks"):
        TrainerConfig(prompts=3, rollouts=3)


@pytest.mark.parametrize(
    ("change", "key", "expected"),
    [
        ({"steps": 7}, "trainer.total_training_steps", 7),
        ({"prompts": 4}, "data.train_batch_size", 4),
        ({"prompts": 4}, "actor_rollout_ref.actor.ppo_mini_batch_size", 4),
        ({"rollouts": 4}, "actor_rollout_ref.rollout.n", 4),
        ({"learning_rate": 3e-7}, "actor_rollout_ref.actor.optim.lr", 3e-7),
        ({"kl": 0.05}, "actor_rollout_ref.actor.kl_loss_coef", 0.05),
        ({"kl": 0.0}, "actor_rollout_ref.actor.use_kl_loss", False),
        ({"clip": 0.1}, "actor_rollout_ref.actor.clip_ratio_high", 0.1),
        ({"temperature": 0.7}, "actor_rollout_ref.rollout.temperature", 0.7),
        ({"micro_batch_tokens": 9999}, "actor_rollout_ref.actor.ppo_max_token_len_per_gpu", 9999),
        ({"micro_batch_tokens": 1}, "actor_rollout_ref.actor.ppo_max_token_len_per_gpu", 1664),
        ({"parallel_sequences": 3}, "actor_rollout_ref.rollout.max_num_seqs", 3),
        ({"save_every": 3}, "trainer.save_freq", 3),
        ({"keep_checkpoints": 5}, "trainer.keep_checkpoints", 5),
        ({"cpu_ranks": 1}, "trainer.n_gpus_per_node", 1),
        ({"gpus_per_node": 8}, "trainer.n_gpus_per_node", 8),
        ({"nodes": 2, "gpus_per_node": 1}, "trainer.nnodes", 2),
        ({"gpus_per_node": 2, "tensor_parallel": 2}, "actor_rollout_ref.rollout.tensor_model_parallel_size", 2),
        ({"gpu_memory": 0.3}, "actor_rollout_ref.rollout.gpu_memory_utilization", 0.3),
        ({"agent_workers": 3}, "actor_rollout_ref.rollout.agent.num_workers", 3),
        ({"agent_workers": 10**6}, "actor_rollout_ref.rollout.agent.num_workers", 64),
    ],
)
def test_every_field_reaches_verl(change, key, expected):
    assert OmegaConf.select(config_of(TrainerConfig(**change)), key) == expected
    assert OmegaConf.select(config_of(), key) != expected


def test_the_seed_and_the_model_reach_verl():
    config = config_of(seed=5, path="/models/other")
    assert (
        config.actor_rollout_ref.rollout.seed
        == config.data.seed
        == config.actor_rollout_ref.actor.data_loader_seed
        == 5
    )
    assert config.actor_rollout_ref.model.path == "/models/other"


def test_without_gpus_the_same_trainer_runs_on_its_cpu_parts():
    cpu, gpu = config_of(), config_of(PAPER, QWEN)
    assert (cpu.trainer.device, cpu.actor_rollout_ref.rollout.name) == ("cpu", "transformers")
    assert (gpu.trainer.device, gpu.actor_rollout_ref.rollout.name) == ("cuda", "vllm")
    assert cpu.actor_rollout_ref.actor.strategy == gpu.actor_rollout_ref.actor.strategy == "fsdp2"
    assert cpu.trainer.v1.trainer_mode == gpu.trainer.v1.trainer_mode == "sync"


def test_overrides_win_and_unknown_ones_are_refused_with_the_nearest_name():
    key = "actor_rollout_ref.actor.grad_clip"
    assert OmegaConf.select(config_of(TrainerConfig(verl_overrides={key: 0.5})), key) == 0.5
    assert config_of(TrainerConfig(verl_overrides={"+trainer.mine": 1})).trainer.mine == 1
    with pytest.raises(ValueError, match=r"actor.grad_clp.*did you mean actor_rollout_ref.actor.grad_clip"):
        config_of(TrainerConfig(verl_overrides={"actor_rollout_ref.actor.grad_clp": 0.5}))


def test_a_setting_of_verls_may_be_written_as_a_tree():
    tree = {"actor_rollout_ref": {"actor": {"grad_clip": 0.5}}}
    assert config_of(TrainerConfig(verl_overrides=tree)).actor_rollout_ref.actor.grad_clip == 0.5
    with pytest.raises(ValueError, match="did you mean actor_rollout_ref.actor.grad_clip"):
        config_of(TrainerConfig(verl_overrides={"actor_rollout_ref": {"actor": {"grad_clp": 0.5}}}))


def test_a_surrounding_hydra_job_keeps_its_own_state(tmp_path):
    from hydra import compose, initialize_config_dir

    (tmp_path / "outer.yaml").write_text("mine: 1\n")
    with initialize_config_dir(str(tmp_path), version_base=None):
        config_of()
        assert compose("outer").mine == 1


@pytest.mark.verl
def test_verl_accepts_the_config_of_a_cpu_and_reads_the_same_settings(verl, start_model):
    from verl.utils.config import omega_conf_to_dataclass

    from proverl.trainer.verl_config import validate

    config = config_of(path=str(start_model))
    validate(config)
    actor = omega_conf_to_dataclass(config.actor_rollout_ref.actor)
    rollout = omega_conf_to_dataclass(config.actor_rollout_ref.rollout)
    assert (actor.optim.lr, actor.rollout_n, rollout.tensor_model_parallel_size) == (3e-4, 8, 1)
    assert (rollout.prompt_length, rollout.response_length) == (1024, 640)
    assert rollout.agent.default_agent_loop == "proverl"


def sft_config_of(**settings):
    return sft_verl_config(
        SFTConfig(**settings), ModelConfig(), "/models/start", LIMITS, RunPaths(Path("/runs/one")), 0, 50
    )


def test_a_batch_of_fine_tuning_fits_its_processes_and_its_demonstrations():
    with pytest.raises(ValueError, match="sft.batch is 32; it must be a multiple of the 64 processes of sft.cpu_ranks"):
        sft_config_of(cpu_ranks=64)
    with pytest.raises(ValueError, match="sft.batch is 152; it must be at most the 3 x 50 demonstrations"):
        sft_config_of(batch=152)
    assert sft_config_of(batch=150).data.train_batch_size == 150


GRPO, SFT = "trainer.verl_overrides", "sft.verl_overrides"
ACTOR = "actor_rollout_ref.actor."
REFUSED = [
    ({ACTOR + "loss_agg_mode": "foo"}, f"sets {ACTOR}loss_agg_mode to 'foo', which verl refuses: .*loss_agg_mode"),
    ({"actor_rollout_ref": {"actor": {"loss_agg_mode": "foo"}}}, f"sets {ACTOR}loss_agg_mode to 'foo', which verl"),
    ({ACTOR + "optim.optimizer": "Foo"}, f"sets {ACTOR}optim.optimizer to 'Foo', which verl refuses"),
    ({ACTOR + "optim.lr_scheduler_type": "foo"}, 'to \'foo\', which verl refuses: .*"constant", "cosine"'),
    ({ACTOR + "policy_loss.loss_mode": "foo"}, "to 'foo', which verl refuses: .*vanilla"),
    ({ACTOR + "strategy": "foo"}, "to 'foo', which verl refuses: actor.strategy is one of .*fsdp2"),
    ({"actor_rollout_ref.rollout.name": "foo"}, "to 'foo', which verl refuses: rollout.name is one of .*vllm"),
    ({"algorithm.adv_estimator": "foo"}, "sets algorithm.adv_estimator to 'foo', which verl refuses"),
    ({ACTOR + "grad_clip": "high"}, f"sets {ACTOR}grad_clip to 'high'; it must be a number"),
    ({ACTOR + "grad_clip": float("nan")}, f"sets {ACTOR}grad_clip to nan; it must be a number"),
    ({ACTOR + "use_torch_compile": 1}, "to 1; it must be true or false"),
    ({ACTOR[:-1]: 5}, "sets actor_rollout_ref.actor to 5; it must be a group of settings"),
    ({"trainer.save_freq": "often"}, "sets trainer.save_freq to 'often'; it must be a whole number"),
    ({f"+{ACTOR}grad_clipp": 1.0}, "actor.grad_clipp is no setting of verl's FSDPActorConfig; did you mean grad_clip"),
    ({ACTOR + "grad_clipp": 1.0}, f"verl's config has no {ACTOR}grad_clipp; did you mean {ACTOR}grad_clip"),
]
TAKEN = [
    {ACTOR + "loss_agg_mode": "seq-mean-token-mean"},
    {ACTOR + "grad_clip": 1, ACTOR + "entropy_coeff": 0.01},
    {ACTOR + "optim.betas": [0.9, 0.95]},
    {"actor_rollout_ref.model.use_remove_padding": True, "+trainer.mine": 1},
]


@pytest.mark.verl
@pytest.mark.parametrize(("trainer", "model"), [(TrainerConfig(), ModelConfig()), (PAPER, QWEN)])
def test_what_verl_would_refuse_is_said_with_key_and_value(verl, trainer, model):
    config = config_of(trainer, model)
    for overrides, sentence in REFUSED:
        (told,) = problems(config, overrides, GRPO)
        assert re.search(f"^{GRPO}.*{sentence}", told), told
        assert "\n" not in told
    for overrides in TAKEN:
        assert problems(config, overrides, GRPO) == []


@pytest.mark.verl
def test_of_several_settings_the_one_that_verl_refuses_is_named(verl):
    (told,) = problems(config_of(), {ACTOR + "grad_clip": 0.5, ACTOR + "loss_agg_mode": "foo"}, GRPO)
    assert "loss_agg_mode" in told and "grad_clip" not in told


@pytest.mark.verl
def test_fine_tuning_is_checked_in_the_same_way(verl):
    config = sft_config_of()
    assert problems(config, {"optim.weight_decay": 0.1}, SFT) == []
    for overrides, part in (
        ({"optim.lr_scheduler_type": "foo"}, "which verl refuses"),
        ({"model.use_liger": "yes"}, "model.use_liger to 'yes'; it must be true or false"),
        ({"engine.strategy": "foo"}, "engine.strategy to 'foo', which verl refuses"),
        ({"optimm.lr": 1.0}, "has no optimm.lr"),
    ):
        (told,) = problems(config, overrides, SFT)
        assert told.startswith(SFT) and part in told, told


@pytest.mark.verl
def test_verl_is_asked_in_a_process_of_its_own_and_only_about_overrides():
    (told,) = verl_problems(config_of(), {ACTOR + "loss_agg_mode": "foo"}, GRPO)
    assert "loss_agg_mode to 'foo', which verl refuses" in told
    assert verl_problems(None, {}, GRPO) == []
