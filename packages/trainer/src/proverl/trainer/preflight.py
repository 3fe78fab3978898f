"""Whether the machines can carry a run: GPUs, driver, weights, disk, Ray, ports, sockets, before anything loads.

Each fault is one sentence that says what is wrong and what to do. On a cluster every node is asked, through Ray.
"""

import os
import socket
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from proverl.trainer.config import ModelConfig, TrainerConfig
from proverl.trainer.estimate import architecture, trained_parameters
from proverl.trainer.machine import Machine, Needs, look, parameters

_DRIVER = 580  # what CUDA 13, for which torch 2.11 is built, needs
_SOCKET_BYTES = 107  # of a Unix socket's path, in Linux
_FULL = 0.95  # of its disk, where Ray stops to store objects
_SHARED_MEMORY = 2 * 2**30  # for NCCL and Ray's objects; containers have 64 MiB unless told
_ANSWER_SECONDS = 120.0  # a node's first worker has to start
_CONNECT_SECONDS = 5.0
_RANKS = 2  # processes that a machine of one core bears too


def preflight(model: ModelConfig, trainer: TrainerConfig, weights: str, folder: Path, trains: bool = True) -> list[str]:
    """One sentence for each fault of the machines for a run that writes into `folder`; empty when it can start.

    One that does not train (`trains`) writes no checkpoints.
    """
    folder = folder.resolve()
    address = ray_address(trainer) if model.gpu else ""
    if address:
        try:
            return _cluster_problems(address, model, trainer, weights, folder, trains)
        except _NoRay as error:
            told = [str(error)]
    else:
        told = list(_one_machine_problems(model, trainer))
    with _listener("127.0.0.1") as listener:
        needs = _needs(model, trainer, weights, folder, "", listener, trains)
        if address:  # what can be known without Ray: this machine has the weights and the disk that the others have
            needs = replace(needs, gpus=0)
        return [*told, *problems(look(needs), needs)]


def ray_address(trainer: TrainerConfig) -> str:
    """The address of the Ray to join, "" for one that the run starts: `trainer.ray`, or RAY_ADDRESS for auto and ""."""
    return (os.environ.get("RAY_ADDRESS") or trainer.ray) if trainer.ray in ("", "auto") else trainer.ray


def checkpoint_bytes(model: ModelConfig, trainer: TrainerConfig, weights: str) -> int:
    """Bytes that the run's checkpoints take, with the one being written beside those that stay.

    A checkpoint holds the weights twice, for going on and as a Hugging Face folder (4 bytes each, FSDP2's float32), and
    Adam's two moments of what is trained (8). Weights that are not here are reckoned from the model's architecture.
    """
    shape = architecture(model)
    held = trained = parameters(weights) or shape.parameters
    if trainer.lora_rank:
        trained = trained_parameters(trainer, shape)
        held += trained
    made = -(-trainer.steps // trainer.save_every)
    return min(trainer.keep_checkpoints + 1, made) * 8 * (held + trained)


def problems(machine: Machine, needs: Needs) -> Iterator[str]:
    """What is wrong with one machine, a sentence each."""
    if machine.absent == (needs.weights,):
        yield (
            f"the weights of {needs.weights} are neither a local folder, nor in the Hugging Face cache, nor to be had "
            "from here; set model.path to a folder that holds them, or HF_HOME to a cache that does"
        )
    elif machine.absent:
        yield f"model.path {needs.weights} lacks {', '.join(machine.absent)}; copy the whole folder of the model there"
    if not machine.sees_mark:
        yield f"it does not see the run's folder {needs.folder}; set runs_dir to a disk that all nodes share"
    elif machine.free < needs.disk:
        yield (
            f"{machine.free / 2**30:.1f} GiB are free for {needs.folder}, the checkpoints take "
            f"{needs.disk / 2**30:.1f} GiB; free some, set runs_dir to another disk or trainer.keep_checkpoints lower"
        )
    if machine.full > _FULL:
        yield f"the disk of temporary files is {machine.full:.0%} full and Ray stops at {_FULL:.0%}; set TMPDIR"
    if machine.unreachable:
        host, port = needs.listener
        yield f"no connection to port {port} of {host} ({machine.unreachable}); open all ports between the nodes"
    for path in machine.sockets:
        if len(path.encode()) > _SOCKET_BYTES:
            yield (
                f"a Unix socket would be at {path}, {len(path.encode())} bytes; {_SOCKET_BYTES} are the most, so set "
                "TMPDIR (and RAY_TMPDIR, VLLM_RPC_BASE_PATH) to a short path such as /tmp"
            )
    if needs.gpus:
        yield from _gpu_problems(machine, needs)


def _gpu_problems(machine: Machine, needs: Needs) -> Iterator[str]:
    if len(machine.gpus) < needs.gpus:
        gpus = "1 GPU" if needs.gpus == 1 else f"{needs.gpus} GPUs"
        yield (
            f"the model needs {gpus} a node and nvidia-smi shows {len(machine.gpus)} here; install the NVIDIA driver "
            "or let the container see them, set profile.gpus_per_node to what there is, or train model=tiny"
        )
    if not machine.gpus:
        return
    if int(machine.driver.partition(".")[0] or 0) < _DRIVER:
        yield f"the NVIDIA driver is {machine.driver}; CUDA 13 needs {_DRIVER} or newer, so update it"
    for gpu in machine.gpus:
        if gpu.free < needs.gpu_memory * gpu.total:
            yield (
                f"GPU {gpu.index} has {gpu.free / 2**30:.0f} of {gpu.total / 2**30:.0f} GiB free and "
                f"trainer.gpu_memory asks for {needs.gpu_memory:g} of it; end what runs there (nvidia-smi shows it)"
            )
    if machine.shared_memory < _SHARED_MEMORY:
        yield (
            f"/dev/shm has {machine.shared_memory / 2**20:.0f} MiB, NCCL and Ray need {_SHARED_MEMORY >> 20}; give the "
            "container more (docker --shm-size, or an emptyDir with medium Memory)"
        )


class _NoRay(Exception):
    """There is no Ray to join at the address; the message is for the user."""


def _cluster_problems(
    address: str, model: ModelConfig, trainer: TrainerConfig, weights: str, folder: Path, trains: bool
) -> list[str]:
    """The faults of a running Ray cluster, found by joining it for a moment. Raises _NoRay."""
    _check_address(address)
    # read when Ray is imported: else it sees `uv run` and installs an environment for its workers
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    import ray

    folder.mkdir(parents=True, exist_ok=True)  # for the nodes to look for
    joined = ray.is_initialized()  # by an earlier job of a sweep
    try:
        ray.init(
            ignore_reinit_error=True,
            address=address,
            logging_level="error",
            log_to_driver=False,
            include_dashboard=False,
        )
    except (OSError, RuntimeError, ValueError, TimeoutError) as error:
        said = str(error).strip().splitlines()[0].split(". ")[0].rstrip(".")
        raise _NoRay(f"Ray at {address!r} can't be joined ({said}); {_START_RAY}") from None
    try:
        here = ray.util.get_node_ip_address()
        with _listener(here) as listener, tempfile.NamedTemporaryFile(dir=folder, prefix=".preflight-") as mark:
            needs = _needs(model, trainer, weights, folder, mark.name, listener, trains)
            return [*_ray_problems(trainer, needs), *_node_problems(needs)]
    finally:
        if not joined:
            ray.shutdown()


_NODES = "trainer.nodes and trainer.rollout_nodes"
_START_RAY = (
    "start it with `ray start`, set profile.ray or RAY_ADDRESS to its HOST:PORT, or both to nothing to train on this "
    "machine alone"
)


def _check_address(address: str) -> None:
    """Said here because Ray itself would wait for minutes, and log what it does meanwhile. Raises _NoRay."""
    if address == "auto":
        return  # Ray knows at once whether there is one
    if "://" in address:
        raise _NoRay(f"the Ray address is {address}; the training process must be in the cluster, so give HOST:PORT")
    host, colon, port = address.rpartition(":")
    if not colon:
        raise _NoRay(f"the Ray address is {address}; {_START_RAY}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        raise _NoRay(f"nothing answers at the Ray address {address} ({error}); {_START_RAY}") from None


def _training_nodes(needs: Needs) -> list[Mapping[str, Any]]:
    """The nodes that have enough GPUs to train."""
    import ray

    return [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("GPU", 0) >= needs.gpus]


def _one_machine_problems(model: ModelConfig, trainer: TrainerConfig) -> Iterator[str]:
    cores = len(os.sched_getaffinity(0))
    if not model.gpu and trainer.cpu_ranks > max(cores, _RANKS):
        yield f"trainer.cpu_ranks is {trainer.cpu_ranks} and this machine has {cores} cores; set it to {cores} or fewer"
    nodes = trainer.nodes + trainer.rollout_nodes
    if model.gpu and nodes > 1:
        yield (
            f"the run takes {nodes} nodes ({_NODES}) and there is no Ray to join; start it on each (docs/cluster.md) "
            "and set profile.ray to its HOST:PORT, or train on one node"
        )


def _ray_problems(trainer: TrainerConfig, needs: Needs) -> Iterator[str]:
    import ray

    found, nodes = len(_training_nodes(needs)), trainer.nodes + trainer.rollout_nodes
    wanted = nodes * needs.gpus
    if found < nodes:
        yield (
            f"{found} of the Ray cluster's nodes have {needs.gpus} GPUs and the run takes {nodes} ({_NODES}); start "
            "Ray on more (docs/cluster.md), or set profile.nodes and profile.gpus_per_node to what there is"
        )
    elif (free := ray.available_resources().get("GPU", 0)) < wanted:
        yield f"the Ray cluster has {free:g} GPUs free and the run takes {wanted}; wait for other jobs or stop them"


def _node_problems(needs: Needs) -> Iterator[str]:
    """Ask every node that may train or run episodes, all at once; of the latter only what episodes need."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    from proverl.trainer.cluster import episode_nodes

    wanted = dict.fromkeys(episode_nodes(ray.nodes()), replace(needs, gpus=0, disk=0))
    wanted |= {node["NodeID"]: needs for node in _training_nodes(needs)}
    nodes = {node["NodeID"]: node for node in ray.nodes()}
    ask = ray.remote(num_cpus=0, max_retries=0)(look)
    asked = {
        ask.options(scheduling_strategy=NodeAffinitySchedulingStrategy(name, soft=False)).remote(its): nodes[name]
        for name, its in wanted.items()
    }
    if not asked:
        return
    answered, silent = ray.wait(list(asked), num_returns=len(asked), timeout=_ANSWER_SECONDS)
    for answer in answered:
        try:
            machine = ray.get(answer)
            yield from (f"{machine.name}: {text}" for text in problems(machine, wanted[asked[answer]["NodeID"]]))
        except ray.exceptions.RayError as error:
            name, last = asked[answer]["NodeManagerHostname"], str(error).strip().splitlines()[-1]
            yield f"{name}: it can't run proverl.trainer ({last}); every node needs the same environment"
    for answer in silent:
        name = asked[answer]["NodeManagerHostname"]
        yield f"{name}: no answer within {_ANSWER_SECONDS:g} s; look at its raylet's log, or stop Ray there"


def _needs(
    model: ModelConfig,
    trainer: TrainerConfig,
    weights: str,
    folder: Path,
    mark: str,
    listener: socket.socket,
    trains: bool,
) -> Needs:
    host, port = listener.getsockname()[:2]
    return Needs(
        gpus=max(1, trainer.gpus_per_node) if model.gpu else 0,
        gpu_memory=trainer.gpu_memory,
        weights=weights,
        folder=str(folder),
        mark=mark,
        disk=checkpoint_bytes(model, trainer, weights) if trains else 0,
        starts_ray=not mark,
        listener=(host, port),
    )


def _listener(host: str) -> socket.socket:
    """Listen at any free port, as the run's processes will."""
    return socket.create_server((host, 0))
