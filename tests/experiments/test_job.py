import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mlflow.tracking import MlflowClient

ROOT = Path(__file__).parents[2]
FAKE = Path(__file__).with_name("fake_run.py")


def start(runs, seconds, *overrides):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, str(FAKE), str(runs), str(seconds), *overrides],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process):
    output = process.communicate(timeout=600)[0]
    assert process.returncode == 0, output
    return output


def steps_in_mlflow(runs, key="reward/mean"):
    run_id = json.loads((runs / "jobs" / "fake" / "mlflow.json").read_text())["run_id"]
    history = MlflowClient(f"sqlite:///{runs}/mlflow.db").get_metric_history(run_id, key)
    return sorted(metric.step for metric in history)


@pytest.fixture(scope="module")
def resumed(tmp_path_factory, with_store):
    """A runs folder whose job was killed after step 5 (its checkpoint is of step 3) and typed again; what it said."""
    runs = with_store(tmp_path_factory.mktemp("runs"))
    process, log = start(runs, 0.3), runs / "work.log"
    deadline = time.monotonic() + 600
    while "step 5" not in (log.read_text() if log.exists() else "") and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (runs / "jobs" / "fake" / "figures.json").exists()
    return runs, finish(start(runs, 0.02))


def test_a_killed_job_goes_on_from_its_checkpoint(resumed):
    work = (resumed[0] / "work.log").read_text().split("\n")
    assert work.count("synth") == 1
    assert work.count("step 3") == 1  # before the checkpoint: not again
    assert work.count("step 4") == 2  # after it: again


def test_the_last_line_is_the_path_of_the_figures(resumed):
    runs, output = resumed
    path = Path(output.splitlines()[-1])
    assert path == runs / "jobs" / "fake" / "figures.json"
    figures = json.loads(path.read_text())
    assert figures["steps"] == 12
    assert set(figures["stages"]) == {"synth", "grpo"}
    assert "mlflow ui --backend-store-uri sqlite:///" in output


def test_every_step_is_in_mlflow_once_with_config_commit_and_data_hash(resumed):
    runs, _ = resumed
    assert steps_in_mlflow(runs) == list(range(1, 13))
    run_id = json.loads((runs / "jobs" / "fake" / "mlflow.json").read_text())["run_id"]
    run = MlflowClient(f"sqlite:///{runs}/mlflow.db").get_run(run_id)
    assert run.info.status == "FINISHED"
    assert run.data.params["reward.beta"] == "0.5"
    assert {"git.commit", "git.dirty", "lock.sha256", "data.synth", "data.grpo"} <= set(run.data.tags)


def test_its_cost_counts_the_killed_try_and_is_in_mlflow_and_figures(resumed):
    runs, said = resumed
    figures = json.loads((runs / "jobs" / "fake" / "figures.json").read_text())
    (manifest,) = [json.loads(path.read_text()) for path in (runs / "stages").glob("grpo-*/DONE.json")]
    assert manifest["tries"] == 2 and manifest["about"]["job"] == "fake"
    assert figures["cost"]["stages"]["grpo"]["hours"] == manifest["seconds"] / 3600
    assert figures["cost"]["own"] == figures["cost"]["all"]
    run_id = figures["mlflow"]["run"]
    metrics = MlflowClient(f"sqlite:///{runs}/mlflow.db").get_run(run_id).data.metrics
    assert metrics["cost/hours"] == figures["cost"]["all"]["hours"] > 0 and metrics["cost/peak_memory_gib"] > 0
    assert "Cost" in said and "kWh" in said


def test_its_model_is_registered_with_a_card(resumed):
    runs, _ = resumed
    folder = runs / "jobs" / "fake" / "models" / "grpo"
    (version,) = MlflowClient(f"sqlite:///{runs}/mlflow.db").search_model_versions("name = 'proverl-tiny'")
    assert version.source == folder.as_uri() and version.description == (folder / "README.md").read_text()


def test_typed_again_it_takes_everything_from_the_cache(resumed):
    runs, _ = resumed
    before = (runs / "work.log").read_text()
    output = finish(start(runs, 0.02))
    assert (runs / "work.log").read_text() == before
    assert output.count("cached in") == 2
    assert steps_in_mlflow(runs) == list(range(1, 13))


def test_an_alarm_is_told_once_while_training_and_again_in_the_summary(resumed):
    runs, said = resumed
    told = [line for line in said.splitlines() if line.startswith("Alarm truncation")]
    assert [line.split(":")[0] for line in told] == [told[0].split(":")[0], "Alarm truncation, steps 8 to 12"]
    assert "envs.limits" in told[0]
    assert told[0] in (runs / "run.log").read_text()
    (figure,) = json.loads((runs / "jobs" / "fake" / "figures.json").read_text())["alarms"]
    assert (figure["name"], figure["first_step"], figure["figure"]) == ("truncation", 8, 0.5)


def test_alarms_are_in_mlflow(resumed):
    runs, _ = resumed
    run_id = json.loads((runs / "jobs" / "fake" / "mlflow.json").read_text())["run_id"]
    client = MlflowClient(f"sqlite:///{runs}/mlflow.db")
    history = sorted((one.step, one.value) for one in client.get_metric_history(run_id, "alarm/truncation"))
    assert history == [(step, float(step >= 8)) for step in range(1, 13)]
    assert client.get_run(run_id).data.tags["alarm.truncation"].startswith("Alarm truncation, steps 8 to 12")
