"""Sweeps: their MLflow run above those of their jobs, jobs that fail or are killed, jobs side by side on Ray."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from mlflow.tracking import MlflowClient
from omegaconf import OmegaConf

from experiments.compose import read
from experiments.progress import Screen
from experiments.sweep import state_kept, sweep_of, sweep_runs
from experiments.tracking import IN_SWEEP, Tracker

ROOT = Path(__file__).parents[2]


def sweep(runs, *arguments):
    arguments = ["-m", f"runs_dir={runs}", *arguments]
    return sweep_of(read(arguments), ["run.py", *arguments])


@pytest.fixture
def store(tmp_path, with_store):
    return with_store(tmp_path)


def client(runs):
    found = MlflowClient(f"sqlite:///{runs}/mlflow.db")
    return found, found.get_experiment_by_name("proverl").experiment_id


def test_a_sweep_stands_for_its_jobs(tmp_path):
    one = sweep(tmp_path, "seed=0,1")
    assert one.id == sweep(tmp_path, "seed=1,0").id == sweep(tmp_path, "seed=0,1", "hydra/launcher=ray").id
    others = [sweep(tmp_path, "seed=0,1,2"), sweep(tmp_path, "seed=0,1", "reward.beta=0")]
    assert len({one.id, *(other.id for other in others)}) == 3
    assert (one.name, sweep(tmp_path, "seed=0,1", "reward.beta=0,1").name) == ("seed", "seed+reward.beta")
    assert sweep(tmp_path, "experiment=ablation", "seed=0").name == "ablation"
    assert sweep(tmp_path, "seed=0,1", "plan=true") is None
    assert sweep_of(read(["seed=0"]), ["run.py", "seed=0"]) is None


def test_its_jobs_can_be_typed_alone(tmp_path):
    found = sweep(tmp_path, "experiment=[main,lr_sweep]", "hydra/launcher=ray", "envs.servers=[calendar,email]")
    name = next(iter(found.jobs))
    assert found.alone(name) == (
        f"uv run python -m experiments.run runs_dir={tmp_path} 'experiment=[main,lr_sweep]' "
        "'envs.servers=[calendar,email]' model.learning_rate=1e-06"
    )
    assert read(list(found.jobs[name])).jobs[0].config.trainer.learning_rate == 1e-6


def work(found, names=None, fails=()):
    """Do the sweep's jobs as their processes would, without their stages."""
    for name in names or found.jobs:
        folder = found.folder.parents[1] / "jobs" / name
        try:
            with state_kept(folder):
                Tracker(found.config, folder).close("FINISHED")
                if name in fails:
                    raise RuntimeError("out of paper")
        except RuntimeError:
            pass


def test_a_job_is_found_from_each_sweep_that_it_belongs_to(store):
    small, large = sweep(store, "seed=0,1"), sweep(store, "seed=0,1,2")
    for one in (small, large, small):
        with one.recorded(Screen()):
            work(one)
    api, experiment = client(store)
    assert {run.info.run_name for run in sweep_runs(api, experiment, small.id)} == set(small.jobs)
    assert {run.info.run_name for run in sweep_runs(api, experiment, large.id)} == set(large.jobs)
    assert {run.info.run_name for run in sweep_runs(api, experiment, "seed")} == set(large.jobs)  # the last one made
    assert len(api.search_runs([experiment])) == 5  # three jobs, two sweeps, none twice
    parents = {run.info.run_name: run.info.run_id for run in api.search_runs([experiment], "tags.sweep = 'seed'")}
    nested = api.search_runs([experiment], f"tags.`mlflow.parentRunId` = '{parents[small.folder.name]}'")
    assert {run.info.run_name for run in nested} == set(small.jobs)  # typed last
    with pytest.raises(ValueError, match="no sweep 'sead'"):
        sweep_runs(api, experiment, "sead")
    assert IN_SWEEP not in os.environ


def test_a_sweep_says_how_its_jobs_stand(store):
    found = sweep(store, "seed=0,1,2")
    first, second, third = found.jobs
    with found.recorded(Screen()):
        work(found, [first, second], fails=[second])
    api, experiment = client(store)
    (run,) = api.search_runs([experiment], f"tags.`sweep.id` = '{found.id}'")
    tags = run.data.tags
    assert (tags[f"job.{first}"], tags[f"job.{third}"]) == ("finished", "waiting")
    assert tags[f"job.{second}"] == "failed: RuntimeError: out of paper"
    assert (tags["sweep.keys"], tags["sweep.jobs"], run.info.status) == ("seed", "3", "FAILED")
    assert tags["sweep.command"] == f"uv run python -m experiments.run -m runs_dir={store} seed=0,1,2"


def test_a_job_that_is_not_the_one_that_the_sweep_started_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv(IN_SWEEP, json.dumps({"id": "1", "name": "n", "run": "", "job": "expected"}))
    with pytest.raises(Exception, match="code has changed"), state_kept(tmp_path / "other"):
        pass
    assert "code has changed" in (tmp_path / "expected" / "state.json").read_text()


_MAKES_A_STORE = """
import sys
from pathlib import Path
from experiments.compose import check
from experiments.tracking import Tracker

(config,) = check([f"runs_dir={sys.argv[1]}"])
print("ready", flush=True)
input()
Tracker(config, Path(sys.argv[1], "jobs", sys.argv[2]))
"""


def test_processes_that_make_the_store_at_once_share_it(tmp_path):
    def start(name):
        command = [sys.executable, "-c", _MAKES_A_STORE, str(tmp_path / "runs"), name]
        return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    processes = [start(f"job-{n}") for n in range(3)]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 3
    said = [process.communicate("\n", timeout=600)[0] for process in processes]
    assert said == [""] * 3, said
    api, experiment = client(tmp_path / "runs")
    assert {run.info.run_name for run in api.search_runs([experiment])} == {"job-0", "job-1", "job-2"}


def run(*arguments):
    command = [sys.executable, "-u", "-m", "experiments.run", "-m", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def kill_one(runs, what):
    """Kill -9 the job whose command has these words, once it is recorded."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        for process in psutil.process_iter(["cmdline"]):
            words = process.info["cmdline"] or []
            if f"runs_dir={runs}" in words and what in words and os.getsid(process.pid) == process.pid:
                for config in runs.glob("jobs/*/config.yaml"):  # which a job writes once it has an MLflow run
                    if f"stages={list(OmegaConf.load(config).stages)}".replace("'", "") == what:
                        process.kill()
                        return
        time.sleep(0.1)
    raise AssertionError(f"no job with {what}")


def check_a_failed_and_a_killed_job(runs, *launcher):
    process = run(f"runs_dir={runs}", "stages=[synth],[grpo],[report]", "synth=paper", *launcher)
    kill_one(runs, "stages=[synth]")
    said = process.communicate(timeout=600)[0]
    assert process.returncode == 2, said
    assert "1 of 3 jobs finished." in said
    killed, failed = re.findall(r"^Failed: (.*)\n  again, alone: (.*)$", said, re.MULTILINE)
    assert killed[0].endswith("its process was killed by signal 9.")
    assert "stages has grpo but not synth" in failed[0]
    assert failed[1] == f"uv run python -m experiments.run runs_dir={runs} 'stages=[grpo]' synth=paper"
    result = json.loads(Path(said.splitlines()[-1]).read_text())
    assert [bool(job["failed"]) for job in result["jobs"]] == [True, True, False]
    api, experiment = client(runs)
    # what is refused before it begins has no run of its own; on Ray either of the others may begin first
    assert sorted(one.info.status for one in sweep_runs(api, experiment, result["id"])) == ["FAILED", "FINISHED"]


def test_a_job_that_fails_or_is_killed_stops_no_other(store):
    check_a_failed_and_a_killed_job(store)


@pytest.mark.verl
def test_on_ray_too(store):
    check_a_failed_and_a_killed_job(store, "hydra/launcher=ray", "hydra.launcher.cpus=0.5")


@pytest.mark.verl
def test_jobs_side_by_side_compute_what_they_share_once(store):
    small = ("synth.train_tasks=2", "synth.heldout_tasks=2", "envs.servers=[calendar]", "synth.servers=[calendar]")
    process = run(
        f"runs_dir={store}", "stages=[synth],[synth,report]", *small, "hydra/launcher=ray", "hydra.launcher.cpus=1"
    )
    said = process.communicate(timeout=600)[0]
    assert process.returncode == 0, said
    assert "2 of 2 jobs finished." in said
    assert len(list((store / "stages").glob("synth-*[0-9a-f]"))) == 1
    # the second one waited, or came when it was there
    assert "another run is computing it, waiting" in said or "cached in" in said


def test_a_sweep_that_is_asked_to_end_ends_its_job(store):
    process = run(f"runs_dir={store}", "stages=[synth],[report]", "synth=paper")
    for line in process.stdout:
        if line.startswith("Synthesising tasks"):
            process.terminate()  # as Ctrl-C, which a process in the background may not hear
            break
    said = process.stdout.read()
    assert process.wait(600) == 130, said
    (state,) = store.glob("jobs/*/state.json")
    assert json.loads(state.read_text())["state"] == "stopped"
    api, experiment = client(store)
    assert {one.info.status for one in api.search_runs([experiment])} == {"KILLED"}
