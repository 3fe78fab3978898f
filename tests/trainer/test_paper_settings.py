"""`experiment=main`: the paper's settings read back from verl's own objects, and that each decides something."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from experiments.compose import check
from proverl.agent import Limits
from proverl.trainer import ModelConfig, RunPaths, TrainerConfig, verl_config
from proverl.trainer.rows import write_rows

pytestmark = pytest.mark.verl

RATES = {"qwen3_4b": 1e-6, "qwen3_8b": 5e-8, "qwen2_5_7b": 3e-7, "granite": 3e-7}  # paper, Training


@pytest.mark.parametrize("model", RATES)
def test_main_gives_verl_the_papers_settings(verl, model):
    from verl.trainer.config import AlgoConfig
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.config import FSDPActorConfig, RolloutConfig

    from proverl.trainer.verl_config import validate

    (run,) = check(["experiment=main", f"model={model}", "profile=h100x8"])
    limits = run.envs.limits
    config = verl_config(run.trainer, run.model, run.model.path, limits, RunPaths(Path("/runs/one")), run.seed)
    validate(config)
    actor = omega_conf_to_dataclass(config.actor_rollout_ref.actor)
    rollout = omega_conf_to_dataclass(config.actor_rollout_ref.rollout)
    algorithm = omega_conf_to_dataclass(config.algorithm)
    assert [type(found) for found in (actor, rollout, algorithm)] == [FSDPActorConfig, RolloutConfig, AlgoConfig]
    assert (config.trainer.n_gpus_per_node, config.trainer.nnodes, rollout.tensor_model_parallel_size) == (8, 1, 2)
    assert (config.trainer.total_training_steps, config.data.train_batch_size, rollout.n) == (350, 16, 16)
    assert (rollout.prompt_length, rollout.response_length, rollout.max_model_len) == (12384, 16384, 28768)
    assert (limits.user_turns, limits.assistant_turns) == (5, 10)
    assert (limits.prompt_tokens, limits.response_tokens) == (rollout.prompt_length, rollout.response_length)
    assert actor.optim.lr == RATES[model]
    assert (actor.use_kl_loss, actor.kl_loss_coef, actor.kl_loss_type) == (True, 0.01, "low_var_kl")
    assert (algorithm.adv_estimator, algorithm.norm_adv_by_std_in_grpo) == ("grpo", True)
    # left open by the paper
    assert (actor.policy_loss.loss_mode, actor.loss_agg_mode, actor.entropy_coeff) == ("vanilla", "token-mean", 0)
    assert (actor.clip_ratio_low, actor.clip_ratio_high, rollout.temperature) == (0.2, 0.2, 1.0)
    assert (actor.ppo_epochs, actor.ppo_mini_batch_size) == (1, 16)
    assert not (
        algorithm.use_kl_in_reward or algorithm.filter_groups.enable or algorithm.rollout_correction["rollout_is"]
    )
    assert (config.actor_rollout_ref.model.lora_rank, run.trainer.truncated) == (0, "scored")


def config_of(folder, path="/models/start", **settings):
    trainer = TrainerConfig(**{"prompts": 4, "rollouts": 2, "steps": 3, **settings})
    limits = Limits(prompt_tokens=512, response_tokens=160)
    return verl_config(trainer, ModelConfig(), str(path), limits, RunPaths(folder), 0)


@pytest.mark.parametrize(("settings", "steps", "prompts"), [({}, 3, 4), ({"steps": 2}, 2, 4), ({"prompts": 6}, 3, 6)])
def test_steps_and_prompts_decide_what_verl_fetches(verl, start_model, task_of, tmp_path, settings, steps, prompts):
    from transformers import AutoTokenizer
    from verl.trainer.ppo.v1 import PPOTrainerSync

    config = config_of(tmp_path, start_model, **settings)
    write_rows([task_of(number) for number in range(5)], 18, 0, RunPaths(tmp_path).rows)
    trainer = object.__new__(PPOTrainerSync)
    trainer.config, trainer.trainer_mode, trainer.parameter_sync_step, trainer.global_steps = config, "sync", 1, 1
    trainer.tokenizer, trainer.processor = AutoTokenizer.from_pretrained(start_model), None
    trainer._init_dataloader()
    assert (trainer.total_training_steps, len(trainer._next_train_batch())) == (steps, prompts)


@pytest.mark.parametrize("settings", [{}, {"rollouts": 3}, {"temperature": 0.5}])
def test_rollouts_and_temperature_decide_what_verls_worker_starts(verl, monkeypatch, tmp_path, settings):
    from verl.trainer.ppo.v1 import agent_loop_tq
    from verl.utils import tensordict_utils as tu

    started = []

    class Worker(agent_loop_tq.AgentLoopWorkerTQ.__ray_actor_class__):
        def __init__(self, config):
            self.config, self.background_tasks = config, set()

        async def _run_agent_loop(self, sampling_params, **row):
            started.append(sampling_params["temperature"])

    async def put(**_):
        pass

    monkeypatch.setattr(agent_loop_tq, "tq", SimpleNamespace(async_kv_put=put))
    batch = tu.get_tensordict({"uid": ["a", "b"], "index": [0, 1]}, {"global_steps": 1})

    async def generate():
        worker = Worker(config_of(tmp_path, **settings))
        await worker.generate_sequences(batch)
        await asyncio.gather(*worker.background_tasks)

    asyncio.run(generate())
    assert started == [settings.get("temperature", 1.0)] * 2 * settings.get("rollouts", 2)


@pytest.mark.parametrize("parallel", [1, 2])
def test_tensor_parallel_decides_how_many_gpus_sample_together(verl, tmp_path, parallel):
    from verl.workers.rollout.replica import RolloutReplica

    class Replica(RolloutReplica):
        async def launch_servers(self):
            pass

    config = config_of(tmp_path, gpus_per_node=8, tensor_parallel=parallel)
    assert Replica(0, config.actor_rollout_ref.rollout, None, gpus_per_node=8).world_size == parallel


def test_the_learning_rate_decides_how_far_verls_optimizer_goes(verl, tmp_path):
    import torch
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.config.optimizer import build_optimizer

    for rate in (1e-6, 3e-7):
        weight = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
        optim = omega_conf_to_dataclass(config_of(tmp_path, learning_rate=rate).actor_rollout_ref.actor.optim)
        optimizer = build_optimizer([weight], optim)
        weight.grad = torch.ones_like(weight)
        optimizer.step()
        assert abs(weight.item()) == pytest.approx(rate, rel=1e-3)
