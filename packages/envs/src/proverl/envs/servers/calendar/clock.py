"""Arithmetic on local times as ISO text to the minute: ends, days, recurrence, opening and working hours."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Literal

Frequency = Literal["daily", "weekly", "biweekly", "monthly"]
_DAYS = {"daily": 1, "weekly": 7, "biweekly": 14}


def text(moment: datetime) -> str:
    """ISO text to the minute, the only form of a time in this server."""
    return moment.isoformat(timespec="minutes")


def shift(start: str, minutes: int) -> str:
    """The time so many minutes later."""
    return text(datetime.fromisoformat(start) + timedelta(minutes=minutes))


def minutes_between(start: str, end: str) -> int:
    """Length of an event in minutes."""
    return int((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()) // 60


def day_bounds(day: str) -> tuple[str, str]:
    """First minute of a day and the last one, so that even the last day there is has bounds."""
    return f"{day}T00:00", f"{day}T23:59"


def occurrence_starts(first: str, frequency: str, count: int) -> list[str]:
    """Start times of a recurrence rule, `first` included.

    Monthly keeps the day of the month and skips months that lack it, as iCalendar does.
    """
    begin = datetime.fromisoformat(first)
    if frequency in _DAYS:
        return [text(begin + timedelta(days=_DAYS[frequency] * index)) for index in range(count)]
    months = _months(begin)
    return [text(next(months)) for _ in range(count)]


def _months(begin: datetime) -> Iterator[datetime]:
    index = begin.year * 12 + begin.month - 1
    while True:
        year, month = divmod(index, 12)
        index += 1
        try:
            yield begin.replace(year=year, month=month + 1)
        except ValueError:
            continue


def within_hours(start: str, end: str, opens: str, closes: str) -> bool:
    """Whether a time lies on one weekday between two times of the day."""
    same_day = start[:10] == end[:10]
    return same_day and datetime.fromisoformat(start).weekday() < 5 and opens <= start[11:] and end[11:] <= closes


def moved_hour(hour: str, minutes: int) -> str:
    """A time of the day (HH:MM), so many minutes later, around midnight if need be."""
    total = (int(hour[:2]) * 60 + int(hour[3:]) + minutes) % (24 * 60)
    return f"{total // 60:02}:{total % 60:02}"


def zone(offset: int) -> str:
    """Name of a fixed time zone, e.g. UTC+05:30."""
    hours, minutes = divmod(abs(offset), 60)
    return f"UTC{'-' if offset < 0 else '+'}{hours:02}:{minutes:02}"
