"""What `proverl doctor` says of machines, and that nothing makes it hang."""

import os
import re
import socket
import subprocess
import sys
from importlib.util import find_spec

import pytest

from experiments.doctor import CLUSTER, CPU, GPU_BOX, ONE_GPU, _benchmarks, _faults, _store_problems
from proverl.trainer.machine import Gpu, Machine

GIB = 2**30
VLLM = [] if find_spec("vllm") else ["vLLM is not installed: uv sync --extra gpu"]


def machine(gpus, memory=80, driver="590.1"):
    cards = tuple(Gpu(number, memory * GIB, memory * GIB) for number in range(gpus))
    return Machine("here", cards, driver if gpus else "", free=2**50, shared_memory=64 * GIB)


@pytest.fixture(autouse=True)
def enough_memory(monkeypatch):
    monkeypatch.setattr("experiments.doctor._CPU_MEMORY", 0)


def faults(kind, found, folder):
    return list(_faults(kind, found, folder))


def test_a_machine_without_gpus_runs_the_tiny_model_and_nothing_else(tmp_path):
    assert faults(CPU, machine(0), tmp_path) == []
    for kind in (ONE_GPU, GPU_BOX, CLUSTER):
        assert any("nvidia-smi shows 0 here" in text for text in faults(kind, machine(0), tmp_path))


def test_gpus_carry_what_fits_them(tmp_path):
    assert faults(ONE_GPU, machine(1), tmp_path) == VLLM
    told = faults(ONE_GPU, machine(1, memory=16), tmp_path)[len(VLLM) :]
    assert told and all(re.match(r"\w+ needs about \d+ GiB of each GPU, which has 16: ", text) for text in told)
    (told,) = [text for text in faults(ONE_GPU, machine(1, driver="550.54"), tmp_path) if "driver" in text]
    assert told == "the NVIDIA driver is 550.54; CUDA 13 needs 580 or newer, so update it"
    assert any(
        "the model needs 8 GPUs a node and nvidia-smi shows 4" in text for text in faults(GPU_BOX, machine(4), tmp_path)
    )


def test_too_little_memory_and_a_silent_machine_are_said(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.doctor._CPU_MEMORY", 2**60)
    (told,) = faults(CPU, machine(0), tmp_path)
    assert "GiB of memory are free and a run takes" in told
    assert any("did not answer" in text for text in faults(CPU, None, tmp_path))


def test_a_store_is_one_or_can_become_one(tmp_path):
    assert _store_problems(f"sqlite:///{tmp_path}/runs/mlflow.db") == []
    (tmp_path / "mlflow.db").write_text("no database" * 100)
    (told,) = _store_problems(f"sqlite:///{tmp_path}/mlflow.db")
    assert "is no store" in told and "move it away" in told


def test_benchmarks_are_those_of_conf_and_say_what_they_lack():
    found = _benchmarks()
    assert found["bfcl"] == found["tau2"] == found["heldout"] == []
    assert any("uv run hf download" in text for text in found["teval"])


def test_what_never_answers_does_not_hold_it_up(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections and says nothing
        port = silent.getsockname()[1]
        environment = os.environ | {"RAY_ADDRESS": f"127.0.0.1:{port}", "HF_ENDPOINT": f"http://127.0.0.1:{port}"}
        environment.pop("HF_HUB_OFFLINE", None)
        command = [sys.executable, "-m", "proverl.envs.cli", "doctor", "--runs-dir", tmp_path / "runs"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1), done.stderr  # 1 on a machine of little memory
    assert f"the Ray at 127.0.0.1:{port} " in done.stdout
    assert re.search(r"^no +the Hugging Face hub$", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^yes +benchmark bfcl ", done.stdout, re.MULTILINE)
    assert not (tmp_path / "runs").exists()
