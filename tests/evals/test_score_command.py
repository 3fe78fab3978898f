"""`proverl score`: stored answers again, another evaluation beside it, and what it cannot read."""

import json

import pytest
from typer.testing import CliRunner

from proverl.agent import ScriptedPolicy
from proverl.evals import benchmark, evaluate, read_records
from proverl.evals.cli import app
from proverl.evals.evaluation import ABOUT
from proverl.evals.record import write_records

SETTINGS = {"tasks": 8}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two evaluations of eight BFCL entries: the oracle's and the silent policy's."""
    bfcl = benchmark("bfcl", SETTINGS)
    kept = {}
    for name, policy in (("oracle", bfcl.oracle()), ("silent", ScriptedPolicy())):
        kept[name] = tmp_path_factory.mktemp(name)
        (kept[name] / ABOUT).write_text(json.dumps({"benchmark": "bfcl", "settings": SETTINGS}))
        evaluate(bfcl, policy, kept[name])
    return kept


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "160"})


def test_stored_answers_are_scored_again_and_what_changed_is_named(folders, tmp_path):
    done = run(folders["oracle"])
    assert done.exit_code == 0, done.output
    assert "0 of 8 answers are scored otherwise than before." in done.output
    (tmp_path / ABOUT).write_text((folders["oracle"] / ABOUT).read_text())
    records = read_records(folders["oracle"])
    write_records([type(one)(**{**_fields(one), "figures": {"accuracy": 0.0}}) for one in records], tmp_path)
    again = run(tmp_path, "--output", tmp_path / "new")
    assert "8 of 8 answers are scored otherwise than before." in again.output
    assert read_records(tmp_path / "new") == records
    assert read_records(tmp_path)[0].figures == {"accuracy": 0.0}  # what was given stays as it is


def _fields(record):
    return {name: getattr(record, name) for name in type(record).__dataclass_fields__}


def test_another_evaluation_of_the_same_items_is_compared_item_by_item(folders):
    done = run(folders["oracle"], "--against", folders["silent"])
    row = next(line for line in done.output.splitlines() if "accuracy" in line and "+1.000" in line)
    assert "0.008" in row and "noise" not in row  # two of 2^8 draws are this far out
    same = run(folders["oracle"], "--against", folders["oracle"])
    assert "noise" in next(line for line in same.output.splitlines() if "accuracy" in line and "+0.000" in line)


@pytest.mark.parametrize("content", [None, "no records\n"])
def test_what_cannot_be_read_ends_with_a_sentence(tmp_path, content):
    if content:
        (tmp_path / "records.jsonl").write_text(content)
    done = run(tmp_path)
    assert done.exit_code == 2
    assert str(tmp_path) in done.output and "Traceback" not in done.output
