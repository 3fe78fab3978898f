"""`proverl score`: stored answers again, another evaluation beside it, and what it cannot read."""

import json
import os
import subprocess
import sys

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


PUBLISHED = {  # of BFCL-Result, 2025-12-16; the verdict, and how the published score file words it
    "gpt-4.1-nano-2025-04-14-FC": (
        "multi_turn_base_1",
        [
            [[{"pwd": "{}"}], [{"ls": '{"a":true}'}], "You are there."],
            [
                [{"cd": '{"folder":"workspace"}'}],
                [{"find": '{"path":"workspace","name":"log.txt"}'}],
                [{"find": '{"path":"./","name":"log.txt"}'}],
                [{"mkdir": '{"dir_name":"archive"}'}],
                [{"mv": '{"source":"log.txt","destination":"archive"}'}],
                "Moved.",
            ],
            [
                [{"grep": '{"file_name":"log.txt","pattern":"Error"}'}],
                [{"grep": '{"file_name":"archive/log.txt","pattern":"Error"}'}],
                "Not there.",
            ],
            [[{"tail": '{"file_name":"archive/log.txt","lines":20}'}], "Not there either."],
        ],
        0.0,
        "execution_response_mismatch: Model response execution results so far does not contain all the ground truth "
        "response execution results for turn 2.",
    ),
    "BitAgent-Bounty-8B": (
        "multi_turn_base_0",
        [
            [
                [
                    {"cd": '{"folder": "document"}'},
                    {"mkdir": '{"dir_name": "temp"}'},
                    {"mv": '{"source": "final_report.pdf", "destination": "temp"}'},
                ],
                "[]",
            ],
            [
                [
                    {"cd": '{"folder": "temp"}'},
                    {"grep": '{"file_name": "final_report.pdf", "pattern": "budget analysis"}'},
                ],
                "[]",
            ],
            [[{"sort": '{"file_name": "final_report.pdf"}'}], "[]"],
            [
                [
                    {"cd": '{"folder": ".."}'},
                    {"mv": '{"source": "previous_report.pdf", "destination": "temp"}'},
                    {"cd": '{"folder": "temp"}'},
                    {"diff": '{"file_name1": "final_report.pdf", "file_name2": "previous_report.pdf"}'},
                ],
                "[]",
            ],
        ],
        1.0,
        "",
    ),
}


def results(path, *lines):
    path.write_text("".join(json.dumps({"id": name, "result": result}) + "\n" for name, result in lines))
    return path


@pytest.mark.parametrize("model", PUBLISHED)
def test_published_results_have_their_published_verdict(model, tmp_path):
    item, result, accuracy, detail = PUBLISHED[model]
    done = run(results(tmp_path / "result.json", (item, result)), "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert "nan" not in done.output  # a single entry has no interval
    found = read_records(tmp_path)[0]
    assert (found.item, found.figures["accuracy"], found.detail) == (item, accuracy, detail)


def test_a_result_file_may_be_of_any_category_and_any_part_of_it(tmp_path):
    lines = [("multi_turn_long_context_7", [[[{"ls": "{}"}]]]), ("multi_turn_miss_func_3", [[""]])]
    done = run(results(tmp_path / "result.json", *lines), "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert {record.item for record in read_records(tmp_path)} == {name for name, _ in lines}


def test_results_that_would_be_scored_wrongly_are_refused(tmp_path):
    twice = run(results(tmp_path / "twice.json", *[("multi_turn_base_3", [[[{"ls": "{}"}]]])] * 2))
    assert (twice.exit_code, "line 2 is a second result of multi_turn_base_3" in twice.output) == (2, True)
    texts = results(tmp_path / "texts.json", ("multi_turn_base_3", [["[ls()]", "Done."]]))
    unread = run(texts)
    assert (unread.exit_code, "has texts alone" in unread.output) == (2, True)
    assert "prompting" in run(texts, "--set", "prompting=true").output
    assert "1.000" in next(
        line for line in run(texts, "--set", "prompting=true").output.splitlines() if " calls " in line
    )


def test_a_process_that_is_killed_leaves_no_folder_behind(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from proverl.evals import benchmark, evaluate\n"
        "bfcl = benchmark('bfcl', {'tasks': 4})\n"
        "evaluate(bfcl, bfcl.oracle(), Path(sys.argv[1]))\n"
        "os._exit(0)"
    )
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    subprocess.run([sys.executable, "-c", code, tmp_path / "records"], env=environment, check=True)
    assert len(read_records(tmp_path / "records")) == 4
    assert not list((tmp_path / "temporary").iterdir())
