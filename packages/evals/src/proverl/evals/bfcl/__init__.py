"""BFCL Multi-Turn, of the Berkeley Function Calling Leaderboard: v4 data, executables and checker of `bfcl-eval`."""

from proverl.evals.bfcl.benchmark import BFCL

__all__ = ["BFCL"]
