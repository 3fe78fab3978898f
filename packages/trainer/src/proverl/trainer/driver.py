"""The process that trains: `python -m proverl.trainer.driver RUN_FOLDER`, started by `proverl.trainer.train`.

It starts or joins Ray, builds verl's trainer, resumes from the last complete checkpoint, trains, and puts the trained model
into the run's folder. It ends when the process that started it does.
"""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread
from typing import Any

from omegaconf import DictConfig, OmegaConf, open_dict

from proverl.trainer import checkpoints, compat, metrics
from proverl.trainer.verl_config import RunPaths, validate


def main(folder: Path) -> None:
    """Train the run in `folder`."""
    paths = RunPaths(folder)
    config = OmegaConf.load(paths.verl)
    Thread(target=_end_with_parent, daemon=True).start()
    _log("importing")
    with _ray(config):
        _train(config, paths)


def _train(config: DictConfig, paths: RunPaths) -> None:
    step = _prepare_resume(config, paths)
    import transfer_queue as tq

    with Background(lambda: tq.init(config.transfer_queue)) as queue:
        _log("starting at step %d" % step)
        from proverl.trainer.loops import agent_loops
        from proverl.trainer.ppo import Trainer

        compat.without_balancer(config)
        validate(config)
        queue.join()
    _log("queue ready")
    OmegaConf.resolve(config)
    trainer = Trainer(config, paths.metrics)
    trainer.init()
    _log("trainer ready")
    try:
        trainer.fit(agent_loops(config, trainer.get_llm_client(), 0))
    finally:
        tq.close()
    _publish(paths)


class Background:
    """Runs a function in a thread; `join` re-raises what it raised."""

    def __init__(self, function: Any) -> None:
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, args=(function,))

    def _run(self, function: Any) -> None:
        try:
            function()
        except BaseException as error:
            self._error = error

    def __enter__(self) -> "Background":
        self._thread.start()
        return self

    def join(self) -> None:
        """Wait for the end."""
        self._thread.join()
        if self._error is not None:
            raise self._error

    def __exit__(self, *_: object) -> None:
        self._thread.join()


def _prepare_resume(config: DictConfig, paths: RunPaths) -> int:
    paths.checkpoints.mkdir(exist_ok=True)
    checkpoints.remove_incomplete(paths.checkpoints)
    step = checkpoints.latest(paths.checkpoints)
    metrics.truncate(paths.metrics, step)
    if step:
        with open_dict(config):
            config.trainer.resume_mode = "resume_path"
            config.trainer.resume_from_path = str(paths.checkpoints / f"global_step_{step}")
    return step


class _ray:  # noqa: N801
    def __init__(self, config: DictConfig) -> None:
        self.config = config

    def __enter__(self) -> None:
        import ray

        self.temp = tempfile.mkdtemp(prefix="proverl-", dir="/tmp")  # socket paths may have 107 bytes
        ray.init(
            num_cpus=16,
            num_gpus=self.config.trainer.n_gpus_per_node,
            include_dashboard=False,
            _temp_dir=self.temp,
            runtime_env={"env_vars": compat.environment(gpu=False)},
            object_store_memory=200 * 2**20,
        )
        _log("ray ready")

    def __exit__(self, *_: object) -> None:
        import ray

        ray.shutdown()
        shutil.rmtree(self.temp, ignore_errors=True)


def _publish(paths: RunPaths) -> None:
    step = checkpoints.latest(paths.checkpoints)
    source = paths.checkpoints / f"global_step_{step}" / "actor" / "huggingface"
    partial = paths.model.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(source, partial)
    partial.replace(paths.model)


def _end_with_parent() -> None:
    """The parent holds our stdin open; when it dies, in whatever way, reading ends."""
    while os.read(0, 1024):
        pass
    os._exit(1)


_START = time.monotonic()


def _log(text: str) -> None:
    print(f"[proverl {time.monotonic() - _START:6.1f} s] {text}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
