"""Train a model with GRPO: write the run's files, start the process that trains, wait for the trained model."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from omegaconf import OmegaConf

from proverl.agent import Limits
from proverl.core import Task
from proverl.reward import RewardConfig
from proverl.trainer import compat
from proverl.trainer.config import ModelConfig, TrainerConfig
from proverl.trainer.rows import write_rows
from proverl.trainer.verl_config import AGENT, RunPaths, verl_config


class TrainingFailed(RuntimeError):
    """The training process ended without a model; the message names its log and its last error."""


def train(
    tasks: Sequence[Task],
    folder: Path,
    trainer: TrainerConfig,
    model: ModelConfig,
    limits: Limits,
    reward: RewardConfig,
    seed: int = 0,
) -> Path:
    """Train and return the folder of the trained model."""
    paths = RunPaths(folder.resolve())
    if paths.model.exists():
        return paths.model
    prepare(tasks, paths, trainer, model, limits, reward, seed)
    _run(paths, model.gpu)
    return paths.model


def prepare(tasks, paths, trainer, model, limits, reward, seed) -> None:
    """Write verl's config, the agent loop's and the rows."""
    paths.folder.mkdir(parents=True, exist_ok=True)
    config = verl_config(trainer, model, model.path, limits, paths, seed)
    OmegaConf.save(config, paths.verl)
    write_rows(tasks, trainer.steps * trainer.prompts, seed, paths.rows)
    loop = {
        "name": AGENT,
        "_target_": "proverl.trainer.agent_loop.EpisodeLoop",
        "format": model.format,
        "limits": asdict(limits),
        "reward": asdict(reward),
        "seed": seed,
    }
    OmegaConf.save(OmegaConf.create([loop]), paths.agent_loop)


def _run(paths: RunPaths, gpu: bool) -> None:
    command = [sys.executable, "-m", "proverl.trainer.driver", str(paths.folder)]
    environment = os.environ | compat.environment(gpu)
    if not gpu:
        environment.pop("CUDA_VISIBLE_DEVICES", None)  # Ray checks its slots against it, and ours only stand for ranks
    with paths.log.open("ab") as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment)
        if process.wait():
            raise TrainingFailed(f"training ended with code {process.returncode}; see {paths.log}")
