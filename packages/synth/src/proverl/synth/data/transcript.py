"""A task as a conversation for reading: the users' turns, the calls expected, what they returned, and the notes."""

import json
from collections.abc import Iterator
from typing import Any

from proverl.core import Json, Step, Task, TaskKind, call_text, canonical_json, shortened

WIDTH = 160  # characters shown of a result
_SHOWN = ("persona", "information", "missing", "irrelevant", "enums_stripped", "distractors", "teacher", "origin")
Line = tuple[str, str]  # what the line is (user, call, result, source, assistant, note), its text


def transcript(task: Task, width: int = WIDTH) -> str:
    """The conversation as plain text."""
    return "\n".join(text for _, text in lines(task, width))


def lines(task: Task, width: int = WIDTH) -> Iterator[Line]:
    """The conversation line by line, each with what it is."""
    yield "system", f"system: {task.system}"
    yield "note", f"{len(task.tools)} tools: {', '.join(tool.name for tool in task.tools)}"
    sources: Any = task.notes.get("sources") or ()
    for turn, text in enumerate(task.turns):
        yield "user", f"user: {text}"
        yield from _recovery(task.notes.get("recovery"), turn)
        steps = [(index, step) for index, step in enumerate(task.ground_truth.steps) if step.turn == turn]
        for index, step in steps:
            yield from _call(index, step, sources[index] if index < len(sources) else {}, width)
        if not steps or (task.kind == TaskKind.CLARIFICATION and turn == len(task.turns) - 1):
            yield "assistant", "assistant: (words, no call)" if not steps else "assistant: (then words)"
    yield from _notes(task)


def _call(index: int, step: Step, sources: dict[str, Any], width: int) -> Iterator[Line]:
    yield "call", f"  [{index}] {call_text(step.name, step.arguments, _value)}"
    for path, source in sources.items():
        yield "source", f"      {path}: {told(source)}"
    yield "result", f"      -> {shortened(canonical_json(step.returned), width)}"


def _recovery(recovery: Any, turn: int) -> Iterator[Line]:
    """The call that is refused in this turn; no part of the ground truth."""
    if recovery and recovery["turn"] == turn:
        call = recovery["call"]
        name, arguments = (call["name"], call["arguments"]) if isinstance(call, dict) else (call, {})
        yield "refused", f"  (refused: {call_text(name, arguments, _value)}"
        yield "refused", f"      -> {recovery['code']}: {recovery['message']}; {recovery['kind']})"


def _value(value: Json) -> str:
    """JSON with references written as what they refer to."""
    if isinstance(value, dict) and isinstance(mark := value.get("$result"), dict):
        return f"<{mark['field']} of [{mark['step']}]>"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


def told(source: dict[str, Any]) -> str:
    """A noted source in words."""
    if source["from"] == "turn":
        return f"said in turn {source['turn'] + 1}"
    if source["from"] == "result":
        return f"{source['field']} of [{source['step']}]"
    if source["from"] == "derived":
        return f"{source['operation']} of {' and '.join(map(told, source['of']))}"
    return "the reference date" if source["from"] == "date" else str(source)


def _notes(task: Task) -> Iterator[Line]:
    edges = [f"{edge.before}->{edge.after} ({edge.kind})" for edge in task.ground_truth.edges]
    if edges:
        yield "note", f"order: {', '.join(edges)}"
    for name in _SHOWN:
        if value := task.notes.get(name):
            yield "note", f"{name}: {value if isinstance(value, str) else canonical_json(value)}"
