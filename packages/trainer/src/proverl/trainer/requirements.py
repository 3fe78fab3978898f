"""What a run needs that may be lacking, said before anything expensive starts; `preflight` looks at the machines."""

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proverl.agent import ChatTemplate, tool_format
from proverl.agent.formats import FORMATS
from proverl.trainer.config import ModelConfig, TrainerConfig
from proverl.trainer.estimate import architecture
from proverl.trainer.preflight import preflight

_VERL = "0.9.1"


def model_path(model: ModelConfig) -> str | Path:
    """Where the start model is: a local folder or a Hugging Face id. Raises FileNotFoundError for a lost tiny model."""
    if model.path:
        return Path(model.path) if Path(model.path).is_dir() else model.path
    from proverl.trainer.tiny import checkpoint_path

    return checkpoint_path()


def check_requirements(model: ModelConfig, trainer: TrainerConfig, folder: Path, trains: bool = True) -> list[str]:
    """One sentence for each thing that is missing for a run that writes into `folder`, with what to do.

    Empty when the run can start. One that does not train (`trains`) writes no checkpoints.
    """
    problems = [_verl_problem(), _format_problem(model), _adapter_problem(model, trainer)]
    problems += _machine_problems(model, trainer, folder, trains)
    if model.gpu:
        problems += [_vllm_problem(model), _megatron_problem(trainer)]
    elif trainer.gpus_per_node > 0:
        problems.append(
            f"model {model.name!r} trains on the CPU but trainer.gpus_per_node is {trainer.gpus_per_node}; "
            "take a profile without GPUs, or a model for them"
        )
    told = [problem for problem in problems if problem]
    shipped = not model.path and model.format == ModelConfig.format  # which the tests try
    return told if told or shipped else _template_problems(model)


def _template_problems(model: ModelConfig) -> list[str]:
    """Why the model's tokenizer can't be used; the slowest check, so only where nothing else is missing."""
    from transformers import AutoTokenizer

    path = model_path(model)
    try:
        tokenizer = AutoTokenizer.from_pretrained(path)
    except (OSError, ValueError) as error:
        return [f"the tokenizer of {path} can't be loaded ({str(error).splitlines()[0].rstrip('.')}); see model.path"]
    reason = _unfit(tokenizer, model.format)
    if not reason:
        return []
    if not tokenizer.chat_template:
        return [f"the tokenizer of {path} has no chat template; set model.path to an instruct model, which has one"]
    fits = [
        name for name, known in FORMATS.items() if "chat_template" not in known.options and not _unfit(tokenizer, name)
    ]
    hint = f"it fits model.format {' or '.join(fits)}" if fits else f"nor does it fit another of {', '.join(FORMATS)}"
    return [f"model.format is {model.format}, but {reason}; {hint}"]


def _unfit(tokenizer: Any, name: str) -> str:
    """Why the tokenizer's chat template can't be used with a format, or ""."""
    try:
        ChatTemplate(tokenizer, tool_format(name))
    except ValueError as error:
        return " ".join(str(error).split())
    return ""


def _adapter_problem(model: ModelConfig, trainer: TrainerConfig) -> str:
    widest = architecture(model).hidden_size
    if not widest or trainer.lora_rank <= widest:
        return ""
    return f"trainer.lora_rank is {trainer.lora_rank}; it must be at most the model's hidden size, {widest}"


def _verl_problem() -> str:
    try:
        found = version("verl")
    except PackageNotFoundError:
        return f"verl is not installed; install verl=={_VERL}"
    return "" if found == _VERL else f"proverl.trainer works with verl {_VERL}, but verl {found} is installed"


def _format_problem(model: ModelConfig) -> str:
    try:
        tool_format(model.format)
    except ValueError as error:
        return f"model.format: {error}"
    return ""


def _machine_problems(model: ModelConfig, trainer: TrainerConfig, folder: Path, trains: bool) -> list[str]:
    try:
        weights = model_path(model)
    except FileNotFoundError as error:
        return [str(error)]
    return preflight(model, trainer, str(weights), folder, trains)


def _megatron_problem(trainer: TrainerConfig) -> str:
    if trainer.engine != "megatron" or find_spec("megatron"):
        return ""
    return "trainer.engine is megatron, which is not installed: install megatron-core and megatron-bridge, or use fsdp2"


def _vllm_problem(model: ModelConfig) -> str:
    if find_spec("vllm"):
        return ""
    return f"model {model.name!r} samples through vLLM, which is not installed: uv run --extra gpu ..."
