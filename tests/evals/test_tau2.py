"""tau2-bench, the side that knows its data and settings; no process of its own is started here."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from proverl.evals.benchmark import benchmark
from proverl.evals.record import Record
from proverl.evals.tau2 import Tau2, UserSimulator, pass_hats

CONF = Path(__file__).parents[2] / "conf/evals/tau2.yaml"


def record(item, trial, reward, domain="airline"):
    return Record(item, 0, {"domain": domain}, trial, trial, None, {"reward": reward}, {"reward": 0.0})


def test_the_config_file_names_every_setting_with_its_default():
    settings = yaml.safe_load(CONF.read_text())
    assert list(settings) != [] and set(settings) == set(Tau2.settings())
    assert benchmark("tau2", settings) == Tau2()


def test_base_is_what_papers_report():
    items = Tau2().items()
    counts = [sum(item.strata["domain"] == domain for item in items) for domain in ("airline", "retail", "telecom")]
    assert counts == [50, 114, 114]
    assert len({item.id for item in items}) == 278
    assert items[0].id == "airline/0" and items[50].id == "retail/0"


@pytest.mark.parametrize(("domain", "train", "test"), [("airline", 30, 20), ("retail", 74, 40), ("telecom", 74, 40)])
def test_train_and_test_are_the_official_halves_of_base(domain, train, test):
    split = {name: {item.id for item in Tau2(domains=(domain,), split=name).items()} for name in ("train", "test")}
    assert (len(split["train"]), len(split["test"])) == (train, test)
    assert split["train"] | split["test"] == {item.id for item in Tau2(domains=(domain,)).items()}


def test_telecom_has_larger_and_smaller_splits():
    assert len(Tau2(domains=("telecom",), split="full").items()) == 2285
    assert len(Tau2(domains=("telecom",), split="small").items()) == 20


def test_a_few_tasks_are_of_every_domain():
    assert [item.strata["domain"] for item in Tau2(tasks=4).items()] == ["airline", "airline", "retail", "telecom"]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"solo": True}, "evals.tau2.solo is for telecom alone, but evals.tau2.domains is ['airline'"),
        ({"split": "full"}, "evals.tau2.split full is of telecom alone"),
        ({"split": "dev"}, "evals.tau2.split is 'dev'"),
        ({"domains": []}, "evals.tau2.domains is []"),
        ({"domains": ["retail", "retail"]}, "each once"),
        ({"domains": ["bank"]}, "evals.tau2.domains.0 is 'bank'"),
        ({"max_steps": 0}, "evals.tau2.max_steps is 0"),
        ({"call_seconds": float("nan")}, "evals.tau2.call_seconds is nan"),
        ({"user": {"options": 3}}, "evals.tau2.user.options is 3"),
        ({"user": {"url": "x"}}, "evals.tau2.user.url"),
        ({"trials": 0}, "evals.tau2.trials is 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, told):
    with pytest.raises(ValueError) as error:
        benchmark("tau2", settings)
    assert told in str(error.value)


def test_a_missing_user_model_is_told_before_anything_starts(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    (told,) = Tau2().model_needs()
    assert "set evals.tau2.user.base_url" in told and "Qwen/Qwen3-VL-235B-A22B-Instruct" in told
    assert Tau2().needs() == []  # the oracle can do without
    assert Tau2(solo=True, domains=("telecom",)).model_needs() == []
    assert Tau2(user=UserSimulator(base_url="http://127.0.0.1:1/v1")).model_needs() == []
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert Tau2().model_needs() == []


def test_pass_hat_k_is_the_mean_over_tasks_by_domain():
    passed = {"a": (1, 1, 0, 1), "b": (0, 1, 0, 0), "c": (1, 1, 1, 1)}
    records = [record(item, n, float(one)) for item, ones in passed.items() for n, one in enumerate(ones)]
    records += [record("d", n, 1.0, "retail") for n in range(2)] + [record("e", 0, 0.0, "retail")]
    found = pass_hats(records)
    assert found["airline"] == pytest.approx([(3 + 1 + 4) / 12, (1 / 2 + 0 + 1) / 3, (1 / 4 + 0 + 1) / 3, 1 / 3])
    assert found["retail"] == [0.5]  # one attempt at e failed to finish: both tasks have one
    notes = Tau2(trials=4).notes(records)
    assert "pass^k, airline: 0.667 (k=1), 0.500 (k=2), 0.417 (k=3), 0.333 (k=4)." in notes


def test_items_do_not_need_tau2_in_this_process():
    code = "import sys; from proverl.evals.tau2 import Tau2; Tau2().items(); sys.exit('tau2.registry' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
