"""Grounded multi-turn tasks from live servers, every one proven by execution."""

from proverl.synth.block import is_heldout
from proverl.synth.config import SynthConfig
from proverl.synth.data.dataset import iter_tasks, read_tasks, write_tasks
from proverl.synth.graphs.graph import dependency_graph
from proverl.synth.pipeline import Impossible, Synthesis, Workers, stream, synthesize, write_dataset
from proverl.synth.scene import Teacher
from proverl.synth.teachers.scripted import ScriptedTeacher

__all__ = [
    "Impossible",
    "ScriptedTeacher",
    "SynthConfig",
    "Synthesis",
    "Teacher",
    "Workers",
    "dependency_graph",
    "is_heldout",
    "iter_tasks",
    "read_tasks",
    "stream",
    "synthesize",
    "write_dataset",
    "write_tasks",
]
