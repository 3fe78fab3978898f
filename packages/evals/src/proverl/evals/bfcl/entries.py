"""The entries of the data: what the user says, which functions there are when, and the calls that are expected."""

import ast
import importlib
import inspect
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

from proverl.core import Call
from proverl.evals.bfcl import package

CATEGORIES = ("base", "miss_func", "miss_param", "long_context")

# Entries that no policy passes by what it is told and offered; the tests prove each.
UNPASSABLE = {
    "multi_turn_base_176": "the user dictates a text with the year 2026, expected is 2023",
    "multi_turn_base_187": "the expected text has a word that nothing tells",
    "multi_turn_miss_func_187": "the expected text has a word that nothing tells",
    "multi_turn_miss_param_187": "the expected text has a word that nothing tells",
    "multi_turn_long_context_187": "the expected text has a word that nothing tells",
    "multi_turn_miss_func_49": "a call of a function is expected before it is offered",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One conversation. `raw` is the entry as the data has it, `expected` the texts of calls of every turn."""

    id: str
    category: str
    raw: dict[str, Any]
    expected: list[list[str]]

    @property
    def classes(self) -> list[str]:
        """The executables in play."""
        return self.raw["involved_classes"]

    @property
    def long_context(self) -> bool:
        """Whether the executables fill their state up."""
        return self.category == "long_context"

    @property
    def names(self) -> frozenset[str]:
        """Every function of the entry, offered from the start or later."""
        return frozenset().union(*(_methods(name) for name in self.classes))

    def functions(self) -> tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
        """The documents of the functions offered at first, and of those added, by turn, as the package words them."""
        raw = deepcopy(self.raw)
        package.populate_test_cases_with_predefined_functions([raw])
        added = raw.get("missed_function", {})
        for function in raw["function"], *added.values():
            package.add_language_specific_hint_to_function_doc([{"id": self.id, "function": function}])
        return raw["function"], added


@cache
def entries() -> dict[str, Entry]:
    """All 800 by their ids, in the order of the data; reads 2 MB and imports every executable."""
    for name in package.backends.MULTI_TURN_FUNC_DOC_FILE_MAPPING:
        if not name.startswith(("WebSearch", "Memory")):
            _methods(name)
    return {
        raw["id"]: Entry(raw["id"], category, raw, answer["ground_truth"])
        for category in CATEGORIES
        for raw, answer in zip(*_files(category), strict=True)
    }


def _files(category: str) -> Iterable[list[dict[str, Any]]]:
    name = f"BFCL_v4_multi_turn_{category}.json"
    return (
        package.load_file(folder / name) for folder in (package.PROMPT_PATH, package.PROMPT_PATH / "possible_answer")
    )


@cache
def _methods(name: str) -> dict[str, inspect.Signature]:
    """The public methods of an executable: just those that its documents list."""
    executable = getattr(importlib.import_module(package.backends.CLASS_FILE_PATH_MAPPING[name]), name)
    methods = inspect.getmembers(executable, inspect.isfunction)
    return {method: inspect.signature(function) for method, function in methods if not method.startswith("_")}


def expected_call(entry: Entry, text: str) -> Call:
    """A call of the answers, such as `sort('a.txt')`, with every argument by its name."""
    tree = ast.parse(text, mode="eval").body
    assert isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name)
    signature = next(found[tree.func.id] for name in entry.classes if tree.func.id in (found := _methods(name)))
    given = zip(list(signature.parameters)[1:], tree.args, strict=False)  # without `self`
    named = [(str(keyword.arg), keyword.value) for keyword in tree.keywords]
    return Call(tree.func.id, {name: ast.literal_eval(value) for name, value in [*given, *named]})
