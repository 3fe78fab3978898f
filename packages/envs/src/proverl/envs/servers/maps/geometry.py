"""Where things are and how far: one plane for all cities, on which every distance obeys the triangle inequality."""

from math import ceil, hypot
from typing import Literal

City = Literal["Amsel", "Kirkhaven", "Highmere", "Veldria"]
Mode = Literal["walking", "cycling", "driving"]

CENTRES: dict[str, tuple[int, int]] = {  # metres east and north of the origin
    "Amsel": (0, 0),
    "Kirkhaven": (38_000, 9_000),
    "Highmere": (12_000, 31_000),
    "Veldria": (-27_000, 16_000),
}
LONGEST = {"walking": 25_000, "cycling": 80_000}  # metres; nobody is sent further
_DETOUR = {"walking": 1.25, "cycling": 1.3, "driving": 1.4}  # streets against the straight line
_METRES_A_MINUTE = {"walking": 75, "cycling": 240}
_TOWN, _TOWN_SPEED, _ROAD_SPEED, _PARKING = 6_000, 420, 1_250, 3


def straight(ax: int, ay: int, bx: int, by: int) -> float:
    """Metres as the crow flies."""
    return hypot(bx - ax, by - ay)


def distance(mode: str, metres: float) -> int:
    """Metres of a route; rounded up, because that keeps a detour from ever being shorter than the way itself."""
    return ceil(metres * _DETOUR[mode])


def minutes(mode: str, metres: int) -> int:
    """How long a route takes; cars are faster between cities and need a moment to park."""
    if mode == "driving":
        in_town = min(metres, _TOWN)
        return ceil(in_town / _TOWN_SPEED + (metres - in_town) / _ROAD_SPEED) + _PARKING
    return ceil(metres / _METRES_A_MINUTE[mode])


def heading(ax: int, ay: int, bx: int, by: int) -> str:
    """The side of the compass that `b` lies on, seen from `a`."""
    east, north = bx - ax, by - ay
    if abs(east) > 2 * abs(north):
        return "east" if east > 0 else "west"
    if abs(north) > 2 * abs(east):
        return "north" if north > 0 else "south"
    return ("north-" if north > 0 else "south-") + ("east" if east > 0 else "west")


def latitude(north: int) -> float:
    """Degrees north, five decimals (about a metre)."""
    return round(47.4 + north / 111_200, 5)


def longitude(east: int) -> float:
    """Degrees east."""
    return round(6.0 + east / 75_300, 5)
