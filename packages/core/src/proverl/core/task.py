"""A task: what the user says, what is expected, and the world it happens in."""

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache

from pydantic import TypeAdapter

from proverl.core.ground_truth import GroundTruth
from proverl.core.json import Json, canonical_json
from proverl.core.tool import Tool


class TaskKind(StrEnum):
    """The kinds of training rows (paper, Synthesis 6)."""

    MULTI_TURN = "multi_turn"
    CLARIFICATION = "clarification"  # a needed tool is missing
    ABSTENTION = "abstention"  # no call is expected


@dataclass(frozen=True, slots=True)
class Task:
    """One conversation with scripted user turns.

    `tools` are those offered to the policy, as shown (distractors and stripped enums included). `servers` and `seed`
    open the session; `system` is the system message, which names the reference date. `notes` records how the task was
    made (chain, persona, perturbations, source of every argument value). `digest` is the final state's after the ground
    truth, where it is known.
    """

    id: str
    kind: TaskKind
    servers: tuple[str, ...]
    seed: int
    system: str
    turns: tuple[str, ...]
    tools: tuple[Tool, ...]
    ground_truth: GroundTruth
    notes: dict[str, Json] = field(default_factory=dict)
    digest: str = ""


@cache
def _adapter() -> TypeAdapter[Task]:
    return TypeAdapter(Task)


def task_to_json(task: Task) -> str:
    """One line of JSON, the same bytes for equal tasks."""
    return canonical_json(_adapter().dump_python(task, mode="json"))


def task_from_json(text: str | bytes) -> Task:
    """Inverse of `task_to_json`. Raises pydantic.ValidationError (a ValueError) that names field, value and reason."""
    return _adapter().validate_json(text)
