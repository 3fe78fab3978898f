"""BFCL: what the oracle and a silent policy get, what is asked of a policy, and that answers can be scored again."""

import ast
import json
import re
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from proverl.agent import Reply, ScriptedChat, ScriptedPolicy, tool_format
from proverl.core import Call
from proverl.evals.benchmark import benchmark
from proverl.evals.bfcl import BFCL
from proverl.evals.bfcl.conversation import _written
from proverl.evals.bfcl.entries import UNPASSABLE, entries, expected_call
from proverl.evals.evaluation import evaluate, score
from proverl.evals.isolated import Isolated
from proverl.evals.listening import ListenedPolicy

CATEGORIES = ("base", "miss_func", "miss_param", "long_context")


def answer(benchmark, turns):
    return {"result": turns, "ended": "", "prompting": benchmark.prompting}


def expected(entry):
    """The expected calls as a function-calling model's answer, a message for each turn."""
    return [
        [[{call.name: json.dumps(call.arguments)} for call in (expected_call(entry, text) for text in texts)], "Done."]
        for texts in entry.expected
    ]


def verdict(name, turns, **settings):
    benchmark = BFCL(**settings)
    return benchmark.score_of(name, answer(benchmark, turns))


def test_there_are_800_entries_and_a_few_are_as_many_of_every_category():
    items = BFCL().items()
    assert [sum(item.strata["category"] == name for item in items) for name in CATEGORIES] == [200] * 4
    assert [item.strata["category"] for item in BFCL(tasks=8).items()] == [name for name in CATEGORIES for _ in "12"]
    assert {item.strata["category"] for item in BFCL(categories=("base",)).items()} == {"base"}
    assert re.fullmatch(r"bfcl-eval [\d.]+, v4 data, prompting", BFCL(prompting=True).version)
    assert BFCL().needs() == []


@pytest.mark.parametrize("bad", [{"categories": ()}, {"categories": ("base", "base")}, {"step_seconds": 0.0}])
def test_settings_that_make_no_sense_are_refused(bad):
    with pytest.raises(ValueError, match=f"evals.bfcl.{next(iter(bad))}"):
        BFCL(**bad)


def test_the_config_has_every_setting_at_its_default():
    settings = OmegaConf.load(Path(__file__).parents[2] / "conf/evals/bfcl.yaml")
    assert benchmark("bfcl", OmegaConf.to_container(settings)) == BFCL()
    assert sorted(settings) == sorted(BFCL.settings())


def test_the_oracle_passes_every_entry_and_silence_none():
    benchmark = BFCL()
    for item in benchmark.items():
        score = benchmark.score(item, answer(benchmark, expected(entries()[item.id])))
        assert score.figures["accuracy"] == 1, (item.id, score.detail)
        assert benchmark.floor_of(item.id).figures["accuracy"] == 0
        assert score.figures.get("spurious_calls", 0) == 0


@pytest.mark.parametrize("prompting", [False, True])
def test_the_oracle_passes_by_the_whole_way_and_its_answers_can_be_scored_again(tmp_path, prompting):
    benchmark = BFCL(tasks=24, prompting=prompting)
    done = evaluate(benchmark, benchmark.oracle(), tmp_path)
    assert done.failures == []
    assert [record.figures["accuracy"] for record in done.records] == [1.0] * 24
    assert [record.floor["accuracy"] for record in done.records] == [0.0] * 24
    assert score(benchmark, done.records) == done.records
    assert {frozenset(record.answer) for record in done.records} == {frozenset(("result", "ended", "prompting"))}


def test_a_silent_policy_gets_the_floor(tmp_path):
    benchmark = BFCL(tasks=8)
    for record in evaluate(benchmark, ScriptedPolicy(), tmp_path).records:
        assert record.figures == record.floor
        assert record.answer == benchmark.silence(benchmark.items()[record.position])


def test_the_same_answer_gets_the_same_verdict_again_and_again():
    entry = entries()["multi_turn_base_0"]
    right, wrong = expected(entry), expected(entry)
    wrong[0][0].pop()
    verdicts = [verdict(entry.id, turns).figures["accuracy"] for turns in (right, right, wrong, right, wrong, right)]
    assert verdicts == [1, 1, 0, 1, 0, 1]


def test_what_is_wrong_is_told_with_its_turn():
    entry = entries()["multi_turn_base_0"]
    turns = expected(entry)
    assert verdict(entry.id, turns[:2]).detail == "force_terminated: 2 of 4 turns"
    assert verdict(entry.id, [*turns[:3], ["No."]]).detail.startswith("empty_turn_model_response")
    missing = [*turns[:2], [[{"pwd": "{}"}]], turns[3]]
    assert re.match(r"execution_response_mismatch: .* turn 2\.", verdict(entry.id, missing).detail)
    turns[0][0] = turns[0][0][:2]
    assert verdict(entry.id, turns).detail.endswith("(turn 0)")
    assert verdict(entry.id, "Error: the model was away").detail.startswith("inference_error")


class Heard(ScriptedPolicy):
    """Remembers what every chat was opened with."""

    def chat(self, task, limits, seed=0):
        chat = ScriptedChat(self.replies)
        CHATS.append((task, chat))
        return chat


CHATS = []


async def conversation(name, replies=(), **settings):
    CHATS.clear()
    benchmark = BFCL(**settings)
    item = next(item for item in benchmark.items() if item.id == name)
    async with Isolated(benchmark) as isolated:
        given = await benchmark.attempt(item, ListenedPolicy(Heard(tuple(replies))), 0, isolated)
    return given, list(CHATS)


async def test_a_function_that_comes_later_opens_a_new_chat_that_knows_all_that_was_said():
    call = [Call("cd", {"folder": "document"})]
    given, chats = await conversation("multi_turn_miss_func_0", [call, "Yes."])
    (before, first), (after, second) = chats
    assert {tool.name for tool in after.tools} - {tool.name for tool in before.tools} == {"sort"}
    assert second.heard[: len(first.heard)][0] == first.heard[0]
    assert [message["role"] for message in second.heard[:4]] == ["user", "assistant", "tool", "assistant"]
    asked, told = second.heard[1]["tool_calls"][0], second.heard[2]
    assert asked["function"] == {"name": "cd", "arguments": {"folder": "document"}}
    assert told["tool_call_id"] == asked["id"] and json.loads(told["content"])
    assert any("updated some more functions" in message["content"] for message in second.heard)
    assert len(given["result"]) == 5


async def test_tools_are_json_schemas():
    _, chats = await conversation("multi_turn_base_150")
    tools = {tool.name: tool for tool in chats[0][0].tools}
    assert tools["book_flight"].parameters["type"] == "object"
    assert tools["set_budget_limit"].parameters["properties"]["budget_limit"]["type"] == "number"
    assert tools["book_flight"].returns["properties"]


async def test_with_prompting_functions_stand_in_the_system_prompt_and_results_are_the_users_words():
    given, chats = await conversation("multi_turn_miss_func_0", ["[ls(a=True)]"], prompting=True)
    ((task, chat),) = chats
    assert task.tools == ()
    assert chat.heard[0]["role"] == "system" and '"name": "mkdir"' in chat.heard[0]["content"]
    assert '"name": "sort"' not in chat.heard[0]["content"]
    (result,) = ast.literal_eval(chat.heard[2]["content"])
    assert chat.heard[2]["role"] == "user" and result["name"] == "ls(a=True)"
    assert any("'name': 'sort'" in message["content"] for message in chat.heard[3:])
    assert given["result"][0] == ["[ls(a=True)]", ""]


class Full(ScriptedChat):
    room = property(lambda self: 0 if len(self.heard) > 1 else None)


async def test_a_conversation_without_room_ends_and_is_scored_as_it_stands():
    class Policy:
        def chat(self, task, limits, seed=0):
            return Full([[Call("ls", {})]])

    benchmark = BFCL(categories=("base",), tasks=1)
    async with Isolated(benchmark) as isolated:
        given = await benchmark.attempt(benchmark.items()[0], ListenedPolicy(Policy()), 0, isolated)
    assert given == {"result": [[[{"ls": "{}"}]]], "ended": "", "prompting": False}
    assert benchmark.score(benchmark.items()[0], given).detail == "force_terminated: 1 of 4 turns"


def test_calls_in_turns_without_expected_call_are_told_though_they_do_not_count():
    entry = entries()["multi_turn_miss_func_0"]
    turns = expected(entry)
    turns[2] = [[{"pwd": "{}"}], "I can't sort."]
    figures = verdict(entry.id, turns).figures
    assert (figures["accuracy"], figures["spurious_calls"], figures["restraint"]) == (1, 1, 0)
    assert "spurious_calls" not in verdict("multi_turn_base_0", expected(entries()["multi_turn_base_0"])).figures


def test_notes_tell_figures_with_and_without_what_cannot_be_passed_and_with_spurious_calls(tmp_path):
    benchmark = BFCL(tasks=800)
    records = []
    for name in ("multi_turn_base_0", "multi_turn_base_187", "multi_turn_miss_func_0", "multi_turn_miss_func_187"):
        turns = expected(entries()[name])
        if name == "multi_turn_miss_func_0":
            turns[2] = [[{"pwd": "{}"}]]
        path = tmp_path / "results.json"
        path.write_text(json.dumps({"id": name, "result": [] if name in UNPASSABLE else turns}))
        records += benchmark.read_results(path)
    impossible, idle = benchmark.notes(score(benchmark, records))
    assert impossible == (
        "No policy passes multi_turn_base_187, multi_turn_miss_func_187 by what it is told: accuracy is 0.500 with "
        "them and 1.000 without (accuracy_passable)."
    )
    assert idle.startswith("2 turns of 2 attempts expect no call") and "0.500, and 0.000" in idle


def test_result_files_of_the_package_are_read(tmp_path):
    entry = entries()["multi_turn_base_0"]
    qwen = [
        [f'<tool_call>\n{json.dumps({"name": name, "arguments": json.loads(arguments)})}\n</tool_call>' for step in turn
         if isinstance(step, list) for call in step for name, arguments in call.items()]
        for turn in expected(entry)
    ]  # fmt: skip
    path, benchmark = tmp_path / "BFCL_v4_multi_turn_base_result.json", BFCL(categories=("base",))
    lines = [
        {"id": "multi_turn_base_0", "result": expected(entry), "latency": [[1.0]]},
        {"id": "multi_turn_base_1", "result": [[["as lists of words"]]] * 4},
        {"id": "multi_turn_base_2", "result": "Error during inference: away"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    records = benchmark.read_results(path)
    assert [record.figures["accuracy"] for record in score(benchmark, records)] == [1, 0, 0]
    path.write_text(json.dumps({"id": "multi_turn_base_0", "result": qwen}))
    (read,) = score(benchmark, benchmark.read_results(path, tool_format("qwen")))
    assert (read.item, read.figures["accuracy"]) == ("multi_turn_base_0", 1)
    with pytest.raises(ValueError, match="has texts alone"):  # which would all be scored as silence
        benchmark.read_results(path)


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"id": "multi_turn_base_0"}', '{"id": "multi_turn_miss_func_0", "result": []}']
)
def test_a_file_that_is_none_is_refused_by_its_line(tmp_path, line):
    path = tmp_path / "results.json"
    path.write_text('{"id": "multi_turn_base_1", "result": []}\n' + line)
    with pytest.raises(ValueError, match="line 2 is no"):
        BFCL(categories=("base",)).read_results(path)


# that an entry cannot be passed


def told_before(entry, turn):
    """Every word and number that the entry, its functions and the expected calls' results tell up to a turn."""
    world = BFCL().open_entry(entry.id)
    functions, added = entry.functions()
    text = [json.dumps([entry.raw["initial_config"], functions, added])]
    text += [message["content"] for messages in entry.raw["question"][: turn + 1] for message in messages]
    for texts in entry.expected[:turn]:
        calls = [expected_call(entry, text) for text in texts]
        text += world.step([{call.name: json.dumps(call.arguments)} for call in calls]) or []
    return set(re.findall(r"[a-z]+|\d+", " ".join(text).lower()))


@pytest.mark.parametrize("name", [name for name in UNPASSABLE if name != "multi_turn_miss_func_49"])
def test_an_expected_text_has_a_word_that_nothing_tells(name):
    entry, word = entries()[name], "2023" if name.endswith("_176") else "unsatisfactory"
    (turn,) = (number for number, texts in enumerate(entry.expected) if any(word in text for text in texts))
    assert word not in told_before(entry, turn)
    turns = expected(entry)
    for call in turns[turn][0]:
        if "create_ticket" in call:
            call["create_ticket"] = call["create_ticket"].replace(word, "2026" if word == "2023" else "poor")
    assert verdict(name, turns).figures["accuracy"] == 0  # so the word decides


def test_a_function_is_expected_before_it_is_offered():
    entry = entries()["multi_turn_miss_func_49"]
    _, added = entry.functions()
    assert [call["name"] for call in added["3"]] == ["wc", "tail", "cat"]
    turns = expected(entry)
    turns[1][0] = [call for call in turns[1][0] if "tail" not in call]
    assert verdict(entry.id, turns).figures["accuracy"] == 0
    assert "last_lines" in str(BFCL().open_entry(entry.id).step([{"cd": "{}"}, {"tail": '{"file_name": "file3.txt"}'}]))


def test_no_other_entry_expects_a_function_before_it_is_offered():
    early = set()
    for entry in entries().values():
        functions, added = entry.functions() if "missed_function" in entry.raw else ([], {})
        later = {function["name"] for turn in added.values() for function in turn}
        for turn, texts in enumerate(entry.expected):
            later -= {function["name"] for function in added.get(str(turn), [])}
            early |= {entry.id for text in texts if expected_call(entry, text).name in later}
    assert early == {"multi_turn_miss_func_49"}


def test_a_reply_with_words_beside_its_calls_counts_by_its_calls():
    assert _written(Reply("Let me see.", (Call("ls", {"a": True}),))) == [{"ls": '{"a": true}'}]
