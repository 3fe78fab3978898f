"""Grounded multi-turn tasks from live servers, every one proven by execution."""

from proverl.synth.config import SynthConfig
from proverl.synth.dataset import read_tasks, write_tasks
from proverl.synth.graph import dependency_graph
from proverl.synth.pipeline import Impossible, is_heldout, stream, synthesize

__all__ = [
    "Impossible",
    "SynthConfig",
    "dependency_graph",
    "is_heldout",
    "read_tasks",
    "stream",
    "synthesize",
    "write_tasks",
]
