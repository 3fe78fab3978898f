"""Faults of a benchmark end with a sentence or are contained; none gives a wrong figure or an unreadable record."""

import errno
import os

import pytest
from faulty_benchmark import Faulty

from proverl.agent import ScriptedPolicy
from proverl.evals import EvaluationFailed, evaluate, read_records, score
from proverl.evals.record import append_line


def right(fault, folder):
    return [record.figures["right"] for record in evaluate(Faulty(fault=fault), ScriptedPolicy(), folder).records]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("nan", "faulty.score gave right the value nan; it must be a finite number"),
        ("text", "faulty.score gave right the value 'yes'; it must be a finite number"),
        ("no headline", "faulty.score gave no right, which is the headline of faulty"),
        ("set", "Object of type set is not JSON serializable"),
        ("nan answer", r"what is kept of [abcd] can't be written as JSON"),
        ("half a character", r"what is kept of [abcd] can't be written as JSON"),
    ],
)
def test_what_no_record_can_keep_fails_the_attempts(fault, told, tmp_path):
    with pytest.raises(EvaluationFailed, match=told):
        evaluate(Faulty(fault=fault), ScriptedPolicy(), tmp_path)
    assert right("", tmp_path) == [1.0] * 4  # nothing unreadable was left behind


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("none", "evals.faulty leaves no item to evaluate"),
        ("twice", "faulty.items has a more than once"),
        ("no kind", "faulty.items has b without kind, which faulty.macro names"),
    ],
)
def test_items_that_make_no_sense_are_refused(fault, told, tmp_path):
    with pytest.raises(ValueError, match=told):
        evaluate(Faulty(fault=fault), ScriptedPolicy(), tmp_path)


def test_a_scorer_sees_how_a_program_that_it_runs_ends(tmp_path):
    assert right("program", tmp_path) == [0.0] * 4


def test_what_a_scorer_prints_or_forks_is_nobodys_answer(tmp_path):
    assert right("print", tmp_path / "print") == [1.0] * 4
    assert right("forgotten fork", tmp_path / "fork") == [1.0] * 4


def test_an_answer_that_ends_its_scorer_costs_nothing_but_itself(tmp_path):
    found = evaluate(Faulty(fault="one answer"), ScriptedPolicy(), tmp_path)
    assert [record.detail for record in found.records] == [
        "could not be scored, counts as the floor: the process that ran score_of ended",
        *[""] * 3,
    ]


def test_figures_may_differ_from_record_to_record(tmp_path):
    records = evaluate(Faulty(fault="own figures"), ScriptedPolicy(), tmp_path).records
    assert [sorted(record.figures) for record in records] == [[f"of_{name}", "right"] for name in "abcd"]
    assert score(Faulty(fault="own figures"), records) == records


def test_a_record_that_a_full_disk_takes_half_of_leaves_nothing(tmp_path, monkeypatch):
    evaluate(Faulty(), ScriptedPolicy(), tmp_path)
    before = (tmp_path / "records.jsonl").read_bytes()

    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        append_line(b'{"item": "half', tmp_path)
    assert (tmp_path / "records.jsonl").read_bytes() == before
    assert len(read_records(tmp_path)) == 4
