"""The drawn world: streets, places along them, stops, and the lines that all meet at each city's central station."""

from dataclasses import dataclass
from math import cos, pi, sin
from random import Random

from proverl.envs import Draft
from proverl.envs.servers.maps import words
from proverl.envs.servers.maps.geometry import CENTRES, straight
from proverl.envs.servers.maps.tables import LineStop, Place, SpecialClosing, TransitLine
from proverl.envs.state import Row

_PLAIN_ADDRESSES = 6  # a city
_PEDESTRIAN_ZONE = 420  # metres around the centre
_METRES_A_HOUSE = 9
_STOPS_ON_A_LINE = 4  # beside the central station
_TRAINS = (
    ("IC 1", ("Veldria", "Amsel", "Kirkhaven")),
    ("IC 2", ("Veldria", "Highmere", "Kirkhaven")),
    ("IC 3", ("Amsel", "Highmere")),
)
_LASTING = ("park", "car_park", "address", "transit_stop")  # what doesn't close for good
_METRES_A_MINUTE = {"metro": 500, "tram": 300, "bus": 270, "train": 1_500}


@dataclass(frozen=True)
class _Street:
    """A straight street: house 0 and the direction in which the numbers grow."""

    name: str
    east: float
    north: float
    along: tuple[float, float]

    def house(self, number: int) -> tuple[int, int]:
        metres = number * _METRES_A_HOUSE
        return int(self.east + metres * self.along[0]), int(self.north + metres * self.along[1])


def _metres(a: tuple[int, int], b: tuple[int, int]) -> float:
    return straight(a[0], a[1], b[0], b[1])


def draw_world(draft: Draft) -> None:
    """All cities, then the trains between them."""
    hubs = {}
    for city in CENTRES:
        streets = _streets(draft.rng, city)
        hubs[city] = _stops_and_lines(draft, city, streets)
        _places(draft, city, streets)
    for name, cities in _TRAINS:
        _line(draft, name, "train", [hubs[city] for city in cities])
    _find_stops(draft)
    _suspend(draft)
    _close(draft)


def _streets(rng: Random, city: str) -> list[_Street]:
    east, north = CENTRES[city]
    streets = []
    for name in rng.sample(words.STREETS, 10):
        angle, away, turn = rng.uniform(0, 2 * pi), rng.uniform(50, 1_500), rng.uniform(0, 2 * pi)
        start = (east + away * cos(angle), north + away * sin(angle))
        streets.append(_Street(name, *start, (cos(turn), sin(turn))))
    return streets


def _add(draft: Draft, city: str, name: str, category: str, street: str, number: int, at: tuple[int, int]) -> Row:
    return draft.add(
        Place,
        name=name,
        category=category,
        city=city,
        street=street,
        number=number,
        east=at[0],
        north=at[1],
        schedule="always" if category == "transit_stop" else None,
        status="operational",
        moved_to=None,
        car_free=_metres(at, CENTRES[city]) < _PEDESTRIAN_ZONE and category not in ("car_park", "transit_stop"),
        stop_id="",
    )


def _stops_and_lines(draft: Draft, city: str, streets: list[_Street]) -> Row:
    """Three lines cross at the central station. Returns it."""
    rng, (east, north) = draft.rng, CENTRES[city]

    def stop(name: str, at: tuple[int, int]) -> Row:
        near = min(streets, key=lambda street: _metres(street.house(20), at))
        return _add(draft, city, name, "transit_stop", near.name, 0, at)

    hub = stop(f"{city} Central", (east, north))
    hub["schedule"] = "station"
    names = rng.sample(words.STOPS, 3 * _STOPS_ON_A_LINE)
    first_angle = rng.uniform(0, pi)
    for index, kind in enumerate(("metro", "tram", "bus")):
        angle = first_angle + index * pi / 3
        row = []
        for place, name in enumerate(names[index * _STOPS_ON_A_LINE : (index + 1) * _STOPS_ON_A_LINE]):
            away = (-1_400, -650, 650, 1_400)[place] + rng.randint(-180, 180)
            row.append(stop(name, (int(east + away * cos(angle)), int(north + away * sin(angle)))))
        number = rng.randint(1, 9) if kind != "bus" else rng.randint(20, 89)
        _line(draft, f"{kind.capitalize()} {number}", kind, [*row[:2], hub, *row[2:]])
    return hub


def _line(draft: Draft, name: str, kind: str, stops: list[Row]) -> None:
    rng = draft.rng
    line = draft.add(
        TransitLine,
        name=name,
        kind=kind,
        city=stops[0]["city"],
        first=rng.choice((300, 315, 330, 345, 360)),
        last=rng.choice((1_350, 1_380, 1_410, 1_425)) if kind != "bus" else rng.choice((1_170, 1_260, 1_320)),
        headway={"metro": 6, "tram": 10, "bus": 20, "train": 30}[kind],
        minutes=0,
        suspended_until=None,
        reason=None,
    )
    passed, last = 0, stops[0]
    for stop in stops:
        metres = straight(last["east"], last["north"], stop["east"], stop["north"]) * 1.2
        passed += max(1, round(metres / _METRES_A_MINUTE[kind])) if stop is not last else 0
        draft.add(LineStop, line_id=line["id"], place_id=stop["id"], minutes=passed)
        last = stop
    line["minutes"] = passed


def _places(draft: Draft, city: str, streets: list[_Street]) -> None:
    rng = draft.rng
    houses: set[tuple[str, int]] = set()

    def free_house() -> tuple[_Street, int]:
        while True:
            street, number = rng.choice(streets), rng.randint(1, 70)
            if (street.name, number) not in houses:
                houses.add((street.name, number))
                return street, number

    for category, (schedules, names) in words.NAMES.items():
        for name in rng.sample(names, words.NUMBERS[category]):
            street, number = free_house()
            place = _add(draft, city, name, category, street.name, number, street.house(number))
            place["schedule"] = rng.choice(schedules)
    for _ in range(_PLAIN_ADDRESSES):
        street, number = free_house()
        _add(draft, city, f"{street.name} {number}", "address", street.name, number, street.house(number))


def _find_stops(draft: Draft) -> None:
    stops: dict[str, list[Row]] = {}
    for place in draft.rows[Place]:
        if place["category"] == "transit_stop":
            stops.setdefault(place["city"], []).append(place)
    for place in draft.rows[Place]:
        near = min(
            stops[place["city"]],
            key=lambda stop: (straight(place["east"], place["north"], stop["east"], stop["north"]), stop["id"]),
        )
        place["stop_id"] = near["id"]


def _suspend(draft: Draft) -> None:
    """Two lines don't run for some days."""
    rng = draft.rng
    for line in rng.sample([line for line in draft.rows[TransitLine] if line["kind"] in ("tram", "bus")], 2):
        line["suspended_until"], line["reason"] = draft.day(rng.randint(3, 40)), rng.choice(words.WORKS)


def _close(draft: Draft) -> None:
    """Some places closed for good, one of them moved; others are closed for a time or on single days."""
    rng = draft.rng
    shops = [row for row in draft.rows[Place] if row["category"] not in _LASTING]
    rng.shuffle(shops)
    for place in shops[:10]:
        place["status"] = "permanently_closed"
    for place in shops[:3]:
        heirs = [
            row
            for row in shops[20:]
            if row["city"] == place["city"] and row["category"] == place["category"] and row["status"] == "operational"
        ]
        if heirs:
            place["moved_to"], place["name"] = heirs[0]["id"], heirs[0]["name"]
    for place in shops[10:15]:
        place["status"] = "temporarily_closed"
    for place in shops[20:45]:
        if place["schedule"] != "always":
            day = draft.day(rng.randint(0, 20))
            draft.add(SpecialClosing, place_id=place["id"], day=day, reason=rng.choice(words.CLOSINGS))
