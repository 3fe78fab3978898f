"""The policy that an evaluation asks: a checkpoint, an endpoint, or a script."""

import os
from pathlib import Path

from proverl.agent import ChatTemplate, EndpointPolicy, Policy, ScriptedPolicy, tool_format
from proverl.agent.vllm_policy import VLLMPolicy
from proverl.evals.benchmark import Benchmark
from proverl.evals.config import PolicyConfig

_CHECK_SECONDS = 10.0


def load_policy(
    model: Path | str, format: str, temperature: float = 0.0, top_p: float = 1.0, batch: int = 64
) -> Policy:
    """Load a model and its tokenizer from a folder into this process; `format` names the family's tool format.

    `batch` bounds how many replies are sampled at once. Raises FileNotFoundError when the folder is not there,
    ValueError when the tokenizer's template does not fit the format.
    """
    if not (Path(model) / "config.json").exists():
        raise FileNotFoundError(f"no model at {model}: config.json is not there")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from proverl.agent.transformers_policy import TransformersPolicy

    template = ChatTemplate(AutoTokenizer.from_pretrained(model), tool_format(format))
    weights = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    return TransformersPolicy(weights, template, temperature=temperature, top_p=top_p, max_batch=batch)


def vllm_policy(
    model: Path | str,
    format: str,
    temperature: float = 0.0,
    top_p: float = 1.0,
    tensor_parallel: int = 1,
    data_parallel: int = 1,
) -> VLLMPolicy:
    """The same on this machine's GPUs. Raises ValueError when the tokenizer's template does not fit the format."""
    from transformers import AutoTokenizer

    template = ChatTemplate(AutoTokenizer.from_pretrained(model), tool_format(format))
    return VLLMPolicy(model, template, temperature, top_p, tensor_parallel, data_parallel)


def scripted_policy(config: PolicyConfig, benchmark: Benchmark) -> Policy:
    """The benchmark's oracle, or one that says nothing."""
    return benchmark.oracle() if config.kind == "oracle" else ScriptedPolicy()


def endpoint_needs(config: PolicyConfig) -> list[str]:
    """What keeps the endpoint from being asked, a sentence each; costs one request and no tokens."""
    from openai import (
        APIConnectionError,
        AuthenticationError,
        NotFoundError,
        OpenAI,
        OpenAIError,
        PermissionDeniedError,
    )

    if told := config.needs():
        return told
    key = os.environ.get("OPENAI_API_KEY")
    try:
        with OpenAI(base_url=config.base_url, api_key=key or "none", max_retries=1, timeout=_CHECK_SECONDS) as client:
            served = [model.id for model in client.models.list()]
    except APIConnectionError as error:
        why = f"{config.base_url} can't be reached ({error.__cause__ or error}): start it, or mend policy.base_url."
    except (AuthenticationError, PermissionDeniedError):
        why = f"{config.base_url} refuses the key: {'mend' if key else 'set'} OPENAI_API_KEY."
    except NotFoundError:
        why = f"{config.base_url} has no list of models: the address mostly ends in /v1."
    except (OpenAIError, AttributeError, TypeError):  # a server without such a list, or with one of its own
        return []
    else:
        named = ", ".join(served[:10]) or "none"
        why = f"policy.model is {config.model}, but {config.base_url} serves {named}."
        return [] if config.model in served or not served else [why]
    return [why]


def endpoint_policy(config: PolicyConfig) -> EndpointPolicy:
    """A model behind an endpoint; its key is OPENAI_API_KEY, and servers that want none get any."""
    return EndpointPolicy(
        config.model,
        config.base_url,
        os.environ.get("OPENAI_API_KEY") or "none",
        {"temperature": config.temperature, "top_p": config.top_p, **config.options},
        retries=config.retries,
        seconds=config.seconds,
    )
