"""GRPO end to end: verl's trainer on this machine's CPU, live sessions, checkpoints and resuming."""

import json
import time
from statistics import fmean

import psutil
import pytest

from proverl.agent import Limits
from proverl.core import Step
from proverl.reward import RewardConfig
from proverl.trainer import ModelConfig, TrainerConfig, checkpoints, read_metrics, rollouts, train

pytestmark = pytest.mark.verl

LIMITS = Limits(prompt_tokens=512, response_tokens=160, reply_tokens=24, tool_output_tokens=32)


@pytest.fixture(scope="module")
def run(task_of, start_model, tmp_path_factory):
    """Three steps without a break, and the same three with a worker killed after the first."""
    tasks = [task_of(number) for number in range(4)] + [task_of(4, Step("list_notes", {}))]
    config = TrainerConfig(steps=3, prompts=4, rollouts=4, save_every=1, learning_rate=1e-3, validate_every=2)
    model = ModelConfig(path=str(start_model))

    def go(name, on_step):
        folder = tmp_path_factory.mktemp(name)
        train(tasks, folder, config, model, LIMITS, RewardConfig(), 0, on_step, dev=tasks[3:])
        return folder

    seen = []

    def kill_a_worker_once(step, values):
        seen.append((step, values))
        if step == 1:
            folder = max(tmp_path_factory.getbasetemp().glob("broken*"))
            while not checkpoints.latest(folder / "checkpoints"):
                time.sleep(0.05)
            workers = [p for p in psutil.Process().children(recursive=True) if "WorkerDict" in p.name()]
            workers[-1].kill()

    return go("unbroken", None), go("broken", kill_a_worker_once), seen


def test_each_step_is_logged_once_under_fixed_names(run):
    _, folder, seen = run
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


def test_every_steps_episodes_are_kept_once_also_after_a_kill(run):
    whole, broken, _ = run
    logged = dict(read_metrics(whole / "metrics.jsonl"))
    assert rollouts.steps(whole / "rollouts") == rollouts.steps(broken / "rollouts") == [1, 2, 3]
    for step in (1, 2, 3):
        kept = rollouts.read(whole / "rollouts", step)
        assert len(kept) == 16 and len({one.group for one in kept}) == 4
        assert fmean(one.numbers["reward/total"] for one in kept) == pytest.approx(logged[step]["reward/mean"])
        assert [one.episode.messages for one in kept] == [
            one.episode.messages for one in rollouts.read(broken / "rollouts", step)
        ]


def test_rollout_and_trainer_agree_on_the_probabilities(run):
    folder, *_ = run
    assert all(values["rollout/probability_difference"] < 1e-4 for _, values in read_metrics(folder / "metrics.jsonl"))


def test_training_moves_the_weights(run, start_model):
    from safetensors.torch import load_file

    folder, _, seen = run
    before, after = (load_file(path / "model.safetensors") for path in (start_model, folder / "model"))
    assert before.keys() == after.keys()
    assert max(values["actor/grad_norm"] for _, values in seen) > 0
    assert max((before[name] - after[name]).abs().max() for name in before) > 1e-4


def test_a_run_whose_worker_died_goes_on_and_ends_as_the_unbroken_one(run):
    unbroken, broken, _ = run
    assert "starting after step" in (broken / "train.log").read_text().split("starting after step 0")[1]
    steps, again = (dict(read_metrics(folder / "metrics.jsonl")) for folder in (unbroken, broken))
    for step in (1, 2, 3):
        same = [
            name for name in steps[step] if not name.startswith(("time/", "rollout/", "memory/"))
        ]  # batching is not the same
        assert {name: again[step][name] for name in same} == {name: steps[step][name] for name in same}
    weights = [(folder / "model" / "model.safetensors").read_bytes() for folder in (unbroken, broken)]
    assert weights[0] == weights[1]


def test_the_model_is_a_folder_that_loads_with_the_dtype_it_had(run, start_model):
    folder, *_ = run
    dtype = [json.loads((path / "config.json").read_text())["dtype"] for path in (start_model, folder / "model")]
    assert dtype == ["float32", "float32"]
    assert (folder / "model" / "tokenizer.json").exists()


def test_the_dev_split_is_done_when_due_and_the_best_checkpoint_is_the_model(run):
    folder, *_ = run
    steps = dict(read_metrics(folder / "metrics.jsonl"))
    assert [step for step, values in steps.items() if "validation/reward" in values] == [2, 3]
    assert all(steps[step]["validation/count"] == 2 and steps[step]["validation/failed"] == 0 for step in (2, 3))
    assert all(0 <= values["episode/success"] <= 1 for values in steps.values())
    best = folder / "checkpoints" / f"global_step_{checkpoints.best(folder / 'checkpoints')}" / "actor" / "huggingface"
    weights = [(place / "model.safetensors").read_bytes() for place in (best, folder / "model")]
    assert weights[0] == weights[1]


def test_old_checkpoints_are_dropped(run):
    folder, *_ = run
    kept = sorted(path.name for path in (folder / "checkpoints").glob("global_step_*"))
    assert kept == ["global_step_2", "global_step_3"]
