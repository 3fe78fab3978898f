"""Chat templates, rendered a piece at a time."""

import pytest

from proverl.agent import ChatTemplate, Reply, render_tools, tool_format
from proverl.core import Call, MalformedCall

HERMES = """{%- if tools %}<|im_start|>system
{{ messages[0].content if messages[0].role == 'system' }}
{%- for tool in tools %}{{ tool | tojson }}{% endfor %}<|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}{%- for message in messages %}{%- if message.role == 'user' or message.role == 'assistant' %}
{{- '<|im_start|>' + message.role + '\n' + BODY }}{% for call in message.tool_calls or [] %}
{{- '<tool_call>' + (call.function | tojson) + '</tool_call>' }}{% endfor %}{{- '<|im_end|>\n' }}
{%- elif message.role == 'tool' %}
{%- if loop.previtem.role != 'tool' %}{{- '<|im_start|>user' }}{% endif %}
{{- '\n<tool_response>\n' + message.content + '\n</tool_response>' }}
{%- if loop.last or loop.nextitem.role != 'tool' %}{{- '<|im_end|>\n' }}{% endif %}
{%- endif %}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{% endif %}"""
PLAIN = HERMES.replace("BODY", "message.content")
# as Qwen3 does it: an empty thinking block, kept in the last reply only
THINKING = HERMES.replace(
    "BODY", "('<think>\n\n</think>\n\n' if loop.last and message.role == 'assistant' else '') + message.content"
).replace("<|im_start|>assistant\n' }}", "<|im_start|>assistant\n<think>\n\n</think>\n\n' }}")


def test_the_tiny_template_is_compact(tokenizer, tools):
    call = {"id": "c", "type": "function", "function": {"name": "open_account", "arguments": {"kind": "é", "a": [1]}}}
    messages = [
        {"role": "system", "content": "Today is Monday."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "", "tool_calls": [call, call]},
        {"role": "tool", "content": '{"account_id":1}'},
        {"role": "tool", "content": "{}"},
        {"role": "assistant", "content": "Done."},
    ]
    text = tokenizer.apply_chat_template(messages, tools=render_tools(tools), tokenize=False)
    called = '<|call|>open_account{"kind":"é","a":[1]}<|/call|>'
    assert text == (
        "<|system|>Today is Monday.\nlist_accounts()\nopen_account(kind:checking|savings)"
        "\ntransfer_money(account_id:integer,amount:number,memo?)<|end|>"
        f"<|user|>Hi<|end|><|assistant|>{called}{called}<|end|>"
        '<|tool|>{"account_id":1}<|end|><|tool|>{}<|end|><|assistant|>Done.<|end|>'
    )


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"type": "array", "items": {"type": "integer"}}, "(x?:integer[])"),
        ({"type": "array", "items": {"type": "string"}}, "(x?:string[])"),
        ({"type": "array"}, "(x?:[])"),
        ({"type": "object", "properties": {"y": {"type": "string"}}}, "(x?:object)"),
        ({"type": ["integer", "null"]}, "(x?:integer)"),
        ({"anyOf": [{"type": "null"}, {"enum": ["a", "b"], "type": "string"}]}, "(x?:a|b)"),
    ],
)
def test_the_tiny_template_shows_every_kind_of_parameter(tokenizer, schema, shown):
    function = {"name": "f", "parameters": {"type": "object", "properties": {"x": schema}}}
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Hi"}], tools=[{"type": "function", "function": function}], tokenize=False
    )
    assert f"\nf{shown}<|end|>" in text


@pytest.mark.parametrize("source", [PLAIN, THINKING])
def test_pieces_add_up_for_chatml_templates(chatml, tools, source):
    tokenizer = chatml(source)
    template = ChatTemplate(tokenizer, tool_format("qwen"))
    first = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    results = [{"role": "tool", "content": "1"}, {"role": "tool", "content": "2"}]
    reply = tokenizer.encode("I open it.<|im_end|>")
    ids = template.prompt(first, tools) + reply + template.following(results, reply[-1])
    opening = "<|im_start|>assistant\n" + ("<think>\n\n</think>\n\n" if source is THINKING else "")
    assert tokenizer.decode(ids).endswith(
        f"<|im_start|>user\nHi<|im_end|>\n{opening}I open it.<|im_end|>\n<|im_start|>user"
        f"\n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response><|im_end|>\n{opening}"
    )


def test_a_reply_that_was_cut_gets_its_end_of_turn(template, tokenizer):
    new = [{"role": "user", "content": "Go on"}]
    assert tokenizer.decode(template.following(new, tokenizer.encode("hal")[-1])) == (
        "<|end|><|user|>Go on<|end|><|assistant|>"
    )
    assert tokenizer.decode(template.following(new, template.end_of_turn)) == "<|user|>Go on<|end|><|assistant|>"


def test_the_end_token_is_no_part_of_the_text(template, tokenizer):
    assert template.text(tokenizer.encode("Done.<|end|>")) == "Done."
    assert template.text(tokenizer.encode("<|call|>f{}<|/call|>")) == "<|call|>f{}<|/call|>"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (PLAIN.replace("{{ tool | tojson }}", ""), "does not show the tools"),
        (PLAIN.replace("+ message.content }}", "+ message.content | upper }}"), "does not write replies as they are"),
        (PLAIN.replace("<tool_call>", "<call>"), "writes calls in another way than this format reads them: .*<call>"),
        (PLAIN.replace("message.tool_calls or []", "[]"), "writes calls in another way"),
        (PLAIN.replace("loop.previtem.role != 'tool'", "messages | length < 4"), "depends on the messages before"),
        (PLAIN + "{{ messages | length }}", "depends on the messages before"),
        ("{% if tools %}{{ messages | length }}{% endif %}look_up_weather" + PLAIN, "not a token prefix"),
        (PLAIN.replace("<|im_end|>", "to"), "merges with the text before"),
        ("{{ raise_exception('only Latin') }}", "only Latin"),
    ],
)
def test_a_template_that_cannot_be_used_in_pieces_is_refused_with_the_reason(chatml, source, reason):
    tokenizer = chatml(source)
    with pytest.raises(ValueError, match=reason):
        ChatTemplate(tokenizer, tool_format("qwen"))


def test_a_tokenizer_without_a_template_is_refused(chatml):
    with pytest.raises(ValueError, match="cannot be used with format 'qwen'"):
        ChatTemplate(chatml(None), tool_format("qwen"))


def test_a_demonstrated_reply_is_what_a_model_would_have_sampled(template):
    calls = (Call("open_account", {"kind": "é"}), Call("list_accounts", {}))
    ids = template.written(Reply("", calls))
    assert template.text(ids) == '<|call|>open_account{"kind":"é"}<|/call|><|call|>list_accounts{}<|/call|>'
    assert ids[-1] == template.end_of_turn and template.end_of_turn not in ids[:-1]
    assert template.format.parse(template.text(ids)) == Reply("", calls)
    assert template.text(template.written(Reply("Done."))) == "Done."


@pytest.mark.parametrize("body", [PLAIN, THINKING])
def test_a_demonstration_begins_behind_what_opens_a_reply(chatml, body):
    template = ChatTemplate(chatml(body), tool_format("qwen"))
    assert template.text(template.written(Reply("It is done."))) == "It is done."


def test_a_reply_that_the_template_writes_otherwise_is_no_demonstration(chatml, template):
    shouting = PLAIN.replace(
        "'<|im_start|>' + message.role",
        "'<|im_start|>' + (message.role | upper if loop.last and message.role == 'assistant' else message.role)",
    )
    with pytest.raises(ValueError, match="in another way than a sampled one"):
        ChatTemplate(chatml(shouting), tool_format("qwen")).written(Reply("Yes."))
    with pytest.raises(ValueError, match="cannot be read: no JSON"):
        template.written(Reply("", (MalformedCall("x", "no JSON"),)))
