import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from experiments.compare import curves, find, table
from experiments.compose import check
from experiments.pipeline import flat
from experiments.tracking import Tracker

HELDOUT = {"before": 0.7, "after": 0.9, "difference": 0.2, "low": 0.1, "high": 0.3}


@pytest.fixture(scope="module")
def runs(tmp_path_factory, with_store):
    """A store with two runs that have held-out figures and one that was only trained."""
    folder = with_store(tmp_path_factory.mktemp("runs"))
    for number, experiment in enumerate(("default", "beta0", "no_arg")):
        config = check([f"runs_dir={folder}", f"experiment={experiment}", f"seed={number}"])[0]
        tracker = Tracker(config, folder / "jobs" / experiment)
        tracker.tags({"experiment": experiment, "model": "tiny", "seed": str(number)})
        if experiment == "default":
            tracker.steps([{"step": step, "reward/mean": step / 10} for step in (1, 2, 3)])
        if experiment != "no_arg":
            tracker.results(
                {f"heldout/{metric}/{key}": value for metric in ("total",) for key, value in HELDOUT.items()}
            )
    return folder


def found(runs, **wanted):
    return find(f"sqlite:///{runs}/mlflow.db", "proverl", **wanted)


def test_runs_with_held_out_figures_are_found_oldest_first(runs):
    assert [(run["experiment"], run["seed"]) for run in found(runs)] == [("default", "0"), ("beta0", "1")]


def test_they_can_be_chosen_by_experiment_and_by_tag(runs):
    assert [run["experiment"] for run in found(runs, experiments=["beta0"])] == ["beta0"]
    assert [run["experiment"] for run in found(runs, tags=["seed=0"])] == ["default"]
    assert found(runs, tags=["seed=7"]) == []


def test_a_line_shows_before_after_and_the_interval_of_the_difference(runs):
    console = Console(record=True, width=160)
    console.print(table(found(runs)))
    assert "0.700 -> 0.900" in console.export_text(clear=False)
    assert "+0.200 [+0.100, +0.300]" in console.export_text()


def test_runs_of_one_experiment_are_told_apart_by_what_was_set(tmp_path, with_store):
    folder = with_store(tmp_path)
    for algorithm in ("grpo", "dr_grpo"):
        config = check([f"runs_dir={folder}", f"trainer.algorithm={algorithm}"])[0]
        tracker = Tracker(config, folder / "jobs" / algorithm)
        tracker.tags({"experiment": "default", "model": "tiny", "seed": "0"})
        tracker.params(flat(config))
        tracker.results({f"heldout/total/{key}": value for key, value in HELDOUT.items()})
    assert [run["settings"] for run in found(folder)] == [
        {"trainer.algorithm": "grpo"},
        {"trainer.algorithm": "dr_grpo"},
    ]


def test_the_reward_over_steps_is_drawn_for_runs_that_have_steps(runs, tmp_path):
    uri, picture = f"sqlite:///{runs}/mlflow.db", tmp_path / "compare.png"
    assert not curves(uri, found(runs, experiments=["beta0"]), picture)
    assert not picture.exists()
    assert curves(uri, found(runs), picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_store_that_is_not_there_is_said_in_one_sentence(tmp_path):
    command = [sys.executable, "-m", "experiments.compare", "--runs-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "is not there: run `uv run python -m experiments.run` first" in done.stderr
