"""Which entities can support a step that changes something (paper, Synthesis 2: no balance, no stock, over, past).

The rules read the names and values of a record's fields and the tool's own words; they know no server.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date

from proverl.core import Json, Tool

_AMOUNTS = re.compile(r"(^|_)(balance|available|cash|stock|on_hand|left|remaining|quantity|active)$")
_OVER_FLAGS = frozenset({"archived", "left"})
_STATES = re.compile(r"(^|_)(status|state|stage|availability|trading)$")
_OVER = re.compile(
    "archived|blocked|cancelled|cancelled_by_airline|closed|completed|converted|deactivated|declined|deleted|delisted|"
    "delivered|discontinued|done|ended|expired|finished|flown|hold_expired|lapsed|lost|offline|out_of_stock|"
    "permanently_closed|received|refunded|removed|retired|sold|sold_out|suspended|uncollectible|used|void|won"
)
_ENDS = re.compile(r"(^|_)(expires|valid_until|end|ends|ends_at|end_date|departs|check_out_date)$")
_REVIVES = re.compile(r"^(re(open|activate|store|new|instate|cover)|un|resume|enable|restart|revive)")


def supports(record: Mapping[str, Json], today: date, tool: Tool | None = None) -> bool:
    """Whether a step can be expected to go through with this entity; one of which nothing is told can.

    Reading supports everything, and so does a tool that says in its own words that it wants what is over.
    """
    if tool is not None and (tool.read_only or _REVIVES.match(tool.name)):
        return True
    against = list(_against(record, today))
    return not against or (tool is not None and all(word in _words(tool) for word in against))


def _words(tool: Tool) -> str:
    told = [schema.get("description", "") for schema in tool.parameters["properties"].values()]
    return " ".join([tool.description, *told]).lower()


def _against(record: Mapping[str, Json], today: date) -> Iterator[str]:
    """Yield what stands against this entity: the name of an empty amount, a state that is over, or `past`."""
    stated = any(_STATES.search(name) for name in record)
    for name, value in record.items():
        if isinstance(value, bool | int | float):
            over = bool(value) if name in _OVER_FLAGS else value <= 0 and bool(_AMOUNTS.search(name))
            if over:
                yield name
        elif isinstance(value, str):
            if _STATES.search(name) and _OVER.fullmatch(value):
                yield value.replace("_", " ")
            elif not stated and _ENDS.search(name) and _before(value, today):  # a state says more than a date
                yield "past"


def _before(text: str, today: date) -> bool:
    try:
        return date.fromisoformat(text[:10]) < today
    except ValueError:
        return False
