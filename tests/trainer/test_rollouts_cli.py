"""`proverl show` and `proverl rescore`, on a stage, a job and an MLflow run."""

import json

import pyarrow.parquet as pq
import pytest
from kept_rollouts import called, episode, keep, stage
from typer.testing import CliRunner

from proverl.core import Step, StopReason
from proverl.envs.cli import app
from proverl.trainer.rows import task_reader
from proverl.trainer.run_folder import training_folder

LIST, ADD = ("list_notes", {}), ("add_note", {"text": "tea"})


@pytest.fixture
def runs(tmp_path, task_of, tools):
    """A runs folder with one job, whose GRPO stage is in work and has kept two steps."""
    tasks = [task_of(0, Step(*LIST), turns=("What have I written?",)), task_of(1, Step(*ADD), turns=("Note tea.",))]
    paths = stage(tmp_path / "stages" / "grpo-1.partial", tasks)
    task_at = task_reader(paths.rows)
    for step, group in ((1, 0), (2, 1)):
        task = task_at(group)
        good, refused = (
            called(*((step.name, step.arguments) for step in task.ground_truth.steps)),
            called(ADD, ok=False),
        )
        made = [
            episode(task, good, "Here you are."),
            episode(task, refused, "No luck."),
            episode(task, [], "", StopReason.TOKENS),
        ]
        keep(paths, step, group, task, made, tools=tools)
    job = tmp_path / "jobs" / "default-tiny-s0"
    job.mkdir(parents=True)
    (job / "stages.json").write_text(json.dumps({"grpo": "../../stages/grpo-1"}))
    (job / "mlflow.json").write_text(json.dumps({"run_id": "8f14e45fceea"}))
    return tmp_path


def proverl(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done.exit_code, done.output


def test_a_run_is_found_by_its_stage_its_job_and_its_mlflow_id(runs):
    place = runs / "stages" / "grpo-1.partial"
    for run in (place, runs / "jobs" / "default-tiny-s0", "8f14e45fceea", "8f14"):
        assert training_folder(str(run), runs).resolve() == place
    place.rename(runs / "stages" / "grpo-1")
    assert training_folder("default-tiny-s0", runs) == (runs / "stages" / "grpo-1").resolve()
    assert training_folder("8f14", runs) == (runs / "stages" / "grpo-1").resolve()
    code, output = proverl("show", "17e621", "--runs-dir", runs)
    assert code == 2 and "17e621" in output and "default-tiny-s0" in output


def test_the_worst_are_shown_with_all_that_happened(runs):
    code, output = proverl("show", "8f14", "--step", 2, "--worst", 2, "--runs-dir", runs)
    assert code == 0
    nothing, refused = output.split("group 1, rollout 1")
    for text, order in (
        (nothing, ["group 1, rollout 2", "reward 0.000", "ended: tokens", "user: ", "expected: "]),
        (refused, ["user: ", '  add_note(text="tea")', "the notebook is full", "No luck.", "expected: "]),
    ):
        places = [text.index(part) for part in order]
        assert places == sorted(places)
    assert "Here you are." not in output and "step 1" not in output
    assert "3 prompt tokens, 3 after, 2 its own" in output


def test_without_a_word_it_is_the_three_worst_of_all_steps(runs):
    _, output = proverl("show", "8f14", "--runs-dir", runs)
    assert output.count("ended: ") == 3 and "step 1" in output and "step 2" in output


def test_best_and_worst_together(runs):
    _, output = proverl("show", "8f14", "--worst", 1, "--best", 1, "--runs-dir", runs)
    assert output.count("ended: ") == 2
    assert output.index("reward 0.000") < output.index("reward 1.300")


@pytest.mark.parametrize(
    ("option", "value", "shown"),
    [("--stop", "tokens", 2), ("--tool", "list_notes", 1), ("--task", "task-1", 3), ("--stop", "time", 0)],
)
def test_episodes_are_chosen_by_what_they_are(runs, option, value, shown):
    code, output = proverl("show", "8f14", "--worst", 9, option, value, "--runs-dir", runs)
    assert output.count("ended: ") == shown
    assert code == (0 if shown else 2)
    assert shown or "none of the 6 episodes fits" in output


def test_a_step_that_is_not_there_is_refused(runs):
    code, output = proverl("show", "8f14", "--step", 9, "--runs-dir", runs)
    assert code == 2 and "steps 1 to 2" in output


def test_rescoring_prints_what_would_change_and_leaves_it_as_json(runs):
    code, output = proverl("rescore", "8f14", "reward.validity=0", "reward.name=0", "--examples", 2, "--runs-dir", runs)
    assert code == 0, output
    report = runs / "stages" / "grpo-1.partial.rescore.json"
    assert output.strip().splitlines()[-1] == str(report)
    found = json.loads(report.read_text())
    assert (found["rollouts"], found["groups"], len(found["changed_most"])) == (6, 2, 2)
    assert found["after"]["reward"]["validity"] == 0
    assert "Rank correlation of rewards" in output and "differ" not in output


def test_a_record_that_this_code_does_not_reproduce_is_said(runs, task_of, tools):
    from proverl.reward import RewardConfig
    from proverl.trainer import RunPaths

    paths = RunPaths(runs / "stages" / "grpo-1.partial")
    task = task_reader(paths.rows)(0)
    keep(paths, 3, 0, task, [episode(task, called(LIST))] * 2, RewardConfig(name=0), tools)
    _, output = proverl("rescore", "8f14", "reward.beta=0", "--runs-dir", runs)
    assert "2 rollouts differ" in output


def test_a_bad_change_is_one_sentence(runs):
    code, output = proverl("rescore", "8f14", "reward.bta=0", "--runs-dir", runs)
    assert code == 2 and output.strip().count("\n") == 0 and "reward.beta" in output


def cut(path):
    path.write_bytes(path.read_bytes()[:-9])


def without(path, column):
    pq.write_table(pq.read_table(path).drop([column]), path)


@pytest.mark.parametrize(
    ("harm", "named"),
    [
        (lambda stage: cut(stage / "rollouts" / "step-00002.parquet"), "step-00002.parquet is damaged"),
        (lambda stage: (stage / "rollouts" / "step-00002.parquet").write_bytes(b""), "step-00002.parquet is damaged"),
        (lambda stage: without(stage / "rollouts" / "step-00002.parquet", "reward/total"), "reward/total"),
        (lambda stage: cut(stage / "rows.parquet"), "rows.parquet is damaged"),
        (lambda stage: (stage / "rows.parquet").unlink(), "rows.parquet is not there"),
    ],
)
def test_a_damaged_file_is_named(runs, harm, named):
    harm(runs / "stages" / "grpo-1.partial")
    for command in (("show", "8f14"), ("rescore", "8f14", "reward.beta=0")):
        code, output = proverl(*command, "--runs-dir", runs)
        assert (code, named in output) == (2, True), output


@pytest.mark.parametrize("file", ["agent_loop.yaml", "verl.yaml"])
def test_damaged_settings_are_named(runs, file):
    (runs / "stages" / "grpo-1.partial" / file).write_text("a: [")
    code, output = proverl("rescore", "8f14", "reward.beta=0", "--runs-dir", runs)
    assert (code, f"{file} is damaged" in output) == (2, True), output


def test_a_damaged_list_of_stages_is_named(runs):
    (runs / "jobs" / "default-tiny-s0" / "stages.json").write_text("{")
    code, output = proverl("show", "8f14", "--runs-dir", runs)
    assert (code, "stages.json is damaged" in output) == (2, True), output
