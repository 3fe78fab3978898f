"""What each algorithm of `trainer.algorithm`, and each choice beside it, is in verl's settings."""

from dataclasses import dataclass
from typing import Any

from proverl.trainer.config import TrainerConfig

IMPORTANCE_CAP = 2.0  # of a token's or sequence's weight in verl's correction for rollout-trainer mismatch
LORA_SCALE = 2  # alpha over rank
SAMPLER = "pkg://proverl.trainer.groups"


@dataclass(frozen=True)
class Algorithm:
    """deviation: divide advantages by the group's deviation. loss, aggregation: verl's names. clip: low, high."""

    deviation: bool
    loss: str
    aggregation: str
    clip: tuple[float, float]


ALGORITHMS = {
    # arXiv 2402.03300; aggregation as in the paper's table of open points
    "grpo": Algorithm(deviation=True, loss="vanilla", aggregation="token-mean", clip=(0.2, 0.2)),
    # arXiv 2503.20783: neither the deviation nor an episode's own length divides
    "dr_grpo": Algorithm(deviation=False, loss="vanilla", aggregation="seq-mean-token-sum-norm", clip=(0.2, 0.2)),
    # arXiv 2507.18071, section 5.1: one ratio a sequence, and the clips that go with it
    "gspo": Algorithm(deviation=True, loss="gspo", aggregation="seq-mean-token-mean", clip=(3e-4, 4e-4)),
}


def algorithm_settings(trainer: TrainerConfig, response_tokens: int) -> dict[str, Any]:
    """verl's settings of the algorithm (paper, Training; where it is silent, "Left open by the paper").

    `response_tokens` is the most that one episode may have: the constant that Dr. GRPO divides sums of tokens by.
    """
    actor = "actor_rollout_ref.actor."
    algorithm = ALGORITHMS[trainer.algorithm]
    low, high = algorithm.clip if trainer.clip is None else (trainer.clip, trainer.clip)
    return {
        "algorithm.adv_estimator": "grpo",
        "algorithm.norm_adv_by_std_in_grpo": algorithm.deviation,
        "data.train_batch_size": trainer.prompts,
        "actor_rollout_ref.rollout.n": trainer.rollouts,
        "actor_rollout_ref.rollout.temperature": trainer.temperature,
        "actor_rollout_ref.rollout.calculate_log_probs": True,
        actor + "optim.lr": trainer.learning_rate,
        actor + "policy_loss.loss_mode": algorithm.loss,
        actor + "clip_ratio": high,
        actor + "clip_ratio_low": low,
        actor + "clip_ratio_high": high,
        actor + "loss_agg_mode": algorithm.aggregation,
        actor + "loss_scale_factor": response_tokens if trainer.algorithm == "dr_grpo" else None,
        actor + "entropy_coeff": 0,
        actor + "ppo_epochs": 1,
        actor + "ppo_mini_batch_size": trainer.prompts,  # one update a step: strictly on policy in mode sync
        **_kl(trainer),
        **_filter(trainer),
        **_correction(trainer),
        **_lora(trainer),
    }


def _kl(trainer: TrainerConfig) -> dict[str, Any]:
    in_reward = trainer.kl > 0 and trainer.kl_in == "reward"
    return {
        "algorithm.use_kl_in_reward": in_reward,
        "algorithm.kl_penalty": "kl",
        "algorithm.kl_ctrl.kl_coef": trainer.kl,
        "actor_rollout_ref.actor.use_kl_loss": trainer.kl > 0 and not in_reward,
        "actor_rollout_ref.actor.kl_loss_coef": trainer.kl,
        "actor_rollout_ref.actor.kl_loss_type": "low_var_kl",
    }


def _filter(trainer: TrainerConfig) -> dict[str, Any]:
    if not trainer.filter_groups:
        return {}
    sampler = "trainer.v1.sampler."
    return {
        "algorithm.filter_groups.enable": True,
        "algorithm.filter_groups.metric": "reward",
        sampler + "custom_sampler.path": SAMPLER,
        sampler + "custom_sampler.name": "VariedGroups",
        sampler + "sampler_kwargs": {"prompts": trainer.prompts, "batches": trainer.filter_groups},
    }


def _correction(trainer: TrainerConfig) -> dict[str, Any]:
    level = None if trainer.rollout_correction == "none" else trainer.rollout_correction
    section = "algorithm.rollout_correction."
    return {section + "rollout_is": level, section + "rollout_is_threshold": IMPORTANCE_CAP}


def _lora(trainer: TrainerConfig) -> dict[str, Any]:
    """verl keeps the adapter's shape in one place for FSDP and in another for Megatron."""
    if not trainer.lora_rank:
        return {}
    model, alpha = "actor_rollout_ref.model.", LORA_SCALE * trainer.lora_rank
    own = "lora.rank" if trainer.engine == "megatron" else "lora_rank"
    scale = "lora.alpha" if trainer.engine == "megatron" else "lora_alpha"
    # sampled with merged weights, so that every rollout engine and every mode takes them
    return {model + own: trainer.lora_rank, model + scale: alpha, model + "lora.merge": True}
