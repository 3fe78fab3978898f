"""Spelling of names: folded for searches, and as parts of email addresses."""

import re

from proverl.envs.names import folded


def mailbox(text: str, joint: str) -> str:
    """`Zoë O'Brien` -> `zoe.obrien` with a dot as the joint."""
    return joint.join(re.sub(r"[^a-z0-9 ]", "", folded(text)).split())
