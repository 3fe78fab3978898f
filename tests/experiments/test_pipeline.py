from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from experiments import cache
from experiments.cache import StageCache
from experiments.compose import check
from experiments.config import ConfigError
from experiments.cost import duration
from experiments.pipeline import compute, dependencies, entries, flat, job_key, lacking, server_packages
from experiments.plan import plan, sweep_plan
from experiments.progress import Screen
from experiments.stages import stages
from proverl.reward import OwnReward


def config(*overrides):
    return check(list(overrides))[0]


def keys(*overrides):
    return {
        name: entry.key
        for name, entry in entries(config(*overrides), stages(config(*overrides)), StageCache(Path("unused"))).items()
    }


def changed(*overrides):
    before, after = keys(), keys(*overrides)
    return {name for name in before if before[name] != after[name]}


def test_only_what_an_output_depends_on_changes_its_key():
    everything = {"synth", "before-heldout", "probe", "sft", "grpo", "after-heldout"}
    assert changed("seed=1") == everything | {"warmstart"}
    assert changed("synth.train_tasks=9") == everything
    assert changed("envs.limits.calls=5") == everything
    assert changed("reward.beta=0") == {"before-heldout", "probe", "grpo", "after-heldout"}
    assert changed("model=qwen3_4b") == {"before-heldout", "probe", "sft", "grpo", "after-heldout"}
    assert changed("sft.epochs=1") == {"sft"}
    assert changed("evals.heldout.tasks=5") == {"before-heldout", "after-heldout"}
    assert changed("trainer.learning_rate=1e-3") == {"grpo", "after-heldout"}
    assert changed("tracking.uri=http://localhost:1") == set()
    assert changed("plan=true") == set()
    assert changed("runs_dir=elsewhere") == set()


def test_a_reward_of_ones_own_is_part_of_the_key_with_its_settings_and_its_code(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    code = "from proverl.reward import RewardConfig\nclass A(RewardConfig): pass\nclass B(RewardConfig): pass\n"

    def key(name, **settings):
        own = replace(config(), reward=OwnReward(name, settings))
        return entries(own, stages(config()), StageCache(Path("unused")))["grpo"].key

    for module in ("reward_one", "reward_two"):
        (tmp_path / f"{module}.py").write_text(code + f"# {module}\n")
    found = [key("reward_one.A"), key("reward_one.A", beta=0), key("reward_one.B"), key("reward_two.A")]
    assert len({*found, keys()["grpo"]}) == 5
    assert key("reward_one.A") == found[0]


@pytest.fixture
def screen():
    return Screen(Console(record=True, force_terminal=False, width=160))


def fake(calls, *overrides, **changes):
    """The real stages with work that only notes its call."""

    def noting(stage):
        def work(inputs, folder):
            calls.append((stage.output, sorted(inputs.outputs)))
            (folder / "out").write_text(stage.output)

        return replace(stage, work=work, needs=lambda config: [], **changes)

    return [noting(stage) for stage in stages(config(*overrides))]


def test_stages_run_in_order_and_read_what_they_name(tmp_path, screen):
    calls = []
    found = compute(config(), fake(calls), StageCache(tmp_path), screen)
    assert calls == [
        ("synth", []),
        ("before-heldout", ["synth"]),
        ("grpo", ["synth"]),
        ("after-heldout", ["grpo", "synth"]),
    ]
    assert list(found) == ["synth", "before-heldout", "grpo", "after-heldout"]


def test_fine_tuning_takes_the_place_of_grpo_or_comes_before_it(tmp_path, screen):
    calls = []
    compute(config("experiment=sft"), fake(calls), StageCache(tmp_path), screen)
    assert calls == [
        ("synth", []),
        ("before-heldout", ["synth"]),
        ("sft", ["synth"]),
        ("after-heldout", ["sft", "synth"]),
    ]
    calls.clear()
    compute(config("experiment=sft_then_grpo"), fake(calls), StageCache(tmp_path), screen)
    assert calls == [("grpo", ["sft", "synth"]), ("after-heldout", ["grpo", "synth"])]  # the rest is cached
    found = compute(config("experiment=sft"), fake(calls), StageCache(tmp_path), screen)
    assert list(found) == ["synth", "before-heldout", "sft", "after-heldout"]  # not the GRPO that went on from it
    assert list(compute(config("stages=[synth]"), fake(calls), StageCache(tmp_path), screen)) == ["synth"]
    calls.clear()
    compute(config("experiment=sft_then_grpo", "sft.epochs=1"), fake(calls), StageCache(tmp_path), screen)
    assert [name for name, _ in calls] == ["sft", "grpo", "after-heldout"]


def test_the_plan_of_fine_tuning_shows_its_time(tmp_path, screen):
    sft = next(stage for stage in stages(config()) if stage.output == "sft")
    short, long = (sft.predicted(config(f"sft.epochs={count}"))["seconds"] for count in (1, 3))
    assert short < long
    screen.console.print(plan(config("experiment=sft"), stages(config()), StageCache(tmp_path)))
    assert "sft-" in screen.console.export_text()


def test_a_sweep_over_the_reward_synthesises_once(tmp_path, screen):
    calls = []
    fakes = fake(calls)
    for job in check(["-m", "reward.beta=0,0.5", "seed=0,1"]):
        compute(job, fakes, StageCache(tmp_path), screen)
    outputs = [name for name, _ in calls]
    assert (outputs.count("synth"), outputs.count("grpo")) == (2, 4)  # once a seed; once a job
    assert "cached in" in screen.console.export_text()


def test_a_stage_whose_input_is_neither_asked_for_nor_cached_says_what_to_add(tmp_path, screen):
    fakes = fake([])
    with pytest.raises(ConfigError, match="stages has grpo but not synth.*add synth to stages"):
        compute(config("stages=[grpo]"), fakes, StageCache(tmp_path), screen)
    compute(config("stages=[synth]"), fakes, StageCache(tmp_path), screen)
    assert "grpo" in compute(config("stages=[grpo]"), fakes, StageCache(tmp_path), screen)


def test_evals_without_training_evaluate_what_there_is(tmp_path, screen):
    found = compute(config("stages=[synth,evals]"), fake([]), StageCache(tmp_path), screen)
    assert list(found) == ["synth", "before-heldout"]


def test_the_plan_shows_state_and_cost(tmp_path, screen):
    cache = StageCache(tmp_path)
    compute(config("stages=[synth]"), fake([]), cache, screen)
    (entries(config(), stages(config()), cache)["grpo"].partial).mkdir()
    screen.console.print(plan(config("experiment=default", "trainer.steps=600"), stages(config()), cache))
    screen.console.print(plan(config(), stages(config()), cache))
    text = screen.console.export_text()
    assert "cached" in text
    assert "to compute" in text
    assert "goes on" in text
    assert "$" in text


def test_the_plan_of_a_sweep_counts_what_jobs_share_once(tmp_path, screen):
    jobs = [(name, config(*overrides), stages(config())) for name, overrides in SHARING.items()]
    screen.console.print(sweep_plan(jobs, StageCache(tmp_path)))
    lines = [line.split("│") for line in screen.console.export_text().splitlines() if line.startswith("│")]
    times = {line[1].strip(): line[2].strip() for line in lines}
    hours = {stage.output: stage.predicted(config())["seconds"] / 3600 for stage in stages(config())}
    first = sum(hours[name] for name in ("synth", "before-heldout", "grpo", "after-heldout"))
    second = first - hours["synth"]  # the model before training is measured anew, by another reward
    wanted = (first, second, first + second)
    assert times == dict(zip([*SHARING, "all"], map(duration, wanted), strict=True))


SHARING = {"experiment=default": [], "experiment=[default,no_arg]": ["reward.arg=0"]}


def test_a_plan_predicts_nothing_for_a_model_that_the_profile_has_no_gpu_for(tmp_path, screen):
    wanted = config("model=granite", "stages=[synth,grpo]")
    screen.console.print(plan(wanted, stages(wanted), StageCache(tmp_path)))
    lines = screen.console.export_text().splitlines()
    assert [("not here" in line) for line in lines if line.startswith(("│ synth ", "│ grpo"))][:2] == [False, True]


def test_what_is_lacking_is_said_once_and_only_for_what_is_not_cached(tmp_path, screen):
    cache = StageCache(tmp_path)
    needy = [replace(stage, needs=lambda config: ["a GPU is needed."]) for stage in stages(config())]
    assert lacking(config(), needy, cache) == ["a GPU is needed."]
    assert lacking(config("stages=[]"), needy, cache) == []
    compute(config(), fake([]), cache, screen)
    assert lacking(config(), needy, cache) == []


def test_a_stage_on_somebodys_own_server_depends_on_its_code(tmp_path, monkeypatch):
    def key(text):
        (tmp_path / "own_server.py").write_text(text)
        cache._package_digest.cache_clear()
        synth = next(stage for stage in stages(config()) if stage.output == "synth")
        return dependencies(config(), synth, {})["code"]

    before = key("a = 1")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("experiments.pipeline.server_module", lambda name: "own_server")
    assert len({before, key("a = 1"), key("a = 2")}) == 3
    assert server_packages(["anything"]) == {"own_server"}


def test_the_users_own_tasks_are_part_of_the_key(tmp_path):
    synth = next(stage for stage in stages(config()) if stage.output == "synth")
    mine = tmp_path / "mine.jsonl"
    mine.write_text("one")
    before, again = (dependencies(config(f"synth.own_tasks={mine}"), synth, {}) for _ in range(2))
    mine.write_text("two")
    after = dependencies(config(f"synth.own_tasks={mine}"), synth, {})
    assert before == again and before["files"] != after["files"]
    assert dependencies(config(), synth, {})["files"] == {}


def test_a_job_is_named_by_everything_that_decides_its_result():
    def named(*overrides):
        values = flat(config(*overrides))
        return job_key(values)

    assert named() == named("plan=true")
    assert len({named(), named("seed=1"), named("reward.beta=0"), named("tracking.episodes=3")}) == 4


def test_the_flat_config_holds_every_value():
    values = flat(config())
    assert values["reward.beta"] == 0.5
    assert values["envs.limits.calls"] == config().envs.limits.calls
    assert values["synth.servers"] == ["banking", "calendar", "filesystem"]
