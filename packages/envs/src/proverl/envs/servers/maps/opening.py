"""Weekly opening hours. A span may end after midnight; then it belongs to the day on which it began."""

from typing import Literal

Weekday = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
WEEKDAYS: tuple[Weekday, ...] = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

Day = tuple[tuple[int, int], ...]  # spans in minutes after midnight


def _day(*spans: str) -> Day:
    """`_day("12:00-14:30", "18:00-01:00")` as minutes; an end before its start is on the next day."""
    found = []
    for span in spans:
        start, end = (int(text[:2]) * 60 + int(text[3:]) for text in span.split("-"))
        found.append((start, end if end > start else end + 1_440))
    return tuple(found)


_CLOSED: Day = ()
_SHOP, _LATE_SHOP = _day("09:00-18:30"), _day("08:00-20:00")
_LUNCH_AND_DINNER, _DINNER = _day("12:00-14:30", "18:00-22:30"), _day("18:00-23:00")
SCHEDULES: dict[str, tuple[Day, ...]] = {
    "always": (_day("00:00-24:00"),) * 7,
    "station": (_day("04:30-00:30"),) * 7,
    "shop": (*(_SHOP,) * 5, _day("10:00-17:00"), _CLOSED),
    "pharmacy": (*(_day("08:30-12:30", "13:30-18:30"),) * 5, _day("09:00-12:30"), _CLOSED),
    "supermarket": (*(_LATE_SHOP,) * 6, _day("09:00-13:00")),
    "cafe": (*(_day("07:30-18:00"),) * 5, *(_day("09:00-19:00"),) * 2),
    "late_cafe": (_CLOSED, *(_day("10:00-23:00"),) * 3, *(_day("10:00-01:00"),) * 2, _day("11:00-21:00")),
    "restaurant": (_CLOSED, *(_LUNCH_AND_DINNER,) * 5, _day("12:00-15:00")),
    "dinner": (*(_DINNER,) * 2, _CLOSED, *(_DINNER,) * 2, *(_day("17:30-00:30"),) * 2),
    "museum": (_CLOSED, *(_day("10:00-18:00"),) * 2, _day("10:00-21:00"), *(_day("10:00-18:00"),) * 3),
    "library": (_day("13:00-19:00"), *(_day("10:00-19:00"),) * 4, _day("10:00-16:00"), _CLOSED),
    "gym": (*(_day("06:00-22:30"),) * 5, *(_day("08:00-20:00"),) * 2),
    "cinema": (*(_day("14:00-00:30"),) * 4, *(_day("11:00-01:30"),) * 3),
    "park": (_day("06:00-22:00"),) * 7,
}


def clock(minute: int) -> str:
    """HH:MM of a minute after midnight; the next day's hours begin at 00:00 again, but midnight itself is 24:00."""
    minute = minute if minute == 1_440 else minute % 1_440
    return f"{minute // 60:02d}:{minute % 60:02d}"


def spans(schedule: str, weekday: int) -> list[str]:
    """The hours of a weekday as `HH:MM-HH:MM`, none when closed."""
    return [f"{clock(start)}-{clock(end)}" for start, end in SCHEDULES[schedule][weekday]]


def is_open(schedule: str, weekday: int, minute: int, day_before: bool = True, today: bool = True) -> bool:
    """Whether the place is open; `day_before` and `today` are False where that day is a special closing."""
    week = SCHEDULES[schedule]
    return (today and any(start <= minute < end for start, end in week[weekday])) or (
        day_before and any(start <= minute + 1_440 < end for start, end in week[weekday - 1])
    )
