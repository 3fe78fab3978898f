"""`proverl doctor`: what this machine can run, and what is missing for the rest, with what mends it.

The rules are those that a run is checked by (`proverl.trainer.preflight`, the benchmarks' `needs`). Here they are asked
before a run is chosen, all at the same time; what has not answered after some seconds is said to be silent.
"""

import os
import shlex
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import urlsplit

import psutil
import typer
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pydantic import TypeAdapter
from rich.console import Console

from experiments.options import CONF, options
from proverl.agent import Limits
from proverl.trainer import ModelConfig, TrainerConfig, model_path
from proverl.trainer.estimate import Gpu, architecture, estimate
from proverl.trainer.machine import Machine, Needs, config_file, look
from proverl.trainer.preflight import checkpoint_bytes, problems

app = typer.Typer(add_completion=False)

_SECONDS = 10.0  # for what may hang: disks, nvidia-smi; on a busy machine also what does not
_CONNECT_SECONDS = 1.25  # for a connection
_RAY_SECONDS = 8.0  # more for a Ray at whose address somebody answers; asking it takes two seconds of a core
_CPU_MEMORY = 6 * 2**30  # that the default run takes at its peak
_PACKAGES = ("torch", "verl", "ray", "mlflow")
_START_RAY = "start it on every node (docs/cluster.md), then: export RAY_ADDRESS=HOST:6379"
_CONSOLE = Console(highlight=False, soft_wrap=True, markup=False)
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Kind:
    """A kind of machine, shown by a run for it."""

    title: str
    overrides: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """What to type there."""
        extra = ("--extra", "gpu") if self.overrides else ()
        return shlex.join(["uv", "run", *extra, "python", "-m", "experiments.run", *self.overrides])

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The run's settings as they are composed; typing all of them would take seconds."""
        with initialize_config_dir(str(CONF), version_base="1.3"):
            values: Any = OmegaConf.to_container(compose("config", list(self.overrides)), resolve=True)
        return dict(values)

    @cached_property
    def model(self) -> ModelConfig:
        """The model that is trained."""
        return TypeAdapter(ModelConfig).validate_python(self.settings["model"])

    @cached_property
    def trainer(self) -> TrainerConfig:
        """How it is trained."""
        return TypeAdapter(TrainerConfig).validate_python(self.settings["trainer"])


_ONE_GPU = ("profile=h100x8", "profile.gpus_per_node=1", "profile.tensor_parallel=1", "trainer.lora_rank=32")
CPU = Kind("CPU: the tiny model")
ONE_GPU = Kind("one GPU: an adapter on 4 B", ("model=qwen3_4b", *_ONE_GPU))
GPU_BOX = Kind("eight GPUs: the paper's settings", ("model=qwen3_8b", "experiment=main"))
CLUSTER = Kind("a Ray cluster", ("model=qwen3_8b", "experiment=main", "profile=cluster"))


@app.command(help="Say what this machine can run, and what is missing for the rest. Status 0: the default run works.")
def doctor(
    runs_dir: Annotated[Path, typer.Option(help="where runs are written")] = Path("runs"),
    tracking_uri: Annotated[str, typer.Option(help="MLflow's store; by default the SQLite file in --runs-dir")] = "",
) -> None:
    """Ask everything at once, then print a line for each thing and one for each fault of it."""
    store = tracking_uri or f"sqlite:///{runs_dir}/mlflow.db"
    seen: _Asked[Machine | None] = _Asked(lambda: _look(runs_dir))
    ray, hub = _Asked(_ray_problems), _Asked(_hub_problems)
    recorded = _Asked(lambda: _store_problems(store))
    until = time.monotonic() + _SECONDS

    machine = seen.get(until, None)
    _CONSOLE.print(_summary(machine, runs_dir))
    _say(CPU.title, cpu := list(_faults(CPU, machine, runs_dir)), CPU.command)
    offline = hub.get(until, ["it did not answer"])
    for kind in (ONE_GPU, GPU_BOX):
        _say(kind.title, [*_faults(kind, machine, runs_dir), *_no_weights(kind, offline)], kind.command)
    joined = ray.get(until + _RAY_SECONDS, [f"the Ray at {os.environ.get('RAY_ADDRESS')} is silent; {_START_RAY}"])
    _say(
        CLUSTER.title, [*joined, *_faults(CLUSTER, machine, runs_dir), *_no_weights(CLUSTER, offline)], CLUSTER.command
    )
    _say("MLflow's store", recorded.get(until, [f"{store} does not answer"]), store)
    _say("the Hugging Face hub", offline, "weights are fetched when they are needed")
    for name, lacking in _benchmarks().items():
        _say(f"benchmark {name}", lacking, f"uv run python -m experiments.evaluate 'evals=[{name}]'")
    raise typer.Exit(1 if cpu else 0)


class _Asked(Generic[_Found]):
    """What a thread finds out; it is left behind when it takes too long."""

    def __init__(self, work: Callable[[], _Found]) -> None:
        self._answer: SimpleQueue[_Found | Exception] = SimpleQueue()
        Thread(target=self._ask, args=[work], daemon=True).start()

    def _ask(self, work: Callable[[], _Found]) -> None:
        try:
            self._answer.put(work())
        except Exception as error:  # raised where the answer is wanted
            self._answer.put(error)

    def get(self, until: float, silent: _Found) -> _Found:
        """The answer, or `silent` when there is none at that time of the monotonic clock."""
        try:
            found = self._answer.get(timeout=max(0.01, until - time.monotonic()))
        except Empty:
            return silent
        if isinstance(found, Exception):
            raise found
        return found


def _say(title: str, faults: Sequence[str], command: str) -> None:
    _CONSOLE.print(f"{'no' if faults else 'yes':<5}{title:<34}{'' if faults else command}".rstrip())
    for fault in faults:
        _CONSOLE.print(f"       {fault.rstrip('.')}.")


def _summary(machine: Machine | None, runs_dir: Path) -> str:
    memory = psutil.virtual_memory()
    told = [f"{len(os.sched_getaffinity(0))} cores, {_gib(memory.available)} of {_gib(memory.total)} GiB memory free"]
    if machine:
        sizes = ", ".join(f"{_gib(one.total)} GiB" for one in machine.gpus)
        told.append(f"GPUs of {sizes}" if sizes else "no GPU")
        told.append(f"{_gib(machine.free)} GiB of disk for {runs_dir.resolve()}")
    return f"This machine: {', '.join(told)}."


def _gib(size: int) -> str:
    return f"{size / 2**30:.0f}"


def _look(runs_dir: Path) -> Machine:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return look(_needs(ONE_GPU, runs_dir, listener.getsockname()[1]))


def _needs(kind: Kind, runs_dir: Path, port: int = 0) -> Needs:
    """What the run asks of the machine; the model that ships stands for its weights, which are asked for elsewhere."""
    return Needs(
        gpus=kind.trainer.gpus_per_node,
        gpu_memory=kind.trainer.gpu_memory,
        weights=str(model_path(ModelConfig())),
        folder=str(runs_dir.resolve()),
        mark="",
        disk=checkpoint_bytes(kind.model, kind.trainer, kind.model.path),
        starts_ray=True,
        listener=("127.0.0.1", port),
    )


def _faults(kind: Kind, machine: Machine | None, runs_dir: Path) -> Iterator[str]:
    """What this machine lacks for the run, a sentence each."""
    yield from (f"{name} is not installed: uv sync" for name in _PACKAGES if not find_spec(name))
    if kind.model.gpu and not find_spec("vllm"):
        yield "vLLM is not installed: uv sync --extra gpu"
    if not os.access(place := _existing(runs_dir), os.W_OK):
        yield f"{place} can't be written: set runs_dir to a folder of yours"
    if machine is None:
        yield f"{runs_dir}, the folder of temporary files or nvidia-smi did not answer: see whether a disk hangs"
        return
    if not kind.model.gpu:
        machine = replace(machine, sockets=())  # its Ray has a short folder of its own
        if (free := psutil.virtual_memory().available) < _CPU_MEMORY:
            yield f"{_gib(free)} GiB of memory are free and a run takes {_gib(_CPU_MEMORY)}: end other programs"
    yield from problems(machine, _needs(kind, runs_dir))
    if kind.model.gpu and machine.gpus:
        profile = kind.settings["profile"]
        gpu = Gpu(min(one.total for one in machine.gpus) / 2**30, profile["gpu_tflops"], profile["gpu_bandwidth"])
        limits = Limits(**kind.settings["envs"]["limits"])
        yield from estimate(kind.trainer, architecture(kind.model), limits, gpu).too_much(gpu)


def _no_weights(kind: Kind, offline: Sequence[str]) -> list[str]:
    name = kind.model.path
    if not offline or config_file(name):
        return []
    return [f"the weights of {name} are not here: uv run hf download {name}, where there is a connection"]


def _existing(path: Path) -> Path:
    """The path, or the nearest folder above it that exists."""
    return next(one for one in (path, *path.resolve().parents) if one.exists())


def _hub_problems() -> list[str]:
    from huggingface_hub import constants, get_session

    if constants.HF_HUB_OFFLINE:
        return ["HF_HUB_OFFLINE is set, so nothing is fetched; to fetch: unset HF_HUB_OFFLINE"]
    try:
        get_session().head(constants.ENDPOINT, timeout=_CONNECT_SECONDS)
    except Exception as error:  # whatever the client raises without a connection
        return [f"{constants.ENDPOINT} can't be reached ({error}): set model.path to a folder that has the weights"]
    return []


def _ray_problems() -> list[str]:
    address = os.environ.get("RAY_ADDRESS")
    if not address:
        return [f"RAY_ADDRESS names none: {_START_RAY}"]
    command = [str(Path(sys.executable).with_name("ray")), "status", "--address", address]
    try:
        if address != "auto":
            host, _, port = address.rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
        subprocess.run(command, capture_output=True, text=True, timeout=_RAY_SECONDS, check=True)
    except subprocess.CalledProcessError as error:
        said = (error.stderr.strip() or error.stdout.strip() or "no reason").splitlines()[-1]
        return [f"the Ray at {address} can't be joined ({said.rstrip('.')}); {_START_RAY}"]
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return [f"the Ray at {address} can't be joined ({error}); {_START_RAY}"]
    return []


def _store_problems(uri: str) -> list[str]:
    if not uri.startswith("sqlite:///"):
        url = urlsplit(uri)
        try:
            socket.create_connection((url.hostname or "", url.port or 80), _CONNECT_SECONDS).close()
        except (OSError, ValueError) as error:
            return [f"{uri} can't be reached ({error}): start it with `mlflow server`, or leave tracking.uri out"]
        return []
    file = Path(uri.removeprefix("sqlite:///"))
    if not os.access(place := _existing(file), os.W_OK):
        return [f"{place} can't be written: set runs_dir to a folder of yours, or tracking.uri to another store"]
    if file.exists():
        try:
            with closing(sqlite3.connect(file, timeout=0)) as database:
                database.execute("pragma schema_version")
        except sqlite3.DatabaseError as error:
            if "locked" not in str(error):  # by a run that writes
                return [f"{file} is no store ({error}): move it away, and runs begin a new one"]
    return []


def _benchmarks() -> dict[str, list[str]]:
    """What each benchmark that has a file lacks, with the settings of that file."""
    from proverl.evals.benchmark import benchmark

    names = [option.name for option in options()["evals"]]
    composed = Kind("", (f"evals=[{','.join(names)}]",)).settings["evals"]
    return {name: benchmark(name, composed[name]).needs() for name in names}
