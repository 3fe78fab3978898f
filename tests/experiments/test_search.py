"""The search for reward weights, over runs that take no time; their rollouts are kept as a trainer keeps them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from kept_rollouts import PROVE, called, episode, stage
from rich.console import Console

from experiments import search as searching
from experiments.compose import composed, read
from experiments.config import ConfigError, RunError
from experiments.progress import Screen
from experiments.search import kept_rollouts, search, settings_of
from experiments.sweep import _say_state, running, sweep_of
from proverl.core import GroundTruth, Step, Task, TaskKind
from proverl.envs import Session
from proverl.reward import RewardConfig, candidates
from proverl.trainer import rollouts
from proverl.trainer.rows import task_reader
from proverl.trainer.run_folder import STAGES_FILE

ROOT = Path(__file__).parents[2]
ONE = ("list_calendars", {})
SETTINGS = {"trials": 8, "proposals": 40, "margin": 0.0, "step": 0.05}
SETTINGS |= {"space": {"reward.efficiency": (0, 0.2), "reward.name": (0, 0.2)}}


@pytest.fixture(scope="module")
def tools():
    with Session(["calendar"], 0) as session:
        return session.tools


def train(runs, name, tools):
    """A job whose training kept three rollouts of two prompts: one did its task, one called too much, one nothing."""
    tasks = [
        Task(
            f"task-{n}",
            TaskKind.MULTI_TURN,
            ("calendar",),
            n,
            "Be brief.",
            ("Mine?",),
            tools,
            GroundTruth((Step(*ONE),)),
        )
        for n in range(2)
    ]
    paths = stage(runs / "stages" / f"grpo-{name}", tasks)
    for step, group in ((1, 0), (2, 1)):
        task = task_reader(paths.rows)(group)
        made = [episode(task, calls) for calls in (called(ONE), called(ONE, ONE, ONE), [])]
        numbers = []
        for number, one in enumerate(made):
            parts = PROVE.score(one.calls, task.ground_truth, candidates(task.tools, tools), replied=True).as_dict()
            numbers.append({f"reward/{key}": value for key, value in parts.items()} | {"episode/success": number == 0})
        packed = [rollouts.packed(task, group, number, one) for number, one in enumerate(made)]
        rollouts.write(paths.rollouts, step, packed, [{k: float(v) for k, v in one.items()} for one in numbers])
    job = runs / "jobs" / name
    job.mkdir(parents=True)
    (job / STAGES_FILE).write_text(json.dumps({"grpo": f"../../stages/grpo-{name}"}))
    return job


def test_a_reward_is_asked_how_often_it_ranks_a_rollout_that_did_its_task_higher(tmp_path, tools):
    kept = kept_rollouts(train(tmp_path, "first", tools), tmp_path)
    assert kept.own == 1  # one call, then a call too many, then none
    assert kept.agreement(RewardConfig(efficiency=0)) == 0.75  # one of two pairs of each prompt is a tie
    assert kept.agreement(RewardConfig(0, 0, 0, 0, 0)) == 0.5


def test_rollouts_that_are_not_there_are_said(tmp_path):
    with pytest.raises(RunError, match="no job's folder"):
        kept_rollouts(tmp_path / "nothing", tmp_path)


class Runs:
    """Trains in no time: success is what the weights say; it can be killed, or fail."""

    def __init__(self, runs, tools, killed_at=None, fails=()):
        self.runs, self.tools, self.killed_at, self.fails, self.calls = runs, tools, killed_at, fails, []

    def __call__(self, overrides, number):
        self.calls.append(tuple(overrides))
        if len(self.calls) == self.killed_at:
            raise KeyboardInterrupt
        job = self.runs / "jobs" / f"job-{number}"
        running().add(job, overrides)
        if not number and not job.exists():
            train(self.runs, job.name, self.tools)
        job.mkdir(exist_ok=True, parents=True)
        after = composed(overrides).reward.name
        row = {"metric": "success", "after": after, "difference": after, "low": after - 0.1, "high": after + 0.1}
        (job / "figures.json").write_text(json.dumps({"heldout": [row]}))
        state = "failed" if len(self.calls) in self.fails else "finished"
        _say_state(job, state)
        return job


def run_search(runs, tools, seed=0, killed_at=None, fails=()):
    typed = [f"runs_dir={runs}", f"seed={seed}"]
    sweep = sweep_of(
        read(["-m", "experiment=reward_search", *typed]), ["run.py", "-m", "experiment=reward_search", *typed]
    )
    run = Runs(runs, tools, killed_at, fails)
    screen = Screen(Console(record=True, width=200))
    try:
        with sweep.recorded(screen):
            search(SETTINGS, ["experiment=reward_search", *typed], composed, run)
    except KeyboardInterrupt:
        assert killed_at
    return run.calls, sweep, screen


@pytest.fixture(scope="module")
def searched(tmp_path_factory, with_store, tools):
    runs = with_store(tmp_path_factory.mktemp("runs"))
    return run_search(runs, tools)


def test_only_what_ranks_as_well_as_the_first_is_trained_and_the_best_is_named(searched):
    calls, sweep, screen = searched
    assert len(set(calls)) == 8 and all("reward.efficiency=0" not in call for call in calls)
    assert calls[0][-2:] == ("reward.efficiency=0.15", "reward.name=0.2")  # the command's own
    said = screen.console.export_text(clear=False)
    assert "is not trained: it ranks 0.7500 of the first run's pairs right, less than 1.0000." in said
    assert "The best of several is also the luckiest." in said
    found = json.loads((sweep.folder / "search.json").read_text())["trained"]
    rates = [row["success"]["after"] for row in found]
    assert rates == sorted(rates, reverse=True) and len(rates) == 8
    name = found[0]["weights"]["reward.name"]
    assert re.search(
        rf"experiments.run -m runs_dir=\S+ reward.efficiency=\S+ reward.name={name:g} seed=1,2,3$", said, re.M
    )
    assert set(sweep.jobs) == {f"job-{row['proposal']}" for row in found}


def test_the_same_seed_proposes_the_same_also_after_a_kill(searched, tmp_path, with_store, tools):
    expected = [call[-2:] for call in searched[0]]
    runs = with_store(tmp_path)
    before, _, _ = run_search(runs, tools, killed_at=3)
    after, _, _ = run_search(runs, tools)
    assert [call[-2:] for call in before] == expected[:3]
    assert [call[-2:] for call in after] == expected[2:]
    again, sweep, _ = run_search(runs, tools)
    assert again == [] and len(sweep.jobs) == 8  # all is there


def test_a_run_that_fails_is_passed_over_but_not_the_first(tmp_path, with_store, tools):
    runs = with_store(tmp_path)
    calls, sweep, screen = run_search(runs, tools, fails=[1])
    assert len(calls) == 1 and not sweep.conclude(screen)
    assert "can't go on without its first run" in screen.console.export_text()
    calls, sweep, screen = run_search(runs, tools, fails=[3])
    assert len(calls) == 9  # the first again
    assert len(json.loads((sweep.folder / "search.json").read_text())["trained"]) == 8
    assert not sweep.conclude(screen)  # says which one failed


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"trials": 0}, "hydra.sweeper: trials is 0; it is at least 1."),
        ({"margin": 2}, "hydra.sweeper: margin is 2.0; it is between 0 and 1."),
        ({"space": {"trainer.steps": (1, 2)}}, "only the reward is searched"),
        ({"space": {"reward.arg": (1, 0)}}, "the lowest value comes first"),
        ({"trails": 3}, "hydra.sweeper.trails: "),
    ],
)
def test_settings_are_checked(change, told):
    with pytest.raises(ConfigError) as caught:
        settings_of(SETTINGS | change)
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_what_the_command_sets_is_not_searched():
    command = read(["-m", "experiment=reward_search", "reward.arg=0.3"])
    assert (command.sweep, command.searches) == ("reward_search", True)
    assert "reward.arg" not in command.swept and "reward.name" in command.swept
    assert {job.config.reward.arg for job in command.jobs} == {0.3}
    assert all(read(job.overrides).jobs[0].config == job.config for job in command.jobs)  # each can be typed alone
    assert searching.free(settings_of(SETTINGS), ["reward.name=0.2"]) == {"reward.efficiency": (0, 0.2)}


@pytest.mark.parametrize(
    "arguments",
    [
        ["experiment=reward_search"],
        ["-m", "experiment=reward_search,beta0"],
        ["-m", "experiment=reward_search", "seed=0,1"],
        ["-m", "experiment=reward_search", "stages=[synth,grpo]"],
        ["-m", "experiment=reward_search", "evals=[bfcl]"],
    ],
)
def test_a_search_is_one_sweep_and_needs_m(arguments):
    with pytest.raises(ConfigError, match="search"):
        read(arguments)


def test_the_command_searches_and_ends_when_its_first_run_fails(tmp_path, with_store):
    runs = with_store(tmp_path)
    command = [sys.executable, "-m", "experiments.run", "-m", "experiment=reward_search", "model=granite"]
    done = subprocess.run([*command, f"runs_dir={runs}"], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 2, done.stderr
    assert "The search can't go on without its first run.\n" in done.stdout
    assert "0 of 1 jobs finished.\n" in done.stdout
    (alone,) = re.findall(r"again, alone: uv run python -m experiments.run (.*)", done.stdout)
    assert alone.startswith("experiment=reward_search model=granite") and "reward.validity=0.5" in alone
    assert "model granite runs on GPUs and profile cpu has none" in done.stdout
