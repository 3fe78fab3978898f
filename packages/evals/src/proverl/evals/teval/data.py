"""The official data: eight files, each an object of rows by id. What is read is checked before anything runs.

A row of the file for three dimensions in JSON becomes three items, each with a reply of its own.
"""

import json
import reprlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from proverl.evals.teval.parsing import load

Dimension: TypeAlias = Literal["instruct", "plan", "reason", "retrieve", "understand", "review"]
Format: TypeAlias = Literal["json", "str"]
FINISH = "FinishAction"  # ends every expected plan, and is no call


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt; `function` is what a tool returned."""

    role: Literal["system", "user", "assistant", "function"]
    content: str


@dataclass(frozen=True, slots=True)
class Action:
    """The call that an instruction names."""

    action: str
    args: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a plan; the places in the plan go by `id`."""

    name: str
    id: int
    args: Any


@dataclass(frozen=True, slots=True)
class Question:
    """What one item asks.

    `truth` is an Action (instruct), a list of steps (plan), the thought, the name, or the letter (reason, retrieve,
    review), the arguments or, as text, the value of one (understand). `template` has the keys of the JSON or the marks
    around the parts of the text that an instruction asks for; `tools` are the names that a plan in words may use.
    """

    id: str
    dimension: Dimension
    format: Format
    prompt: list[Message]
    truth: Any
    template: dict[str, str] = field(default_factory=dict)
    tools: list[str] = field(default_factory=list)

    @property
    def marks(self) -> tuple[str, str, str, str]:
        """What stands before the thought, the action and the arguments of an instruction in words, and behind them."""
        template = self.template
        return (
            template["thought_start"],
            template["thought_end"] + template["action_start"],
            template["action_end"] + template["args_start"],
            template["args_end"],
        )


# file: the items that each of its rows makes, each with the field of the ground truth ("" is all of it) and its type
_FILES: dict[str, list[tuple[Dimension, Format, str, Any]]] = {
    "instruct": [],  # each row says its format itself
    "plan_json": [("plan", "json", "", list[Step])],
    "plan_str": [("plan", "str", "", list[Step])],
    "reason_str": [("reason", "str", "thought", str)],
    "retrieve_str": [("retrieve", "str", "name", str)],
    "understand_str": [("understand", "str", "args", Any)],
    "reason_retrieve_understand_json": [
        ("reason", "json", "thought", str),
        ("retrieve", "json", "name", str),
        ("understand", "json", "args", dict[str, Any]),
    ],
    "review_str": [("review", "str", "answer", Literal["A", "B", "C", "D", "E"])],
}
_JSON_KEYS = ("thought", "action", "args")
_TEXT_MARKS = ("thought_start", "thought_end", "action_start", "action_end", "args_start", "args_end")


_adapter = cache(TypeAdapter)


def paths(folder: Path, subset: bool) -> list[Path]:
    """The data files, in `folder` or, as the hub has them, in its folder `data`; they need not be there."""
    names = [f"{name}_v2{'_subset' * subset}.json" for name in _FILES]
    inner = folder / "data"
    return [(inner if not (folder / name).exists() and (inner / name).exists() else folder) / name for name in names]


def questions(folder: Path, subset: bool) -> Iterator[Question]:
    """Read all files. Raises ValueError that names file, row and field when something is not as it must be.

    Raises FileNotFoundError when a file is not there.
    """
    for path, makes in zip(paths(folder, subset), _FILES.values(), strict=True):
        for row in _rows(path):
            prompt = row.read(Annotated[list[Message], Field(min_length=1)], "origin_prompt")
            if not makes:
                yield _instruction(row, prompt)
            for dimension, format, name, kind in makes:
                truth = row.read(kind, "ground_truth", *filter(None, [name]))
                if dimension == "plan" and all(step.name == FINISH for step in truth):
                    raise row.error(truth, f"there must be a step besides {FINISH}", "ground_truth")
                plan_in_words = (dimension, format) == ("plan", "str")
                tools = row.read(Annotated[list[str], Field(min_length=1)], "meta", "API_list") if plan_in_words else []
                yield Question(f"{dimension}_{format}/{row.id}", dimension, format, prompt, truth, tools=tools)


def _instruction(row: "_Row", prompt: list[Message]) -> Question:
    asked = row.read(Literal["json", "string"], "meta_data", "response_format")
    keys = _JSON_KEYS if asked == "json" else _TEXT_MARKS
    template = {key: row.read(str, "template", key) for key in keys}
    format: Format = "json" if asked == "json" else "str"
    return Question(
        f"instruct_{format}/{row.id}", "instruct", format, prompt, row.read(Action, "ground_truth"), template
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a file, and where it stands."""

    path: Path
    id: str
    fields: Any

    def read(self, kind: Any, *names: str) -> Any:
        """The field at that place, as `kind`; a ground truth may be written as text."""
        value = self.fields
        for depth, name in enumerate(names):
            if not isinstance(value, dict) or name not in value:
                raise self.error(value, f"it must be an object with {name}", *names[:depth])
            value = value[name]
            if name == "ground_truth" and isinstance(value, str):
                try:
                    value = load(value)
                except ValueError as error:
                    raise self.error(value, str(error), "ground_truth") from None
        try:
            return _adapter(kind).validate_python(value)
        except ValidationError as error:
            told = error.errors()[0]
            raise self.error(told["input"], told["msg"], *names, *map(str, told["loc"])) from None

    def error(self, value: Any, wrong: str, *names: str) -> ValueError:
        """Says where the value stands and what is wrong with it."""
        place = ".".join(names) or "the row"
        return ValueError(f"{self.path}, row {self.id}: {place} is {reprlib.repr(value)}; {wrong}")


def _rows(path: Path) -> Iterator[_Row]:
    try:
        rows = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(rows, dict) or not rows:
        raise ValueError(f"{path} is {reprlib.repr(rows)}; it must be an object of rows by id")
    return (_Row(path, id, fields) for id, fields in rows.items())
