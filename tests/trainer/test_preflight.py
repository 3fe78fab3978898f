"""Each fault of a machine is one sentence that says what is wrong and what to do, before anything loads."""

import json
import os
import re
import shutil
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from proverl.trainer import ModelConfig, TrainerConfig, check_requirements
from proverl.trainer.config import Architecture
from proverl.trainer.estimate import trained_parameters
from proverl.trainer.machine import Gpu, Machine, Needs, absent_weights, look
from proverl.trainer.preflight import checkpoint_bytes, preflight, problems

GIB = 2**30
NEEDS = Needs(2, 0.5, "owner/model", "/shared/runs", "", 100 * GIB, True, ("10.0.0.1", 4000))
SOUND = Machine(
    name="node-1",
    gpus=(Gpu(0, 80 * GIB, 79 * GIB), Gpu(1, 80 * GIB, 79 * GIB)),
    driver="580.65.06",
    free=200 * GIB,
    full=0.5,
    shared_memory=64 * GIB,
    sockets=("/tmp/" + "a" * 102,),
)
FAULTS = {
    "too few GPUs": ({"gpus": SOUND.gpus[:1]}, "needs 2 GPUs a node and nvidia-smi shows 1"),
    "old driver": ({"driver": "535.104.05"}, "driver is 535.104.05; CUDA 13 needs 580"),
    "busy GPU": ({"gpus": (SOUND.gpus[0], Gpu(1, 80 * GIB, 8 * GIB))}, "GPU 1 has 8 of 80 GiB free"),
    "small /dev/shm": ({"shared_memory": 64 << 20}, "/dev/shm has 64 MiB.*--shm-size"),
    "unknown weights": ({"absent": ("owner/model",)}, "owner/model are neither.*set model.path"),
    "missing shard": ({"absent": ("model-00002-of-00002.safetensors",)}, "lacks model-00002-of-00002.safetensors"),
    "folder not shared": ({"sees_mark": False}, "does not see the run's folder /shared/runs; set runs_dir"),
    "little disk": ({"free": 99 * GIB}, "99.0 GiB are free.*take 100.0 GiB"),
    "full temporary disk": ({"full": 0.97}, "97% full.*TMPDIR"),
    "closed port": ({"unreachable": "timed out"}, "no connection to port 4000 of 10.0.0.1.*open all ports"),
    "long socket path": ({"sockets": ("/tmp/" + "a" * 103,)}, "108 bytes; 107 are the most.*TMPDIR"),
}


def test_a_sound_machine_has_no_problems():
    assert list(problems(SOUND, NEEDS)) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_one_sentence(fault):
    found, sentence = FAULTS[fault]
    (problem,) = problems(replace(SOUND, **found), NEEDS)
    assert re.search(sentence, problem), problem
    assert ";" in problem  # what is wrong; what to do


@pytest.fixture
def needs(start_model, tmp_path):
    """Those of a run on GPUs, with this process as the machine that trains."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Needs(2, 0.5, str(start_model), str(tmp_path), "", 0, True, listener.getsockname())


def nvidia_smi(folder: Path, monkeypatch, answer: str) -> None:
    """A program of that name which gives this answer."""
    (folder / "nvidia-smi").write_text(f"#!/bin/sh\ncat <<'END'\n{answer}END\n")
    (folder / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


TWO = "0, 81559, 81079, 570.86.10, NVIDIA H100\n1, 81559, 1000, 570.86.10, NVIDIA H100\n"


def test_gpus_and_driver_are_those_of_nvidia_smi(needs, tmp_path, monkeypatch):
    nvidia_smi(tmp_path, monkeypatch, TWO)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    machine = look(needs)
    assert machine.gpus == (
        Gpu(0, 81559 << 20, 81079 << 20, "NVIDIA H100"),
        Gpu(1, 81559 << 20, 1000 << 20, "NVIDIA H100"),
    )
    assert machine.driver == "570.86.10"


@pytest.mark.parametrize(("visible", "left"), [("1", [1]), ("", []), ("GPU-5f", [0])])
def test_hidden_gpus_do_not_count(needs, tmp_path, monkeypatch, visible, left):
    nvidia_smi(tmp_path, monkeypatch, TWO)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert [gpu.index for gpu in look(needs).gpus] == left


def test_a_broken_driver_is_no_gpu(needs, tmp_path, monkeypatch):
    nvidia_smi(tmp_path, monkeypatch, "")
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n")
    assert (look(needs).gpus, look(needs).driver) == ((), "")


def test_a_gpu_without_memory_of_its_own_has_the_machines(needs, tmp_path, monkeypatch):
    nvidia_smi(tmp_path, monkeypatch, "0, [N/A], [N/A], 580.95, NVIDIA GB10, integrated\n")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    (gpu,) = look(needs).gpus
    assert (gpu.index, gpu.name) == (0, "NVIDIA GB10, integrated")
    assert gpu.total == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") > gpu.free > 0


@pytest.mark.parametrize("answer", ["hello, 12 MiB, 0, 1, x\n", "\n", "No devices were found\n", "\udcff\udc80,\n"])
def test_what_is_no_list_of_gpus_is_none(needs, tmp_path, monkeypatch, answer):
    (tmp_path / "answer").write_text(answer, errors="surrogateescape")
    nvidia_smi(tmp_path, monkeypatch, "")
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\ncat {tmp_path}/answer\n")
    assert (look(needs).gpus, look(needs).driver) == ((), "")


def test_a_long_temporary_folder_shows_in_the_sockets(needs, monkeypatch):
    long = f"/tmp/{'x' * 90}"
    monkeypatch.setenv("TMPDIR", long)
    monkeypatch.setenv("VLLM_RPC_BASE_PATH", "/tmp")
    told = [text for text in problems(look(needs), needs) if "Unix socket" in text]
    assert len(told) == 1 and f"{long}/ray/session_" in told[0]
    joined = replace(needs, starts_ray=False)
    assert not [text for text in problems(look(joined), joined) if "Unix socket" in text]


def test_a_port_that_nobody_listens_at_is_unreachable(needs):
    assert look(needs).unreachable == ""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        address = gone.getsockname()
    assert "refused" in look(replace(needs, listener=address)).unreachable


def test_a_mark_that_is_not_there_means_another_disk(needs, tmp_path):
    assert look(replace(needs, mark=str(tmp_path))).sees_mark
    assert not look(replace(needs, mark=str(tmp_path / "elsewhere"))).sees_mark


def test_every_shard_of_the_weights_is_looked_for(start_model, tmp_path):
    assert absent_weights(str(start_model)) == ()
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "a.safetensors").touch()
    index = {"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert absent_weights(str(tmp_path)) == ("b.safetensors",)


GPU = ModelConfig("qwen3_4b", "", "qwen", 1e-6, gpu=True)
KEEP = TrainerConfig(keep_checkpoints=2)


def test_checkpoints_are_reckoned_from_the_weights(tmp_path):
    (tmp_path / "config.json").write_text('{"dtype": "bfloat16"}')
    (tmp_path / "model.safetensors").write_bytes(bytes(2000))  # 1000 numbers
    assert checkpoint_bytes(ModelConfig(path=str(tmp_path)), KEEP, str(tmp_path)) == 3 * 1000 * (4 + 8 + 4)


def test_a_run_writes_no_more_checkpoints_than_it_has_steps_for():
    model = ModelConfig(path="owner/model", architecture=Architecture(64, 128, 2, 4, 4, 16, 100))
    sizes = [
        checkpoint_bytes(model, TrainerConfig(steps=25, **settings), model.path)
        for settings in ({"save_every": 10, "keep_checkpoints": 1000}, {"keep_checkpoints": 2})
    ]
    assert sizes[0] == sizes[1]


def test_checkpoints_of_weights_not_here_are_reckoned_from_the_shape():
    shape = Architecture(64, 128, 2, 4, 4, 16, 100)
    model = ModelConfig(path="owner/model", architecture=shape)
    assert checkpoint_bytes(model, KEEP, model.path) == 3 * shape.parameters * 16
    adapter = trained_parameters(replace(KEEP, lora_rank=4), shape)
    assert 0 < adapter < shape.parameters / 2
    assert checkpoint_bytes(model, replace(KEEP, lora_rank=4), model.path) == 3 * (shape.parameters * 8 + adapter * 16)


def test_several_nodes_need_a_ray_to_join(start_model, tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    for settings in ({"nodes": 2}, {"mode": "separate_async", "rollout_nodes": 1}):
        trainer = TrainerConfig(gpus_per_node=8, **settings)
        first, *_ = preflight(GPU, trainer, str(start_model), tmp_path)
        assert "takes 2 nodes (trainer.nodes and trainer.rollout_nodes) and there is no Ray to join" in first


def test_this_machine_carries_the_tiny_model(start_model, tmp_path):
    assert preflight(ModelConfig(), TrainerConfig(), str(start_model), tmp_path / "runs") == []
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("127.0.0.1:1", "nothing answers at the Ray address 127.0.0.1:1"),
        ("127.0.0.1:port", "nothing answers at the Ray address 127.0.0.1:port"),
        ("ray://head:10001", "must be in the cluster, so give HOST:PORT"),
        ("head", "the Ray address is head; start it with"),
    ],
)
def test_a_ray_that_cannot_be_joined_is_named_at_once(start_model, tmp_path, address, sentence):
    (problem,) = preflight(GPU, TrainerConfig(ray=address, gpus_per_node=8), str(start_model), tmp_path)
    assert sentence in problem
    assert ".;" not in problem


@pytest.mark.parametrize("ray", ["", "auto"])
def test_the_ray_that_the_environment_names_is_the_one_that_is_looked_for(start_model, tmp_path, monkeypatch, ray):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    (problem,) = preflight(GPU, TrainerConfig(ray=ray, gpus_per_node=8), str(start_model), tmp_path)
    assert "nothing answers at the Ray address 127.0.0.1:1" in problem
    (problem,) = preflight(GPU, TrainerConfig(ray="127.0.0.1:2", gpus_per_node=8), str(start_model), tmp_path)
    assert "127.0.0.1:2" in problem


def test_without_ray_all_is_said_that_can_be_known(tmp_path):
    weights = tmp_path / "weights"
    weights.mkdir()
    (weights / "config.json").write_text("{}")
    told = preflight(GPU, TrainerConfig(ray="127.0.0.1:1", gpus_per_node=8), str(weights), tmp_path / "runs")
    assert [text for text in told if "nothing answers" in text] == told[:1]
    assert [text for text in told if "lacks model.safetensors" in text] == told[1:]


def test_more_processes_than_cores_are_refused(start_model, tmp_path):
    (problem,) = preflight(ModelConfig(), TrainerConfig(prompts=512, cpu_ranks=2048), str(start_model), tmp_path)
    assert "trainer.cpu_ranks is 2048 and this machine has" in problem


def requirements(model, folder):
    return check_requirements(model, TrainerConfig(), folder / "runs")


def test_a_format_of_another_family_is_named_with_the_one_that_fits(start_model, tmp_path):
    assert requirements(ModelConfig(path=str(start_model)), tmp_path) == []
    (problem,) = requirements(ModelConfig(path=str(start_model), format="qwen"), tmp_path)
    assert problem.startswith("model.format is qwen, but ") and problem.endswith("; it fits model.format tiny")
    (problem,) = requirements(ModelConfig(path=str(start_model), format="qwem"), tmp_path)
    assert "known formats: tiny, qwen" in problem


def test_a_tokenizer_without_a_chat_template_is_refused_in_one_sentence(start_model, tmp_path):
    base = shutil.copytree(start_model, tmp_path / "base")
    (base / "chat_template.jinja").unlink()
    (problem,) = requirements(ModelConfig(path=str(base)), tmp_path)
    assert (
        problem == f"the tokenizer of {base} has no chat template; set model.path to an instruct model, which has one"
    )


def test_an_adapter_is_no_wider_than_the_model(start_model, tmp_path):
    wide = TrainerConfig(lora_rank=4096)
    (problem,) = check_requirements(ModelConfig(path=str(start_model)), wide, tmp_path / "runs")
    assert "trainer.lora_rank is 4096; it must be at most the model's hidden size" in problem
