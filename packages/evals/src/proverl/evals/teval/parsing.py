"""Reading what a model wrote, twice: rightly, and as the published runner and scorers do (`published=True`).

The published reader tries Python before JSON, so that the escapes of JSON mean something else to it; its runner cuts
the reply where a chat template of another model might go on; its patterns are made of text that nothing escaped.
Nothing here runs what a model wrote: Python literals are read by `ast.literal_eval`.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable
from typing import Any

LONGEST = 16_384  # characters of a reply that are read; the published runner lets a model write 512 tokens
_CUTS = ("<eoa>", "<TOKENS_UNUSED_1>", "<|im_end|>", "\nuser", "\nassistant", "\nUSER", "[INST]", "<|user|>")
_FENCE = "```json"
_SPECIAL = set(r".^$*+?{}[]\|()")
UNREADABLE = (ValueError, SyntaxError, TypeError, LookupError, OverflowError, RecursionError, MemoryError)


def without_fence(reply: str) -> str:
    """The reply without white space and a code fence around it."""
    return reply.strip().removeprefix(_FENCE).strip("`").strip()


def as_published(reply: str) -> str:
    """The reply as the published runner keeps it: cut at what looks like the next turn, then without a fence."""
    for mark in _CUTS:
        reply = reply.split(mark)[0]
    return without_fence(reply)


def read_python(text: str) -> Any:
    """Read a Python literal. Raises one of UNREADABLE."""
    with warnings.catch_warnings(action="ignore"):  # of escapes that Python does not know
        return ast.literal_eval(text)


def load(text: str, opening: str = "", closing: str = "", published: bool = False) -> Any:
    """Read JSON, a Python literal, or JSON with single quotes, from the first `opening` to the last `closing` if given.

    Raises ValueError when it is none of them.
    """
    if _FENCE in text:
        text = text.partition(_FENCE)[2].strip("`")
    if opening:
        text = text[max(text.find(opening), 0) : text.rfind(closing) + 1]
    first, second = (read_python, json.loads) if published else (json.loads, read_python)
    readers: list[Callable[[str], Any]] = [first, second, lambda text: json.loads(text.replace("'", '"'))]
    for read in readers:
        try:
            return read(text)
        except UNREADABLE:
            continue
    raise ValueError("neither JSON nor a Python literal")


def split(text: str, marks: tuple[str, str, str, str], published: bool = False) -> tuple[str, str, str] | None:
    """What stands between four marks, each part as long as can be, the first mark as early; None when they do not.

    Raises re.error when the marks, taken as a pattern as published, are none.
    """
    if published and _SPECIAL & set("".join(marks)):
        found = re.search("(.*)".join(marks), text, re.DOTALL)
        return (found[1], found[2], found[3]) if found else None
    start, end = text.find(marks[0]), text.rfind(marks[3])
    third = text.rfind(marks[2], 0, max(end, 0))
    second = text.rfind(marks[1], 0, max(third, 0))
    if start < 0 or second < start + len(marks[0]):
        return None
    return (
        text[start + len(marks[0]) : second],
        text[second + len(marks[1]) : third],
        text[third + len(marks[2]) : end],
    )
