"""Airports, airlines, and times: the agency's clock is Brussels', passengers read local ones."""

from datetime import datetime, timedelta
from typing import Literal

Airport = Literal["BRU", "CPH", "FCO", "JFK", "LHR", "LIS", "VIE"]
City = Literal["Brussels", "Copenhagen", "Rome", "New York", "London", "Lisbon", "Vienna"]

AIRPORTS: dict[str, str] = {
    "BRU": "Brussels",
    "CPH": "Copenhagen",
    "FCO": "Rome",
    "JFK": "New York",
    "LHR": "London",
    "LIS": "Lisbon",
    "VIE": "Vienna",
}
PLACES = {  # latitude, longitude
    "BRU": (50.90, 4.48),
    "CPH": (55.62, 12.65),
    "FCO": (41.80, 12.25),
    "JFK": (40.64, -73.78),
    "LHR": (51.47, -0.45),
    "LIS": (38.77, -9.13),
    "VIE": (48.11, 16.57),
}
_SHIFT = {"JFK": -360, "LHR": -60, "LIS": -60}  # minutes to Brussels time, all year round
AIRLINES = {"AQ": "Atlantica", "MD": "Meridian", "NV": "Norvia", "LU": "Lumen Air"}

CHECK_IN_OPENS = timedelta(hours=30)  # before departure
CHECK_IN_CLOSES = timedelta(minutes=60)
SALE_ENDS = timedelta(hours=2)


def text(moment: datetime) -> str:
    """ISO text to the minute."""
    return moment.isoformat(timespec="minutes")


def departs(leaves: str, origin: str) -> str:
    """Local time of a departure."""
    return local(leaves, 0, origin)


def local(leaves: str, minutes: int, airport: str) -> str:
    """Local time at an airport, so many minutes after a departure given in Brussels time."""
    return text(datetime.fromisoformat(leaves) + timedelta(minutes=minutes + _SHIFT.get(airport, 0)))


def start_of_day(day: str, airport: str) -> str:
    """Brussels time of midnight at an airport."""
    return text(datetime.fromisoformat(day) - timedelta(minutes=_SHIFT.get(airport, 0)))


def before(leaves: str, span: timedelta) -> str:
    """Brussels time, so long before a departure."""
    return text(datetime.fromisoformat(leaves) - span)


def arrival(leaves: str, minutes: int) -> str:
    """Brussels time of an arrival."""
    return text(datetime.fromisoformat(leaves) + timedelta(minutes=minutes))


def years_after(day: str, years: int) -> str:
    """The same day so many years later; 28 February for a 29th, which those years rarely have."""
    return f"{int(day[:4]) + years:04d}{'-02-28' if day[4:] == '-02-29' else day[4:]}"
