"""Each model family on its own chat template: what a conversation looks like to the model, and what is refused.

`golden/` holds one conversation as each family sees it, from the first prompt to the opening of the next reply.
"""

from pathlib import Path

import pytest

from proverl.agent import ChatTemplate, Reply, render_tools, tool_format
from proverl.core import Call

FAMILIES = ["tiny", "qwen2_5", "qwen3", "qwen3_thinking", "qwen3_instruct_2507", "granite", "smollm2"]
FIRST = [{"role": "system", "content": "Today is Monday."}, {"role": "user", "content": "Open a savings account."}]
CALLS = (Call("list_accounts", {}), Call("open_account", {"kind": 'savings \\ "é"'}))
RESULTS = [{"role": "tool", "content": '{"accounts":[]}'}, {"role": "tool", "content": '{"account_id":41}'}]
DONE = Reply("It is account 41.")
NEXT = [{"role": "user", "content": "Thanks!"}]
THOUGHT = "<think>\nFirst I look.\n</think>\n\n"
NOTHING = "<think>\n\n</think>\n\n"


def sampled(template: ChatTemplate, family: str, reply: Reply) -> list[int]:
    """A reply as the model writes it, with some thinking where it thinks."""
    ids = template.written(reply)
    if family != "qwen3_thinking":
        return ids
    text = template.tokenizer.decode(ids).replace(NOTHING, THOUGHT)
    return template.tokenizer.encode(text, add_special_tokens=False)


def conversation(template: ChatTemplate, family: str, tools) -> list[int]:
    """The tokens of two replies and what stands around them, put together as in an episode."""
    ids = template.prompt(FIRST, tools)
    for reply, new in ((Reply("", CALLS), RESULTS), (DONE, NEXT)):
        ids += sampled(template, family, reply)
        ids += template.following(new, ids[-1])
    return ids


def rendered(template: ChatTemplate, tools) -> str:
    """The same conversation from its messages, by the chat template alone."""
    asked = [{"type": "function", "function": {"name": call.name, "arguments": call.arguments}} for call in CALLS]
    replies = [{"role": "assistant", "content": "", "tool_calls": asked}, {"role": "assistant", "content": DONE.text}]
    messages = [*FIRST, replies[0], *RESULTS, replies[1], *NEXT]
    return template.tokenizer.apply_chat_template(
        messages, tools=render_tools(tools), tokenize=False, add_generation_prompt=True, **template.format.options
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_a_conversation_is_what_the_family_expects(families, family, tools):
    template = families[family]
    golden = Path(__file__).with_name("golden").joinpath(f"{family}.txt").read_text("utf-8")
    ids = conversation(template, family, tools)
    assert template.tokenizer.decode(ids) == golden
    assert ids == template.tokenizer.encode(golden, add_special_tokens=False)


@pytest.mark.parametrize("family", FAMILIES)
def test_pieces_add_up_to_what_the_template_writes_at_once(families, family, tools):
    template = families[family]
    text = template.tokenizer.decode(conversation(template, family, tools))
    whole = rendered(template, tools)
    # Qwen3's template forgets earlier blocks of thinking; a context that is trained on keeps what was sampled
    forgets = family in ("qwen3", "qwen3_thinking")
    assert (text != whole) == forgets
    assert text.replace(NOTHING, "").replace(THOUGHT, "") == whole.replace(NOTHING, "")


def test_thinking_stays_in_the_context(families, tools):
    text = families["qwen3"].tokenizer.decode(conversation(families["qwen3_thinking"], "qwen3_thinking", tools))
    assert text.count(THOUGHT) == 2
    assert text.endswith("<|im_start|>assistant\n")  # the model opens the block itself
    text = families["qwen3"].tokenizer.decode(conversation(families["qwen3"], "qwen3", tools))
    assert text.count(NOTHING) == 3 and text.endswith(NOTHING)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_family_writes_is_read_back(families, family):
    template = families[family]
    thinking = "First I look." if family == "qwen3_thinking" else ""
    for reply in (Reply("", CALLS), DONE, Reply("I look.", CALLS[:1])):
        read = template.format.parse(template.text(sampled(template, family, reply)))
        assert read == Reply(reply.text, reply.calls, thinking=thinking)


OPENED = """{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + (message.content or '') }}
{%- if loop.first %}{{ tools }}{% endif %}
{%- for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}<|im_end|>
{% endfor %}{{ '<|im_start|>assistant\\n<think>\\n' if add_generation_prompt }}"""


def test_a_call_in_thinking_that_the_template_opened_is_no_call(chatml):
    tokenizer = chatml(OPENED)
    template = ChatTemplate(tokenizer, tool_format("qwen_thinking"))
    call = '<tool_call>{"name": "list_accounts"}</tool_call>'
    for written, reply in {
        f"Or {call}?</think>No.<|im_end|>": Reply("No.", thinking=f"Or {call}?"),
        f"Or {call}": Reply("", thinking=f"Or {call}"),  # cut off
        f"Yes.</think>{call}": Reply("", (Call("list_accounts", {}),), thinking="Yes."),
    }.items():
        assert template.format.parse(template.text(tokenizer.encode(written))) == reply


@pytest.mark.parametrize(
    ("name", "format", "reason"),
    [
        ("qwen3", "tiny", "writes calls in another way than this format reads them: .*<tool_call>"),
        ("qwen3", "smollm3", "no tool format 'smollm3'; known formats"),
        ("qwen3_5_think", "qwen", "writes calls in another way than this format reads them: .*<function=look_up"),
        ("qwen2_5_vl", "qwen", "does not show the tools"),
        ("deepseek_r1_distill", "qwen", "does not show the tools"),
    ],
)
def test_a_family_that_is_not_this_format_is_refused(qwen, name, format, reason):
    with pytest.raises(ValueError, match=reason):
        ChatTemplate(qwen(name), tool_format(format))


def test_smollm2_has_no_tools_of_its_own(families):
    with pytest.raises(ValueError, match="does not show the tools"):
        ChatTemplate(families["smollm2"].tokenizer, tool_format("qwen"))
