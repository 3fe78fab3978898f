"""Fine-tune a model on demonstrations with verl's SFT trainer: the baseline that the paper compares GRPO with."""

from collections.abc import Sequence
from pathlib import Path

from omegaconf import OmegaConf

from proverl.agent import ChatTemplate, Limits, tool_format
from proverl.core import Task
from proverl.trainer.config import ModelConfig
from proverl.trainer.requirements import model_path
from proverl.trainer.sft_config import SFTConfig, sft_verl_config
from proverl.trainer.sft_data import write_demonstrations
from proverl.trainer.train import Steps, drop_torn, run_process
from proverl.trainer.verl_config import RunPaths


def train_sft(
    tasks: Sequence[Task], folder: Path, sft: SFTConfig, model: ModelConfig, limits: Limits, seed: int = 0
) -> Path:
    """Fine-tune on the oracle's demonstrations of `tasks`; return the trained model, a Hugging Face folder in `folder`.

    What a killed call left in `folder` is gone on with, and a training process that dies is started again, as in
    `train`. One machine trains: its GPUs, or its cores.

    Raises ValueError when no demonstration fits the limits, for a chat template that does not fit `model.format`, and
    for settings that verl does not know; FileNotFoundError when the tiny model is not there; TrainingFailed when the
    training process fails.
    """
    paths = RunPaths(folder.resolve())
    if not paths.model.exists():
        _prepare(tasks, paths, sft, model, limits, seed)
        launcher = ["torch.distributed.run", "--standalone", f"--nproc-per-node={sft.ranks}", "-m"]
        run_process([*launcher, "proverl.trainer.sft_trainer"], paths, model.gpu, Steps(paths.metrics, None, 0))
    return paths.model


def _prepare(
    tasks: Sequence[Task], paths: RunPaths, sft: SFTConfig, model: ModelConfig, limits: Limits, seed: int
) -> None:
    """Write what the training processes read (verl.yaml, rows.parquet); drop what a kill left torn."""
    from transformers import AutoTokenizer

    start = model_path(model)
    paths.checkpoints.mkdir(parents=True, exist_ok=True)
    template = ChatTemplate(AutoTokenizer.from_pretrained(start), tool_format(model.format))
    count = write_demonstrations(tasks, template, limits, paths.rows)
    drop_torn(paths)
    OmegaConf.save(sft_verl_config(sft, model, str(start), limits, paths, seed, count), paths.verl)
