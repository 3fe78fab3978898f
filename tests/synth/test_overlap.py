"""Overlap with benchmarks: repeated turns are found, equal tool names are told, what is not there is named."""

import json

import pytest

from proverl.core import GroundTruth, Task, TaskKind, Tool
from proverl.synth.data.overlap import overlap, shingles
from proverl.synth.data.references import Reference, bfcl, references, t_eval_folder, tau2

TEXT = "Please move the final report from the documents folder into the temporary folder and then sort it by line"


def task(*turns, tools=()):
    schema = {"type": "object", "properties": {}}
    offered = tuple(Tool(name, "", schema, schema) for name in tools)
    return Task(turns[0], TaskKind.MULTI_TURN, (), 1, "", turns, offered, GroundTruth())


def reference(*queries, tools=()):
    return Reference("Bench", "user turn", queries, frozenset(tools))


def test_a_repeated_turn_is_refused_whatever_its_case_and_punctuation():
    copied = task("Thanks a lot for your help today.", TEXT.upper().replace(" folder", ", folder") + "!")
    report = overlap([task("Show me the balance of my savings account, please."), copied], [reference("else", TEXT)])
    (match,) = report.found[0].matches
    assert report.refused == {copied.id} and match.share == 1 and match.text == TEXT
    assert report.turns == 3


def test_the_threshold_is_a_share_of_the_turns_own_n_grams():
    half = TEXT + " after that please tell me how many words the longer of both documents has"
    share = len(shingles(TEXT)) / len(shingles(half))
    assert overlap([task(half)], [reference(TEXT)], threshold=share).refused
    report = overlap([task(half)], [reference(TEXT)], threshold=share + 0.01)
    assert not report.refused and report.found[0].highest == share and report.found[0].touched == 1


def test_short_turns_match_as_a_whole_and_very_short_ones_never():
    report = overlap(
        [task("Cancel my last order."), task("Yes, please.")], [reference("cancel my last order", "Yes please")]
    )
    assert report.refused == {"Cancel my last order."}
    assert not overlap([task("Cancel my last order.")], [reference("cancel my last order but one")]).refused


def test_tool_names_are_told_and_refuse_nothing():
    tools = ["place_order", "get_event", "list_accounts"]
    report = overlap(
        [task("Hello to all of you.", tools=tools)], [reference("x", tools=["place_order", "Cal.getEvent"])]
    )
    assert (report.found[0].equal, report.found[0].similar, report.refused) == (["place_order"], ["get_event"], set())
    text = "\n".join(report.lines())
    assert "Tools of the same name: place_order; but for case and punctuation: get_event." in text


def test_benchmarks_that_are_not_there_are_named():
    found = references()
    assert [item.name.split(" (")[0] for item in found] == ["BFCL", "tau2-bench", "T-Eval"]
    absent = [item for item in found if item.missing]
    assert "T-Eval" in {item.name for item in absent}
    text = "\n".join(overlap([task("hello")], found).lines())
    assert all(f"- {item.name}: not checked: {item.missing}." in text for item in absent)


def test_bfcl_is_read_from_its_data_files(tmp_path):
    (tmp_path / "data/multi_turn_func_doc").mkdir(parents=True)
    turns = [
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": TEXT}],
        [],
        [{"role": "user", "content": "Sort."}],
    ]
    entry = {"id": "1", "question": turns, "function": [{"name": "math.add"}]}
    (tmp_path / "data/BFCL_v4_multi_turn_base.json").write_text(json.dumps(entry) + "\n" + json.dumps(entry))
    (tmp_path / "data/BFCL_v4_format_sensitivity.json").write_text('{\n "simple": ["a"]\n}')
    (tmp_path / "data/multi_turn_func_doc/files.json").write_text('{"name": "mv"}\n{"name": "sort"}\n')
    found = bfcl(tmp_path, "BFCL")
    assert found.queries == (TEXT, "Sort.") and found.tools == {"math.add", "mv", "sort"}


def test_tau2_is_read_without_importing_it(tmp_path):
    data, code = tmp_path / "data/tau2/domains/airline", tmp_path / "domains/airline"
    data.mkdir(parents=True)
    code.mkdir(parents=True)
    told = {"domain": "airline", "reason_for_call": TEXT, "unknown_info": None}
    (data / "tasks.json").write_text(
        json.dumps([{"user_scenario": {"instructions": told}}, {"user_scenario": {"instructions": "Be rude."}}])
    )
    (code / "tools.py").write_text(
        "class T:\n    @is_tool(ToolType.READ)\n    def get_user(self): ...\n    def helper(self): ...\n"
    )
    found = tau2(tmp_path, "tau2-bench")
    assert TEXT in found.queries and "Be rude." in found.queries and found.tools == {"get_user"}


def test_t_eval_is_read_from_a_folder(tmp_path):
    prompt = [
        {"role": "system", "content": "APIs: [{'name': 'BINGMap.get_distance', 'args': 1}]"},
        {"role": "user", "content": TEXT},
    ]
    (tmp_path / "plan_json_v2.json").write_text(
        json.dumps({"0": {"origin_prompt": prompt}, "1": {"origin_prompt": "Hello"}})
    )
    found = t_eval_folder(tmp_path)
    assert found.queries == (TEXT, "Hello") and found.tools == {"BINGMap.get_distance"}
    assert references(tmp_path)[2] == found


def test_data_of_another_form_is_an_error_not_an_empty_comparison(tmp_path):
    (tmp_path / "data").mkdir()
    with pytest.raises(ValueError, match="no query was found"):
        bfcl(tmp_path, "BFCL")
