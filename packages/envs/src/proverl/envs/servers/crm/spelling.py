"""Spelling of names: folded for searches, and as parts of email addresses."""

import re
import unicodedata

_LETTERS = str.maketrans({"ø": "o", "ł": "l", "ß": "ss", "ı": "i", "æ": "ae", "đ": "d"})


def folded(text: str) -> str:
    """Lower case without accents, so that `Muller` finds `Müller`."""
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return "".join(char for char in plain if not unicodedata.combining(char))


def mailbox(text: str, joint: str) -> str:
    """`Zoë O'Brien` -> `zoe.obrien` with a dot as the joint."""
    return joint.join(re.sub(r"[^a-z0-9 ]", "", folded(text)).split())
