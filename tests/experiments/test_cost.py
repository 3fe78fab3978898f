import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from experiments.cache import MANIFEST, StageCache
from experiments.compose import check
from experiments.cost import Cost, conclusion, costs, machine_cost, stage_cost, table, total
from experiments.pipeline import compute, entries
from experiments.plan import Past, error_of, plan, predicted
from experiments.progress import Screen
from experiments.stages import stages
from proverl.evals.evaluation import ABOUT
from proverl.evals.record import Record, append_line, as_line

ROOT = Path(__file__).parents[2]
_WORKER = """
import sys, time
from pathlib import Path
from experiments.cache import StageCache

cache = StageCache(Path(sys.argv[1]))
cache.compute(cache.entry("s", 1), lambda folder: time.sleep(600), resumes=True)
"""


def config(*overrides):
    return check(list(overrides))[0]


@pytest.fixture
def entry(tmp_path):
    return StageCache(tmp_path).entry("s", 1)


def finish(entry, work=lambda folder: None, **about):
    StageCache(entry.directory.parent).compute(entry, work, about=about, resumes=True)
    return entry


def wait_for(path, condition):
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if path.exists() and condition(found := json.loads(path.read_text())):
            return found
        time.sleep(0.05)
    raise AssertionError(f"{path} did not come to hold what was waited for")


def test_seconds_of_a_killed_try_count(tmp_path, entry):
    process = subprocess.Popen([sys.executable, "-c", _WORKER, str(tmp_path)], cwd=ROOT)
    first = wait_for(entry.partial / "TRIES.json", lambda found: found["seconds"] > 1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    manifest = finish(entry).manifest()
    assert manifest["seconds"] >= first["seconds"] and manifest["tries"] == 2
    assert manifest["files"] == {} and [file.name for file in entry.directory.iterdir()] == [MANIFEST]


def test_seconds_of_a_failed_try_count_though_its_files_are_thrown_away(tmp_path, entry):
    def fail(folder):
        (folder / "half").touch()
        raise RuntimeError

    cache = StageCache(tmp_path)
    with pytest.raises(RuntimeError):
        cache.compute(entry, fail)
    cache.compute(entry, lambda folder: None)
    assert entry.manifest()["tries"] == 2 and entry.manifest()["files"] == {}


def test_the_peak_is_that_of_the_process_and_all_that_it_started(entry):
    size = 300 * 2**20

    def work(folder):
        code = f"block = bytearray({size}); input()"
        with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, text=True) as child:
            wait_for(folder / "TRIES.json", lambda found: found["peak_memory"] > size)
            child.communicate("\n")

    assert stage_cost(finish(entry, work), config().profile).peak_memory_gib > 0.3


def test_what_a_stage_left_no_trace_of_is_not_zero(entry):
    entry.directory.mkdir(parents=True)
    (entry.directory / MANIFEST).write_text(json.dumps({"stage": "s", "key": "k", "seconds": 36.0, "files": {}}))
    found = stage_cost(entry, config().profile).known()  # made before peaks were kept
    assert found == {"hours": 0.01, "device_hours": 0.01, "energy_kwh": pytest.approx(0.0003), "dollars": 0.001}
    assert total([Cost(tool_calls=2), Cost(peak_memory_gib=1), Cost(peak_memory_gib=3)]) == Cost(
        tool_calls=2, peak_memory_gib=3
    )
    console = Console(record=True, width=100)
    console.print(table("Cost", {"s": Cost(hours=1.0)}))
    assert "GiB" not in console.export_text()


def test_devices_are_all_gpus_of_all_nodes_and_rates_those_of_the_profile_that_computed(entry):
    cluster = config("model=qwen3_4b", "profile=cluster").profile
    found = machine_cost(3600, cluster)
    assert (found.device_hours, found.energy_kwh, found.dollars) == (16, 20.4, 48)
    rates = {"nodes": 1, "gpus_per_node": 0, "watts": 7_200_000, "price_per_hour": 3600}
    made = finish(entry, profile=rates)
    seconds = made.manifest()["seconds"]
    assert stage_cost(made, cluster).dollars == pytest.approx(seconds)
    assert stage_cost(made, cluster).energy_kwh == pytest.approx(2 * seconds)


def evaluation(policy):
    def work(folder):
        (folder / ABOUT).write_text(json.dumps({"policy": policy}))
        for number in range(3):
            one = Record(f"t{number}", number, {}, 0, 0, None, {}, {}, calls=2, prompt_tokens=100, completion_tokens=10)
            append_line(as_line(one), folder)

    return work


def test_an_evaluation_costs_the_tokens_and_calls_of_its_records(entry):
    found = stage_cost(finish(entry, evaluation({"kind": "model"})), config().profile)
    assert (found.generated_tokens, found.tool_calls, found.endpoint_dollars) == (30, 6, None)


def test_tokens_of_an_endpoint_are_its_own_and_have_its_price(entry):
    prices = {"dollars_per_million_prompt": 1000, "dollars_per_million_completion": 10_000}
    found = stage_cost(finish(entry, evaluation({"kind": "endpoint", **prices})), config().profile)
    assert (found.generated_tokens, found.endpoint_prompt_tokens, found.endpoint_completion_tokens) == (None, 300, 30)
    assert found.endpoint_dollars == pytest.approx(0.6)


def test_training_costs_what_its_steps_say_and_generates_what_its_rollouts_hold(entry):
    def work(folder):
        (folder / "rollouts").mkdir()
        step = {"episode/count": 4, "episode/calls": 2.5, "episode/prompt_tokens": 100, "episode/response_tokens": 50}
        (folder / "metrics.jsonl").write_text("".join(json.dumps({"step": n, **step}) + "\n" for n in (1, 2, 2)))
        for n in (1, 2):
            pq.write_table(pa.table({"sampled_tokens": [7, 8]}), folder / "rollouts" / f"step-0000{n}.parquet")

    found = stage_cost(finish(entry, work), config().profile)
    assert (found.generated_tokens, found.trained_tokens, found.tool_calls) == (30, 1200, 20)


@pytest.mark.parametrize(
    ("file", "rows", "name", "value"),
    [
        ("metrics.jsonl", [{"step": 1, "sft/tokens": 5}, {"step": 2, "sft/tokens": 6}], "trained_tokens", 11),
        ("progress.jsonl", [{"step": 1, "tokens": 50}, {"step": 2, "tokens": 90}], "trained_tokens", 90),
        ("spent.json", [{"prompt_tokens": 5, "completion_tokens": 6, "dollars": 0.5}], "endpoint_dollars", 0.5),
    ],
)
def test_other_stages_cost_what_their_files_say(entry, file, rows, name, value):
    def work(folder):
        (folder / file).write_text("".join(json.dumps(row) + "\n" for row in rows))

    assert getattr(stage_cost(finish(entry, work), config().profile), name) == value


def jobs_of(tmp_path, *names):
    """The outputs of two cheap stages, made by jobs of these names."""
    fakes = [replace(stage, work=lambda inputs, folder: None, needs=lambda config: []) for stage in stages(config())]
    for job, asked in zip(names, ("stages=[synth]", "stages=[synth,grpo]"), strict=True):
        found = compute(config(asked), fakes, StageCache(tmp_path), Screen(Console(quiet=True)), job=job)
    return found


def test_a_run_tells_its_own_cost_and_that_of_what_it_took_from_the_cache(tmp_path):
    found = costs(jobs_of(tmp_path, "first", "second"), config().profile, "second")
    assert found["all"]["hours"] == found["stages"]["synth"]["hours"] + found["own"]["hours"]
    assert found["own"]["hours"] == found["stages"]["grpo"]["hours"]
    assert [found["stages"][name]["own"] for name in ("synth", "grpo")] == [False, True]
    console = Console(record=True, width=100)
    console.print(conclusion(found))
    text = console.export_text()
    assert "synth (cached)" in text and "this run" in text and "estimates" in text


def shown(tmp_path, *overrides):
    console = Console(record=True, width=100)
    console.print(plan(config(*overrides), stages(config(*overrides)), StageCache(tmp_path)))
    return console.export_text()


def test_a_plan_tells_how_right_past_predictions_were(tmp_path):
    assert "no past prediction for profile cpu" in shown(tmp_path, "stages=[synth]")
    jobs_of(tmp_path, "one", "one")
    assert "past predictions here were" not in shown(tmp_path)  # all is cached
    told = " ".join(shown(tmp_path, "seed=1").split())
    assert "synth: predicted 26 s; past predictions here were" in told and "times the time it took (n=1)" in told
    ratios = [Past("grpo", "cpu", {}, 1, seconds, 100.0, Cost()) for seconds in (80.0, 130.0)]
    others = [Past("grpo", "h100x8", {}, 1, 1.0, 100.0, Cost()), Past("sft", "cpu", {}, 1, 1.0, 100.0, Cost())]
    told = error_of(config(), "grpo", 0.09, [*ratios, *others])
    assert told == "grpo: predicted 5.4 min; past predictions here were 0.8 to 1.3 times the time it took (n=2)."


def test_a_plan_takes_tokens_from_finished_stages_like_it_else_from_the_limits():
    wanted = config("trainer.steps=10", "trainer.prompts=2", "trainer.rollouts=4")
    (grpo,) = [stage for stage in stages(wanted) if stage.output == "grpo"]
    depends = {"model": {"name": "tiny"}, "envs": {}}
    reckoned = predicted(wanted, grpo, depends, [])
    assert reckoned.generated_tokens == 80 * 0.25 * wanted.envs.limits.response_tokens
    assert (reckoned.tool_calls, reckoned.peak_memory_gib) == (None, None)
    assert reckoned.hours == grpo.predicted(wanted)["seconds"] / 3600
    past = Past("grpo", "cpu", depends, 40, 1.0, 1.0, Cost(generated_tokens=400, tool_calls=80, peak_memory_gib=2))
    other = replace(past, config={"model": {"name": "other"}, "envs": {}}, cost=Cost(generated_tokens=1e9))
    like = predicted(wanted, grpo, depends, [past, other])
    assert (like.generated_tokens, like.tool_calls, like.peak_memory_gib) == (800, 160, 2)


def test_what_a_stage_depends_on_does_not_change_with_rates():
    dear = config("profile.watts=1", "profile.price_per_hour=99")
    cache = StageCache(Path("unused"))
    assert entries(dear, stages(dear), cache) == entries(config(), stages(config()), cache)
