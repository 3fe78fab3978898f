"""What a run needs that this machine may lack, said before anything expensive starts."""

import os
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from proverl.agent import tool_format
from proverl.trainer.config import ModelConfig, TrainerConfig

_VERL = "0.9.1"


def model_path(model: ModelConfig) -> str | Path:
    """Where the start model is: a local folder or a Hugging Face id. Raises FileNotFoundError for a lost tiny model."""
    if model.path:
        return Path(model.path) if Path(model.path).is_dir() else model.path
    from proverl.trainer.tiny import checkpoint_path

    return checkpoint_path()


def check_requirements(model: ModelConfig, trainer: TrainerConfig) -> list[str]:
    """One sentence for each thing that is missing, with what to do; an empty list when the run can start."""
    problems = [_verl_problem(), *_model_problems(model)]
    if model.gpu:
        problems += [_gpu_problem(model, trainer), _vllm_problem(model)]
    elif trainer.gpus_per_node > 0:
        problems.append(
            f"model {model.name!r} trains on the CPU but trainer.gpus_per_node is {trainer.gpus_per_node}; "
            "set it to 0, or model.gpu to true"
        )
    return [problem for problem in problems if problem]


def _verl_problem() -> str:
    try:
        found = version("verl")
    except PackageNotFoundError:
        return f"verl is not installed; install verl=={_VERL}"
    return "" if found == _VERL else f"proverl.trainer works with verl {_VERL}, but verl {found} is installed"


def _model_problems(model: ModelConfig) -> list[str]:
    problems = []
    try:
        tool_format(model.format)
    except ValueError as error:
        problems.append(f"model.format: {error}")
    try:
        path = model_path(model)
    except FileNotFoundError as error:
        return [*problems, str(error)]
    if isinstance(path, Path):
        if not (path / "config.json").exists():
            problems.append(f"model.path {path} holds no config.json; it must be a folder that `from_pretrained` reads")
    elif not _downloaded(path) and not _reachable(path):
        problems.append(
            f"the weights of {path} are neither a local folder, nor in the Hugging Face cache, nor to be had from "
            "here; set model.path to a folder that holds them"
        )
    return problems


def _gpu_problem(model: ModelConfig, trainer: TrainerConfig) -> str:
    if os.environ.get("RAY_ADDRESS"):  # the cluster has them, not this machine
        return ""
    import torch

    wanted, found = max(1, trainer.gpus_per_node), torch.cuda.device_count()
    if found >= wanted:
        return ""
    gpus = "1 GPU" if wanted == 1 else f"{wanted} GPUs"
    return f"model {model.name!r} needs {gpus} a node, this machine has {found}; use another, or model=tiny"


def _vllm_problem(model: ModelConfig) -> str:
    if find_spec("vllm"):
        return ""
    return f"model {model.name!r} samples through vLLM, which is not installed: uv run --extra gpu ..."


def _downloaded(name: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    try:
        return isinstance(try_to_load_from_cache(name, "config.json"), str)
    except ValueError:  # not of the form OWNER/NAME
        return False


def _reachable(name: str) -> bool:
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(name, timeout=5)
    except Exception:  # offline, no such model, no permission: the same to the user
        return False
    return True
