"""The command that evaluates alone, as a user types it, and the table of what it found."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from experiments.compose import check
from experiments.config import ConfigError
from experiments.evaluation_figures import Evaluated, tables
from experiments.evaluations import before
from experiments.pipeline import Inputs
from experiments.report import heldout_rows, markdown
from experiments.stages import stages
from proverl.agent import Limits, ScriptedPolicy
from proverl.core import GroundTruth, Step, Task, TaskKind
from proverl.envs import load_server
from proverl.evals import evaluate, heldout
from proverl.evals.evaluation import ABOUT
from proverl.reward import RewardConfig

ROOT = Path(__file__).parents[2]


def run(*arguments):
    command = [sys.executable, "-m", "experiments.evaluate", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


def evaluated(folder, *overrides):
    """What the stages of these overrides find, run in this process."""
    config = check(["stages=[evals]", *overrides])[0]
    (stage,) = before(config)
    stage.work(Inputs(config, {}, lambda *told: None), folder)
    return Evaluated(folder).as_json()


def test_a_benchmark_alone_needs_no_synthesis_and_prints_its_table(tmp_path, with_store):
    runs = with_store(tmp_path)
    done = run("evals=[bfcl]", "evals.bfcl.tasks=8", "policy=oracle", f"runs_dir={runs}")
    assert done.returncode == 0, done.stderr
    assert [path.name.rpartition("-")[0] for path in (runs / "stages").iterdir() if path.is_dir()] == ["before-bfcl"]
    assert "bfcl (bfcl-eval" in done.stdout and "the oracle policy" in done.stdout
    figures = json.loads(Path(done.stdout.splitlines()[-1]).read_text())
    (found,) = figures["benchmarks"]
    (row,) = [row for row in found["figures"] if row["metric"] == "accuracy" and row["by"] == "all"]
    assert (row["before"], row["floor"], row["items"]) == (1.0, 0.0, 8)
    assert found["policy"]["kind"] == "oracle" and "bfcl-eval" in found["version"]


def test_an_endpoint_that_is_not_named_is_asked_for_before_anything_starts(tmp_path):
    done = run("evals=[bfcl]", "policy=endpoint", "policy.base_url=http://127.0.0.1:9/v1", f"runs_dir={tmp_path}")
    assert done.returncode == 2
    assert done.stderr == "policy.model is empty: say which, e.g. policy.model=NAME.\n"


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("evals=[bfcl,tau]", "evals has no option 'tau'; did you mean tau2?"),
        ("evals.heldout.taks=3", "evals.heldout.taks is no key of the config; did you mean evals.heldout.tasks?"),
        ("evals.bfcl.tasks=3", "evals.bfcl.tasks: bfcl is not chosen: add 'evals=[bfcl]', or 'evals=[heldout,bfcl]'."),
        ("policy.base_url=http://x", "policy.base_url: only an endpoint has that: add policy=endpoint."),
        ("+evals.heldout.taks=3", "evals.heldout.taks is no key of the config; did you mean tasks?"),
        ("+evals.mine.tasks=3", "evals has mine, which is no benchmark; there are bfcl, heldout, tau2, teval"),
        ("evals.heldout.trials=true", "evals.heldout.trials is true: it takes neither true nor false"),
        (
            "evals.heldout.trials=2",
            "evals.heldout.trials is 2 but policy.temperature is 0, so all trials would be equal",
        ),
        ("evals.holdout_servers=[nobody]", "evals.holdout_servers has nobody, which synth.servers has not."),
        ("policy=oracle", "policy is oracle but stages has grpo: what is trained is the model"),
        ("policy.temperature=-1", "policy.temperature is -1"),
    ],
)
def test_a_mistake_is_one_sentence(override, told):
    with pytest.raises(ConfigError) as error:
        check([override])
    assert told in str(error.value) and str(error.value).count("\n") == 0


def test_every_benchmark_is_a_stage_of_its_own_before_and_after():
    config = check(["evals=[heldout,bfcl]"])[0]
    names = [stage.output for stage in stages(config) if stage.name == "evals"]
    assert names == ["before-heldout", "before-bfcl", "after-heldout", "after-bfcl"]
    alone = check(["evals=[bfcl]", "policy=silent", "stages=[evals]"])[0]
    assert [stage.output for stage in stages(alone) if stage.name == "evals"] == ["before-bfcl"]


def test_a_difference_that_is_noise_says_so(tmp_path):
    settings = ("evals=[bfcl]", "evals.bfcl.tasks=8")
    first = evaluated(tmp_path / "one", *settings, "policy=oracle")
    evaluated(tmp_path / "two", *settings, "policy=silent")
    gap, same = (Evaluated(tmp_path / "one", tmp_path / other).as_json() for other in ("two", "one"))
    console = Console(record=True, width=180)
    for shown in tables([first, gap, same]):
        console.print(shown)
    text = console.export_text()
    alone, lost, equal = text.split("bfcl (bfcl-eval")[1:]
    assert "noise" not in alone and "1.000" in alone
    row = next(line for line in lost.splitlines() if line.startswith("│ accuracy "))
    assert "-1.000" in row and "noise" not in row
    assert "noise" in next(line for line in equal.splitlines() if line.startswith("│ accuracy "))


def test_the_figures_of_a_run_are_over_all_tasks_not_those_of_the_last_stratum(tmp_path):
    tasks = [task(number, "multi_turn") for number in range(3)] + [task(3, "abstention")]
    before = Path(tmp_path / "before")
    found = heldout(tasks, Limits(), RewardConfig())
    evaluate(found, ScriptedPolicy(("I can't.",)), before)  # right of the last kind alone
    (before / ABOUT).write_text(json.dumps({"benchmark": "heldout", "settings": found.as_config()}))
    rows = heldout_rows([Evaluated(before)])
    assert [row["metric"] for row in rows][:3] == ["total", "validity", "coverage"]
    (success,) = [row for row in rows if row["metric"] == "success"]
    assert (success["before"], success["episodes"]) == (0.25, 4)


def task(number, kind):
    tools = tuple(tool for tool in load_server("filesystem").tools if not tool.hidden)
    steps = (Step("list_directory", {"path": "/"}),) if kind == "multi_turn" else ()
    return Task(f"t{number}", TaskKind(kind), ("filesystem",), number, "", ("Look.",), tools, GroundTruth(steps))


def test_an_evaluation_of_nothing_asks_what_to_evaluate():
    done = run("evals=[]")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("evals names no benchmark: choose some")


def test_the_description_of_an_evaluation_alone_has_one_column():
    told = markdown({"heldout": [{"metric": "success", "before": 0.25}]})
    assert told.startswith("| held out | figure |\n|---|---|\n| task success | 0.250 |\n")
    assert "`episodes/before.html`" in told and "after" not in told
