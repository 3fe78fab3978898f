"""Outside abstention rows: read in the sources' own layouts, with checked tools; what cannot be used is counted."""

import json
import socket
import time
from collections import Counter

import pytest
from jsonschema import Draft202012Validator

from proverl.core import GroundTruth, TaskKind
from proverl.synth.data.abstention import SOURCES, SourceUnreachable, load_abstention
from proverl.synth.data.dataset import read_tasks, write_tasks
from proverl.synth.data.foreign_tools import UnreadableTool, read_tool, type_schema
from proverl.synth.data.verify import differences

CARD = """---
configs:
- config_name: test
  data_files:
  - split: mcq
    path: test/when2call_test_mcq.jsonl
  default: true
- config_name: train_sft
  data_files:
  - split: train
    path: train/when2call_train_sft.jsonl
---
"""
WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {
        "type": "dict",
        "properties": {"city": {"type": "str"}, "days": {"type": "int", "default": 3}},
        "required": ["city"],
    },
}
PRIME = {
    "name": "is_prime",
    "description": "Whether a number is prime.",
    "parameters": {
        "number": {"type": "int", "description": "The number."},
        "kind": {"type": "str, optional", "description": "How.", "default": ""},
        "seeds": {"type": "List[int]", "description": "Seeds.", "default": ""},
    },
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


def said(*texts):
    return [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]


@pytest.fixture
def when2call(tmp_path):
    folder = tmp_path / "When2Call"
    (folder / "train").mkdir(parents=True)
    (folder / "test").mkdir()
    (folder / "README.md").write_text(CARD)
    (folder / "test/when2call_test_mcq.jsonl").write_text('{"question": "Only for evaluation?"}\n')
    tools = [json.dumps(WEATHER)]
    rows = [
        *({"tools": tools, "messages": said(f"Play song {n}.", "I can't.")} for n in range(4)),
        {"tools": tools, "messages": said("What is the weather?", "Where?", "In Oslo, or no.", "Never mind then.")},
        {"tools": tools, "messages": said("Weather in Oslo?", '<TOOLCALL>[{"name": "get_weather"}]</TOOLCALL>')},
        {"tools": tools, "messages": said("Nobody answers")},
        {"tools": tools, "messages": None},
        {"tools": ["{broken"], "messages": said("Hello?", "Hi.")},
        {"tools": [], "messages": said("No tools at all?", "No.")},
        {"tools": tools * 2, "messages": said("Twice the same?", "Yes.")},
        {"tools": tools, "messages": said("  ", "What?")},
        {"tools": tools, "messages": said("Play song 0.", "I really can't.")},
    ]
    (folder / "train/when2call_train_sft.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture
def xlam(tmp_path):
    folder = tmp_path / "xlam"
    folder.mkdir()
    rows = [
        *(
            {"id": 100 + n, "query": f"Fetch joke {n}.", "tools": json.dumps([PRIME]), "answers": "[]"}
            for n in range(5)
        ),
        {"id": 1, "query": "Is 7 prime?", "tools": json.dumps([PRIME]), "answers": '[{"name": "is_prime"}]'},
        {"id": 2, "query": "Broken?", "tools": "[{", "answers": "[]"},
    ]
    (folder / "xlam-7.5k-irrelevancek.json").write_text(json.dumps(rows))
    return folder


def test_when2call_gives_rows_whose_right_answer_is_no_call(when2call):
    dropped = Counter()
    tasks = load_abstention("when2call", 100, 0, when2call, dropped)
    assert {task.turns[0] for task in tasks} == {*(f"Play song {n}." for n in range(4)), "What is the weather?"}
    assert next(task.turns for task in tasks if len(task.turns) == 2) == ("What is the weather?", "In Oslo, or no.")
    assert dropped == {
        "the answer is a call": 1,
        "no answer": 1,
        "no messages": 1,
        "an unreadable tool": 1,
        "no tools": 1,
        "two tools of one name": 1,
        "no user turn": 1,
        "the same turns as another row": 1,
    }


def test_xlam_gives_rows_with_their_id(xlam):
    dropped = Counter()
    tasks = load_abstention("xlam_irrelevance", 100, 0, xlam, dropped)
    assert sorted(task.notes["origin"]["row"] for task in tasks) == ["100", "101", "102", "103", "104"]
    assert dropped == {"the answer is a call": 1, "an unreadable tool": 1}


def test_rows_are_abstention_tasks_that_hold_and_read_back(when2call, xlam, tmp_path):
    tasks = load_abstention("when2call", 3, 0, when2call) + load_abstention("xlam_irrelevance", 2, 0, xlam)
    for task in tasks:
        assert (task.kind, task.servers, task.ground_truth) == (TaskKind.ABSTENTION, (), GroundTruth())
        assert task.notes["origin"]["repository"] in {source.repository for source in SOURCES.values()}
        assert "Today is" in task.system  # as in all other rows
        assert differences(task) == []
    write_tasks(tasks, tmp_path / "a.parquet")
    assert read_tasks(tmp_path / "a.parquet") == tasks


def test_the_seed_draws_the_rows(xlam):
    first = load_abstention("xlam_irrelevance", 3, 0, xlam)
    assert first == load_abstention("xlam_irrelevance", 3, 0, xlam) and len(first) == 3
    assert any(load_abstention("xlam_irrelevance", 3, seed, xlam) != first for seed in range(1, 5))


def test_an_unreachable_source_is_named_within_seconds(monkeypatch, tmp_path):
    def nowhere(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    start = time.monotonic()
    with pytest.raises(SourceUnreachable, match=r"when2call: nvidia/When2Call on the Hugging Face hub cannot be read"):
        load_abstention("when2call", 10, 0)
    assert time.monotonic() - start < 10
    with pytest.raises(SourceUnreachable, match="there is no folder"):
        load_abstention("when2call", 10, 0, tmp_path / "none")
    with pytest.raises(ValueError, match="no source 'whentocall'.*when2call, xlam_irrelevance"):
        load_abstention("whentocall", 10, 0)


def test_tools_of_both_layouts_become_json_schema():
    assert read_tool(json.dumps(WEATHER)).parameters == {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 3}},
        "required": ["city"],
    }
    assert read_tool({"type": "function", "function": PRIME}).parameters == {
        "type": "object",
        "properties": {
            "number": {"type": "integer", "description": "The number."},
            "kind": {"type": "string", "description": "How.", "default": ""},
            "seeds": {"type": "array", "items": {"type": "integer"}, "description": "Seeds."},
        },
        "required": ["number"],
    }
    assert read_tool({"name": "now", "description": "", "parameters": {}}).parameters["properties"] == {}
    nested = {"type": "object", "properties": {"a": {"type": "dict", "properties": {"b": {"type": "float"}}}}}
    assert read_tool({"name": "n", "parameters": nested}).parameters["properties"]["a"]["properties"]["b"] == {
        "type": "number"
    }


@pytest.mark.parametrize(
    ("written", "schema"),
    [
        ("str, optional", {"type": "string"}),
        ("Optional[int]", {"type": "integer"}),
        ("Union[int, List[str]]", {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]}),
        ("List[Union[int, float]]", {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "number"}]}}),
        ("Tuple[float, float], optional", {"type": "array", "items": {"type": "number"}}),
        ("Dict[str, int]", {"type": "object"}),
        ("int | None", {"type": "integer"}),
        ("Literal['a', 'b']", {"enum": ["a", "b"]}),
        ("any", {}),
        (["string", "null"], {"type": "string"}),
        ("list", {"type": "array"}),
        ("None", {"type": "null"}),
    ],
)
def test_python_types_become_json_types(written, schema):
    assert type_schema(written) == schema
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    "tool",
    [
        "{broken",
        ["a", "list"],
        {"description": "nameless"},
        {"name": "two words"},
        {"name": "f", "parameters": {"x": {"type": "Callable[[int], int]"}}},
        {"name": "f", "parameters": {"x": "int"}},
        {"name": "f", "parameters": {"x": {"type": 3}}},
        {"name": "f", "parameters": {"x": {"type": "str", "enum": "a"}}},
    ],
)
def test_tools_that_cannot_be_offered_are_refused(tool):
    with pytest.raises(UnreadableTool):
        read_tool(tool)
