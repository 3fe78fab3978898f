"""The maps: what the look-ups agree on, what lists and reviews change, every refusal, the laws."""

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from itertools import permutations
from random import Random
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time
from proverl.envs.servers.maps.opening import SCHEDULES, is_open, spans

MAPS = load_server("maps")
SEED = 3


@cache
def start(seed: int) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.deserialize(MAPS.image(seed, start_time(seed)))
    connection.row_factory = sqlite3.Row
    return connection


class World:
    """A session, and a look at its start state."""

    def __init__(self, seed: int = SEED) -> None:
        self.session, self.seed = Session([MAPS], seed), seed
        self.today = self.session.now.date().isoformat()

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def all(self, query: str) -> list[dict[str, Any]]:
        return [dict(row) for row in start(self.seed).execute(query, {"today": self.today})]

    def place(self, where: str) -> str:
        rows = self.all(f"SELECT id FROM place WHERE {where} ORDER BY id LIMIT 1")
        assert rows, where
        return rows[0]["id"]

    def list(self, where: str) -> str:
        return self.all(f"SELECT id FROM place_list WHERE {where} ORDER BY id LIMIT 1")[0]["id"]

    def later(self, days: int = 0, time: str = "12:00") -> str:
        return f"{(self.session.now + timedelta(days=days)).date().isoformat()}T{time}"

    def trip(self, a: str, b: str, when: str = "") -> dict[str, Any]:
        return {"origin_place_id": a, "destination_place_id": b, "departure_time": when or self.later(45)}


@pytest.fixture
def world() -> World:
    return World()


# Look-ups


def test_an_address_and_its_place_agree(world):
    row = world.all("SELECT * FROM place WHERE category = 'address' ORDER BY id LIMIT 1")[0]
    address = f"{row['street']} {row['number']}, {row['city']}"
    best = world.read("geocode_address", address=address.upper())["results"][0]
    place = world.read("get_place", place_id=best["place_id"])
    assert (best["match"], best["address"]) == ("exact", address)
    assert [place[key] for key in ("address", "latitude", "longitude")] == [
        best[key] for key in ("address", "latitude", "longitude")
    ]


def test_an_unknown_house_number_gives_its_neighbours_and_an_unknown_street_nothing(world):
    row = world.all("SELECT * FROM place WHERE number > 0 ORDER BY id LIMIT 1")[0]
    found = world.read("geocode_address", address=f"{row['street']} 9999", city=row["city"])["results"]
    assert {one["match"] for one in found} == {"street"}
    assert world.read("geocode_address", address="Nowhere 1") == {"results": []}


def test_places_are_found_by_category_and_name_whatever_the_accents(world):
    for city in ("Amsel", "Kirkhaven", "Highmere", "Veldria"):
        assert len(world.read("search_places", city=city, limit=50)["places"]) > 40
        for row in world.read("search_places", city=city, name="CAFE", category="cafe")["places"]:
            assert "Café" in row["name"]


def test_nearby_places_are_in_business_and_as_far_as_the_walk_to_them(world):
    centre = world.place("name = 'Amsel Central'")
    near = world.read("find_nearby_places", place_id=centre, category="restaurant", radius_m=3_000, limit=50)["places"]
    assert len(near) > 2
    for row in near:
        way = world.read("get_route", origin_place_id=centre, destination_place_id=row["place_id"], mode="walking")
        assert way["distance_m"] == row["walking_distance_m"] <= 3_750
        assert world.read("get_place", place_id=row["place_id"])["status"] == "operational"
    assert [row["walking_distance_m"] for row in near] == sorted(row["walking_distance_m"] for row in near)


@pytest.mark.parametrize("mode", ["walking", "cycling", "driving"])
def test_distances_obey_the_triangle_inequality_and_are_the_same_both_ways(world, mode):
    ids = [row["id"] for row in world.all("SELECT id FROM place WHERE city = 'Veldria' AND NOT car_free ORDER BY id")]

    def metres(a: str, b: str) -> int:
        return world.read("get_route", origin_place_id=a, destination_place_id=b, mode=mode)["distance_m"]

    for a, b, c in permutations(Random(1).sample(ids, 6), 3):
        assert metres(a, c) <= metres(a, b) + metres(b, c)
        assert metres(a, b) == metres(b, a)


def test_opening_hours_follow_the_week_special_closings_and_closures(world):
    special = world.all("SELECT * FROM special_closing ORDER BY place_id, day LIMIT 1")[0]
    shut = world.read("get_opening_hours", place_id=special["place_id"], date=special["day"])
    assert (shut["hours"], shut["note"]) == ([], special["reason"])
    closed = world.read("get_opening_hours", place_id=world.place("status = 'temporarily_closed'"))
    assert (closed["hours"], closed["open_now"]) == ([], False)
    monday = (7 - world.session.now.weekday()) % 7
    museum = world.place(
        "category = 'museum' AND status = 'operational' AND id NOT IN (SELECT place_id FROM special_closing)"
    )
    assert world.read("get_opening_hours", place_id=museum, date=world.later(monday)[:10])["hours"] == []
    assert world.read("get_opening_hours", place_id=museum, date=world.later(monday + 1)[:10])["hours"] == [
        "10:00-18:00"
    ]


def test_hours_past_midnight_belong_to_the_evening_before():
    assert spans("cinema", 0) == ["14:00-00:30"]
    assert is_open("cinema", 1, 20)
    assert not is_open("cinema", 1, 20, day_before=False)
    assert not is_open("cinema", 1, 40)
    assert all(len(week) == 7 for week in SCHEDULES.values())


def test_a_trip_rides_lines_that_serve_its_stops_and_never_goes_back_in_time(world):
    ids = [row["id"] for row in world.all("SELECT id FROM place ORDER BY id")]
    rng = Random(2)
    for _ in range(60):
        a, b = rng.sample(ids, 2)
        result = world.call("plan_transit_trip", **world.trip(a, b))
        if not result.ok:
            assert "same stop" in result.message
            continue
        at = result.content["departs"]
        for leg in result.content["legs"]:
            line = world.read("get_transit_line", line_id=leg["line_id"])
            minutes = {stop["name"]: stop["minutes"] for stop in line["stops"]}
            ride = abs(minutes[leg["from_stop"]] - minutes[leg["to_stop"]])
            assert at <= leg["departs"] < leg["arrives"]
            assert int(leg["arrives"][-2:]) == (int(leg["departs"][-2:]) + ride) % 60
            at = leg["arrives"]
        assert at <= result.content["arrives"]
        assert all(
            x["to_stop"] == y["from_stop"]
            for x, y in zip(result.content["legs"], result.content["legs"][1:], strict=False)
        )


def test_trains_join_every_pair_of_cities(world):
    for a, b in permutations(("Amsel", "Kirkhaven", "Highmere", "Veldria"), 2):
        stations = [world.place(f"name = '{city} Central'") for city in (a, b)]
        (leg,) = world.read("plan_transit_trip", **world.trip(*stations))["legs"]
        assert (leg["from_stop"], leg["to_stop"]) == (f"{a} Central", f"{b} Central")


# Lists and reviews


def test_a_place_is_saved_listed_and_removed(world):
    new, cafe = world.read("create_place_list", name="Picnic places")["list_id"], world.place("category = 'park'")
    assert world.read("save_place", list_id=new, place_id=cafe, note="Free entry")["places"] == 1
    (saved,) = world.read("list_saved_places", list_id=new)["places"]
    assert (saved["place_id"], saved["note"]) == (cafe, "Free entry")
    own = world.read("list_place_lists", access="owner", limit=50)["lists"]
    assert {"list_id": new, "name": "Picnic places", "access": "owner", "places": 1} in own
    assert world.read("remove_saved_place", list_id=new, place_id=cafe)["places"] == 0


def test_a_review_counts_at_once_and_a_second_one_replaces_it(world):
    cafe = world.place("category = 'cafe' AND status = 'operational' AND id NOT IN (SELECT place_id FROM place_review)")
    first = world.read("write_place_review", place_id=cafe, rating=5)
    assert not first["replaced_earlier"]
    second = world.read("write_place_review", place_id=cafe, rating=2, text="Cold coffee.")
    assert (second["review_id"], second["replaced_earlier"]) == (first["review_id"], True)
    (review,) = world.read("list_place_reviews", place_id=cafe)["reviews"]
    assert (review["author"], review["rating"], review["text"]) == ("You", 2, "Cold coffee.")
    place = world.read("get_place", place_id=cafe)
    assert (place["rating"], place["review_count"]) == (2.0, 1)


# Every refusal, with what would be right

FULL = "id IN (SELECT list_id FROM saved_place GROUP BY list_id HAVING count(*) = 20)"
FREE = "access = 'owner' AND id NOT IN (SELECT list_id FROM saved_place)"
STATION = "name = '{} Central'"


def route(world: World, a: str, b: str, mode: str) -> tuple[str, dict[str, Any]]:
    return "get_route", {"origin_place_id": world.place(a), "destination_place_id": world.place(b), "mode": mode}


def along(world: World, line: str, when: str) -> tuple[str, dict[str, Any]]:
    """From one end of a line to the other."""
    found = world.all(f"SELECT id FROM transit_line WHERE {line} ORDER BY id LIMIT 1")
    ends = world.read("get_transit_line", line_id=found[0]["id"])["stops"]
    return "plan_transit_trip", world.trip(ends[0]["place_id"], ends[-1]["place_id"], when)


def hours(world: World, where: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "get_opening_hours", {"place_id": world.place(where), **more}


def save(world: World, place: str, to: str = FREE, tool: str = "save_place") -> tuple[str, dict[str, Any]]:
    return tool, {"list_id": world.list(to), "place_id": world.place(place)}


def review(world: World, place: str, rating: int) -> tuple[str, dict[str, Any]]:
    return "write_place_review", {"place_id": world.place(place), "rating": rating}


def within_one_stop(world: World) -> tuple[str, dict[str, Any]]:
    shop = world.all("SELECT id, stop_id FROM place WHERE category = 'cafe' ORDER BY id")[0]
    return "plan_transit_trip", world.trip(shop["id"], shop["stop_id"])


def list_of_the_same_name(world: World) -> tuple[str, dict[str, Any]]:
    name = world.all("SELECT name FROM place_list WHERE access = 'owner' ORDER BY id")[0]["name"]
    return "create_place_list", {"name": name.upper()}


def one_list_more(world: World) -> tuple[str, dict[str, Any]]:
    while world.call("create_place_list", name=f"List {world.session.now}").ok:
        pass
    return "create_place_list", {"name": "One more"}


def saved_again(world: World) -> tuple[str, dict[str, Any]]:
    name, arguments = save(world, "category = 'park'")
    world.read(name, **arguments)
    return name, arguments


def moved(world: World) -> tuple[str, dict[str, Any]]:
    world.__init__(next(seed for seed in range(9) if World(seed).all("SELECT 1 FROM place WHERE moved_to IS NOT NULL")))
    return save(world, "moved_to IS NOT NULL")


def sixth_review(world: World) -> tuple[str, dict[str, Any]]:
    for row in world.all(
        "SELECT id FROM place WHERE category = 'hotel' AND status = 'operational' ORDER BY id LIMIT 5"
    ):
        world.read("write_place_review", place_id=row["id"], rating=4)
    return review(world, "category = 'park'", 4)


BUS, CLOSED = "kind = 'bus' AND suspended_until IS NULL", "status = 'permanently_closed' AND moved_to IS NULL"
REFUSALS: dict[str, Callable[[World], tuple[str, dict[str, Any]]]] = {
    "name two different places": lambda world: route(world, "category = 'cafe'", "category = 'cafe'", "walking"),
    "walking routes are at most 25 km, so use driving or plan_transit_trip": lambda world: route(
        world, STATION.format("Amsel"), STATION.format("Veldria"), "walking"
    ),
    "cycling routes are at most 80 km": lambda world: route(
        world, STATION.format("Kirkhaven"), STATION.format("Veldria"), "cycling"
    ),
    "lies in the pedestrian zone; drive to or from P": lambda world: route(
        world, STATION.format("Amsel"), "car_free", "driving"
    ),
    "has no opening hours": lambda world: hours(world, "category = 'address'"),
    "is permanently closed; look at places that are in business": lambda world: hours(world, CLOSED),
    "hours are known from today": lambda world: hours(world, "category = 'park'", date="2020-02-29"),
    "has passed; it is": lambda world: along(world, BUS, world.later(-1)),
    "the timetable is published until": lambda world: along(world, BUS, "9999-12-31T23:59"),
    "no transit at that hour: Bus ": lambda world: along(world, BUS, world.later(50, "23:59")),
    "no transit at that hour: Metro ": lambda world: along(world, "kind = 'metro'", world.later(50, "02:10")),
    "at the same stop; walk there": within_one_stop,
    "is suspended until ": lambda world: along(world, "suspended_until > :today", world.later(1)),
    "use it or choose another name": list_of_the_same_name,
    "can't be blank": lambda world: ("create_place_list", {"name": "  "}),
    "there are 30 lists of your own": one_list_more,
    "is full with 20": lambda world: save(world, "category = 'address'", FULL),
    "already; choose another place or list": saved_again,
    "is shared for viewing only; use a list of your own": lambda world: save(
        world, "category = 'park'", "access = 'viewer'"
    ),
    "it moved to PLC-": moved,
    "list_saved_places names what is on it": lambda world: save(world, "category = 'park'", tool="remove_saved_place"),
    "review a business, sight or stop": lambda world: review(world, "category = 'address'", 4),
    "is permanently closed; review places that are in business": lambda world: review(world, CLOSED, 4),
    "needs a text that says what was wrong": lambda world: review(world, "category = 'park'", 1),
    "write this one tomorrow": sixth_review,
}


@pytest.mark.parametrize("message", REFUSALS)
def test_the_map_refuses_and_says_what_would_be_right(world, message):
    name, arguments = REFUSALS[message](world)
    before = world.session.digest()
    result = world.call(name, **arguments)
    assert (result.code, message in result.message) == (ErrorCode.REJECTED, True), result
    assert world.session.digest() == before


# Laws


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        world = World()
        parks = [row["id"] for row in world.all("SELECT id FROM place WHERE category = 'park' ORDER BY id LIMIT 2")]
        calls = [
            *(("save_place", {"list_id": world.list(FREE), "place_id": park}) for park in parks),
            *(("write_place_review", {"place_id": park, "rating": 4}) for park in parks),
            ("create_place_list", {"name": "Study spots"}),
        ]
        for name, arguments in calls[::turn]:
            world.read(name, **arguments)
        digests.add(world.session.digest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("INSERT INTO saved_place SELECT l.id, p.id, 'x' FROM place_list l JOIN place p "
         "WHERE p.category = 'address'", "lists_are_never_overfull"),
        ("UPDATE place_list SET name = 'Gifts' WHERE access = 'owner'", "own_lists_have_names_of_their_own"),
        ("UPDATE place_review SET author = 'You', place_id = (SELECT id FROM place WHERE category = 'address') "
         "WHERE id = (SELECT min(id) FROM place_review)", "the_user_reviews_what_is_in_business"),
        ("UPDATE place SET stop_id = (SELECT stop_id FROM place WHERE city = p.city ORDER BY stop_id DESC) "
         "FROM (SELECT city FROM place) p WHERE p.city = place.city", "every_place_knows_its_nearest_stop"),
        ("UPDATE line_stop SET minutes = 7", "lines_take_time_between_stops"),
    ],
)  # fmt: skip
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in MAPS.invariants if check.__name__ == law)
    with MAPS.storage.connect(MAPS.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))
