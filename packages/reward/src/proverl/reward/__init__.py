"""The programmatic reward as pure functions: calls, results, tools and ground truth in, a breakdown out."""

from proverl.reward.breakdown import Breakdown
from proverl.reward.config import Reward, RewardConfig
from proverl.reward.matching import Matching, match
from proverl.reward.own import OwnReward, reward_from
from proverl.reward.score import candidates, score
from proverl.reward.success import task_success

__all__ = [
    "Breakdown",
    "Matching",
    "OwnReward",
    "Reward",
    "RewardConfig",
    "candidates",
    "match",
    "reward_from",
    "score",
    "task_success",
]
