"""The policy that an evaluation asks: a checkpoint in transformers' format, sampled in this process."""

from pathlib import Path

from proverl.agent import ChatTemplate, Policy, tool_format
from proverl.evals.config import EvalsConfig


def load_policy(model: Path | str, format: str, config: EvalsConfig) -> Policy:
    """Load a model and its tokenizer from a folder; `format` names the model family's tool format.

    Raises FileNotFoundError when the folder is not there, ValueError when the tokenizer's template does not
    fit the format.
    """
    if not (Path(model) / "config.json").exists():
        raise FileNotFoundError(f"no model at {model}: config.json is not there")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from proverl.agent.transformers_policy import TransformersPolicy

    template = ChatTemplate(AutoTokenizer.from_pretrained(model), tool_format(format))
    weights = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    return TransformersPolicy(weights, template, temperature=config.temperature, max_batch=config.concurrency)
