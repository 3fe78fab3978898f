"""T-Eval, step by step: its data, both scorers, and the benchmark. See docs/evaluation.md."""

from proverl.evals.teval.benchmark import TEval

__all__ = ["TEval"]
