import re
from itertools import product

import pytest
from omegaconf import OmegaConf

from experiments.compose import check, composed, read
from experiments.config import Config, ConfigError, keys_of, typed
from experiments.options import CONF, groups
from proverl.reward import OwnReward

OVERLAYS = groups()["experiment"]
MODELS = groups()["model"]
PROFILES = groups()["profile"]


def told(*arguments):
    with pytest.raises(ConfigError) as caught:
        check(arguments)
    return str(caught.value)


SWEEPS = ["ablation", "lr_sweep", "reward_search"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_overlay_composes_with_every_model_and_profile_and_without_slack(overlay):
    for model, profile in product(MODELS, PROFILES):
        overrides = [f"experiment={overlay}", f"model={model}", f"profile={profile}", "reward.beta=0"]
        jobs = check(["-m", *overrides, "seed=0"] if overlay in SWEEPS else overrides)
        assert {(job.model.name, job.profile.name, job.reward.beta) for job in jobs} == {(model, profile, 0)}
        assert {job.experiment for job in jobs} == (set(ABLATION) if overlay == "ablation" else {overlay})


ABLATION = ["default", "no_validity", "no_coverage", "no_efficiency", "no_name", "no_arg", "beta0", "sft"]


def test_the_papers_ablation_is_one_overlay_with_three_seeds():
    command = read(["-m", "experiment=ablation"])
    assert [(job.config.experiment, job.config.seed) for job in command.jobs] == list(product(ABLATION, (0, 1, 2)))
    assert (command.sweep, command.swept) == ("ablation", ("experiment", "seed"))
    assert {job.composed.trainer.steps for job in command.jobs} == {25}


def test_a_sweep_stands_on_other_overlays():
    jobs = check(["-m", "experiment=[main,ablation]", "seed=7"])
    assert [job.experiment for job in jobs] == ["main", *ABLATION[1:]]
    assert {(job.trainer.steps, job.model.name, job.seed) for job in jobs} == {(350, "qwen3_4b", 7)}
    assert {job.stages for job in jobs if job.experiment == "sft"} == {("synth", "sft", "evals", "report")}


def test_what_the_command_sets_wins_over_the_sweep():
    assert [job.seed for job in check(["-m", "experiment=ablation", "seed=0"])] == [0] * 8
    rates = [job.model.learning_rate for job in check(["-m", "experiment=lr_sweep", "model.learning_rate=1e-3,1e-4"])]
    assert rates == [1e-3, 1e-4]
    assert check(["experiment=lr_sweep", "model.learning_rate=1e-3"])[0].trainer.learning_rate == 1e-3


def test_the_learning_rates_are_the_papers():
    for overlay in ("lr_sweep", "[main,lr_sweep]"):
        jobs = check(["-m", f"experiment={overlay}", "model=qwen3_8b"])
        assert [job.trainer.learning_rate for job in jobs] == [1e-6, 3e-7, 5e-8]


def test_a_job_of_a_sweep_is_the_one_that_its_overrides_choose_alone():
    for job in read(["-m", "experiment=[main,ablation]", "seed=0,1", "model=granite"]).jobs:
        assert check(job.overrides) == [job.config]


@pytest.mark.parametrize(
    "arguments", [["experiment=ablation"], ["-m", "experiment=lr_sweep,beta0"], ["-m", "experiment=beta0,ablation"]]
)
def test_a_sweep_without_m_or_inside_another_is_refused(arguments):
    assert re.fullmatch(r"experiment=\w+ is a sweep of [\w., ]+: add -m to the command, and .*", told(*arguments))


def test_a_mistake_in_one_job_of_an_overlays_sweep_is_said():
    assert told("-m", "experiment=ablation", "seed=0,x").startswith("seed is 'x'")
    assert "reward.betta is no key" in told("-m", "experiment=ablation", "reward.betta=1")


def test_the_smaller_teacher_is_an_overlay():
    (config,) = check(["experiment=[main,teacher_qwen3_32b]"])
    assert (config.teacher.name, config.trainer.steps, config.experiment) == ("qwen3_32b", 350, "teacher_qwen3_32b")


@pytest.mark.parametrize("group", [name for name in groups() if name != "experiment"])
def test_every_option_of_every_group_is_typed(group):
    for option in groups()[group]:
        assert check([f"{group}={option}", "stages=[evals]"])  # not every policy is one to train


def test_the_files_spell_out_every_key_so_that_each_can_be_overridden():
    written, known = set(), set(keys_of(Config))
    everything = ["evals=[heldout,bfcl,tau2,teval]", "policy=endpoint"]
    values = OmegaConf.to_container(composed(everything), resolve=True)

    def walk(value, name):
        if isinstance(value, dict) and value and name not in known:
            for key, item in value.items():
                walk(item, f"{name}.{key}" if name else key)
        else:
            written.add(name)

    walk(values, "")
    assert written == known


@pytest.mark.parametrize(
    ("model", "rate"), [("qwen3_4b", 1e-6), ("qwen3_8b", 5e-8), ("qwen2_5_7b", 3e-7), ("granite", 3e-7)]
)
def test_models_bring_the_papers_learning_rates_into_every_overlay(model, rate):
    for overlay in ("default", "main", "beta0"):
        assert check([f"model={model}", f"experiment={overlay}"])[0].trainer.learning_rate == rate


def test_main_has_the_papers_settings():
    (config,) = check(["experiment=main"])
    assert (config.trainer.steps, config.trainer.prompts, config.trainer.rollouts) == (350, 16, 16)
    assert (config.envs.limits.prompt_tokens, config.envs.limits.response_tokens) == (12384, 16384)
    assert (config.envs.limits.user_turns, config.envs.limits.assistant_turns) == (5, 10)
    assert config.synth.train_tasks == 13517


@pytest.mark.parametrize("part", ["validity", "coverage", "efficiency", "name", "arg"])
def test_a_component_ablation_changes_that_weight_and_nothing_else(part):
    (full,), (without,) = check([]), check([f"experiment=no_{part}"])
    assert getattr(without.reward, part) == 0
    assert {key for key in vars(full) if getattr(full, key) != getattr(without, key)} == {"experiment", "reward"}


def test_the_papers_teachers_are_asked_where_the_environment_says(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.example/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "a-very-secret-key")
    for name, model in (("gemma_4_31b", "google/gemma-4-31B-it"), ("qwen3_32b", "Qwen/Qwen3-32B")):
        (config,) = check([f"teacher={name}", "teacher.options.top_k=7"])
        assert (config.teacher.name, config.teacher.model) == (name, model)
        assert config.teacher.base_url == "https://models.example/v1"
        assert config.teacher.options == {"top_k": 7, "chat_template_kwargs": {"enable_thinking": False}}
        assert "secret" not in repr(config)
    assert check([])[0].teacher.scripted
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    assert "teacher.base_url is ''; write http://HOST:PORT/v1, or set OPENAI_BASE_URL." in told("teacher=qwen3_32b")


def test_overlays_can_be_stacked():
    (config,) = check(["experiment=[main,no_arg]"])
    assert (config.trainer.steps, config.reward.arg) == (350, 0)


def test_values_on_the_command_line_win_over_an_overlay():
    assert check(["experiment=beta0", "reward.beta=0.25"])[0].reward.beta == 0.25


def test_a_sweep_is_checked_whole():
    jobs = check(["-m", "reward.beta=0,0.5", "seed=0,1"])
    assert [(job.reward.beta, job.seed) for job in jobs] == [(0, 0), (0, 1), (0.5, 0), (0.5, 1)]
    assert "reward.beta is -1" in told("-m", "reward.beta=0,-1")
    assert [job.seed for job in check(["reward.beta=0", "-m", "seed=0,1"])] == [0, 1]
    assert told("-m", "seed=0,1,0") == "Two jobs of the sweep are the same: seed=0."
    assert told("-m", "reward.beta=0.5,0.50", "seed=1") == "Two jobs of the sweep are the same: reward.beta=0.5 seed=1."


@pytest.mark.parametrize("key", ["trainer.steps", "sft.learning_rate", "seed", "model.path"])
def test_true_is_no_number_and_no_text(key):
    with pytest.raises(ConfigError, match=rf"{key} is true: it takes neither true nor false"):
        check([f"{key}=true"])


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("runs_dir=''", "runs_dir is empty"),
        ("tracking.uri=''", "tracking.uri is empty"),
        ("tracking.rollouts=-1", "tracking.rollouts is -1; it is at least 0"),
        ("envs.limits.call_seconds=1e300", "limits.call_seconds is 1e.300; it must be at most 1000000"),
    ],
)
def test_what_would_fail_late_is_refused_at_once(override, told):
    with pytest.raises(ConfigError, match=told):
        check([override])


@pytest.mark.parametrize("flag", ["--help", "--cfg=job", "--info=defaults"])
def test_hydras_own_questions_are_left_to_hydra(flag):
    assert check([flag]) == []


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["reward.betta=0"], ["reward.betta is no key", "did you mean reward.beta?"]),
        (["beta=0"], ["beta is no key", "did you mean reward.beta?"]),
        (["+reward.gamma=1"], ["reward.gamma is no key", "validity, coverage"]),
        (["trainer.lr=1"], ["trainer.lr is no key", "learning_rate"]),
        (["modle=tiny"], ["modle is no key", "did you mean model?"]),
        (["model=qwen4"], ["model has no option 'qwen4'", "did you mean qwen3_4b?", "granite"]),
        (["experiment=no_validty"], ["experiment has no option", "did you mean no_validity?"]),
        (["reward.beta=abc"], ["reward.beta is 'abc'", "number"]),
        (["reward.beta=-1"], ["reward.beta is -1", "at least 0"]),
        (["seed=x"], ["seed is 'x'", "integer"]),
        (["stages=[synth,foo]"], ["stages.1 is 'foo'", "'synth'", "'grpo'"]),
        (["envs.limits.calls=0"], ["limits.calls is 0", "at least 1"]),
        (["teacher=gemma"], ["teacher has no option 'gemma'", "did you mean gemma_4_31b?"]),
        (["teacher=gemma_4_31b", "teacher.concurrency=0"], ["teacher.concurrency is 0", "at least 1"]),
        (["teacher.temperature=hot"], ["teacher.temperature is 'hot'", "number"]),
        (["teacher.seconds=nan"], ["teacher.seconds is nan", "finite"]),
        (["envs.limits.call_seconds=inf"], ["envs.limits.call_seconds is inf", "finite"]),
        (["teacher.options={top_k: 3}"], ["'+teacher.options={NAME: VALUE}'"]),
        (["synth.servers=[bankin]"], ["synth.servers is ['bankin']", "did you mean 'banking'"]),
        (["synth.personas=plain"], ["synth.personas is 'plain'", "a list, e.g. [a,b]"]),
        (["profile.synth_processes=0"], ["profile.synth_processes is 0", "at least 1"]),
        (["seed=-1"], ["seed is -1", "at least 0"]),
        (["synth.chain_length=[1]"], ["synth.chain_length", "[1]"]),
        (["tracking.uri=file:/tmp/x"], ["tracking.uri", "sqlite:///"]),
        (["experiment=null"], ["experiment=null", "beta0"]),
        (["reward.beta=["], ["'reward.beta=['", "key=value"]),
        (["reward.beta=0", "--foo"], ["--foo", "key=value"]),
        (["--cfg"], ["--cfg", "one argument"]),
        (["trainer.verl_overrides=[1]"], ["trainer.verl_overrides=[1]"]),
        (["trainer.learning_rate=0"], ["trainer.learning_rate is 0", "above 0"]),
        (["trainer.nodes=2"], ["trainer.nodes is 2, which needs GPUs", "profile=h100x8"]),
        (["model=qwen3_4b", "trainer.engine=megatron"], ["trainer.engine is 'megatron'", "profile=h100x8"]),
        (["profile.price_per_hour=-1"], ["profile.price_per_hour is -1", "at least 0"]),
        (["profile=h100x8", "profile.gpu_tflops=0"], ["profile.gpu_tflops is 0", "above 0"]),
        (["profile.synth_processes=1000000000"], ["profile.synth_processes is 1000000000", "at most 4096"]),
        # what other keys repeat is said of the one that was written
        (["trainer.cpu_ranks=0"], ["trainer.cpu_ranks is 0", "at least 1"]),
        (["model.sft_learning_rate=0"], ["model.sft_learning_rate is 0", "above 0"]),
        (["model.learning_rate=nan"], ["model.learning_rate is nan", "finite"]),
        (["profile.nodes=0"], ["profile.nodes is 0", "at least 1"]),
        (["reward.beta"], ["'reward.beta'", "key=value"]),
        (["reward.beta=0,1"], ["-m"]),
        (["experiment=[]"], ["experiment chooses nothing: it has ", "default"]),
        (["reward.beta=${nothing}"], ["nothing"]),
    ],
)
def test_a_mistake_gets_one_sentence_that_names_it_and_what_would_be_right(arguments, parts):
    sentence = told(*arguments)
    assert len(sentence.splitlines()) == 1, sentence
    assert all(part in sentence for part in parts), sentence
    assert re.search(r"[.?)]$", sentence), sentence


def test_two_bad_values_get_a_sentence_each():
    assert len(told("seed=x", "reward.arg=y").splitlines()) == 2


def test_every_overlay_says_its_own_name():
    for overlay in OVERLAYS:
        text = (CONF / "experiment" / f"{overlay}.yaml").read_text()
        assert text.startswith("# @package _global_")
        assert typed(composed([f"experiment={overlay}"])).experiment == overlay


def test_a_file_of_one_line_names_a_reward_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "reward").mkdir()
    (tmp_path / "reward" / "mine.yaml").write_text("_target_: cheap_reward.Cheap\nprice: 0.1\n")
    lines = ["from proverl.reward import Breakdown", "class Cheap:"]
    lines.append("    def __init__(self, price, scale=1.0): self.price = price")
    lines.append("    def score(self, calls, ground_truth, tools, *, replied): return Breakdown(total=-self.price)")
    (tmp_path / "cheap_reward.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    mine = [f"hydra.searchpath=[file://{tmp_path}]", "reward=mine"]
    (config,) = check([*mine, "reward.price=0.5"])
    assert config.reward == OwnReward("cheap_reward.Cheap", {"price": 0.5})
    sentence = told(*mine, "+reward.prize=1")
    assert "cheap_reward.Cheap" in sentence and "prize" in sentence and "\n" not in sentence
    assert told(*mine, "reward.prize=1") == "reward.prize is no key of the config; did you mean reward.price?"
    assert told(*mine, "reward.weight=1") == "reward.weight is no key of the config; reward has price, scale."
    assert "+reward.scale=VALUE" in told(*mine, "reward.scale=2")
    assert check([*mine, "+reward.scale=2"])[0].reward.settings == {"price": 0.1, "scale": 2}
