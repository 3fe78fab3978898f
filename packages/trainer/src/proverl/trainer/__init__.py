"""GRPO and SFT on verl against live servers: the config, `train`, `train_sft`, and what a machine must have for it.

Importing this loads neither torch nor verl.
"""

from proverl.trainer.config import ModelConfig, TrainerConfig
from proverl.trainer.metrics import read as read_metrics
from proverl.trainer.requirements import check_requirements, model_path
from proverl.trainer.sft import train_sft
from proverl.trainer.sft_config import SFTConfig, sft_verl_config
from proverl.trainer.train import TrainingFailed, train
from proverl.trainer.verl_config import RunPaths, verl_config

__all__ = [
    "ModelConfig",
    "RunPaths",
    "SFTConfig",
    "TrainerConfig",
    "TrainingFailed",
    "check_requirements",
    "model_path",
    "read_metrics",
    "sft_verl_config",
    "train",
    "train_sft",
    "verl_config",
]
