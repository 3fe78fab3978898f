"""Fine-tuning end to end: verl's SFT trainer on this machine's CPU, two ranks, killed and resumed."""

from dataclasses import replace

import pytest

from proverl.agent import Limits
from proverl.core import Step
from proverl.trainer import ModelConfig, SFTConfig, read_metrics, train_sft

pytestmark = pytest.mark.verl

LIMITS = Limits(prompt_tokens=512, response_tokens=160, reply_tokens=60, tool_output_tokens=32)
SFT = SFTConfig(epochs=4, batch=4, save_every=2, learning_rate=3e-3, micro_batch_tokens=1024)


DYING = {"data.custom_cls.path": "pkg://dying_demonstrations", "data.custom_cls.name": "Dying"}


@pytest.fixture(scope="module")
def run(task_of, start_model, tmp_path_factory):
    """Eight steps without a break, and the same eight with a rank that dies after the fourth, an epoch's edge."""
    steps = [Step("list_notes", {}), Step("add_note", {"text": "milk"}), Step("add_note", {"text": "rent"})]
    tasks = [task_of(number, steps[number % 3]) for number in range(8)]
    folder = tmp_path_factory.mktemp("sft")
    for name, sft in (("unbroken", SFT), ("broken", replace(SFT, verl_overrides=DYING))):
        train_sft(tasks, folder / name, sft, ModelConfig(path=str(start_model)), LIMITS)
    return folder


def test_the_loss_falls_and_each_step_is_logged_once_under_fixed_names(run):
    steps = dict(read_metrics(run / "unbroken" / "metrics.jsonl"))
    assert list(steps) == list(range(1, 9))
    names = {"epoch", "grad_norm", "learned_tokens", "loss", "lr", "step_s", "tokens"}
    assert all(values.keys() == {f"sft/{name}" for name in names} for values in steps.values())
    losses = [values["sft/loss"] for values in steps.values()]
    assert losses[-1] < 0.8 * losses[0]
    assert [steps[step]["sft/epoch"] for step in (2, 4, 8)] == [1, 2, 4]
    assert all(0 < values["sft/learned_tokens"] < values["sft/tokens"] for values in steps.values())


def test_a_run_whose_rank_died_goes_on_and_ends_as_the_unbroken_one(run):
    log = (run / "broken" / "train.log").read_text()
    assert (run / "broken" / "died").exists()
    assert "starting after step 4" in log
    same = [
        [{name: value for name, value in values.items() if name != "sft/step_s"} for _, values in read_metrics(path)]
        for path in (run / "unbroken" / "metrics.jsonl", run / "broken" / "metrics.jsonl")
    ]
    assert same[0] == same[1]
    weights = [(run / name / "model" / "model.safetensors").read_bytes() for name in ("unbroken", "broken")]
    assert weights[0] == weights[1]


def test_grpo_and_the_evaluation_can_load_the_model(run, start_model):
    from safetensors.torch import load_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(run / "unbroken" / "model")
    assert AutoTokenizer.from_pretrained(run / "unbroken" / "model").chat_template
    before = load_file(start_model / "model.safetensors")
    moved = max((before[name] - value).abs().max() for name, value in model.state_dict().items() if name in before)
    assert moved > 1e-4


def test_old_checkpoints_are_dropped(run):
    assert sorted(path.name for path in (run / "broken" / "checkpoints").glob("global_step_*")) == [
        "global_step_6",
        "global_step_8",
    ]
