"""An adapter trained end to end: verl's trainer on this machine's CPU, and its product merged into the model."""

import pytest
import torch
from safetensors.torch import load_file

from proverl.agent import Limits
from proverl.core import Step
from proverl.reward import RewardConfig
from proverl.trainer import ModelConfig, TrainerConfig, read_metrics, train
from proverl.trainer.algorithms import LORA_SCALE

pytestmark = pytest.mark.verl


@pytest.fixture(scope="module")
def run(task_of, start_model, tmp_path_factory):
    """Two steps on sequence-level ratios, by one rank."""
    tasks = [task_of(0), task_of(1), task_of(2, Step("list_notes", {}))]
    limits = Limits(prompt_tokens=512, response_tokens=160, reply_tokens=24, tool_output_tokens=32)
    trainer = TrainerConfig(
        steps=2, prompts=3, rollouts=4, algorithm="gspo", lora_rank=4, learning_rate=1e-2, cpu_ranks=1
    )
    folder = tmp_path_factory.mktemp("adapter")
    train(tasks, folder, trainer, ModelConfig(path=str(start_model)), limits, RewardConfig())
    return folder


@pytest.fixture(scope="module")
def adapter(run):
    """The factors A and B of the last checkpoint, by the weight that they stand beside."""
    saved = load_file(run / "checkpoints" / "global_step_2" / "actor" / "huggingface" / "model.safetensors")
    found = {}
    for name, value in saved.items():
        module, mark, factor = name.removeprefix("base_model.model.").partition(".lora_")
        if mark:
            found.setdefault(f"{module}.weight", {})[factor[0]] = value
    return found


def test_the_gradient_reaches_the_adapter_and_moves_it(run, adapter):
    assert all(values["actor/grad_norm"] > 0 for _, values in read_metrics(run / "metrics.jsonl"))
    assert all(factors["A"].shape[0] == factors["B"].shape[1] == 4 for factors in adapter.values())
    assert all(factors["B"].abs().max() > 1e-4 for factors in adapter.values())  # which is 0 at the start


def test_the_model_is_the_start_model_with_the_adapters_product(run, adapter, start_model):
    before, after = (load_file(folder / "model.safetensors") for folder in (start_model, run / "model"))
    assert before.keys() == after.keys() > adapter.keys()
    for name, value in before.items():
        factors = adapter.get(name)
        moved = LORA_SCALE * factors["B"] @ factors["A"] if factors else torch.zeros_like(value)
        assert torch.allclose(after[name], value + moved, atol=1e-6), name


def test_the_model_loads_without_peft(run):
    from transformers import AutoModelForCausalLM

    assert not list((run / "model").glob("adapter*"))
    model, loading = AutoModelForCausalLM.from_pretrained(run / "model", output_loading_info=True)
    assert not loading["missing_keys"] and not loading["unexpected_keys"]
    assert type(model).__name__ == "Qwen3ForCausalLM"
