"""Sampling from a model in this process."""

import asyncio
from functools import partial
from random import Random

import pytest
import torch
from transformers import (
    GraniteConfig,
    GraniteForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from proverl.agent import Limits, run_episode
from proverl.agent.transformers_policy import TransformersPolicy
from proverl.core import StopReason

PROMPTS = [[9, 10, 11] * n + [12 + n] for n in range(1, 9)]


def make_model(seed: int = 0, **changes) -> Qwen3ForCausalLM:
    torch.manual_seed(seed)
    shape = {"vocab_size": 340, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "head_dim": 16}
    shape |= {"num_attention_heads": 4, "num_key_value_heads": 2, "tie_word_embeddings": True}
    # weights large enough that the next token depends on the context
    return Qwen3ForCausalLM(Qwen3Config(**shape | {"initializer_range": 0.3} | changes)).eval()


@pytest.fixture(scope="module")
def model():
    return make_model()


def sample(policy, prompts, most=12, seed=0, **options):
    async def all_of_them():
        asked = [policy.generate(ids, most, Random(f"{seed}/{n}"), **options) for n, ids in enumerate(prompts)]
        return await asyncio.gather(*asked)

    return asyncio.run(all_of_them())


def log_probs_of(model, prompt, ids) -> list[float]:
    with torch.no_grad():
        scores = model(torch.tensor([prompt + ids])).logits[0].log_softmax(-1)
    return [scores[len(prompt) + n - 1, token].item() for n, token in enumerate(ids)]


def test_log_probs_are_the_models_own(model, template):
    policy = TransformersPolicy(model, template)
    for options in ({}, {"temperature": 0.5, "top_p": 0.9}, {"temperature": 0.0}):
        for prompt, generated in zip(PROMPTS, sample(policy, PROMPTS, **options), strict=True):
            assert generated.log_probs == pytest.approx(log_probs_of(model, prompt, generated.ids), abs=1e-4)


def test_log_probs_stay_exact_over_turns_that_reuse_what_was_computed(model, template):
    policy = TransformersPolicy(model, template, max_batch=5)

    async def episode(number):
        rng, context = Random(number), [9, 10, 11, 12] + [number % 3]  # some share their first prompt
        for turn in range(4):
            generated = await policy.generate(context, 3 + number, rng)
            expected = log_probs_of(model, context, generated.ids)
            assert generated.log_probs == pytest.approx(expected, abs=1e-4), (number, turn)
            context = context + generated.ids + [20 + turn, 30 + number]

    async def all_of_them():
        await asyncio.gather(*(episode(number) for number in range(9)))

    asyncio.run(all_of_them())


def test_a_sample_depends_on_its_seed_and_not_on_its_company(model, template):
    together = sample(TransformersPolicy(model, template), PROMPTS)
    in_pairs = sample(TransformersPolicy(model, template, max_batch=2), PROMPTS)
    assert [one.ids for one in together] == [one.ids for one in in_pairs]
    other = sample(TransformersPolicy(model, template), PROMPTS, seed=1)
    assert [one.ids for one in together] != [one.ids for one in other]


def test_the_same_prompt_is_sampled_differently_by_different_seeds(model, template):
    sampled = sample(TransformersPolicy(model, template), [PROMPTS[3]] * 6)
    assert len({tuple(one.ids) for one in sampled}) > 1


def test_samples_follow_the_distribution(model, template):
    count = 3000
    sampled = sample(TransformersPolicy(model, template), [PROMPTS[0]] * count, most=1)
    with torch.no_grad():
        expected = model(torch.tensor([PROMPTS[0]])).logits[0, -1].softmax(-1)
    seen = torch.bincount(torch.tensor([one.ids[0] for one in sampled]), minlength=len(expected)) / count
    assert (seen - expected).abs().sum() < 0.35  # about 0.27 is expected of this many draws when right
    top = int(expected.argmax())
    assert float(seen[top]) == pytest.approx(float(expected[top]), abs=0.04)


def test_temperature_0_takes_the_most_likely_token(model, template):
    for prompt, generated in zip(
        PROMPTS, sample(TransformersPolicy(model, template, temperature=0.0), PROMPTS), strict=True
    ):
        with torch.no_grad():
            best = model(torch.tensor([prompt + generated.ids])).logits[0].argmax(-1).tolist()
        assert generated.ids == best[len(prompt) - 1 : -1]


def test_top_p_leaves_the_unlikely_tokens_out(model, template):
    with torch.no_grad():
        ranked, order = model(torch.tensor([PROMPTS[0]])).logits[0, -1].softmax(-1).sort(descending=True)
    likely = set(order[: int((ranked.cumsum(0) < 0.3).sum()) + 1].tolist())
    sampled = sample(TransformersPolicy(model, template, top_p=0.3), [PROMPTS[0]] * 200, most=1)
    assert {one.ids[0] for one in sampled} == likely


def test_a_reply_ends_with_the_end_token_or_at_its_limit(model, template):
    sampled = sample(TransformersPolicy(model, template), PROMPTS * 8, most=60)
    finishes = {one.finish for one in sampled}
    assert finishes == {"stop", "length"}
    for one in sampled:
        assert (one.ids[-1] in template.stop_ids) == (one.finish == "stop")
        assert not template.stop_ids & set(one.ids[:-1])
        assert one.finish == "stop" or len(one.ids) == 60


def test_new_weights_are_used_and_old_keys_forgotten(template):
    policy = TransformersPolicy(make_model(), template)
    before = sample(policy, PROMPTS)
    policy.update_weights(make_model(1).state_dict())
    after = sample(policy, PROMPTS)
    assert before != after
    assert after == sample(TransformersPolicy(make_model(1), template), PROMPTS)


def test_other_weights_are_refused(model, template):
    with pytest.raises(RuntimeError, match="Missing key"):
        TransformersPolicy(model, template).update_weights({})


@pytest.mark.parametrize(
    ("config", "architecture"),
    [
        (partial(Qwen2Config, num_key_value_heads=2), Qwen2ForCausalLM),  # biases
        (
            partial(GraniteConfig, logits_scaling=8.0, attention_multiplier=0.1, num_key_value_heads=2),
            GraniteForCausalLM,
        ),
        (partial(LlamaConfig, num_key_value_heads=4), LlamaForCausalLM),
    ],
)
def test_other_families_are_served_too(template, config, architecture):
    torch.manual_seed(0)
    shape = {"vocab_size": 340, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    model = architecture(config(**shape, num_attention_heads=4, initializer_range=0.3))
    for prompt, generated in zip(PROMPTS, sample(TransformersPolicy(model, template), PROMPTS), strict=True):
        assert generated.log_probs == pytest.approx(log_probs_of(model, prompt, generated.ids), abs=1e-4)


def test_sliding_windows_are_refused(template):
    model = make_model(use_sliding_window=True, sliding_window=4, max_window_layers=0)
    with pytest.raises(ValueError, match="other than full attention"):
        TransformersPolicy(model, template)


@pytest.mark.parametrize("options", [{"temperature": -1.0}, {"top_p": 0.0}, {"top_p": 1.5}])
def test_bad_settings_are_refused(model, template, options):
    with pytest.raises(ValueError, match="temperature is"):
        TransformersPolicy(model, template, **options)


async def test_bad_requests_are_refused(model, template):
    for ids, most in ([], 5), ([9], 0):
        with pytest.raises(ValueError, match="need at least 1 of each"):
            await TransformersPolicy(model, template).generate(ids, most, Random(0))


async def test_a_failing_model_fails_every_request_and_the_policy_goes_on(template):
    model = make_model()
    policy = TransformersPolicy(model, template)
    forward, model.forward = model.forward, lambda **_: 1 / 0
    asked = [policy.generate(ids, 4, Random(0)) for ids in PROMPTS]
    assert {type(error) for error in await asyncio.gather(*asked, return_exceptions=True)} == {ZeroDivisionError}
    model.forward = forward
    assert (await policy.generate(PROMPTS[0], 4, Random(0))).ids


async def test_a_cancelled_request_does_not_hold_up_the_others(model, template):
    policy = TransformersPolicy(model, template)
    dropped = asyncio.create_task(policy.generate(PROMPTS[0], 50, Random(0)))
    kept = asyncio.create_task(policy.generate(PROMPTS[1], 50, Random(1)))
    await asyncio.sleep(0)
    dropped.cancel()
    assert (await kept).ids


async def test_whole_episodes_are_reproducible(model, template, task, environment):
    limits = Limits(response_tokens=200, reply_tokens=30)

    async def episodes():
        policy = TransformersPolicy(model, template)
        chats = [policy.chat(task, limits, seed) for seed in range(6)]
        return await asyncio.gather(*(run_episode(task, environment, chat, limits) for chat in chats))

    first, second = await episodes(), await episodes()
    assert [one.transcript for one in first] == [one.transcript for one in second]
    assert len({tuple(one.transcript.response_ids) for one in first}) == 6
    assert not [one.error for one in first if one.stop == StopReason.CRASHED]
