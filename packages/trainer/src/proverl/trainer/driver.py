"""The process that trains: `python -m proverl.trainer.driver RUN_FOLDER`, started by `proverl.trainer.train`.

It starts or joins Ray, builds verl's trainer, resumes from the last complete checkpoint, trains, and puts the trained
model into the run's folder. It ends when the process that started it does.
"""

import gc
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from omegaconf import DictConfig, OmegaConf, open_dict

from proverl.trainer import checkpoints
from proverl.trainer.run_folder import private_folder
from proverl.trainer.verl_config import RunPaths, validate

_START = time.monotonic()


def main(folder: Path) -> None:
    """Train the run in `folder`."""
    Thread(target=end_with_parent, args=[private_folder(folder)], daemon=True).start()
    paths = RunPaths(folder)
    config = OmegaConf.load(paths.verl)
    step = resume(config, paths)
    note(f"starting after step {step}")
    gc.disable()  # the imports to come make millions of objects, none of them garbage
    Thread(target=_import_verl).start()  # 12 s, while Ray's processes start
    from proverl.trainer.cluster import ray_cluster

    with ray_cluster(config, folder):
        note("Ray runs")
        with _queue(config):
            note("TransferQueue runs")
            _fit(config, paths)
    publish(paths, Path("actor/huggingface"), Path(config.actor_rollout_ref.model.path))
    note("done")


def _fit(config: DictConfig, paths: RunPaths) -> None:
    from proverl.trainer import compat, ppo
    from proverl.trainer.loops import agent_loops

    gc.enable()
    compat.without_balancer(config)
    validate(config)
    note("verl is imported")
    trainer = ppo.trainer(config, paths.metrics)
    trainer.init()
    note("models are loaded")
    with agent_loops(config, trainer.get_llm_client()) as loops:
        trainer.fit(loops)


def _import_verl() -> None:
    import proverl.trainer.loops
    import proverl.trainer.ppo  # noqa: F401


@contextmanager
def _queue(config: DictConfig) -> Iterator[None]:
    if config.trainer.device == "cpu":
        from proverl.trainer.cpu.queue import local_queue

        with local_queue(config.transfer_queue):
            yield
        return
    import transfer_queue as tq

    tq.init(config.transfer_queue)
    try:
        yield
    finally:
        tq.close()


def resume(config: DictConfig, paths: RunPaths) -> int:
    """Point verl at the last complete checkpoint; return its step."""
    step = checkpoints.latest(paths.checkpoints)
    if step:
        with open_dict(config):
            config.trainer.resume_mode = "resume_path"
            config.trainer.resume_from_path = str(paths.checkpoints / f"global_step_{step}")
    return step


def publish(paths: RunPaths, saved: Path, start: Path) -> None:
    """Export the best checkpoint on the dev split, or else the last one, as the run's model.

    `saved` is the place of its Hugging Face folder inside it; `start` is the start model.
    """
    from proverl.trainer.export import export

    export(
        paths.checkpoints / f"global_step_{checkpoints.best(paths.checkpoints)}" / saved.parent, paths.model, str(start)
    )


def end_with_parent(leftover: Path | None = None) -> None:
    """The parent holds our standard input open; when it dies, in whatever way, reading ends; `leftover` is removed."""
    while os.read(0, 1024):
        pass
    if leftover:
        shutil.rmtree(leftover, ignore_errors=True)
    os._exit(1)


def note(text: str) -> None:
    """Print a line of the run's log, with the seconds since the process began."""
    print(f"[proverl {time.monotonic() - _START:5.1f} s] {text}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
