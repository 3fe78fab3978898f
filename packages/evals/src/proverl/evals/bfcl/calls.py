"""From what a policy wrote to texts of calls, and which of these may reach the package's `eval`."""

import ast
from collections.abc import Collection
from typing import Any

from proverl.core import Json
from proverl.evals.bfcl import package

REFUSED = "refused()"  # stands in for a call that may not run; the package finds no such name
_LITERAL = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.unaryop, ast.keyword, ast.expr_context)
_ARITHMETIC = (
    *(ast.Constant, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod),
    *(ast.UnaryOp, ast.USub, ast.UAdd),
)
_ENTRY = "entry"


def decoded(step: Json, prompting: bool) -> list[str]:
    """The calls of a step as texts; none when the step cannot be read, since then the package takes it as words.

    With function calling a step is a list of {name: arguments as JSON text}, read as for OpenAI's models: one call that
    cannot be read spoils its step. With prompting it is a text such as `[f(a=1), g()]`.
    """
    read = package.decoding.default_decode_execute_prompting if prompting else package.decoding.convert_to_function_call
    try:
        calls = read(step)
    except Exception:  # whatever parsers raise at hostile text
        return []
    return [] if package.execution.is_empty_execute_response(calls) else calls


def _arithmetic(text: str) -> Any:
    """The value of a text such as `60 * 1.5`. Raises ValueError when it is more, or could grow without end."""
    tree = ast.parse(text, mode="eval")
    nodes = list(ast.walk(tree.body))
    numbers = all(isinstance(node.value, int | float) for node in nodes if isinstance(node, ast.Constant))
    allowed = _ARITHMETIC if numbers else (ast.BinOp, ast.Add, ast.Constant)  # "x" * 10**12 fills the memory
    if not all(isinstance(node, allowed) for node in nodes):
        raise ValueError(f"{text} is no arithmetic")
    return eval(compile(tree, "<arithmetic>", "eval"))


# the package's parser of prompted calls evaluates any operator among the arguments
vars(package.decoding)["eval"] = _arithmetic


def refusal(call: str, names: Collection[str]) -> str:
    """Why a call may not run, empty when it may: it calls functions of the entry, with literals or such calls."""
    try:
        # as the package rewrites it before it evaluates it, so that no other text is looked at
        text = package.execution._process_method_calls(call, dict.fromkeys(names, _ENTRY))
        return _foreign(ast.parse(text.lstrip(" \t"), mode="eval").body, {f"{_ENTRY}.{name}" for name in names})
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"[:200]


def _foreign(tree: ast.expr, functions: Collection[str]) -> str:
    if not isinstance(tree, ast.Call):
        return "it is no call"
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name not in functions:
                return f"name '{name.partition('.')[0][:100]}' is not defined"
            todo += [*node.args, *node.keywords]
        elif isinstance(node, _LITERAL):
            todo += ast.iter_child_nodes(node)
        else:
            return f"{ast.unparse(node)[:100]} is no literal"
    return ""
