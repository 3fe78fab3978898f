"""Ray for one run: a private instance on this machine, or a running one that `trainer.ray` or RAY_ADDRESS names.

On a running one, labels say which nodes run episodes.
"""

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from itertools import cycle, islice
from pathlib import Path
from threading import Event
from typing import Any

import ray
from omegaconf import DictConfig
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from proverl.trainer.run_folder import private_folder

EPISODES = ("proverl", "episodes")  # label of nodes that run episodes: ray start --labels=proverl=episodes
_UNUSED = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port")  # Ray writes -1 for them
PRIVATE = {  # of a Ray of one's own
    "RAY_prestart_worker_first_driver": "0",  # else each CPU slot gets an idle worker
    "RAY_worker_niceness": "0",  # else other programs starve the training
    # a busy machine is slow: Ray gives a worker 60 s to import all it needs, then starts another, without end
    "RAY_worker_register_timeout_seconds": "600",
    "RAY_gcs_server_port_wait_time_s": "600",
    "RAY_gcs_server_request_timeout_seconds": "600",
}
_LOOK_SECONDS = 5.0  # between two looks whether all processes with episodes live
_STORE_BYTES = 256 * 2**20  # of a CPU run: batches of small models


@contextmanager
def ray_cluster(config: DictConfig, run: Path) -> Iterator[None]:
    """Start or join Ray for the time of the block; `run` is the run's folder. Raises what `ray.init` raises."""
    if config.trainer.device == "cpu":
        with _private(config.trainer.n_gpus_per_node, private_folder(run)):
            yield
        return
    from verl.trainer.constants_ppo import get_ppo_ray_runtime_env

    environment = get_ppo_ray_runtime_env(config)
    environment["env_vars"]["VERL_USE_EXTERNAL_MODULES"] = os.environ["VERL_USE_EXTERNAL_MODULES"]
    address = config.ray_kwargs.ray_init.address or os.environ.get("RAY_ADDRESS")
    ray.init(address=address, runtime_env=environment, include_dashboard=False)
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _private(ranks: int, folder: Path) -> Iterator[None]:
    """A Ray whose "GPU" slots stand for ranks, with as few processes as it has; it dies with this process."""
    light_ray()
    os.environ |= PRIVATE
    try:
        ray.init(
            "local",  # whatever RAY_ADDRESS names
            num_cpus=4 * ranks + 4,  # slots that verl's placement groups ask for, not cores
            num_gpus=ranks,
            include_dashboard=False,
            object_store_memory=_STORE_BYTES,
            logging_level="error",
            _temp_dir=str(folder),
        )
        yield
    finally:
        ray.shutdown()


def episode_places(number: int) -> list[NodeAffinitySchedulingStrategy]:
    """Where that many processes with episodes go on the joined Ray: the nodes of `episode_nodes`, in turn."""
    nodes = islice(cycle(episode_nodes(ray.nodes())), number)
    return [NodeAffinitySchedulingStrategy(node, soft=False) for node in nodes]


def episode_nodes(nodes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Ids of the nodes (as `ray.nodes()` tells them) that run episodes: the labelled ones, or else all with CPUs."""
    able = [node for node in nodes if node["Alive"] and node["Resources"].get("CPU", 0) > 0]
    labelled = [node for node in able if node["Labels"].get(EPISODES[0]) == EPISODES[1]]
    return [node["NodeID"] for node in labelled or able]


def end_with_any(workers: Sequence[Any], over: Event) -> None:
    """End this process when one of the actors dies before it is over: verl would wait for its rollouts for ever."""
    while not over.wait(_LOOK_SECONDS):
        try:
            ray.get([worker.__ray_ready__.remote() for worker in workers])
        except ray.exceptions.ActorDiedError as error:
            if not over.is_set():
                print(f"ActorDiedError: a process that runs episodes died: {str(error).splitlines()[0]}", flush=True)
                os._exit(1)
        except ray.exceptions.RayError:  # can't be reached for now
            pass


def light_ray() -> None:
    """Have a private Ray start its agents as in its minimal installation, and not wait until they have started.

    Ray gives its agents 15 s to import all they need and to say on which ports they listen; on a busy machine that is
    not enough, and Ray fails. Here the one port that is needed is chosen and said beforehand.
    """
    from ray._private import services, utils

    missing = ImportError("the dashboard is not used")
    utils.get_dashboard_dependency_error = lambda: missing
    start_raylet = services.start_raylet

    def start(*args: Any, **kwargs: Any) -> Any:
        call = signature(start_raylet).bind(*args, **kwargs)
        call.arguments["runtime_env_agent_port"] = port = _free_port()
        ports = dict.fromkeys(_UNUSED, -1) | {"runtime_env_agent_port": port}
        for name, number in ports.items():
            ray._raylet.persist_port(call.arguments["session_dir"], call.arguments["node_id"], name, number)
        return start_raylet(*call.args, **call.kwargs)

    services.start_raylet = start


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("", 0))
        return found.getsockname()[1]
