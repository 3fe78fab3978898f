"""Ray for one run: a private instance on this machine, or the cluster that RAY_ADDRESS names."""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import ray
from omegaconf import DictConfig

_AGENT_PORTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")
_STORE_BYTES = 256 * 2**20  # of a CPU run: batches of small models


@contextmanager
def ray_cluster(config: DictConfig) -> Iterator[None]:
    """Start or join Ray for the time of the block. Raises what `ray.init` raises."""
    if config.trainer.device == "cpu":
        with _private(config.trainer.n_gpus_per_node):
            yield
        return
    from verl.trainer.constants_ppo import get_ppo_ray_runtime_env

    environment = get_ppo_ray_runtime_env(config)
    environment["env_vars"]["VERL_USE_EXTERNAL_MODULES"] = os.environ["VERL_USE_EXTERNAL_MODULES"]
    ray.init(address=os.environ.get("RAY_ADDRESS"), runtime_env=environment, include_dashboard=False)
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _private(ranks: int) -> Iterator[None]:
    """A Ray whose "GPU" slots stand for ranks, with as few processes as it has; it dies with this process."""
    _light_ray()
    os.environ["RAY_prestart_worker_first_driver"] = "0"  # noqa: SIM112  else each CPU slot gets an idle worker
    folder = tempfile.mkdtemp(prefix="proverl-", dir="/tmp")  # its socket paths may have 107 bytes at most
    try:
        ray.init(
            num_cpus=4 * ranks + 4,  # slots that verl's placement groups ask for, not cores
            num_gpus=ranks,
            include_dashboard=False,
            object_store_memory=_STORE_BYTES,
            logging_level="error",
            _temp_dir=folder,
        )
        yield
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def _light_ray() -> None:
    """Have a private Ray start its agents as in its minimal installation, and on ports chosen beforehand.

    The full agents import for so long that on a busy machine Ray gives up waiting (15 s) for the ports they choose.
    """
    import ray._private.parameter
    import ray._private.utils

    missing = ImportError("the dashboard is not used")
    ray._private.utils.get_dashboard_dependency_error = lambda: missing
    parameters = ray._private.parameter.RayParams

    def with_ports(*args: Any, **kwargs: Any) -> Any:
        found = parameters(*args, **kwargs)
        for name, port in zip(_AGENT_PORTS, _free_ports(len(_AGENT_PORTS)), strict=True):
            setattr(found, name, port)
        return found

    ray._private.parameter.RayParams = with_ports


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("", 0))
        return [each.getsockname()[1] for each in sockets]
