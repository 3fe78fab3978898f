"""Parameter and result types that every server shares: entity references, money, dates, times, text.

A type is `Annotated[<JSON type>, ...]`, so a tool's signature is its JSON Schema and its argument check at once.
A plain string inside `Annotated` is the parameter's description.
"""

import re
from datetime import date, datetime, time
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

MAX_TEXT = 4000  # characters; long enough for an email, short enough for any state image


def Ref(entity: str, pattern: str | None = None) -> Any:  # noqa: N802 - reads as a type in signatures
    """The type of a value that names an entity, e.g. `AccountId = Ref("Account")`.

    The schema carries `x-entity`; the server's name is put before it when the tool is registered, unless `entity`
    already names a server (`"crm.Contact"`).
    """
    return Annotated[str, Field(min_length=1, max_length=200, pattern=pattern, json_schema_extra={"x-entity": entity})]


def _two_decimals(value: float) -> float:
    if round(value, 2) != value:
        raise ValueError("an amount has at most two decimals, e.g. 12.50")
    return value


def _no_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("expected a number, got a boolean")
    return value


def _iso(kind: type[date] | type[time] | type[datetime], pattern: str, example: str) -> AfterValidator:
    form = re.compile(pattern, re.ASCII)

    def check(value: str) -> str:
        try:
            if not form.fullmatch(value):
                raise ValueError
            kind.fromisoformat(value)
        except ValueError:
            raise ValueError(f"expected the form {example}") from None
        return value

    return AfterValidator(check)


Money = Annotated[
    float,
    Field(gt=0, le=10_000_000, allow_inf_nan=False, json_schema_extra={"multipleOf": 0.01}),
    BeforeValidator(_no_bool),
    AfterValidator(_two_decimals),
]
"""A positive amount of money in the currency's main unit, at most two decimals."""

Count = Annotated[int, Field(ge=1, le=1_000, examples=[2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20])]
"""How many to list: 1 to 1,000."""

Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
"""Text that may not be empty."""

IsoDate = Annotated[str, _iso(date, r"\d{4}-\d\d-\d\d", "2026-03-09"), Field(json_schema_extra={"format": "date"})]
IsoTime = Annotated[str, _iso(time, r"\d\d:\d\d", "14:30"), Field(json_schema_extra={"format": "time"})]
IsoDateTime = Annotated[
    str,
    _iso(datetime, r"\d{4}-\d\d-\d\dT\d\d:\d\d", "2026-03-09T14:30"),
    Field(json_schema_extra={"format": "date-time"}),
]


def cents(amount: float) -> int:
    """Money as an integer number of cents, which is how every table stores it."""
    return round(amount * 100)


def money(amount_cents: int) -> float:
    """Inverse of `cents`."""
    return amount_cents / 100
