"""Inventing argument values that a person could say, from a parameter's schema and the session's date."""

from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from proverl.core import Json
from proverl.synth.schema import plain


class NoValue(ValueError):
    """A parameter for which no sayable value can be invented."""


def invent(schema: dict[str, Any], now: datetime, rng: Random) -> Json:
    """A plausible value for a parameter that names no entity. Raises NoValue when the schema gives nothing to go by."""
    schema = plain(schema)
    if "const" in schema:
        return schema["const"]
    for choices in (schema.get("enum"), schema.get("examples")):
        if choices:
            return rng.choice(choices)
    kind, form = schema.get("type"), schema.get("format")
    if form in ("date", "date-time", "time"):
        return _moment(form, schema.get("x-when") == "past", now, rng)
    if kind == "boolean":
        return rng.random() < 0.5
    if kind in ("number", "integer"):
        return _number(schema, kind == "integer", rng)
    if kind == "array":
        items = schema.get("items", {})
        return [invent(items, now, rng)]
    raise NoValue(f"no examples for {schema}")


def _moment(form: str, past: bool, now: datetime, rng: Random) -> str:
    """A working day within four weeks, in working hours: what people mostly ask for."""
    days = rng.randint(1, 28)
    day: date = now.date() + timedelta(days=-days if past else days)
    day -= timedelta(days=max(day.weekday() - 4, 0))
    if day == now.date():
        day += timedelta(days=-1 if past else 3)
    clock = f"{rng.randint(9, 16):02d}:{rng.choice(('00', '00', '30', '15', '45'))}"
    if form == "time":
        return clock
    return day.isoformat() if form == "date" else f"{day.isoformat()}T{clock}"


def _number(schema: dict[str, Any], integer: bool, rng: Random) -> Json:
    low = float(schema.get("minimum", schema.get("exclusiveMinimum", 0)))
    high = float(schema.get("maximum", schema.get("exclusiveMaximum", 500)))
    if integer:
        return rng.randint(int(max(low, 1)), int(min(high, max(low, 1) + 19)))
    amount = rng.choice((rng.randint(5, 500), rng.randint(1, 50) * 10, rng.randint(500, 50_000) / 100))
    return min(max(amount, low), high)


def say(value: Json, quoted: bool) -> str:
    """How a person writes a value: 250, 12.50, on, 2026-03-09, "Team sync"; raises NoValue for objects."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.0f}" if value == int(value) else f"{value:.2f}"
    if isinstance(value, list):
        return " and ".join(say(item, quoted) for item in value)
    if isinstance(value, dict) or value is None:
        raise NoValue(f"cannot say {value!r}")
    return f'"{value}"' if quoted else str(value)
