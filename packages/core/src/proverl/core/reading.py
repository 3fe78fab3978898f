"""Calls and texts as they are shown to people: on a terminal, on a page."""

import json
import re
from collections.abc import Callable, Mapping

from proverl.core.json import Json

# what moves a terminal's cursor, turns the direction of writing, or is half of a character; not line breaks and tabs
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """A text of a model, a user or a server with the characters that would act on the page written as escapes."""
    return _UNPRINTABLE.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def shortened(text: str, width: int) -> str:
    """A text of at most `width` characters; an ellipsis says that there was more."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _json_text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def call_text(name: str, arguments: Mapping[str, Json], value_text: Callable[[Json], str] = _json_text) -> str:
    """A call as it would be written in Python."""
    return f"{name}({', '.join(f'{key}={value_text(value)}' for key, value in arguments.items())})"
