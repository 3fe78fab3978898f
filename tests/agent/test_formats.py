"""Reading tool calls out of replies, per model family."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proverl.agent import Reply, render_tools, tool_format
from proverl.agent.formats import FORMATS
from proverl.core import Call, MalformedCall

CALL = '{"name": "find", "arguments": {"place": "Rome"}}'
PLACE = f"<tool_call>\n{CALL}\n</tool_call>"
FOUND = Call("find", {"place": "Rome"})


def read(family, text):
    reply = tool_format(family).parse(text)
    return reply.text, list(reply.calls)


def hermes(text):
    return read("qwen", text)


def smollm(text):
    return read("smollm2", text)


def tiny(text):
    return read("tiny", text)


@pytest.mark.parametrize("family", ["qwen", "qwen_thinking", "granite", "smollm2"])
def test_marked_calls_and_text_are_told_apart(family):
    text, calls = read(family, f"I look. {PLACE}\n{PLACE} Then I wait.")
    assert text.split() == ["I", "look.", "Then", "I", "wait."]
    assert calls == [FOUND, FOUND]


def test_a_reply_without_calls_is_all_text():
    assert hermes(" Hello. ") == ("Hello.", [])
    assert tiny(" Hello. ") == ("Hello.", [])


def test_arguments_may_hold_the_closing_mark():
    call = {"name": "say", "arguments": {"text": "a </tool_call> b"}}
    assert hermes(f"<tool_call>{json.dumps(call)}</tool_call>") == ("", [Call("say", call["arguments"])])


def test_arguments_escaped_once_more_are_accepted():
    call = {"name": "find", "arguments": json.dumps({"place": "Rome"})}
    assert hermes(f"<tool_call>{json.dumps(call)}</tool_call>")[1] == [FOUND]


def test_missing_arguments_mean_none():
    assert hermes('<tool_call>{"name": "list"}</tool_call>')[1] == [Call("list", {})]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (f"<think>{PLACE}</think>\n\nNo.", "No."),
        ("so</think>No.", "No."),  # the template opened the block
        (f"<think>never closed {PLACE}", ""),
        (f"<think>one</think><think>{PLACE}</think>No.", "No."),
        ("<think>so</think>It ends with </think>.", "It ends with </think>."),
    ],
)
def test_calls_in_thinking_are_not_calls(reply, text):
    assert hermes(reply) == (text, [])


def test_calls_before_and_after_thinking_count():
    reply = tool_format("qwen_thinking").parse(f"<think>hm</think>\n{PLACE}<think>or {PLACE}</think>{PLACE}Ok.")
    assert reply == Reply("Ok.", (FOUND, FOUND), thinking=f"hm\nor {PLACE}")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('{"name": "find", "arguments": {"place": }}', "not valid JSON"),
        ('["find"]', "must be an object"),
        ('{"arguments": {}}', "name must be a non-empty string, not None"),
        ('{"name": "find", "arguments": [1]}', "arguments must be a JSON object, not [1]"),
        ('{"name": "find", "arguments": "Rome"}', "not valid JSON"),
        ('{"name": "find", "arguments": {"n": NaN}}', "NaN is not JSON"),
        ('{"name": "find", "arguments": {"n": 1e999}}', "the number 1e999 is too large"),
        ('{"name": "find", "arguments": {"n": ' + "9" * 5000 + "}}", "digits"),
        ('{"name": "find", "arguments": ' + '{"n":' * 101 + "1" + "}" * 102, "nested too deeply"),
        ('{"name": "find", "arguments": {"n": "\\ud800"}}', "half a character"),
        ('{"name": "find", "arguments": "{\\"n\\": \\"\\\\ud800\\"}"}', "half a character"),
        (f"{CALL}\n{CALL}", "expected </tool_call>"),
        ('{"name": "find", "arguments": {}} and more', "expected </tool_call>"),
        ("", "not valid JSON"),
    ],
)
def test_broken_hermes_calls_say_why_and_do_not_hide_the_next(body, reason):
    text, calls = hermes(f"a<tool_call>{body}</tool_call>b{PLACE}")
    assert text == "ab"
    assert calls[0] == MalformedCall(f"<tool_call>{body}", calls[0].reason)
    assert reason in calls[0].reason
    assert calls[1:] == [FOUND]


def test_an_unclosed_call_is_malformed_and_ends_where_the_next_begins():
    _, calls = hermes('<tool_call>{"name": "a", "arguments": {}}' + PLACE)
    assert isinstance(calls[0], MalformedCall)
    assert "expected </tool_call>" in calls[0].reason
    assert calls[1:] == [FOUND]


def test_deep_nesting_is_malformed_not_a_crash():
    _, calls = hermes('<tool_call>{"name": "a", "arguments": ' + '{"a":' * 100_000)
    assert isinstance(calls[0], MalformedCall)


def test_smollm_lists_its_calls():
    assert smollm(f"Ok.<tool_call>[{CALL}, {CALL}]</tool_call>") == ("Ok.", [FOUND, FOUND])
    assert smollm("None fits.<tool_call>[]</tool_call>") == ("None fits.", [])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"[{CALL}", "not valid JSON"),
        (f'[{CALL}, "find"]', "must be an object"),
        (f"[{CALL}] so", "expected </tool_call>"),
    ],
)
def test_a_broken_list_is_one_malformed_call(body, reason):
    text, calls = smollm(f"<tool_call>{body}</tool_call>{PLACE}")
    assert (text, calls) == ("", [MalformedCall(f"<tool_call>{body}", calls[0].reason), FOUND])
    assert reason in calls[0].reason


def test_tiny_calls():
    text, calls = tiny('Sure.<|call|>open{"kind":"savings","n":[1,2]}<|/call|><|call|>list{}<|/call|>')
    assert text == "Sure."
    assert calls == [Call("open", {"kind": "savings", "n": [1, 2]}), Call("list", {})]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("<|call|>open", "name followed by its arguments"),
        ("<|call|>{}<|/call|>", "non-empty string"),
        ('<|call|>open{"a":1<|/call|>', "not valid JSON"),
        ('<|call|>open{"a":1}', "expected <|/call|>"),
        ("<|call|><|call|>open{}<|/call|>", "non-empty string"),
    ],
)
def test_broken_tiny_calls_say_why(reply, reason):
    _, calls = tiny(reply)
    assert isinstance(calls[0], MalformedCall)
    assert reason in calls[0].reason


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), values, max_size=4))
@example({"<think>": "</think>", "</tool_call>": "<tool_call>"})
def test_any_arguments_survive_every_format(arguments):
    body = json.dumps(arguments)
    assert smollm(f'<tool_call>[{{"name": "f", "arguments": {body}}}]</tool_call>')[1] == [Call("f", arguments)]
    assert tiny(f"<|call|>f{body}<|/call|>")[1] == [Call("f", arguments)]
    assert hermes(f'<tool_call>{{"name": "f", "arguments": {body}}}</tool_call>')[1] == [Call("f", arguments)]


pieces = st.sampled_from(
    ["<tool_call>", "</tool_call>", "<|call|>", "<|/call|>", "<think>", "</think>", '{"name":', '"f"', "{", "}", "a"]
)


@given(st.lists(pieces, max_size=12))
def test_any_reply_can_be_read(parts):
    for family in FORMATS:
        _, calls = read(family, "".join(parts))
        assert all(isinstance(call, (Call, MalformedCall)) for call in calls)


def test_an_unknown_family_lists_the_known_ones():
    with pytest.raises(ValueError, match="'llama'; known formats: tiny, qwen, qwen_thinking, granite, smollm2"):
        tool_format("llama")


def test_tools_are_rendered_without_our_own_keyword(tools):
    rendered = render_tools(tools)
    assert "x-entity" not in json.dumps(rendered)
    assert [tool["function"]["name"] for tool in rendered] == ["list_accounts", "open_account", "transfer_money"]
    parameters = rendered[2]["function"]["parameters"]
    assert list(parameters["properties"]) == ["account_id", "amount", "memo"]
    assert "x-entity" in json.dumps(tools[2].parameters)
