"""What a reply is worth in each of the six dimensions, and what the published scorers give it.

The formulas are those of the evaluators of open-compass/T-Eval. Each is written once; `published` turns its faults on.
They return the value and, in words, what is wrong: with the reply or, as published, why the scorer may differ.
"""

import re
from collections.abc import Callable
from typing import Any

from proverl.evals.benchmark import Score
from proverl.evals.teval.data import FINISH, Dimension, Question
from proverl.evals.teval.embedder import Embedder
from proverl.evals.teval.parsing import LONGEST, UNREADABLE, as_published, load, read_python, split, without_fence
from proverl.evals.teval.plans import Found, score_plan

SLIGHT = 1e-4  # a difference that is not worth telling
_ABSENT = object()
_PYTHON = "it reads JSON as Python"


def score(question: Question, reply: str, embed: Embedder) -> Score:
    """Our value as `score` and the published scorer's as `official`, both from 0 to 1. Raises nothing."""
    reply = reply[:LONGEST]
    ours, theirs = without_fence(reply), as_published(reply)
    value, wrong = _value(question, ours, False, embed)
    official, fault = _value(question, theirs, True, embed)
    if abs(value - official) > SLIGHT:
        fault = fault if ours == theirs else "its runner cuts the reply where a next turn might begin"
        wrong = f"{wrong or 'right'}; the published scorer gives {official:.3f}: {fault}"
    return Score({"score": value, "official": official}, wrong)


def _value(question: Question, text: str, published: bool, embed: Embedder) -> Found:
    try:
        return _SCORERS[question.dimension](question, text, published, embed)
    except RecursionError:
        return 0.0, "it ends with an error on what is nested too deeply" if published else "nested too deeply"
    except UnicodeEncodeError:
        return 0.0, "it ends with an error on half a character" if published else "half a character"


def _instruct(question: Question, text: str, published: bool, embed: Embedder) -> Found:
    """Mean of: is it in the format, and the share of action and arguments that are exactly right."""
    read = _instruct_json if question.format == "json" else _instruct_text
    try:
        action, args = read(question, text, published)
    except re.error:
        return 0.0, "it takes the marks for a pattern, which they are not"
    except UNREADABLE:
        return 0.0, "it takes the marks for a pattern" if published else "not in the format"
    args = args if isinstance(args, dict) else {}
    absent = "" if published else _ABSENT
    expected = question.truth.args
    wrong = [key for key in expected if args.get(key, absent) != expected[key]]
    wrong += ["action"] * (action != question.truth.action)
    exact = 1 - len(wrong) / (1 + len(expected))
    why = f"{_PYTHON}, or an absent argument is an empty one to it" if published else _listed("wrong", wrong)
    return (1 + exact) / 2, why


def _instruct_json(question: Question, text: str, published: bool) -> tuple[Any, Any]:
    said = load(text, published=published)
    _, action, args = (said[question.template[key]] for key in ("thought", "action", "args"))
    return action, args


def _instruct_text(question: Question, text: str, published: bool) -> tuple[Any, Any]:
    parts = split(text, question.marks, published)
    if parts is None:
        raise ValueError("the marks are not there")
    try:
        return parts[1].strip(), (read_python if published else load)(parts[2].strip())
    except UNREADABLE:
        return parts[1].strip(), {}


def _said(question: Question, text: str, published: bool) -> dict[str, Any]:
    """The object in a reply that asks for one. Raises ValueError when there is none."""
    said = load(text, "{", "}", published)
    if type(said) is not dict:
        raise ValueError("no object")
    return said


def _reason(question: Question, text: str, published: bool, embed: Embedder) -> Found:
    """Cosine of the thought with the expected one, negative ones 0."""
    try:
        thought = str(_said(question, text, published).get("thought", "")) if question.format == "json" else text
    except UNREADABLE:
        return 0.0, _PYTHON if published else "no object could be read"
    if not thought.strip() and not published:
        return 0.0, "no thought"
    value = float(embed.cosines([thought], [question.truth])[0, 0])
    return value, (_PYTHON if thought.strip() else "no thought is a text to it") if published else ""


def _retrieve(question: Question, text: str, published: bool, embed: Embedder) -> Found:
    """Whether the name is right. In words other words may stand around it, but no other name."""
    if question.format == "json":
        try:
            name = str(_said(question, text, published).get("name", ""))
        except UNREADABLE:
            return 0.0, _PYTHON if published else "no object could be read"
        right = name == question.truth
    else:
        name = text
        others = re.findall(r"\b\w+\.\w+", text) + re.findall(FINISH, text)
        right = question.truth in text and all(other == question.truth for other in others)
        right = right or (not published and text == without_fence(question.truth))
    why = "" if right else f"the name is {name[:80]!r}, not {question.truth!r}"
    return float(right), "it does not know a name of this form" if published else why


def _understand(question: Question, text: str, published: bool, embed: Embedder) -> Found:
    """The share of arguments whose values are written as expected; in words, whether the one value is."""
    if question.format == "str":
        return _understand_text(question, text, published)
    try:
        said = _said(question, text, published).get("args")
    except UNREADABLE:
        return 0.0, _PYTHON if published else "no object could be read"
    args, expected = said if isinstance(said, dict) else {}, question.truth
    wrong = [key for key in expected if key not in args or str(args[key]) != str(expected[key])]
    if not expected:
        empty = not args and (published or said is None or isinstance(said, dict))
        return float(empty), "what is no object is an empty one to it" if published else "" if empty else "not empty"
    if published:
        return (len(expected) - len(wrong)) / (len(expected) + 1e-5), _PYTHON
    return 1 - len(wrong) / len(expected), _listed("wrong", wrong)


def _understand_text(question: Question, text: str, published: bool) -> Found:
    expected = str(question.truth)
    if published:
        return float(_unquoted(text) == expected), "it cleans the reply but not the expected value"
    right = _unquoted(text) == _unquoted(without_fence(expected))
    return float(right), "" if right else f"the value is {text[:80]!r}, not {expected[:80]!r}"


def _unquoted(text: str) -> str:
    return text.strip("'").strip('"')


def _review(question: Question, text: str, published: bool, embed: Embedder) -> Found:
    """Whether the letter behind the first colon is right."""
    answer = text.partition(":")[2].strip() if ":" in text else text.strip()
    found = re.match("[A-E]" if published else r"[A-E](?![A-Za-z0-9_])", answer)
    right = bool(found) and answer[0] == question.truth
    why = "" if right else f"the answer is {answer[:20]!r}, not {question.truth!r}"
    return float(right), "the first letter of a word is an answer to it" if published else why


def _listed(what: str, names: list[str]) -> str:
    return f"{what}: {', '.join(ascii(name)[1:-1] for name in names)}" if names else ""


_SCORERS: dict[Dimension, Callable[[Question, str, bool, Embedder], Found]] = {
    "instruct": _instruct,
    "plan": score_plan,
    "reason": _reason,
    "retrieve": _retrieve,
    "understand": _understand,
    "review": _review,
}
