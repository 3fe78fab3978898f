import asyncio
import json
from random import Random

import numpy as np
import pytest

from proverl.agent import ChatTemplate, Generated, Limits, OracleChat, TokenChat, render_tools, run_episode, tool_format
from proverl.core import Result, canonical_json
from proverl.trainer.tiny.curriculum import CURRICULUM, Demonstration, Stage
from proverl.trainer.tiny.data import batches, demonstrations, encode, make_block, render
from proverl.trainer.tiny.invented import invent_task

STAGE = CURRICULUM[3]


class Prepared:
    def __init__(self, results):
        self.results = results

    async def execute(self, call):
        return Result(self.results[canonical_json([call.name, call.arguments])])

    async def state_digest(self):
        return ""


def played(demonstration, tokenizer):
    """A `generate` that says what the demonstration's author said, as tokens."""
    replies = [message for message in demonstration.messages if message["role"] == "assistant"]
    texts = [tokenizer.apply_chat_template([reply], tokenize=False).removeprefix("<|assistant|>") for reply in replies]

    async def generate(ids, most):
        sampled = tokenizer.encode(texts.pop(0), add_special_tokens=False)
        return Generated(sampled, [0.0] * len(sampled))

    return generate


@pytest.mark.parametrize("seed", range(8))
def test_training_sees_the_tokens_and_the_mask_of_an_episode(tokenizer, seed):
    """What is learnt from is, token by token, what a rollout that writes the same would have produced."""
    task, results = invent_task(STAGE, seed)
    limits = Limits(user_turns=99)
    oracle = asyncio.run(run_episode(task, Prepared(results), OracleChat(task), limits))
    demonstration = Demonstration(oracle.messages, task.tools)
    template = ChatTemplate(tokenizer, tool_format("tiny"))
    chat = TokenChat(template, played(demonstration, tokenizer), task.tools, limits)
    episode = asyncio.run(run_episode(task, Prepared(results), chat, limits))
    assert episode.messages == oracle.messages
    ids, mask = encode(demonstration, tokenizer)
    assert list(ids) == episode.transcript.prompt_ids + episode.transcript.response_ids
    assert list(mask) == [0] * len(episode.transcript.prompt_ids) + episode.transcript.mask


def test_rendering_is_what_the_tokenizer_renders(tokenizer, shown):
    for item in shown[:20]:
        tools = render_tools(item.tools)
        assert render(item) == tokenizer.apply_chat_template(list(item.messages), tools=tools, tokenize=False)


def test_the_mask_covers_exactly_the_replies(tokenizer, shown):
    for item in shown[:50]:
        ids, mask = encode(item, tokenizer)
        edges = np.flatnonzero(np.diff(mask.astype(int), prepend=0, append=0)).reshape(-1, 2)
        written = [tokenizer.decode(ids[start:end], skip_special_tokens=False) for start, end in edges]
        replies = [message for message in item.messages if message["role"] == "assistant"]
        assert written == [
            tokenizer.apply_chat_template([reply], tokenize=False)[len("<|assistant|>") :] for reply in replies
        ]


def test_batches_hold_every_row_once_within_the_bound(tokenizer, shown):
    made = batches(shown, tokenizer, 2048, Random(0))
    rows = sorted(tuple(row[row != tokenizer.pad_token_id]) for batch in made for row in batch.ids)
    assert rows == sorted(tuple(encode(item, tokenizer)[0]) for item in shown)
    assert all(batch.tokens <= 2048 or len(batch.ids) == 1 for batch in made)
    assert not any(batch.mask[batch.ids == tokenizer.pad_token_id].any() for batch in made)


def test_the_same_seed_gives_the_same_batches_and_another_gives_others(tokenizer):
    first, again, other = (make_block(STAGE, seed, 0, 4096, None, tokenizer) for seed in (3, 3, 4))
    assert all(
        np.array_equal(a.ids, b.ids) and np.array_equal(a.mask, b.mask) for a, b in zip(first, again, strict=True)
    )
    assert not np.array_equal(first[0].ids, other[0].ids)


def test_blocks_of_a_stage_are_fresh():
    texts = [{render(item) for item in demonstrations(STAGE, 3, block, 100, None)} for block in (0, 1)]
    assert not texts[0] & texts[1]


def test_the_live_share_is_kept():
    def live(stage, seed, count):
        return [f"live {seed} {n}" for n in range(count)]

    stage = CURRICULUM[2]
    shown = demonstrations(stage, 0, 0, 50, live)
    assert len(shown) == 50
    assert sum(isinstance(item, str) for item in shown) == round(50 * stage.live)


def test_refusals_offer_no_tool_that_would_do():
    stage = Stage("refuse", tools=(3, 6), calls=(1, 2), refuse=1.0)
    for seed in range(50):
        task, results = invent_task(stage, seed)
        assert task.ground_truth.steps or task.kind != "multi_turn"
        if task.kind == "abstention":
            wanted = {name for name, _ in map(json.loads, results)}
            assert not wanted & {tool.name for tool in task.tools}
