import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from proverl.trainer.tiny import data
from proverl.trainer.tiny import warmstart as module
from proverl.trainer.tiny.curriculum import CURRICULUM
from proverl.trainer.tiny.data import batches
from proverl.trainer.tiny.measure import Meter, forward
from proverl.trainer.tiny.model import build_model, tiny_config
from proverl.trainer.tiny.warmstart import WarmstartConfig, warmstart

STAGES = tuple(
    replace(stage, live=0.0, tokens=(1_000, 1_500), tools=(1, 2), calls=(1, 1), turns=(1, 1))
    for stage in CURRICULUM[:3]
)
CONFIG = WarmstartConfig(
    tokens=5_000, batch_tokens=512, corpus=150, held_out=8, snapshot_tokens=2_000, state_steps=2, stages=STAGES
)


@pytest.fixture
def near(monkeypatch):
    """Make small blocks in this process: starting another takes seconds."""
    monkeypatch.setattr(data, "BLOCK", 32)
    monkeypatch.setattr(
        data,
        "ProcessPoolExecutor",
        lambda workers, context, start, given: ThreadPoolExecutor(workers, initializer=start, initargs=given),
    )


def progress(folder):
    return [json.loads(line) for line in (folder / "progress.jsonl").read_text().splitlines()]


def model_for(tokenizer, seed=0):
    return build_model(tiny_config(len(tokenizer), tokenizer.pad_token_id, tokenizer.eos_token_id), seed)


def test_the_model_has_the_shape_that_learns_to_copy(tokenizer):
    model = model_for(tokenizer)
    config = model.config
    assert 1e6 <= model.num_parameters() <= 4e6
    assert config.num_attention_heads == config.num_key_value_heads == 4
    assert config.head_dim == 64
    assert model.lm_head.weight is model.model.embed_tokens.weight
    assert config.eos_token_id == tokenizer.eos_token_id


def test_the_same_seed_gives_the_same_weights_whatever_the_global_generator(tokenizer):
    first = model_for(tokenizer)
    torch.rand(3)
    before = torch.get_rng_state()
    again, other = model_for(tokenizer), model_for(tokenizer, seed=1)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert not torch.equal(first.lm_head.weight, other.lm_head.weight)


def test_the_loss_is_that_of_the_model_on_the_masked_tokens_of_each_row_alone(tokenizer, shown):
    """Padding and the other rows change nothing."""
    model = model_for(tokenizer)
    batch = batches(shown[:6], tokenizer, 10_000, Random(0))[0]
    assert (batch.ids == tokenizer.pad_token_id).any()
    total, count = 0.0, 0
    for row, mask in zip(batch.ids, batch.mask, strict=True):
        ids = torch.from_numpy(row[row != tokenizer.pad_token_id])[None]
        labels = torch.where(torch.from_numpy(mask[: ids.shape[1]]), ids[0], -100)[None]
        with torch.no_grad():
            total += float(model(input_ids=ids, labels=labels).loss) * int(mask.sum())
        count += int(mask.sum())
    loss, chosen = forward(model, batch)
    assert float(loss.detach()) == pytest.approx(total / count, rel=1e-4)
    assert len(chosen) == count


def test_shares_count_digits_calls_and_whole_episodes(tokenizer, shown):
    batch = batches(shown[:8], tokenizer, 10_000, Random(0))[0]
    meter = Meter(tokenizer)
    right = batch.ids[batch.mask]
    perfect = meter.count(batch, right, 0.5).shares()
    assert perfect == {"digits": 1.0, "calls": 1.0, "episodes": 1.0, "loss": 0.5}
    wrong = right.copy()
    calls = np.flatnonzero(right == tokenizer.convert_tokens_to_ids("<|call|>"))
    wrong[calls[0]] = tokenizer.pad_token_id
    counts = meter.count(batch, wrong, 0.5)
    assert counts.digits[0] == counts.digits[1]
    assert counts.calls[1] - counts.calls[0] == 1
    assert counts.episodes[1] - counts.episodes[0] == 1


def test_a_warm_up_goes_through_its_stages_and_leaves_checkpoints_that_load(tmp_path):
    last = warmstart(CONFIG, tmp_path, seed=0)
    rows = [__import__("json").loads(line) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    assert [row["stage"] for row in rows] == sorted(
        (row["stage"] for row in rows), key=["copy", "choose", "link"].index
    )
    assert {row["stage"] for row in rows} == {"copy", "choose", "link"}
    assert rows[-1]["tokens"] >= CONFIG.tokens
    assert len(list((tmp_path / "snapshots").iterdir())) == 3
    model = AutoModelForCausalLM.from_pretrained(last)
    assert model.dtype == torch.float32
    assert sum(file.stat().st_size for file in last.iterdir()) < 20e6
    assert "trying the `proverl` pipeline" in (last / "README.md").read_text()


def test_a_killed_warm_up_goes_on_as_if_nothing_had_happened(tmp_path, monkeypatch, near):
    unbroken = warmstart(CONFIG, tmp_path / "unbroken", seed=0)

    real, calls = module.forward, []

    def failing(model, batch):
        calls.append(0)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return real(model, batch)

    monkeypatch.setattr(module, "forward", failing)
    with pytest.raises(KeyboardInterrupt):
        warmstart(CONFIG, tmp_path / "broken", seed=0)
    resumed = warmstart(CONFIG, tmp_path / "broken", seed=0)
    assert resumed.name == unbroken.name
    assert (resumed / "model.safetensors").read_bytes() == (unbroken / "model.safetensors").read_bytes()
    steps = [
        __import__("json").loads(line)["step"]
        for line in (tmp_path / "broken" / "progress.jsonl").read_text().splitlines()
    ]
    assert steps == sorted(steps)


@pytest.mark.parametrize(
    ("change", "names"),
    [({"tokens": 0}, "warmstart.tokens"), ({"fall": 2.0}, "warmstart.fall"), ({"stages": ()}, "stages")],
)
def test_bad_settings_are_named(change, names):
    with pytest.raises(ValueError, match=names):
        replace(CONFIG, **change)
