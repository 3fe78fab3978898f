"""How people say values: dates and times in words, amounts and days by their relation to others. And the way back.

`spellings` lists what stands for a value by itself, `relative_days` what stands for a day once the reference date is
known, `derive` computes a value from another one, as in "half of that amount".
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta

from proverl.core import Json
from proverl.synth.chains.values import NoValue

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"\d\d:\d\d")
_SHIFT = re.compile(r"([+-]\d+) days(?: at (\d\d:\d\d))?")
_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_SWITCH = {True: ("on", "yes", "enable", "turn on"), False: ("off", "no", "disable", "turn off")}

OPERATIONS: dict[str, Callable[[float], float]] = {
    "half": lambda amount: round(amount / 2, 2),
    "twice": lambda amount: round(amount * 2, 2),
    "a third": lambda amount: round(amount / 3, 2),
}


def derive(operation: str, value: Json) -> Json:
    """The result of an operation of OPERATIONS on a number, or of "+3 days" or "-1 days at 14:30" on an ISO date.

    Raises ValueError for another operation or a value that it does not take.
    """
    if operation in OPERATIONS and isinstance(value, int | float):
        return OPERATIONS[operation](value)
    shift = _SHIFT.fullmatch(operation)
    if shift is None or not isinstance(value, str):
        raise ValueError(f"there is no operation {operation!r} on {value!r}; there are {list(OPERATIONS)}, '+N days'")
    day = date.fromisoformat(value[:10]) + timedelta(days=int(shift[1]))
    return day.isoformat() + (f"T{shift[2]}" if shift[2] else value[10:])


def shift(start: date, end: str) -> str:
    """The operation that leads from a day to an ISO date or date-time."""
    days = (date.fromisoformat(end[:10]) - start).days
    return f"{days:+d} days" + (f" at {end[11:]}" if "T" in end else "")


def relative_days(day: date, today: date) -> Iterator[str]:
    """Ways to name a day that are unambiguous once today is known."""
    days = (day - today).days
    named = {-1: "yesterday", 0: "today", 1: "tomorrow", 2: "the day after tomorrow", 7: "a week from today"}
    if days in named:
        yield named[days]
    if 2 < days < 7:
        yield f"in {_WORDS[days]} days"
    if days in (14, 21, 28):
        yield f"in {_WORDS[days // 7]} weeks"
    if -7 < days < -1:
        yield f"{_WORDS[-days]} days ago"
    week = (day - timedelta(days=day.weekday()) - today + timedelta(days=today.weekday())).days // 7
    if week == 0 and days > 1:
        yield f"this {day:%A}"
    if abs(week) == 1:
        yield f"{day:%A} {'next' if week == 1 else 'last'} week"


def relative_moments(moment: str, today: date) -> Iterator[str]:
    """The same for an ISO date or date-time."""
    for words in relative_days(date.fromisoformat(moment[:10]), today):
        if "T" not in moment:
            yield words
        else:
            yield from (f"{words} at {clock}" for clock in _clocks(moment[11:]))


def spellings(value: Json, today: date) -> list[str]:
    """What a text may say for this value; the plainest comes first. Empty for null and objects."""
    if isinstance(value, bool):
        return list(_SWITCH[value])
    if isinstance(value, int | float):
        return _numbers(value)
    if not isinstance(value, str):
        return []
    if _TIME.fullmatch(value):
        return _clocks(value)
    if _DAY.fullmatch(value[:10]) and _is_moment(value):
        days = _days(date.fromisoformat(value[:10]), today)
        return days if len(value) == 10 else [value, *(f"{d} at {c}" for d in days for c in _clocks(value[11:]))]
    return list(dict.fromkeys((value, value.replace("_", " "))))


def _is_moment(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return len(value) in (10, 16)


def _days(day: date, today: date) -> list[str]:
    short = [f"{day:%B} {day.day}", f"{day.day} {day:%B}"]
    near = short if abs((day - today).days) < 180 else []
    return [day.isoformat(), f"{short[0]}, {day.year}", f"{short[1]} {day.year}", *near]


def _clocks(clock: str) -> list[str]:
    hour, minute = int(clock[:2]), clock[3:]
    half = "am" if hour < 12 else "pm"
    short = f"{(hour - 1) % 12 + 1}" + ("" if minute == "00" else f":{minute}")
    return [clock, f"{short} {half}", f"{short}{half}"]


def _numbers(value: float) -> list[str]:
    if value != int(value):
        return [f"{value:.2f}" if round(value, 2) == value else str(value), str(value), f"{value:,.2f}"]
    whole = int(value)
    words = [_WORDS[whole]] if 0 <= whole < len(_WORDS) else []
    return [str(whole), f"{whole:,}", f"{whole}.00", f"{whole:,}.00", *words]


def say(value: Json, today: date, quoted: bool = False) -> str:
    """The plainest way to write a value: 250, 12.50, on, 2026-03-09, "Team sync". Raises NoValue for objects."""
    if isinstance(value, list):
        return " and ".join(say(item, today, quoted) for item in value)
    texts = spellings(value, today)
    if not texts:
        raise NoValue(f"cannot say {value!r}")
    return f'"{value}"' if quoted else texts[1 if isinstance(value, str) and "_" in value and len(texts) > 1 else 0]


def is_said(value: Json, text: str, today: date) -> bool:
    """Whether a text spells this value out, as whole words and whatever the case."""
    return any(contains(text, spelling) for spelling in spellings(value, today))


def contains(text: str, part: str) -> bool:
    """Whether a text contains these whole words, whatever the case."""
    return re.search(rf"(?<![\w.-]){re.escape(part)}(?!\w|[.,-]\d)", text, re.IGNORECASE) is not None
