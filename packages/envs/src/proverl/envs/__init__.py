"""Servers, sessions, and their hosting over MCP."""

from proverl.envs.context import Context, one_of
from proverl.envs.draft import Draft
from proverl.envs.errors import NotFound, Refusal, Rejected
from proverl.envs.registry import check_server, load_server, server_module, server_names
from proverl.envs.server import Server, phrase_slots
from proverl.envs.session import Session, start_time
from proverl.envs.state import COMPACT
from proverl.envs.types import Count, IsoDate, IsoDateTime, IsoTime, Money, Ref, Text, cents, money

__all__ = [
    "COMPACT",
    "Context",
    "Count",
    "Draft",
    "IsoDate",
    "IsoDateTime",
    "IsoTime",
    "Money",
    "NotFound",
    "Ref",
    "Refusal",
    "Rejected",
    "Server",
    "Session",
    "Text",
    "cents",
    "check_server",
    "load_server",
    "money",
    "one_of",
    "phrase_slots",
    "server_module",
    "server_names",
    "start_time",
]
