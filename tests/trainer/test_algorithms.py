"""Each choice of `trainer` as verl computes it: advantages and loss of one small batch, through verl's own code."""

from pathlib import Path

import pytest

from proverl.agent import Limits
from proverl.trainer import ModelConfig, RunPaths, TrainerConfig, verl_config
from proverl.trainer.algorithms import ALGORITHMS

GPUS = {"prompts": 8, "rollouts": 8, "gpus_per_node": 8}


def config_of(gpu=False, **settings):
    trainer, model = TrainerConfig(**settings), ModelConfig(gpu=gpu)
    return verl_config(
        trainer, model, "/models/start", Limits(prompt_tokens=8, response_tokens=8), RunPaths(Path("/r")), 0
    )


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"engine": "megatron"}, "trainer.engine is 'megatron', which needs GPUs.*or make it fsdp2"),
        ({"mode": "colocate_async"}, "trainer.mode is 'colocate_async', which needs GPUs.*or make it sync"),
        (GPUS | {"mode": "separate_async"}, "trainer.rollout_nodes is 0 in mode separate_async; it must be at least 1"),
        (GPUS | {"rollout_nodes": 1}, "trainer.rollout_nodes is 1 in mode sync; .* and 0 in others"),
        (GPUS | {"mode": "colocate_async", "filter_groups": 2}, "trainer.filter_groups is 2 in mode colocate_async"),
        ({"filter_groups": -1}, "trainer.filter_groups is -1; it must be a whole number of at least 0"),
        ({"lora_rank": -1}, "trainer.lora_rank is -1"),
    ],
)
def test_what_verl_cannot_do_is_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        TrainerConfig(**settings)


def test_without_a_clip_of_ones_own_the_algorithms_holds():
    for name, algorithm in ALGORITHMS.items():
        actor = config_of(algorithm=name).actor_rollout_ref.actor
        assert (actor.clip_ratio_low, actor.clip_ratio_high) == algorithm.clip
        actor = config_of(algorithm=name, clip=0.1).actor_rollout_ref.actor
        assert (actor.clip_ratio_low, actor.clip_ratio_high) == (0.1, 0.1)


def test_no_setting_of_ours_is_unknown_to_verl():
    from omegaconf import OmegaConf

    from proverl.trainer.verl_config import verl_defaults

    ours = {
        "keep_checkpoints",
        "transformers",
        "prompts",
        "batches",
        "attn_implementation",
        "mixed_precision",
        "address",
    }

    def keys(node, prefix=""):
        for name, value in node.items():
            yield from keys(value, f"{prefix}{name}.") if isinstance(value, dict) and value else [prefix + name]

    for engine, family in (("fsdp2", "dp"), ("megatron", "megatron")):
        made = config_of(gpu=True, **GPUS, engine=engine, mode="separate_async", rollout_nodes=1, lora_rank=4)
        known = set(keys(OmegaConf.to_container(verl_defaults("ppo_trainer", f"model_engine={family}"))))
        added = set(keys(OmegaConf.to_container(made))) - known
        assert [key for key in added if not ours & set(key.split("."))] == []


@pytest.fixture
def trained(verl, monkeypatch):
    """Returns a function from settings to verl's loss of one batch: two prompts, two rollouts each."""
    import torch
    from tensordict import TensorDict
    from verl.trainer.ppo.core_algos import get_kl_controller
    from verl.trainer.ppo.v1 import PPOTrainerSync, trainer_base
    from verl.utils import tensordict_utils as tu
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.utils.losses import ppo_loss

    def nested(*rows, dtype=torch.float32):
        return torch.nested.as_nested_tensor([torch.tensor(row, dtype=dtype) for row in rows], layout=torch.jagged)

    old = nested([-1.0, -2.0, -1.5], [-0.5, -0.7, -0.9], [-3.0, -1.0, -0.2], [-0.4, -0.3])
    masks = ([1, 1, 1], [1, 0, 1], [1, 1, 0], [1, 1])

    def batch(mask):
        rewards = (1.0, 0.2, 0.4, 0.3)
        scores = nested(*([0.0] * (len(row) - 1) + [reward] for row, reward in zip(masks, rewards, strict=True)))
        rollout = nested([-1.2, -2.0, -1.1], [-0.5, -0.9, -0.9], [-3.0, -1.6, -0.2], [-0.4, -0.8])
        reference = nested([-1.1, -2.1, -1.9], [-0.6, -0.7, -0.8], [-3.1, -1.2, -0.2], [-0.4, -0.1])
        fields = {"rm_scores": scores, "old_log_probs": old, "rollout_log_probs": rollout, "ref_log_prob": reference}
        fields["response_mask"] = nested(*mask, dtype=torch.int64)
        return tu.get_tensordict({**fields, "uid": ["a", "a", "b", "b"]})

    def loss(mask=masks, **settings):
        config = config_of(**{"prompts": 2, "rollouts": 2, **settings})
        stored = batch(mask)

        class Queue:
            def kv_batch_get(self, keys, partition_id, select_fields):
                return stored.select(*select_fields, strict=False)

            def kv_batch_put(self, keys, partition_id, fields):
                stored.update(fields)

        monkeypatch.setattr(trainer_base, "tq", Queue())
        trainer = object.__new__(PPOTrainerSync)
        trainer.config, trainer.kl_ctrl_in_reward = config, get_kl_controller(config.algorithm.kl_ctrl)
        keys = trainer_base.KVBatchMeta(partition_id="train", keys=["a_0_0", "a_1_0", "b_0_0", "b_1_0"], tags=[{}] * 4)
        trainer._compute_advantage(keys, {})
        ids = nested([1], [1], [1], [1], dtype=torch.int64)
        new = nested(*([0.0, *(row + torch.tensor([0.4, -0.3, 0.1])[: len(row)])] for row in old.unbind()))
        shifted = nested(*([*row[1:], 0.0] for row in new.unbind()))  # a model's output at a token is about the next
        data = stored.select("response_mask", "old_log_probs", "advantages", "ref_log_prob")
        if "rollout_is_weights" in stored:
            data["rollout_is_weights"] = stored["rollout_is_weights"]
        data["prompts"], data["responses"] = ids, nested(*mask, dtype=torch.int64)
        tokens = sum(map(sum, mask))
        for name, value in {"dp_size": 1, "batch_num_tokens": tokens, "global_batch_size": 4}.items():
            tu.assign_non_tensor_data(data, name, value)
        actor = omega_conf_to_dataclass(config.actor_rollout_ref.actor)
        return float(ppo_loss(actor, {"log_probs": shifted}, data)[0])

    assert isinstance(batch(masks), TensorDict)
    return loss


@pytest.mark.verl
@pytest.mark.parametrize(
    "change",
    [
        {"algorithm": "dr_grpo"},
        {"algorithm": "gspo"},
        {"algorithm": "gspo", "clip": 0.2},
        {"kl": 0.0},
        {"kl": 0.02},
        {"kl_in": "reward"},
        {"clip": 0.1},
        {"rollout_correction": "token"},
        {"rollout_correction": "sequence"},
    ],
)
def test_every_choice_changes_the_loss(trained, change):
    assert abs(trained(**change) - trained()) > 1e-4


@pytest.mark.verl
def test_choices_that_resemble_each_other_differ(trained):
    losses = [
        trained(),
        trained(algorithm="gspo"),
        trained(algorithm="gspo", clip=0.2),
        trained(rollout_correction="token"),
        trained(rollout_correction="sequence"),
        trained(kl=0.0),
    ]
    assert len({round(loss, 5) for loss in losses}) == len(losses)
    # divided by the deviation, an advantage of two rollouts says only which is better
    assert trained(algorithm="dr_grpo", kl_in="reward") != trained(algorithm="dr_grpo", kl=0.0)


@pytest.mark.verl
def test_the_loss_is_the_clipped_one_of_grpo_with_its_kl(trained):
    """By hand: advantages of a pair are +-0.7071 (deviation of two), ratios e^0.4, e^-0.3, e^0.1, clipped to 0.2."""
    from math import exp

    up, down, small = 1.2, exp(-0.3), exp(0.1)
    first = -0.70710 * (up + down + small)  # better: the first ratio is cut
    second = 0.70710 * (exp(0.4) + small)  # worse, its middle token not the model's
    third = -0.70710 * (up + down)
    fourth = 0.70710 * (exp(0.4) + 0.8)  # worse: the ratio below 0.8 is cut
    assert trained(kl=0.0) == pytest.approx((first + second + third + fourth) / 9, abs=2e-3)


@pytest.mark.verl
def test_dr_grpo_divides_by_neither_deviation_nor_length(trained):
    from math import exp

    up, down, small = 1.2, exp(-0.3), exp(0.1)
    first, second = -0.4 * (up + down + small), 0.4 * (exp(0.4) + small)
    third, fourth = -0.05 * (up + down), 0.05 * (exp(0.4) + 0.8)
    expected = (first + second + third + fourth) / 4 / 8  # episodes, and the most tokens that one may have
    assert trained(kl=0.0, algorithm="dr_grpo") == pytest.approx(expected, abs=1e-5)


@pytest.mark.verl
def test_a_masked_rollout_counts_in_its_group_and_is_not_trained_on(trained):
    kept = ([1, 1, 1], [0, 0, 0], [1, 1, 0], [1, 1])
    from math import exp

    first = -0.70710 * (1.2 + exp(-0.3) + exp(0.1))
    rest = -0.70710 * (1.2 + exp(-0.3)) + 0.70710 * (exp(0.4) + 0.8)
    assert trained(kept, kl=0.0) == pytest.approx((first + rest) / 7, abs=2e-3)


@pytest.mark.verl
@pytest.mark.parametrize(
    "settings",
    [
        {"engine": "megatron"},
        {"engine": "megatron", "lora_rank": 8},
        {"lora_rank": 8, "algorithm": "gspo"},
        {"nodes": 2},
        {"mode": "colocate_async", "rollout_correction": "token"},
        {"mode": "separate_async", "rollout_nodes": 1, "algorithm": "dr_grpo"},
        {"filter_groups": 3, "kl_in": "reward"},
    ],
)
def test_verl_accepts_what_needs_gpus(verl, settings):
    from verl.trainer.ppo.v1 import get_trainer_cls
    from verl.utils.config import omega_conf_to_dataclass

    from proverl.trainer.verl_config import validate

    config = config_of(gpu=True, **(GPUS | settings))
    validate(config)
    assert omega_conf_to_dataclass(config.actor_rollout_ref.actor).strategy == settings.get("engine", "fsdp2")
    omega_conf_to_dataclass(config.actor_rollout_ref.rollout)
    kind = get_trainer_cls(config.trainer.v1.trainer_mode)
    assert settings.get("mode", "sync").replace("_", "") in kind.__name__.lower()
