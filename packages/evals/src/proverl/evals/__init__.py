"""Evaluation of policies: benchmarks behind one interface, records of every attempt, and their statistics."""

from proverl.evals.benchmark import Benchmark, Item, Score, benchmark
from proverl.evals.config import EvalsConfig, PolicyConfig, ProbeConfig
from proverl.evals.evaluation import Evaluation, EvaluationFailed, Failure, evaluate, score
from proverl.evals.figures import figure_rows, figure_table
from proverl.evals.heldout import Heldout, attempted, heldout
from proverl.evals.isolated import Isolated, IsolatedError
from proverl.evals.over_seeds import compare_over_seeds, holm, summarize_over_seeds
from proverl.evals.policy import endpoint_needs, endpoint_policy, load_policy, scripted_policy, vllm_policy
from proverl.evals.record import Record, read_records
from proverl.evals.statistics import Comparison, Interval, compare, mean_interval, paired_difference, summarize

__all__ = [
    "Benchmark",
    "Comparison",
    "Evaluation",
    "EvaluationFailed",
    "EvalsConfig",
    "Failure",
    "Heldout",
    "Interval",
    "Isolated",
    "IsolatedError",
    "Item",
    "PolicyConfig",
    "ProbeConfig",
    "Record",
    "Score",
    "attempted",
    "benchmark",
    "compare",
    "compare_over_seeds",
    "endpoint_needs",
    "endpoint_policy",
    "evaluate",
    "figure_rows",
    "figure_table",
    "heldout",
    "holm",
    "load_policy",
    "mean_interval",
    "paired_difference",
    "read_records",
    "score",
    "scripted_policy",
    "summarize",
    "summarize_over_seeds",
    "vllm_policy",
]
