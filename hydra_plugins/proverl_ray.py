"""`hydra/launcher=ray`: the jobs of a sweep as Ray tasks, side by side.

They run on the Ray that RAY_ADDRESS or `profile.ray` names, or else on one of the sweep's own on this machine. A task
waits for one job, which is the command that runs it alone, in a process of its own; the Ray that this process starts or
joins to train is its own business. The package hydra-ray-launcher is not used: it runs jobs in Ray's workers, and ends
the whole sweep when one of them dies.

Hydra looks for plugins in the package `hydra_plugins`, and imports them for every command: Ray loads when it is used.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hydra._internal.core_plugins.basic_launcher import BasicLauncher
from hydra.core.utils import JobReturn, JobStatus


class RayLauncher(BasicLauncher):
    """Runs each job in a Ray task that holds `cpus` and `gpus`, as many at once as there are."""

    def __init__(self, cpus: float, gpus: float) -> None:
        super().__init__()
        self.cpus, self.gpus = cpus, gpus

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run the jobs; each says in its folder how it ended. A plan needs no Ray."""
        assert self.config is not None
        if self.config.plan:
            return super().launch(job_overrides, initial_job_idx)
        os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"  # else Ray, seeing `uv run`, installs an environment
        self._run(self._jobs(job_overrides))
        return [JobReturn(list(overrides), status=JobStatus.COMPLETED) for overrides in job_overrides]

    def _jobs(self, job_overrides: Sequence[Sequence[str]]) -> dict[Path, list[str]]:
        """The overrides that run each job alone, by its folder."""
        from experiments.sweep import for_a_job

        assert self.config is not None and self.hydra_context is not None
        jobs = {}
        for overrides in job_overrides:
            composed = self.hydra_context.config_loader.load_sweep_config(self.config, list(overrides))
            folder = Path(composed.hydra.sweep.dir, composed.hydra.sweep.subdir).absolute()
            jobs[folder] = for_a_job([*self.config.hydra.overrides.hydra, *overrides])
        return jobs

    def _run(self, jobs: Mapping[Path, Sequence[str]]) -> None:
        import ray

        from experiments.sweep import failed

        assert self.config is not None
        joins = self.config.profile.ray  # then the training asks that Ray for its GPUs itself
        variables = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS" or joins}
        holds = {"num_cpus": self.cpus, "num_gpus": 0 if joins else self.gpus}
        with _ray(os.environ.get("RAY_ADDRESS") or joins, self.cpus):
            start = ray.remote(max_retries=0, **holds)(_task)
            tasks: dict[Any, Path] = {
                start.options(name=folder.name).remote(overrides, folder, variables, Path.cwd()): folder
                for folder, overrides in jobs.items()
            }
            waiting = list(tasks)
            while waiting:
                (done,), waiting = ray.wait(waiting, num_returns=1)
                try:
                    ray.get(done)
                except ray.exceptions.RayError as error:
                    failed(tasks[done], f"its Ray task failed: {str(error).splitlines()[0]}")


@contextmanager
def _ray(address: str, cpus: float) -> Iterator[None]:
    """Join the Ray at this address, or else start one, for the time of the block."""
    import ray

    # a private Ray is made as the trainer makes its own: able to start on a busy machine
    from proverl.trainer.cluster import PRIVATE, light_ray

    with TemporaryDirectory(prefix="proverl-", dir="/tmp", ignore_cleanup_errors=True) as place:  # short, for sockets
        if address:
            ray.init(address, logging_level="error")
        else:
            light_ray()
            os.environ |= PRIVATE
            slots = max(cpus, os.cpu_count() or 1)
            ray.init("local", num_cpus=slots, include_dashboard=False, logging_level="error", _temp_dir=place)
        try:
            yield
        finally:
            ray.shutdown()


def _task(overrides: Sequence[str], folder: Path, variables: Mapping[str, str], place: Path) -> None:
    import ray

    from experiments.sweep import run_alone

    devices = ray.get_runtime_context().get_accelerator_ids()["GPU"]
    seen = {"CUDA_VISIBLE_DEVICES": ",".join(devices)} if devices else {}
    run_alone(overrides, folder, {**variables, **seen}, place)
