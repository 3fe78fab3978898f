"""The benchmark that docs/own_benchmark.md shows works as it stands there."""

import importlib
import re
from pathlib import Path

import pytest

from proverl.agent import ScriptedPolicy
from proverl.evals import evaluate, score

PAGE = Path(__file__).parents[2] / "docs" / "own_benchmark.md"


@pytest.fixture
def sums(tmp_path, monkeypatch):
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 40
    (tmp_path / "sums_benchmark.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    # the process that scores is started with the path of this one, and may be there already
    monkeypatch.setattr(
        "proverl.evals.isolated._source", __import__("proverl.evals.isolated", fromlist=["x"])._source.__wrapped__
    )
    return importlib.import_module("sums_benchmark").Sums


def test_the_oracle_is_right_and_silence_is_not(sums, tmp_path):
    found = evaluate(sums(largest=3), sums(largest=3).oracle(), tmp_path / "oracle")
    assert [record.figures["right"] for record in found.records] == [1.0] * 9
    assert [record.floor["right"] for record in found.records] == [0.0] * 9
    quiet = evaluate(sums(largest=3), ScriptedPolicy(), tmp_path / "silent")
    assert {record.detail for record in quiet.records} == {"called with []"}
    assert score(sums(largest=3), quiet.records) == quiet.records


def test_fewer_items_are_of_every_size(sums):
    assert {item.strata["size"] for item in sums(tasks=4).items()} == {"small", "large"}
    assert sums(largest=0).needs() == ["evals.sums.largest must be at least 1."]
