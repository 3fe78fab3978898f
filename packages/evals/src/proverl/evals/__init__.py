"""Evaluation of policies on held-out tasks: per-episode records, success, reward parts and paired statistics."""

from proverl.evals.config import EvalsConfig, ProbeConfig
from proverl.evals.heldout import EvaluationFailed, evaluate
from proverl.evals.heldout_record import EvaluationRecord, read_records
from proverl.evals.policy import load_policy
from proverl.evals.statistics import Interval, compare, mean_interval, paired_difference

__all__ = [
    "EvaluationFailed",
    "EvaluationRecord",
    "EvalsConfig",
    "Interval",
    "ProbeConfig",
    "compare",
    "evaluate",
    "load_policy",
    "mean_interval",
    "paired_difference",
    "read_records",
]
