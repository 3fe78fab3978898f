"""A real run, small and without training, and its rerun, in a real store."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from mlflow.tracking import MlflowClient
from omegaconf import OmegaConf
from rich.console import Console

from experiments.agreement import Agreement, compared, judged, paired
from experiments.compose import check
from experiments.config import RunError, plain
from experiments.job import job
from experiments.progress import Screen
from experiments.rerun import differing, find, read_config, repeated, rerun, with_stages_of
from experiments.stages import stages
from proverl.evals.record import Record
from proverl.reward import OwnReward

ROOT = Path(__file__).parents[2]


def screen():
    return Screen(Console(record=True, width=120))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, with_store):
    """A runs folder with one evaluation of eight tasks by the oracle, the store's URI, and the run's id."""
    runs = with_store(tmp_path_factory.mktemp("runs"))
    overrides = ["stages=[evals]", "evals=[bfcl]", "evals.bfcl.tasks=8", "policy=oracle", f"runs_dir={runs}"]
    (config,) = check(overrides)
    path = job(config, stages(config), runs / "jobs" / "small", screen())
    return runs, config.tracking.uri, json.loads(path.read_text())["mlflow"]["run"]


def test_a_rerun_computes_everything_anew_and_agrees_exactly(recorded):
    runs, uri, run_id = recorded
    said = screen()
    assert rerun(run_id[:10], uri, runs, said)
    told = said.console.export_text()
    assert "The rerun agrees: " in told and "cached in" not in told
    path = Path(told.splitlines()[-1])
    figures = json.loads(path.read_text())
    assert figures["agrees"] and {one["verdict"] for one in figures["figures"]} == {"exactly"}
    (accuracy,) = [one for one in figures["figures"] if one["figure"] == "before-bfcl accuracy"]
    assert (accuracy["then"], accuracy["now"]) == (1.0, 1.0)
    again = MlflowClient(uri).get_run(figures["run"])
    assert again.info.run_id != run_id
    assert (again.data.tags["rerun.of"], again.data.tags["rerun.agrees"]) == (run_id, "true")
    assert again.data.metrics["cost/own/hours"] == again.data.metrics["cost/hours"] > 0


def test_a_run_holds_what_a_rerun_needs(recorded):
    _, uri, run_id = recorded
    client = MlflowClient(uri)
    run = client.get_run(run_id)
    assert find(client, "small").info.run_id == run_id
    assert {"git.commit", "git.diff.sha256", "code.hash", "lock.sha256", "model.hash", "hardware.cpu"} <= set(
        run.data.tags
    )
    assert {"config.yaml", "figures.json"} <= {file.path for file in client.list_artifacts(run_id)}
    assert "provenance/provenance.json" in {file.path for file in client.list_artifacts(run_id, "provenance")}
    assert run.data.metrics["cost/tool_calls"] > 0 and "cost/trained_tokens" not in run.data.metrics


def test_a_run_that_gives_other_figures_does_not_agree(recorded, tmp_path):
    runs, uri, run_id = recorded
    client = MlflowClient(uri)
    saved = Path(client.download_artifacts(run_id, "config.yaml", str(tmp_path)))
    altered = OmegaConf.load(saved)
    altered.policy.kind = "silent"
    path = Path(client.get_run(run_id).info.artifact_uri.removeprefix("file://")) / "config.yaml"
    before = path.read_text()
    path.write_text(OmegaConf.to_yaml(altered))
    try:
        said = screen()
        assert not rerun(run_id, uri, runs, said)
    finally:
        path.write_text(before)
    assert "The rerun does not agree" in said.console.export_text()


def command(*arguments):
    line = [sys.executable, "-m", "experiments.rerun", *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=600)


def test_what_cannot_be_repeated_is_one_sentence_and_exit_status_2(recorded, tmp_path):
    runs, uri, _ = recorded
    done = command("feedfeed", "--runs-dir", str(runs))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and "There is no run 'feedfeed'" in done.stderr
    done = command("feedfeed", "--runs-dir", str(tmp_path))
    assert done.returncode == 2 and "is not there" in done.stderr
    client = MlflowClient(uri)
    parent = client.create_run(client.get_experiment_by_name("proverl").experiment_id).info.run_id
    with pytest.raises(RunError, match="has no config.yaml .*it is a sweep, .*: give another run"):
        rerun(parent, uri, runs, screen())
    with pytest.raises(RunError, match="a is the start of 2 runs"):
        find(Several(), "a")
    with pytest.raises(RunError, match="one is the name of 2 runs"):
        find(Several(), "one")


class Several:
    def search_experiments(self):
        return []

    def search_runs(self, ids, max_results):
        class Run:
            def __init__(self, run_id):
                self.info = type("Info", (), {"run_id": run_id, "run_name": "one"})

        return [Run("ab"), Run("ac")]


def test_each_thing_that_differs_now_is_one_sentence():
    before = {"git.commit": "abc", "lock.sha256": "1", "hardware.cores": "2", "python": "3.11.7", "data.synth": "x"}
    now = {"git.commit": "def", "lock.sha256": "1", "hardware.cores": "64", "python": "3.11.7", "model.hash": "m"}
    assert list(differing(before, now)) == [
        "Now different: The commit is def, it was abc.",
        "Now different: Hardware: cores is 64, it was 2.",
        "Now different: The start model's files are not the same.",
    ]


def test_settings_that_came_later_have_todays_default_which_is_said(tmp_path):
    saved = OmegaConf.create(plain(check(["seed=5", "profile=h100x8", "model=qwen3_4b"])[0]))
    del saved.profile["watts"]
    said = screen()
    config = repeated(saved, tmp_path, "sqlite:///elsewhere.db", said)
    assert (config.seed, config.runs_dir, config.tracking.uri) == (5, str(tmp_path), "sqlite:///elsewhere.db")
    assert "The run's config has no profile.watts, which came later: it is 30" in said.console.export_text()
    saved = OmegaConf.create(plain(config))
    del saved.reward["beta"], saved.evals.heldout["trials"], saved["policy"]
    assert repeated(saved, tmp_path, "sqlite:///elsewhere.db", said) == config
    told = said.console.export_text()
    for key in ("reward.beta", "evals.heldout.trials", "policy.kind"):
        assert f"The run's config has no {key}, which came later" in told
    assert told.count("came later") == 2 + len(plain(config)["policy"])


def test_a_rerun_has_a_stage_for_all_that_the_run_had(recorded):
    _, uri, run_id = recorded
    tags = MlflowClient(uri).get_run(run_id).data.tags
    alone = check(["stages=[]", "evals=[bfcl]", "policy=oracle"])[0]
    assert with_stages_of(tags, alone).stages == ("evals",)
    trained = {"data.synth": "1", "data.grpo": "2", "data.after-heldout": "3"}
    assert with_stages_of(trained, check(["stages=[evals,report]"])[0]).stages == ("synth", "grpo", "evals", "report")


def test_a_figure_that_the_rerun_lacks_does_not_agree(recorded, tmp_path):
    _, uri, run_id = recorded
    client = MlflowClient(uri)
    run = client.get_run(run_id)
    other = client.create_run(run.info.experiment_id)
    found = compared(client, run, client.get_run(other.info.run_id), tmp_path)
    assert [(one.figure, one.then, one.now, one.verdict) for one in found] == [
        ("before-bfcl items", "recorded", "none", "not")
    ]


@pytest.mark.parametrize("text", ["x: [", "- 1"])
def test_a_damaged_config_is_one_sentence(tmp_path, text):
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(RunError, match="The run's config.yaml is damaged"):
        read_config(tmp_path / "config.yaml")


@pytest.mark.parametrize(
    "overrides",
    [
        ["experiment=main", "model=granite", "profile=cluster", "evals=[heldout,bfcl,tau2,teval]"],
        ["stages=[evals]", "evals=[bfcl]", "policy=endpoint", "policy.base_url=http://127.0.0.1:8000/v1"],
    ],
)
def test_every_recorded_config_can_be_read_again(overrides):
    (config,) = check(overrides)
    assert read_again(config) == config


def test_so_can_that_of_a_reward_of_ones_own(tmp_path, monkeypatch):
    code = "from proverl.reward import RewardConfig\nclass Mine(RewardConfig): pass\n"
    (tmp_path / "own_rewards.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    config = replace(check([])[0], reward=OwnReward("own_rewards.Mine", {"beta": 0}))
    assert read_again(config) == config


def read_again(config):
    saved = OmegaConf.create(OmegaConf.to_yaml(OmegaConf.create(plain(config))))
    return repeated(saved, Path(config.runs_dir), config.tracking.uri, screen())


def records(*values):
    return [Record(f"t{n}", n, {}, 0, 0, None, {"total": float(value)}, {}) for n, value in enumerate(values)]


def verdicts(then, now):
    return [one.verdict for one in judged(list(paired("x", records(*then), records(*now))))]


def test_equal_pairs_agree_exactly_and_equal_means_alone_do_not():
    assert verdicts([0, 1] * 10, [0, 1] * 10) == ["exactly"]
    assert verdicts([0, 1] * 10, [1, 0] * 10) == ["within noise"]


def test_a_clear_difference_is_no_noise_and_another_set_of_items_is_no_comparison():
    assert verdicts([0] * 20, [1] * 20) == ["not"]
    assert verdicts([0] * 20, [1] * 3 + [0] * 17) == ["within noise"]
    other = [Record(f"u{n}", n, {}, 0, 0, None, {"total": 0.0}, {}) for n in range(20)]
    (found,) = paired("x", records(*[0] * 20), other)
    assert (found.verdict, found.now) == ("not", "0 the same")


def test_the_level_holds_for_all_figures_together():
    def found(*ps):
        return [one.verdict for one in judged([Agreement("x", 0.0, 1.0, p=p, verdict="within noise") for p in ps])]

    assert found(0.04) == ["not"]
    assert found(0.04, 0.5) == ["within noise"] * 2  # 0.04 is no surprise among two
    assert found(0.5, 0.001, 0.03) == ["within noise", "not", "within noise"]
    assert found(0.02, 0.001) == ["not", "not"]
