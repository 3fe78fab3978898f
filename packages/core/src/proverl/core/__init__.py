"""The vocabulary that every other package speaks: plain types that serialise to JSON."""

from proverl.core.episode import CallRecord, Episode, StopReason, Transcript
from proverl.core.ground_truth import Edge, GroundTruth, Step, find_references, follow, reference, resolve
from proverl.core.json import Json, canonical_json, json_equal
from proverl.core.reading import call_text, printable, shortened
from proverl.core.task import Task, TaskKind, task_from_json, task_to_json
from proverl.core.tool import Call, ErrorCode, MalformedCall, Result, Tool

__all__ = [
    "Call",
    "CallRecord",
    "Edge",
    "Episode",
    "ErrorCode",
    "GroundTruth",
    "Json",
    "MalformedCall",
    "Result",
    "Step",
    "StopReason",
    "Task",
    "TaskKind",
    "Tool",
    "Transcript",
    "call_text",
    "canonical_json",
    "find_references",
    "follow",
    "json_equal",
    "printable",
    "reference",
    "resolve",
    "shortened",
    "task_from_json",
    "task_to_json",
]
