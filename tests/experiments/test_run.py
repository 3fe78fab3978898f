"""The command itself, as a user types it."""

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from omegaconf import OmegaConf

ROOT = Path(__file__).parents[2]


def run(*arguments):
    command = [sys.executable, "-m", "experiments.run", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


def test_a_mistake_ends_with_one_sentence_and_code_2(tmp_path):
    done = run("reward.betta=0", f"runs_dir={tmp_path / 'runs'}")
    assert (done.returncode, done.stdout) == (2, "Checking the config\n")
    assert done.stderr == "reward.betta is no key of the config; did you mean reward.beta?\n"
    assert not (tmp_path / "runs").exists()


def test_a_folder_that_cannot_be_made_ends_with_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    done = run("stages=[synth]", f"runs_dir={tmp_path / 'file' / 'runs'}")
    assert done.returncode == 2
    assert done.stderr.startswith(f"{tmp_path}/file/runs/") and done.stderr.count("\n") == 1
    assert "can't be made (Not a directory): set runs_dir to a folder" in done.stderr


def test_a_plan_names_what_the_machine_lacks_and_runs_nothing(tmp_path):
    runs = tmp_path / "runs"
    done = run("model=qwen3_4b", "experiment=main", "plan=true", f"runs_dir={runs}")
    assert done.returncode == 2, done.stderr
    assert "to compute" in done.stdout
    assert all(line.startswith("Needs: ") for line in done.stderr.splitlines())
    assert "GPU" in done.stderr
    assert not (runs / "stages").exists()
    estimates = done.stdout.index("Memory of each GPU")
    assert done.stdout.index("trainer.total_training_steps: 350") < estimates
    assert "actor_rollout_ref.actor.grad_clip" not in done.stdout  # as in verl's defaults
    (path,) = re.findall("All of verl's settings: (.*)", done.stdout)
    assert OmegaConf.load(path).actor_rollout_ref.actor.grad_clip == 1.0
    assert len(done.stdout[:estimates].splitlines()) < 120


def test_what_verl_refuses_is_said_before_anything_starts(tmp_path):
    overrides = "actor_rollout_ref.actor.loss_agg_mode: foo"
    done = run(f"+trainer.verl_overrides={{{overrides}}}", f"runs_dir={tmp_path / 'runs'}")
    assert done.returncode == 2
    assert done.stderr.startswith("trainer.verl_overrides sets actor_rollout_ref.actor.loss_agg_mode to 'foo', which")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "runs" / "stages").exists()


def test_a_sweep_may_be_asked_for_anywhere_in_the_command(tmp_path):
    done = run("plan=true", f"runs_dir={tmp_path / 'runs'}", "stages=[synth]", "-m", "seed=0,1")
    assert done.returncode == 0, done.stderr
    assert "A sweep of 2 jobs." in done.stdout
    assert done.stdout.count("Plan: default") == 2


def test_hydra_still_shows_the_config():
    done = run("--cfg", "job", "experiment=beta0")
    assert done.returncode == 0, done.stderr
    assert "beta: 0" in done.stdout


def test_a_run_that_is_asked_to_end_is_no_longer_running_for_mlflow(tmp_path):
    command = [sys.executable, "-u", "-m", "experiments.run", "stages=[synth]", f"runs_dir={tmp_path}"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        printed = ""
        for line in process.stdout:
            if line.startswith("Synthesising tasks") and "Synthesising tasks" not in printed:
                process.terminate()
            printed += line
    assert process.returncode == 130 and "Stopped. The same command goes on from here." in printed
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as store:
        assert store.execute("select status from runs").fetchall() == [("KILLED",)]
