"""A Ray cluster on this machine, a node of which claims GPUs: what is told of it, and what runs where."""

import math
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from threading import Event

import pytest

from proverl.agent import Limits
from proverl.synth import SynthConfig, Synthesis, Workers, write_dataset
from proverl.trainer import ModelConfig, TrainerConfig, preflight

SECONDS = 300  # for what a busy machine is slow at; Ray would give up, or start a process again, after 30 or 60

NVIDIA_SMI = """#!/bin/sh
echo '0, 81559, 81079, 570.86.10, NVIDIA H100'
echo '1, 81559, 1000, 570.86.10, NVIDIA H100'
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A head that runs episodes, and a node with two GPUs and some faults."""
    folder = tmp_path_factory.mktemp("nodes")
    (folder / "nvidia-smi").write_text(NVIDIA_SMI)
    (folder / "nvidia-smi").chmod(0o755)
    faulty = {"PATH": f"{folder}:{os.environ['PATH']}", "VLLM_RPC_BASE_PATH": f"/tmp/{'x' * 90}"}
    short = tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True)  # Ray's last logs
    with pytest.MonkeyPatch.context() as patch, short:
        found = start_head(patch, short.name)
        found.add_node(num_cpus=1, num_gpus=2, env_vars=faulty, wait=False)
        try:
            found.wait_for_nodes(SECONDS)
            yield found
        finally:
            found.shutdown()


def start_head(patch, short):
    """Start Ray with as few processes as it has, its files in the folder `short`, and more patience than it has."""
    for name, value in {
        "RAY_TMPDIR": short,  # else Ray writes down, for all users of the machine, that this is the cluster to join
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
        "RAY_prestart_worker_first_driver": "0",  # else each CPU slot gets an idle worker
        "RAY_worker_niceness": "0",  # else other programs starve its workers
        "RAY_worker_register_timeout_seconds": str(SECONDS),
        "RAY_gcs_server_port_wait_time_s": str(SECONDS),
        "RAY_gcs_server_request_timeout_seconds": str(SECONDS),
    }.items():
        patch.setenv(name, value)
    from ray._private import services, utils
    from ray.cluster_utils import Cluster

    from proverl.trainer.cluster import light_ray

    for module, name in ((services, "start_raylet"), (utils, "get_dashboard_dependency_error")):
        patch.setattr(module, name, getattr(module, name))  # to be put back
    light_ray()
    patch.setattr(preflight, "_ANSWER_SECONDS", SECONDS)
    head = {"num_cpus": 1, "include_dashboard": False, "labels": {"proverl": "episodes"}}
    return Cluster(initialize_head=True, head_node_args=head)


@pytest.fixture
def stranger(cluster, tmp_path):
    """For a while, a node with four GPUs and another environment."""
    (tmp_path / "proverl").mkdir()
    (tmp_path / "proverl" / "__init__.py").touch()  # a package of that name without our modules
    node = cluster.add_node(num_gpus=4, env_vars={"PYTHONPATH": str(tmp_path)}, wait=False)
    cluster.wait_for_nodes(SECONDS)
    yield
    cluster.remove_node(node)
    cluster.wait_for_nodes(SECONDS)


@pytest.fixture(scope="module")
def joined(cluster):
    """Ray, joined by this process, as after an earlier job of a sweep."""
    import ray

    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    yield ray
    ray.shutdown()


def told(cluster, folder, **settings):
    weights = folder / "weights"
    weights.mkdir()
    (weights / "config.json").write_text("{}")
    (weights / "model.safetensors").touch()
    trainer = TrainerConfig(ray=cluster.address, **settings)
    return preflight.preflight(ModelConfig(path=str(weights), gpu=True), trainer, str(weights), folder / "runs")


def test_every_node_that_may_train_is_looked_at(cluster, stranger, tmp_path):
    import ray

    few, *found = told(cluster, tmp_path, gpus_per_node=2, nodes=2, mode="separate_async", rollout_nodes=1)
    assert "2 of the Ray cluster's nodes have 2 GPUs and the run takes 3" in few
    found = [text for text in found if "/dev/shm" not in text]  # which is small in many containers
    assert len(found) == 4, found
    for fault in (
        "the NVIDIA driver is 570.86.10",
        "GPU 1 has 1 of 80 GiB free",
        "a Unix socket would be at /tmp/xxxx",
        "it can't run proverl.trainer (ModuleNotFoundError",
    ):
        assert any(fault in text for text in found), found
    assert list((tmp_path / "runs").iterdir()) == []  # the mark is gone, and was seen
    assert not ray.is_initialized()


def test_a_node_with_another_disk_or_behind_a_firewall_is_named(joined, cluster, tmp_path, monkeypatch):
    needs = preflight._needs
    elsewhere = {"mark": str(tmp_path / "elsewhere"), "listener": ("127.0.0.1", 1)}
    monkeypatch.setattr(preflight, "_needs", lambda *all: replace(needs(*all), **elsewhere))
    found = told(cluster, tmp_path, gpus_per_node=2)
    assert any("does not see the run's folder" in text for text in found), found
    assert any("no connection to port 1 of 127.0.0.1" in text for text in found), found
    assert joined.is_initialized()


def test_episodes_run_on_the_labelled_nodes_only(joined):
    from proverl.trainer.cluster import EPISODES, episode_nodes, episode_places

    nodes = [node for node in joined.nodes() if node["Alive"]]
    (labelled,) = (node["NodeID"] for node in nodes if node["Labels"].get(EPISODES[0]) == EPISODES[1])
    where = joined.remote(num_cpus=0)(lambda: joined.get_runtime_context().get_node_id())
    asked = [where.options(scheduling_strategy=place).remote() for place in episode_places(3)]
    assert joined.get(asked) == [labelled] * 3
    plain = [{**node, "Labels": {}} for node in nodes]
    assert len(episode_nodes(plain)) == 2


def test_a_process_with_episodes_that_dies_ends_the_wait_for_its_rollouts(joined, monkeypatch, capsys):
    from proverl.trainer import cluster

    class Episodes:
        async def run(self):
            pass

    class Ended(BaseException):
        pass

    def end(code):
        raise Ended(code)

    monkeypatch.setattr(cluster, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(os, "_exit", end)
    workers = [joined.remote(num_cpus=0)(Episodes).remote() for _ in range(2)]
    joined.get([worker.run.remote() for worker in workers])
    over = Event()
    over.set()
    cluster.end_with_any(workers, over)  # does nothing any more
    joined.kill(workers[1])
    with pytest.raises(Ended, match="1"):
        cluster.end_with_any(workers, Event())
    assert "a process that runs episodes died" in capsys.readouterr().out


def test_synthesis_on_its_nodes_makes_the_same_bytes_as_one_process(joined, cluster, tmp_path):
    config = SynthConfig(servers=("banking",), train_tasks=16, heldout_tasks=4)
    for name, workers in (("here", Workers()), ("there", Workers(ray=cluster.address))):
        (tmp_path / name).mkdir()
        write_dataset(Synthesis(config, 0, Limits(), workers=workers), tmp_path / name)
    for file in ("train.parquet", "heldout.parquet"):
        assert (tmp_path / "here" / file).read_bytes() == (tmp_path / "there" / file).read_bytes()


def test_an_error_of_a_worker_there_is_raised_here(joined, cluster):
    with Workers(ray=cluster.address).map() as pool, pytest.raises(ValueError, match="math domain"):
        list(pool(math.sqrt, [1, -1]))


_STARTS_ITS_OWN = """
import sys
from pathlib import Path
import ray
from proverl.trainer.cluster import _private
with _private(1, Path(sys.argv[1])):
    print(ray.cluster_resources()["GPU"])
"""


def test_a_run_on_the_cpu_has_a_ray_of_its_own_whatever_the_address_says():
    variables = os.environ | {"RAY_ADDRESS": "127.0.0.1:9"}  # nobody is there
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as short:
        command = [sys.executable, "-c", _STARTS_ITS_OWN, short]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=600)
    assert done.stdout == "1.0\n", done.stderr
