"""GRPO end to end: verl's trainer on this machine's CPU, live sessions, checkpoints and resuming."""

import json
import shutil

import pytest

from proverl.agent import Limits
from proverl.core import Step
from proverl.reward import RewardConfig
from proverl.trainer import ModelConfig, TrainerConfig, read_metrics, train

pytestmark = pytest.mark.verl

LIMITS = Limits(prompt_tokens=512, response_tokens=160, reply_tokens=24, tool_output_tokens=32)


@pytest.fixture(scope="module")
def run(task_of, start_model, tmp_path_factory):
    """Three steps, then the third once more: what a run killed while it saved its third checkpoint goes on with."""
    folder = tmp_path_factory.mktemp("run")
    tasks = [task_of(number) for number in range(4)] + [task_of(4, Step("list_notes", {}))]
    config = TrainerConfig(steps=3, prompts=4, rollouts=4, save_every=1, learning_rate=1e-3)
    seen = []

    def go(after):
        model = ModelConfig(path=str(start_model))
        on_step = lambda step, values: seen.append((step, values))  # noqa: E731
        return train(tasks, folder, config, model, LIMITS, RewardConfig(), 0, on_step, after)

    first_model = go(after=0)
    weights = (first_model / "model.safetensors").read_bytes()
    shutil.rmtree(folder / "model")
    (folder / "checkpoints" / "global_step_3" / "COMPLETE").unlink()
    go(after=3)
    return folder, seen, weights


def test_each_step_is_logged_once_under_fixed_names(run):
    folder, seen, _ = run
    steps = dict(read_metrics(folder / "metrics.jsonl"))
    assert list(steps) == [1, 2, 3]
    assert [step for step, _ in seen] == [1, 2, 3]
    names = {
        "reward/mean",
        "reward/zero_variance_share",
        "episode/calls",
        "stop/completed",
        "actor/kl_loss",
        "time/step_s",
    }
    assert all(names <= values.keys() for values in steps.values())
    assert all(values["episode/count"] == 16 and values["episode/failed"] == 0 for values in steps.values())


def test_rollout_and_trainer_agree_on_the_probabilities(run):
    folder, _, _ = run
    assert all(values["rollout/probability_difference"] < 1e-4 for _, values in read_metrics(folder / "metrics.jsonl"))


def test_training_moves_the_weights(run, start_model):
    from safetensors.torch import load_file

    folder, seen, _ = run
    before, after = (load_file(path / "model.safetensors") for path in (start_model, folder / "model"))
    assert before.keys() == after.keys()
    assert max(values["actor/grad_norm"] for _, values in seen) > 0
    assert max((before[name] - after[name]).abs().max() for name in before) > 1e-4


def test_a_resumed_step_equals_the_unbroken_one(run):
    folder, seen, weights = run
    unbroken, resumed = dict(seen)[3], dict(read_metrics(folder / "metrics.jsonl"))[3]
    same = [name for name in unbroken if not name.startswith(("time/", "rollout/", "memory/"))]
    assert {name: resumed[name] for name in same} == pytest.approx({name: unbroken[name] for name in same}, rel=1e-4)
    assert (folder / "model" / "model.safetensors").read_bytes() == weights


def test_the_model_is_a_folder_that_loads_with_the_dtype_it_had(run, start_model):
    folder, _, _ = run
    dtype = [json.loads((path / "config.json").read_text())["dtype"] for path in (start_model, folder / "model")]
    assert dtype == ["float32", "float32"]
    assert (folder / "model" / "tokenizer.json").exists()


def test_old_checkpoints_are_dropped(run):
    folder, _, _ = run
    kept = sorted(path.name for path in (folder / "checkpoints").glob("global_step_*"))
    assert kept == ["global_step_2", "global_step_3"]
