"""A Ray cluster of two nodes on this machine, one of which believes it has GPUs: what joins it, and what runs where."""

import shutil
from importlib.util import find_spec

import pytest

from proverl.agent import Limits
from proverl.reward import RewardConfig
from proverl.trainer import ModelConfig, TrainerConfig, TrainingFailed, train
from proverl.trainer.preflight import preflight

pytestmark = pytest.mark.verl


@pytest.fixture(scope="module")
def cluster():
    """A head with the label of nodes that run episodes, and a node with two GPUs."""
    from ray._private import services, utils
    from ray.cluster_utils import Cluster

    from proverl.trainer.cluster import _light_ray

    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((services, "start_raylet"), (utils, "get_dashboard_dependency_error")):
            patch.setattr(module, name, getattr(module, name))  # to be put back
        _light_ray()  # else a busy machine is too slow for Ray's agents
        patch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        patch.setenv("TMPDIR", "/tmp")
        patch.setenv("RAY_prestart_worker_first_driver", "0")  # else each CPU slot gets an idle worker
        patch.setenv("RAY_worker_niceness", "0")
        head = {"num_cpus": 4, "include_dashboard": False, "labels": {"proverl": "episodes"}}
        found = Cluster(initialize_head=True, head_node_args=head)
        found.add_node(num_cpus=16, num_gpus=2)
        yield found
        found.shutdown()


@pytest.fixture
def model(start_model):
    return ModelConfig("start", str(start_model), "tiny", gpu=True)


def test_every_node_that_may_train_is_looked_at(cluster, model, tmp_path):
    trainer = TrainerConfig(gpus_per_node=2, ray=cluster.address)
    told = preflight(model, trainer, model.path, tmp_path / "runs")
    told = [text for text in told if "/dev/shm" not in text]
    if not shutil.which("nvidia-smi"):
        assert len(told) == 1 and "needs 2 GPUs a node and nvidia-smi shows 0" in told[0], told
    assert not [text for text in told if "folder" in text or "connection" in text or "environment" in text], told
    assert list((tmp_path / "runs").iterdir()) == []  # the mark is gone


def test_too_few_nodes_are_named(cluster, model, tmp_path):
    trainer = TrainerConfig(nodes=2, gpus_per_node=2, ray=cluster.address)
    told = preflight(model, trainer, model.path, tmp_path)
    assert told and "1 of the Ray cluster's nodes have 2 GPUs, trainer.nodes asks for 2" in told[0], told


def test_episodes_keep_to_the_labelled_nodes(cluster, verl):
    import ray

    from proverl.trainer.loops import episode_nodes

    ray.init(address=cluster.address, log_to_driver=False)
    try:
        nodes = ray.nodes()
    finally:
        ray.shutdown()
    (labelled,) = episode_nodes(nodes)
    assert next(node["Resources"].get("GPU", 0) for node in nodes if node["NodeID"] == labelled) == 0
    for node in nodes:
        node["Labels"].pop("proverl", None)
    assert sorted(episode_nodes(nodes)) == sorted(node["NodeID"] for node in nodes)


@pytest.mark.skipif(not find_spec("vllm"), reason="the gpu extra is not installed")
def test_a_run_on_gpus_joins_ray_and_goes_as_far_as_cuda(cluster, model, task_of, tmp_path):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU, so nothing ends at the first CUDA call")
    trainer = TrainerConfig(steps=1, prompts=2, rollouts=2, gpus_per_node=1, ray=cluster.address, agent_workers=1)
    limits = Limits(prompt_tokens=512, response_tokens=160)
    with pytest.raises(TrainingFailed, match="NVIDIA|CUDA"):
        train([task_of(number) for number in range(2)], tmp_path, trainer, model, limits, RewardConfig())
    log = (tmp_path / "train.log").read_text()
    assert "Ray runs" in log and "verl is imported" in log
