"""Ray for one run: a private instance on this machine, or the cluster that RAY_ADDRESS names."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import ray
from omegaconf import DictConfig

from proverl.trainer import compat

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
    compat.light_ray()
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
