"""Train a model with GRPO: write the run's files, start the process that trains, wait for the trained model."""

import logging
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import Thread
from typing import IO

from omegaconf import OmegaConf

from proverl.agent import Limits
from proverl.core import Task, canonical_json
from proverl.reward import OwnReward, RewardConfig
from proverl.trainer import checkpoints, metrics
from proverl.trainer.config import ModelConfig, TrainerConfig
from proverl.trainer.requirements import model_path
from proverl.trainer.rows import write_rows
from proverl.trainer.run_folder import private_folder
from proverl.trainer.verl_config import AGENT, RunPaths, verl_config

_POLL_SECONDS = 0.5
_NONE_LEFT = "no materializable trajectories"  # verl's words for a step without any rollout
_DROPPED = "RolloutFailed: "  # before the reason why a rollout was dropped
_LOG = logging.getLogger(__name__)

OnStep = Callable[[int, Mapping[str, float]], None]


class TrainingFailed(RuntimeError):
    """The training process ended without a model; the message names its last error and its log."""


def train(
    tasks: Sequence[Task],
    folder: Path,
    trainer: TrainerConfig,
    model: ModelConfig,
    limits: Limits,
    reward: RewardConfig | OwnReward,
    seed: int = 0,
    on_step: OnStep | None = None,
    after: int = 0,
    dev: Sequence[Task] = (),
) -> Path:
    """Train on `tasks` and return the folder of the trained model, a Hugging Face folder inside `folder`.

    What a killed call left in `folder` is gone on with: training resumes from the last complete checkpoint, and the
    lines of later steps in metrics.jsonl are written again. `on_step` is called once for each step later than `after`
    (the last one that the caller has recorded), in order, while training runs. A finished folder returns at once.
    A training process that dies is started again from its last checkpoint, as long as each start gets further.
    With `trainer.validate_every` the policy does the tasks of `dev` now and then; the checkpoint that was best there is
    the trained model.

    Raises ValueError for settings that verl does not know or an empty dataset, FileNotFoundError when the tiny model is
    not there, and TrainingFailed when the training process fails.
    """
    paths = RunPaths(folder.resolve())
    steps = Steps(paths.metrics, on_step, after)
    if not paths.model.exists():
        prepare(tasks, paths, trainer, model, limits, reward, seed, dev)
        run_process(["proverl.trainer.driver"], paths, model.gpu, steps)
    steps.deliver()
    return paths.model


def prepare(
    tasks: Sequence[Task],
    paths: RunPaths,
    trainer: TrainerConfig,
    model: ModelConfig,
    limits: Limits,
    reward: RewardConfig | OwnReward,
    seed: int,
    dev: Sequence[Task] = (),
) -> None:
    """Write what the training process reads (verl.yaml, agent_loop.yaml, rows.parquet); drop what a kill left torn."""
    config = verl_config(trainer, model, str(model_path(model)), limits, paths, seed)
    paths.checkpoints.mkdir(parents=True, exist_ok=True)
    drop_torn(paths)
    OmegaConf.save(config, paths.verl)
    loop = {
        "name": AGENT,
        "_target_": "proverl.trainer.agent_loop.EpisodeLoop",
        "format": model.format,
        "limits": canonical_json(asdict(limits)),
        "reward": canonical_json(asdict(reward)),
        "truncated": trainer.truncated,
        "seed": seed,
    }
    OmegaConf.save(OmegaConf.create([loop]), paths.agent_loop)
    write_rows(tasks, trainer.rows, seed, paths.rows)
    if trainer.validate_every:
        write_rows(dev, len(dev), seed, paths.dev_rows, first=trainer.rows)


def drop_torn(paths: RunPaths) -> None:
    """Delete what a killed process left of the steps after its last complete checkpoint.

    Raises TrainingFailed when that checkpoint or the metrics are damaged.
    """
    checkpoints.remove_incomplete(paths.checkpoints)
    step = checkpoints.latest(paths.checkpoints)
    try:
        if step:
            checkpoints.check(paths.checkpoints / f"global_step_{step}")
        metrics.truncate(paths.metrics, step)
    except ValueError as error:
        raise TrainingFailed(str(error)) from None


class Steps:
    """Hands each new line of the metrics file to the caller, once."""

    def __init__(self, path: Path, on_step: OnStep | None, after: int) -> None:
        self._path, self._on_step, self._last = path, on_step, after

    def deliver(self) -> None:
        """Hand on what has come since the last time."""
        if self._on_step is None:
            return
        for step, values in metrics.read(self._path, self._last):
            self._last = step
            self._on_step(step, values)


def run_process(module: Sequence[str], paths: RunPaths, gpu: bool, steps: Steps) -> None:
    """Run the training process, `python -m MODULE FOLDER`, until a model is there.

    A process that dies is started again from its last checkpoint. Raises TrainingFailed for a fault that comes back
    before the next one.
    """
    step = checkpoints.latest(paths.checkpoints)
    began = paths.log.stat().st_size if paths.log.exists() else 0
    while code := _wait(module, paths, gpu, steps):
        error = _last_error(paths.log.read_bytes()[began:].decode(errors="replace"))
        step, before = checkpoints.latest(paths.checkpoints), step
        if step == before:
            raise TrainingFailed(f"training ended with code {code}: {error}; the whole story is in {paths.log}")
        _LOG.warning("training ended with code %s (%s) and goes on from step %s; see %s", code, error, step, paths.log)
        drop_torn(paths)
        began = paths.log.stat().st_size


def _wait(module: Sequence[str], paths: RunPaths, gpu: bool, steps: Steps) -> int:
    """Run the training process to its end; it ends with this one, because that closes its standard input."""
    command = [sys.executable, "-m", *module, str(paths.folder)]
    temporary = private_folder(paths.folder)
    shutil.rmtree(temporary, ignore_errors=True)  # what a killed run left
    temporary.mkdir(parents=True)
    variables = environment(gpu) | ({} if gpu else {"TMPDIR": str(temporary)})  # verl leaves a lock of each checkpoint
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, env=variables)
    assert process.stdin is not None and process.stdout is not None
    copying = Thread(target=_copy, args=(process.stdout, paths.log), name="log", daemon=True)
    copying.start()
    try:
        while process.poll() is None:
            time.sleep(_POLL_SECONDS)
            steps.deliver()
    finally:
        process.stdin.close()
        process.wait()
        copying.join(timeout=5)  # what it started may outlive it for a moment and hold the pipe
        shutil.rmtree(temporary, ignore_errors=True)
    return process.returncode


def _copy(printed: IO[bytes], log: Path) -> None:
    """Append what is printed to the log as it comes. A full disk loses text, not the process that prints it."""
    with log.open("ab", buffering=0) as file:
        while text := os.read(printed.fileno(), 65536):
            with suppress(OSError):
                file.write(text)


def environment(gpu: bool) -> dict[str, str]:
    """The variables of the training process and of all that it starts; they must stand before verl is imported."""
    added = {
        "VERL_USE_EXTERNAL_MODULES": "proverl.trainer.compat",
        "HYDRA_FULL_ERROR": "1",
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",  # else Ray, seeing `uv run`, installs an environment for its workers
    }
    if gpu:
        return os.environ | added
    added |= {
        "VERL_PLATFORM": "cpu",
        "VERL_LOGGING_LEVEL": "WARNING",
        "TQ_LOGGING_LEVEL": "ERROR",
        "PYTHONWARNINGS": "ignore",
        "OMP_NUM_THREADS": "1",  # more threads on a busy machine are slower by far
        "TOKENIZERS_PARALLELISM": "false",
        "MALLOC_ARENA_MAX": "2",  # glibc keeps one heap a thread otherwise, and none is given back
    }
    kept = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
    return kept | added  # Ray would check its "GPU" slots, which only stand for ranks, against that variable


def _last_error(log: str) -> str:
    """The last line of a log that reads like an exception."""
    lines = [re.sub(r"^\[rank\d+\]: ", "", line) for line in log.splitlines()]
    lines = [line for line in lines if line[:1].isalpha() and ("Error" in line or "Exception" in line)]
    lines = [line for line in lines if not line.startswith("torch.distributed.elastic")]  # that a process failed
    failed = [line.partition(_DROPPED)[2] for line in log.splitlines() if _DROPPED in line]
    if failed and lines and _NONE_LEFT in lines[-1]:
        return f"none of a step's rollouts could be run; the last one: {failed[-1]}".rstrip(".")
    return lines[-1].rstrip(".") if lines else "no error was printed (out of memory, or killed from outside)"
