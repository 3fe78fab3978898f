"""Tokens in, tokens out: what was sampled is what is kept."""

import asyncio
import json
import re
from functools import cache
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proverl.agent import Generated, Limits, TokenChat, clip, run_episode
from proverl.core import Call, MalformedCall, StopReason

FAMILIES = ["tiny", "qwen2_5", "qwen3", "qwen3_thinking", "qwen3_instruct_2507", "granite", "smollm2"]
FIRST = [{"role": "system", "content": "Today is Monday."}, {"role": "user", "content": "Hi"}]
NEXT = [{"role": "user", "content": "Go on"}]


class Sampler:
    """A `generate` that returns the given ids, and keeps the contexts that it was asked with."""

    def __init__(self, *replies: list[int], finish: str = "stop") -> None:
        self.replies = list(replies)
        self.finish = finish
        self.contexts: list[list[int]] = []
        self.most: list[int] = []

    async def __call__(self, ids, most):
        self.contexts.append(list(ids))
        self.most.append(most)
        reply = self.replies.pop(0)
        return Generated(reply, [-0.5 - n for n in range(len(reply))], self.finish)


async def test_a_reply_is_read_in_the_family_format(template, tokenizer, tools):
    sampler = Sampler(tokenizer.encode('Ok.<|call|>open_account{"kind":"savings"}<|/call|><|call|>x<|/call|><|end|>'))
    chat = TokenChat(template, sampler, tools, Limits())
    chat.observe(FIRST)
    reply = await chat.reply()
    assert reply.text == "Ok."
    assert reply.calls[0] == Call("open_account", {"kind": "savings"})
    assert isinstance(reply.calls[1], MalformedCall)
    assert sampler.contexts == [template.prompt(FIRST, tools)]


async def test_prompt_and_replies_share_the_models_context(template, tokenizer, tools):
    sampler = Sampler([7] * 30, finish="length")
    prompt = len(template.prompt(FIRST, tools))
    chat = TokenChat(template, sampler, tools, Limits(response_tokens=500).within(prompt + 40))
    chat.observe(FIRST)
    assert chat.room == 40
    await chat.reply()
    assert chat.room == 10
    chat.observe(NEXT)
    assert chat.room == max(0, 10 - len(template.following(NEXT)))
    assert Limits(context_tokens=10).within(20).context_tokens == 10


texts = st.text(max_size=8) | st.sampled_from(["<|im_end|>", "</tool_call>", "<think>", "Placeholder-Reply", "<|end|>"])
turns = st.lists(
    st.tuples(st.lists(st.integers(0, 1_000_000), min_size=1, max_size=8), st.booleans(), st.lists(texts, min_size=1)),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=50, deadline=None)
@given(turns)
def test_trained_ids_are_the_sampled_ids_and_a_context_never_changes(families, tools, family, turns):
    """Whatever is sampled: ids of broken UTF-8, special tokens in the middle, calls, with an end or without."""
    template = families[family]
    ids = vocabulary(template)
    sampled = [[ids[n % len(ids)] for n in chosen] + [template.end_of_turn] * ended for chosen, ended, _ in turns]
    sampler = Sampler(*sampled)
    chat = TokenChat(template, sampler, tools, Limits())

    async def converse():
        chat.observe(FIRST)
        for _, _, results in turns:
            reply = await chat.reply()
            json.dumps([call.arguments for call in reply.calls if isinstance(call, Call)], allow_nan=False)
            chat.observe([{"role": "tool", "content": text} for text in results])

    asyncio.run(converse())
    transcript = chat.transcript()
    assert transcript.prompt_ids == template.prompt(FIRST, tools)
    assert len(transcript.response_ids) == len(transcript.mask) == len(transcript.log_probs)
    kept = [token for token, mask in zip(transcript.response_ids, transcript.mask, strict=True) if mask]
    assert kept == [token for ids in sampled for token in ids]
    assert sum(transcript.mask) == sum(map(len, sampled))
    expected = [-0.5 - n for ids in sampled for n in range(len(ids))]
    assert [p for p, mask in zip(transcript.log_probs, transcript.mask, strict=True) if mask] == expected
    assert not any(p for p, mask in zip(transcript.log_probs, transcript.mask, strict=True) if not mask)
    whole = transcript.prompt_ids + transcript.response_ids
    for context, ids in zip(sampler.contexts, sampled, strict=True):
        assert whole[: len(context) + len(ids)] == context + ids
    for before, context, (_, _, results) in zip(sampler.contexts, sampler.contexts[1:], turns, strict=False):
        shown = template.tokenizer.decode(context[len(before) :])
        assert all(normalize("NFC", text) in normalize("NFC", shown) for text in results)


@cache
def vocabulary(template):
    """All ids that a model may sample, those of broken UTF-8 and of the marks more often."""
    marks = ["<tool_call>", "</tool_call>", "<think>", "</think>", '{"name": "f", "arguments": {}}', "<|call|>", "f{}"]
    rare = [token for text in marks for token in template.tokenizer.encode(text, add_special_tokens=False)]
    size = len(getattr(template.tokenizer, "get_vocab", lambda: range(151669))())
    return [*range(size), *(rare + [template.end_of_turn]) * (size // 100 + 1)]


async def test_between_replies_stand_the_end_of_turn_and_the_new_messages(template, tokenizer, tools):
    sampler = Sampler(tokenizer.encode("Yes.<|end|>"), tokenizer.encode("cut"), tokenizer.encode("Bye.<|end|>"))
    chat = TokenChat(template, sampler, tools, Limits())
    chat.observe(FIRST)
    await chat.reply()
    chat.observe(NEXT)
    await chat.reply()
    chat.observe(NEXT)
    await chat.reply()
    chat.observe(NEXT)  # never answered
    assert tokenizer.decode(chat.transcript().response_ids) == (
        "Yes.<|end|><|user|>Go on<|end|><|assistant|>cut<|end|><|user|>Go on<|end|><|assistant|>Bye.<|end|>"
    )


async def test_room_counts_what_was_sampled_and_what_was_observed(template, tokenizer, tools):
    chat = TokenChat(template, Sampler(tokenizer.encode("Yes.<|end|>")), tools, Limits(response_tokens=40))
    chat.observe(FIRST)
    assert chat.room == 40
    await chat.reply()
    assert chat.room == 40 - len(tokenizer.encode("Yes.<|end|>"))
    chat.observe(NEXT)
    assert chat.room == 40 - len(tokenizer.encode("Yes.<|end|><|user|>Go on<|end|><|assistant|>"))


async def test_a_reply_may_be_limited_on_its_own(template, tools):
    sampler = Sampler([9])
    chat = TokenChat(template, sampler, tools, Limits(response_tokens=40, reply_tokens=7))
    chat.observe(FIRST)
    await chat.reply()
    assert sampler.most == [7]


async def test_a_prompt_over_its_limit_leaves_no_room(template, tools, task, environment):
    limits = Limits(prompt_tokens=5)
    episode = await run_episode(task, environment, TokenChat(template, Sampler(), tools, limits), limits)
    assert episode.stop == StopReason.TOKENS
    assert "limits.prompt_tokens" in episode.error


async def test_an_episode_ends_when_the_room_is_used_up(template, tokenizer, task, environment):
    call = tokenizer.encode("<|call|>list_accounts{}<|/call|><|end|>")
    limits = Limits(response_tokens=len(call) + 10, tool_output_tokens=5)
    chat = TokenChat(template, Sampler(call), task.tools, limits)
    episode = await run_episode(task, environment, chat, limits)
    assert episode.stop == StopReason.TOKENS
    assert len(episode.calls) == 1
    assert episode.transcript.response_ids == call


@pytest.mark.parametrize(
    "generated", [Generated([], []), Generated([9, 9], [-1.0]), Generated([9] * 50, [-1.0] * 50)], ids=str
)
async def test_a_generate_that_breaks_its_contract_is_named(template, tools, generated):
    async def generate(ids, most):
        return generated

    chat = TokenChat(template, generate, tools, Limits(response_tokens=40))
    chat.observe(FIRST)
    with pytest.raises(ValueError, match="equally many, 1 to 40"):
        await chat.reply()


async def test_tool_results_are_cut_by_the_models_own_tokens(template, tokenizer, tools):
    chat = TokenChat(template, Sampler(), tools, Limits())
    text = "open the account and transfer money " * 5
    total = len(tokenizer.encode(text))
    assert chat.clip(text, 4).endswith(f"... [cut: {total - 4} of {total} tokens not shown]")
    assert chat.clip(text, total) == text
    assert chat.clip("é" * 30, 7).startswith("ééé... [cut: ")


def test_a_huge_tool_result_is_cut_without_tokenising_all_of_it(template):
    read = []

    class Counting:
        def encode(self, text, *, add_special_tokens):
            read.append(len(text))
            return template.tokenizer.encode(text, add_special_tokens=add_special_tokens)

        def decode(self, ids, *, skip_special_tokens):
            return template.tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)

    text = "open the account " * 10_000
    shown = clip(text, 6, Counting())
    said = re.search(r"\[cut: (\d+) of (\d+) tokens not shown\]$", shown)
    assert text.startswith(shown.partition("...")[0]) and max(read) < len(text) / 4
    total = len(template.tokenizer.encode(text))
    assert int(said[2]) == int(said[1]) + 6 == pytest.approx(total, rel=0.01)
