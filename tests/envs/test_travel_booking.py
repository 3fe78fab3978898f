"""The travel desk: what its tools do together, every refusal, its laws."""

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time

DESK = load_server("travel_booking")
SEED = 3
SOON = "b.status = 'ticketed' AND f.status = 'scheduled' AND f.leaves > :now AND f.leaves < :soon"
LATER = "b.status = 'ticketed' AND f.status = 'scheduled' AND f.leaves > :soon"


@cache
def start(seed: int) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.deserialize(DESK.image(seed, start_time(seed)))
    connection.row_factory = sqlite3.Row
    return connection


class Desk:
    """A session, and a look at its start state."""

    def __init__(self, seed: int = SEED) -> None:
        self.session, self.seed = Session([DESK], seed), seed
        now = self.session.now
        self.today = now.date().isoformat()
        self.times = {"now": now.isoformat(timespec="minutes"), "today": self.today}
        self.times["soon"] = (now + timedelta(hours=30)).isoformat(timespec="minutes")

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def all(self, query: str) -> list[dict[str, Any]]:
        return [dict(row) for row in start(self.seed).execute(query, self.times)]

    def one(self, query: str) -> dict[str, Any]:
        rows = self.all(query + " LIMIT 1")
        assert rows, query
        return rows[0]

    def booking(self, where: str) -> dict[str, Any]:
        return self.one(
            "SELECT b.*, f.number, f.origin, f.destination, f.leaves, p.born_on FROM flight_booking b "
            f"JOIN flight f ON f.id = b.flight_id JOIN passenger p ON p.id = b.passenger_id WHERE {where} ORDER BY b.id"
        )

    def flight(self, where: str = "status = 'scheduled' AND leaves > :soon AND sold NOT LIKE '%fffff%'") -> str:
        return self.one(f"SELECT id FROM flight WHERE {where} ORDER BY leaves, id")["id"]

    def adult(self) -> str:
        """Somebody with a valid passport and no bookings."""
        return self.one(
            "SELECT id FROM passenger WHERE born_on < '1996' AND passport_expires > :soon AND id NOT IN "
            "(SELECT passenger_id FROM flight_booking UNION SELECT passenger_id FROM hotel_booking) ORDER BY id"
        )["id"]

    def minor(self) -> str:
        return self.one("SELECT id FROM passenger ORDER BY born_on DESC, id")["id"]

    def trip(self) -> str:
        return self.read("create_itinerary", passenger_id=self.adult(), title="Jazz festival")["itinerary_id"]

    def card(self, where: str = "payment_limit >= 250000") -> dict[str, str]:
        card = self.one(f"SELECT id FROM payment_card WHERE {where} AND expires >= substr(:today, 1, 7) ORDER BY id")
        code = self.read("reveal_security_code", card_id=card["id"])["security_code"]
        return {"card_id": card["id"], "security_code": code}

    def book(self, flight_id: str, fare: str = "standard", trip: str = "", who: str = "") -> dict[str, str]:
        trip = trip or self.trip()
        arguments = {"itinerary_id": trip, "flight_id": flight_id, "passenger_id": who or self.adult(), "fare": fare}
        return {"itinerary_id": trip, **self.read("book_flight", **arguments)}

    def paid(self, flight_id: str, fare: str = "standard") -> str:
        booked = self.book(flight_id, fare)
        self.read("pay_itinerary", itinerary_id=booked["itinerary_id"], **self.card())
        return booked["flight_booking_id"]

    def free_seat(self, flight_id: str, cabin: str = "economy") -> str:
        seats = self.read("list_flight_seats", flight_id=flight_id, cabin=cabin, limit=50)["seats"]
        return next(seat["seat_id"] for seat in seats if not seat["exit_row"])

    def wait_until(self, moment: str) -> None:
        """Let the clock run: each writing call takes a minute."""
        booking = self.booking(f"{LATER} AND b.fare = 'flex'")
        seat = {"flight_booking_id": booking["id"], "seat_id": self.free_seat(booking["flight_id"])}
        while self.session.now.isoformat(timespec="minutes") < moment:
            self.read("select_seat", **seat)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def ago(leaves: str, minutes: int, desk: Desk) -> str:
    moment = type(desk.session.now).fromisoformat(leaves) - timedelta(minutes=minutes)
    return moment.isoformat(timespec="minutes")


# What the tools do


def test_a_trip_is_booked_paid_seated_and_checked_in(desk):
    flight = desk.flight("status = 'scheduled' AND leaves BETWEEN :now AND :soon AND sold NOT LIKE '%fffff%'")
    booked = desk.book(flight, "basic")
    before = desk.read("get_itinerary", itinerary_id=booked["itinerary_id"])
    assert (before["status"], before["due"]) == ("awaiting_payment", booked["price"])
    assert desk.read("pay_itinerary", itinerary_id=booked["itinerary_id"], **desk.card())["charged"] == booked["price"]
    booking = {"flight_booking_id": booked["flight_booking_id"]}
    desk.read("select_seat", **booking, seat_id=desk.free_seat(flight))
    passed = desk.read("check_in_passenger", **booking)
    after = desk.read("get_itinerary", itinerary_id=booked["itinerary_id"])
    assert (after["status"], after["paid"], after["due"]) == ("confirmed", booked["price"], 0)
    assert (after["flights"][0]["seat"], after["flights"][0]["status"]) == (passed["seat"], "checked_in")
    assert passed["boarding"] < after["flights"][0]["departs"]


def test_a_chosen_seat_is_free_for_nobody_else_and_given_back_with_the_booking(desk):
    flight = desk.flight()
    booking, seat = desk.paid(flight), desk.free_seat(flight)
    desk.read("select_seat", flight_booking_id=booking, seat_id=seat)
    assert desk.free_seat(flight) != seat
    desk.read("cancel_flight", flight_booking_id=booking)
    assert desk.free_seat(flight) == seat


def test_a_booking_takes_a_place_until_it_is_cancelled(desk):
    flight = desk.flight()

    def left() -> int:
        return desk.read("list_flight_fares", flight_id=flight)["fares"][1]["seats_left"]

    before, booked = left(), desk.book(flight)
    assert left() == before - 1
    assert desk.read("cancel_flight", flight_booking_id=booked["flight_booking_id"])["refunded"] == 0
    assert left() == before


@pytest.mark.parametrize("fare", ["basic", "standard", "flex"])
def test_cancelling_refunds_what_the_fare_rules_say(desk, fare):
    flight = desk.flight()
    rule = next(row for row in desk.read("list_flight_fares", flight_id=flight)["fares"] if row["fare"] == fare)
    gone = desk.read("cancel_flight", flight_booking_id=desk.paid(flight, fare))
    kept = rule["price"] if rule["cancel_fee"] is None else rule["cancel_fee"]
    assert (gone["kept"], gone["refunded"]) == (kept, rule["price"] - kept)


def test_a_change_costs_what_the_options_said_and_must_be_paid_before_check_in(desk):
    booking = desk.booking(f"{LATER} AND b.fare = 'standard' AND p.born_on < '1996'")
    options = desk.read("list_rebooking_options", flight_booking_id=booking["id"])["options"]
    option = options[-1]
    changed = desk.read("change_flight", flight_booking_id=booking["id"], new_flight_id=option["new_flight_id"])
    assert (changed["due"], changed["departs"], changed["status"]) == (option["due"], option["departs"], "held")
    trip = desk.read("get_itinerary", itinerary_id=booking["itinerary_id"])
    assert trip["due"] == option["due"] > 0
    paid = desk.read("pay_itinerary", itinerary_id=booking["itinerary_id"], **desk.card("payment_limit > 200000"))
    assert paid["charged"] == option["due"]


def test_a_flight_that_the_airline_cancelled_is_refunded_whatever_the_fare():
    found = "b.status = 'ticketed' AND f.status = 'cancelled' AND f.leaves > :soon"
    seed = next(seed for seed in range(20) if start(seed) and _has(seed, found))
    desk = Desk(seed)
    booking = desk.booking(found)
    gone = desk.read("cancel_flight", flight_booking_id=booking["id"])
    assert (gone["kept"], gone["refunded"]) == (0, booking["price"] / 100)


def _has(seed: int, where: str) -> bool:
    desk = Desk(seed)
    return bool(desk.all(f"SELECT 1 FROM flight_booking b JOIN flight f ON f.id = b.flight_id WHERE {where}"))


def test_a_stay_takes_a_room_for_its_nights_only(desk):
    room = desk.one("SELECT r.* FROM hotel_room r JOIN hotel h ON h.id = r.hotel_id WHERE h.min_nights = 1 "
                    "AND h.closed_until IS NULL AND r.rooms > 4 ORDER BY r.id")  # fmt: skip
    day, next_day = ((desk.session.now + timedelta(days=days)).date().isoformat() for days in (60, 61))

    def left(date: str) -> int:
        rooms = desk.read("list_hotel_rooms", hotel_id=room["hotel_id"], check_in_date=date, nights=1)["rooms"]
        return next(row["rooms_left"] for row in rooms if row["room_id"] == room["id"])

    before = left(day), left(next_day)
    stay = {"room_id": room["id"], "check_in_date": day, "nights": 1}
    booked = desk.read("book_hotel", itinerary_id=desk.trip(), **stay)
    assert (left(day), left(next_day)) == (before[0] - 1, before[1])
    assert booked["check_out_date"] == next_day
    desk.read("cancel_hotel", hotel_booking_id=booked["hotel_booking_id"])
    assert left(day) == before[0]


@pytest.mark.parametrize(("terms", "kept_share"), [("IS NULL", 1), ("IS NOT NULL", 0)])
def test_cancelling_a_paid_stay_refunds_what_the_room_allows(desk, terms, kept_share):
    room = desk.one("SELECT r.* FROM hotel_room r JOIN hotel h ON h.id = r.hotel_id WHERE h.closed_until IS NULL AND "
                    f"r.price < 30000 AND r.free_cancellation_days {terms} ORDER BY r.id")  # fmt: skip
    day, trip = (desk.session.now + timedelta(days=70)).date().isoformat(), desk.trip()
    stay = desk.read("book_hotel", itinerary_id=trip, room_id=room["id"], check_in_date=day, nights=2)
    desk.read("pay_itinerary", itinerary_id=trip, **desk.card())
    gone = desk.read("cancel_hotel", hotel_booking_id=stay["hotel_booking_id"])
    assert gone["kept"] == stay["total"] * kept_share
    assert gone["refunded"] == stay["total"] - gone["kept"]


def test_a_companions_trips_are_listed_too(desk):
    other = desk.one("SELECT id FROM passenger WHERE born_on < '1990' ORDER BY id DESC")["id"]
    booked = desk.book(desk.flight("status = 'scheduled' AND leaves > :soon ORDER BY leaves DESC, id --"), who=other)
    listed = desk.read("list_itineraries", passenger_id=other, status="awaiting_payment")["itineraries"]
    assert booked["itinerary_id"] in [row["itinerary_id"] for row in listed]


def test_times_are_local(desk):
    found = desk.read("search_flights", origin="BRU", destination="JFK", limit=20)["flights"]
    assert found
    for row in found:
        hours = type(desk.session.now).fromisoformat(row["arrives"]) - type(desk.session.now).fromisoformat(
            row["departs"]
        )
        assert timedelta(hours=1) < hours < timedelta(hours=3)  # eight hours in the air, six back by the clock


# Every refusal, with what would be right

REFUSALS: list[Callable[[Desk], tuple[str, dict[str, Any], str]]] = []


def refusal(case: Callable[[Desk], tuple[str, dict[str, Any], str]]) -> Callable[..., Any]:
    REFUSALS.append(case)
    return case


@refusal
def fly_nowhere(desk):
    return "search_flights", {"origin": "BRU", "destination": "BRU"}, "name two different airports"


def passport(desk: Desk, **changes: Any) -> dict[str, Any]:
    return {"passenger_id": desk.adult(), "passport_number": "QQ12345", "issued_on": desk.today, **changes}


@refusal
def passport_of_tomorrow(desk):
    return "update_passenger_passport", passport(desk, issued_on="2999-01-01"), "is after today"


@refusal
def passport_before_birth(desk):
    return "update_passenger_passport", passport(desk, issued_on="1901-01-01"), "check the date of issue"


@refusal
def passport_too_old(desk):
    return "update_passenger_passport", passport(desk, issued_on="2013-02-28"), "expired on 20"


@refusal
def passport_of_somebody_else(desk):
    row = desk.one("SELECT * FROM passenger WHERE born_on > '2015' ORDER BY id")
    return "update_passenger_passport", passport(desk, passport_number=row["passport_number"]), "check the number"


@refusal
def passport_after_check_in(desk):
    booked = desk.booking("b.status = 'checked_in' AND f.leaves > :now")
    return "update_passenger_passport", passport(desk, passenger_id=booked["passenger_id"]), "is checked in for"


@refusal
def minor_leads(desk):
    return "create_itinerary", {"passenger_id": desk.minor(), "title": "Party"}, "must be 18 or older"


def booking(desk: Desk, flight_id: str, **changes: Any) -> dict[str, Any]:
    usual = {"itinerary_id": desk.trip(), "flight_id": flight_id, "passenger_id": desk.adult(), "fare": "basic"}
    return {**usual, **changes}


@refusal
def book_a_flight_of_the_past(desk):
    return "book_flight", booking(desk, desk.flight("leaves < :now")), "departed at"


@refusal
def book_a_cancelled_flight(desk):
    return "book_flight", booking(desk, desk.flight("status = 'cancelled'")), "flights that operate"


@refusal
def book_too_late(desk):
    flight = desk.one("SELECT * FROM flight WHERE leaves > :now AND status = 'scheduled' ORDER BY leaves, id")
    desk.wait_until(ago(flight["leaves"], 110, desk))
    return "book_flight", booking(desk, flight["id"]), "sale ends 2 hours before departure"


@refusal
def book_a_fare_that_is_not_sold(desk):
    flight = desk.flight("number LIKE 'LU%' AND status = 'scheduled' AND leaves > :soon")
    return "book_flight", booking(desk, flight, fare="business"), "its fares are basic, standard, flex"


@refusal
def book_twice(desk):
    booked = desk.booking(LATER)
    return "book_flight", booking(desk, booked["flight_id"], passenger_id=booked["passenger_id"]), "already, by FBK-"


@refusal
def book_two_flights_at_once(desk):
    first, second = desk.all(
        "SELECT a.id AS one, b.id AS other FROM flight a JOIN flight b ON a.leaves <= b.leaves AND a.id != b.id "
        "AND b.leaves < datetime(a.leaves, '+60 minutes') AND substr(b.leaves, 12) > substr(a.leaves, 12) "
        "WHERE a.leaves > :soon AND a.status = 'scheduled' AND b.status = 'scheduled' AND a.sold NOT LIKE '%fff%' "
        "AND substr(a.leaves, 1, 10) = substr(b.leaves, 1, 10) AND substr(b.leaves, 12, 2) = substr(a.leaves, 12, 2) "
        "ORDER BY a.id, b.id LIMIT 1"
    )[0].values()
    assert desk.call("book_flight", **booking(desk, first)).ok
    return "book_flight", booking(desk, second), "cancel that one or choose another flight"


@refusal
def book_a_full_flight(desk):
    full = desk.flight("sold LIKE '%ffffffffffffffffffffff' AND status = 'scheduled' AND leaves > :soon")
    return "book_flight", booking(desk, full), "has no economy seat left"


@refusal
def book_a_minor_alone(desk):
    return "book_flight", booking(desk, desk.flight(), passenger_id=desk.minor()), "book an adult of itinerary ITN-"


@refusal
def book_ten_passengers(desk):
    trip, flight = desk.trip(), desk.flight("status = 'scheduled' AND sold NOT LIKE '%ff%' ORDER BY leaves DESC, id --")
    people = [row["id"] for row in desk.all("SELECT id FROM passenger WHERE born_on < '1996' ORDER BY id LIMIT 16")]
    results = [desk.call("book_flight", **booking(desk, flight, itinerary_id=trip, passenger_id=one)) for one in people]
    refused = next(person for person, result in zip(people, results, strict=True) if "has 9" in result.message)
    return "book_flight", booking(desk, flight, itinerary_id=trip, passenger_id=refused), "use another itinerary"


def stay(desk: Desk, where: str, **changes: Any) -> dict[str, Any]:
    room = desk.one(f"SELECT r.id FROM hotel_room r JOIN hotel h ON h.id = r.hotel_id WHERE {where} ORDER BY r.id")
    day = (desk.session.now + timedelta(days=20)).date().isoformat()
    return {"itinerary_id": desk.trip(), "room_id": room["id"], "check_in_date": day, "nights": 2, **changes}


@refusal
def stay_yesterday(desk):
    return "book_hotel", stay(desk, "1", check_in_date="2020-01-01"), "must be between today"


@refusal
def stay_during_renovation(desk):
    return "book_hotel", stay(desk, "h.closed_until IS NOT NULL"), "is closed for renovation; it takes guests from"


@refusal
def stay_too_short(desk):
    where = "h.min_nights = 2 AND h.closed_until IS NULL"
    return "book_hotel", stay(desk, where, nights=1), "takes stays of 2 nights or more, not 1"


@refusal
def stay_in_two_places(desk):
    arguments = stay(desk, "h.closed_until IS NULL AND r.rooms = 9")
    desk.read("book_hotel", **arguments)
    return "book_hotel", arguments, "cancel that one or choose other dates"


@refusal
def stay_where_all_is_taken(desk):
    block = desk.one("SELECT b.* FROM room_block b JOIN hotel_room r ON r.id = b.room_id AND r.rooms = b.rooms "
                     "JOIN hotel h ON h.id = r.hotel_id WHERE b.first_night > :today AND h.closed_until IS NULL "
                     "ORDER BY r.id, b.first_night")  # fmt: skip
    arguments = stay(desk, f"r.id = '{block['room_id']}'", check_in_date=block["first_night"])
    return "book_hotel", arguments, "list_hotel_rooms shows what is left"


@refusal
def cancel_a_stay_twice(desk):
    row = desk.one("SELECT id FROM hotel_booking WHERE status = 'cancelled'")
    return "cancel_hotel", {"hotel_booking_id": row["id"]}, "is cancelled already"


@refusal
def cancel_a_stay_that_began(desk):
    row = desk.one("SELECT id FROM hotel_booking WHERE status = 'confirmed' AND check_in <= :today")
    return "cancel_hotel", {"hotel_booking_id": row["id"]}, "until the day before arrival"


def payment(desk: Desk, trip: str = "", **changes: Any) -> dict[str, Any]:
    return {"itinerary_id": trip or desk.book(desk.flight())["itinerary_id"], **desk.card(), **changes}


@refusal
def pay_for_nothing(desk):
    return "pay_itinerary", payment(desk, desk.trip()), "book a flight or a hotel into it first"


@refusal
def pay_after_the_hold(desk):
    held = desk.one("SELECT * FROM flight_booking WHERE status = 'held' AND held_until < :today")
    return "pay_itinerary", payment(desk, held["itinerary_id"]), "cancel it and book anew"


@refusal
def pay_for_a_flight_that_left(desk):
    flight = desk.one("SELECT * FROM flight WHERE leaves > :now AND status = 'scheduled' ORDER BY leaves, id")
    trip = desk.book(flight["id"])["itinerary_id"]
    desk.wait_until(flight["leaves"])
    return "pay_itinerary", payment(desk, trip), "has departed; cancel that booking before paying the rest"


@refusal
def pay_with_an_expired_card(desk):
    seed = next(seed for seed in range(30) if Desk(seed).all("SELECT 1 FROM payment_card WHERE expires < :today"))
    desk.__init__(seed)
    card = desk.one("SELECT id FROM payment_card WHERE expires < :today")["id"]
    return "pay_itinerary", payment(desk, card_id=card, security_code="000"), "use another card"


@refusal
def pay_with_the_wrong_code(desk):
    right = payment(desk)
    wrong = right["security_code"][:-1] + str((int(right["security_code"][-1]) + 1) % 10)
    return "pay_itinerary", {**right, "security_code": wrong}, "wrong security code for CRD-"


@refusal
def pay_more_than_the_card_allows(desk):
    flight = desk.flight("destination = 'JFK' AND leaves > :soon AND status = 'scheduled' AND sold NOT LIKE '%fffff%'")
    trip = desk.book(flight, "business")["itinerary_id"]
    return "pay_itinerary", payment(desk, trip, **desk.card("payment_limit <= 150000")), "declined: "


@refusal
def change_what_is_cancelled(desk):
    row = desk.booking("b.status = 'cancelled'")
    return "list_rebooking_options", {"flight_booking_id": row["id"]}, "book_flight books a flight anew"


@refusal
def change_what_departed(desk):
    row = desk.booking("f.leaves < :now AND b.status != 'cancelled'")
    return "list_rebooking_options", {"flight_booking_id": row["id"]}, "have not departed can be handled"


@refusal
def cancel_after_check_in(desk):
    row = desk.booking("b.status = 'checked_in' AND f.leaves > :now")
    return "cancel_flight", {"flight_booking_id": row["id"]}, "only bookings before check-in can be cancelled"


@refusal
def cancel_too_late(desk):
    row = desk.booking(f"{SOON} AND substr(f.leaves, 1, 10) = :today")
    desk.wait_until(ago(row["leaves"], 100, desk))
    return "cancel_flight", {"flight_booking_id": row["id"]}, "can be cancelled until 2 hours before departure"


def change(desk: Desk, where: str, fare: str = "standard") -> dict[str, Any]:
    """Somebody's booking and a flight that lies in this relation to it (`f` new, `o` old)."""
    old = desk.flight()
    new = desk.one(f"SELECT f.id FROM flight f JOIN flight o ON o.id = '{old}' AND {where} "
                   "WHERE f.status = 'scheduled' AND f.leaves > :soon ORDER BY f.id")  # fmt: skip
    return {"flight_booking_id": desk.paid(old, fare), "new_flight_id": new["id"]}


@refusal
def change_a_basic_fare(desk):
    return "change_flight", change(desk, "f.number = o.number AND f.id != o.id", "basic"), "cancel it and book a new"


@refusal
def change_to_the_same_flight(desk):
    return "change_flight", change(desk, "f.id = o.id"), "choose another flight"


@refusal
def change_the_route(desk):
    return "change_flight", change(desk, "f.origin = o.destination"), "can move to flights "


@refusal
def change_the_airline(desk):
    pair = desk.one("SELECT a.id AS old, b.id AS new FROM flight a JOIN flight b ON a.origin = b.origin AND "
                    "a.destination = b.destination AND substr(a.number, 1, 2) != substr(b.number, 1, 2) WHERE "
                    "a.leaves > :soon AND b.leaves > :soon AND a.status = 'scheduled' AND a.sold NOT LIKE '%fffff%' "
                    "ORDER BY a.id, b.id")  # fmt: skip
    return "change_flight", {"flight_booking_id": desk.paid(pair["old"]), "new_flight_id": pair["new"]}, "to flights of"


@refusal
def leave_a_minor_alone(desk):
    first = desk.book(desk.flight())
    desk.book(desk.flight(), trip=first["itinerary_id"], who=desk.minor())
    return "cancel_flight", {"flight_booking_id": first["flight_booking_id"]}, "without an adult; cancel that booking"


def seat(desk: Desk, where: str, **changes: Any) -> dict[str, Any]:
    row = desk.booking(where)
    usual = {"flight_booking_id": row["id"], "seat_id": desk.free_seat(row["flight_id"])}
    return {**usual, **changes}


@refusal
def seat_before_payment(desk):
    return "select_seat", seat(desk, "b.status = 'held' AND f.leaves > :now"), "pay_itinerary for ITN-"


@refusal
def seat_after_check_in(desk):
    return "select_seat", seat(desk, "b.status = 'checked_in' AND f.leaves > :now"), "seats are chosen before check-in"


@refusal
def seat_on_a_basic_fare(desk):
    return "select_seat", seat(desk, f"{LATER} AND b.fare = 'basic'"), "can be chosen once check-in opens, at"


@refusal
def seat_in_another_cabin(desk):
    where = f"{LATER} AND b.fare = 'flex' AND f.aircraft = 'A320'"
    return "select_seat", seat(desk, where, seat_id="1A"), "a flex fare sits in economy"


@refusal
def seat_that_is_taken(desk):
    row = desk.booking(f"{LATER} AND b.fare = 'flex'")
    free = [one["seat_id"] for one in desk.read("list_flight_seats", flight_id=row["flight_id"], limit=50)["seats"]]
    taken = next(f"{number}A" for number in range(12, 24) if f"{number}A" not in free and number < int(free[-1][:-1]))
    arguments = {"flight_booking_id": row["id"], "seat_id": taken}
    return "select_seat", arguments, "is taken; list_flight_seats names the free ones"


@refusal
def seat_a_minor_at_an_exit(desk):
    flights = desk.all("SELECT id FROM flight WHERE leaves > :soon AND status = 'scheduled' AND sold NOT LIKE '%fff%'")
    for flight in flights:
        seats = desk.read("list_flight_seats", flight_id=flight["id"], limit=50)["seats"]
        if exits := [one["seat_id"] for one in seats if one["exit_row"]]:
            break
    trip = desk.book(flight["id"])["itinerary_id"]
    child = desk.book(flight["id"], trip=trip, who=desk.minor())["flight_booking_id"]
    desk.read("pay_itinerary", itinerary_id=trip, **desk.card())
    return "select_seat", {"flight_booking_id": child, "seat_id": exits[0]}, "is too young for"


@refusal
def check_in_twice(desk):
    row = desk.booking("b.status = 'checked_in' AND f.leaves > :now")
    return "check_in_passenger", {"flight_booking_id": row["id"]}, "is checked in already, on seat"


@refusal
def check_in_too_early(desk):
    return "check_in_passenger", {"flight_booking_id": desk.booking(LATER)["id"]}, "check-in opens 30 hours before"


@refusal
def check_in_too_late(desk):
    row = desk.booking(f"{SOON} AND substr(f.leaves, 1, 10) = :today")
    desk.wait_until(ago(row["leaves"], 60, desk))
    return "check_in_passenger", {"flight_booking_id": row["id"]}, "check-in closed 60 minutes before departure"


@refusal
def check_in_without_a_seat(desk):
    row = desk.booking(f"{SOON} AND b.seat IS NULL AND p.passport_expires > :soon")
    return "check_in_passenger", {"flight_booking_id": row["id"]}, "choose one with select_seat first"


@refusal
def check_in_with_an_expired_passport(desk):
    desk.__init__(next(seed for seed in range(30) if _has_expired(seed)))
    row = desk.booking(f"{SOON} AND p.passport_expires < :today")
    return "check_in_passenger", {"flight_booking_id": row["id"]}, "update_passenger_passport puts a valid one"


def _has_expired(seed: int) -> bool:
    return _has(seed, f"{SOON} AND b.passenger_id IN (SELECT id FROM passenger WHERE passport_expires < :today)")


@refusal
def check_in_for_a_cancelled_flight(desk):
    where = "b.status = 'ticketed' AND f.status = 'cancelled' AND f.leaves > :now"
    desk.__init__(next(seed for seed in range(30) if _has(seed, where)))
    return "check_in_passenger", {"flight_booking_id": desk.booking(where)["id"]}, "change_flight moves it at no cost"


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.__name__)
def test_the_desk_refuses_and_says_what_would_be_right(desk, case):
    name, arguments, message = case(desk)
    before = desk.session.digest()
    result = desk.call(name, **arguments)
    assert (result.code, message in result.message) == (ErrorCode.REJECTED, True), result
    assert desk.session.digest() == before


def test_unknown_things_are_not_found_and_the_message_says_where_to_look(desk):
    row = desk.booking(f"{LATER} AND b.fare = 'flex'")
    for name, arguments, hint in (
        ("get_passenger", {"passenger_id": "PAX-1"}, "find_passengers"),
        ("get_itinerary", {"itinerary_id": "ITN-1"}, "list_itineraries"),
        ("list_flight_fares", {"flight_id": "FLT-1"}, "search_flights"),
        ("cancel_flight", {"flight_booking_id": "FBK-1"}, "get_itinerary"),
        ("select_seat", {"flight_booking_id": row["id"], "seat_id": "99Z"}, "list_flight_seats"),
    ):
        result = desk.call(name, **arguments)
        assert result.code is ErrorCode.NOT_FOUND
        assert hint in result.message


# Laws


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        desk = Desk()
        flight, row = desk.flight(), desk.booking(f"{SOON} AND b.seat IS NOT NULL AND p.passport_expires > :soon")
        calls = [
            ("create_itinerary", {"passenger_id": desk.adult(), "title": "Museum tour"}),
            ("check_in_passenger", {"flight_booking_id": row["id"]}),
            ("update_passenger_passport", passport(desk)),
            *(
                ("book_flight", {"itinerary_id": row["itinerary_id"], "flight_id": flight, "passenger_id": one["id"],
                                 "fare": "flex"})
                for one in desk.all("SELECT id FROM passenger WHERE born_on < '1990' AND id NOT IN "
                                    "(SELECT passenger_id FROM flight_booking) ORDER BY id LIMIT 2")
            ),
        ]  # fmt: skip
        for name, arguments in calls[::turn]:
            desk.read(name, **arguments)
        digests.add(desk.session.digest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("UPDATE payment SET amount = amount + 1", "payments_are_what_bookings_were_paid"),
        ("UPDATE flight SET sold = 'ffffffffffffffffffffffffffffffffffffffffffffffffff'", "flights_are_never_oversold"),
        ("UPDATE flight SET leaves = '2026-01-01T10:00'", "nobody_is_on_two_flights_at_once"),
        ("UPDATE passenger SET born_on = '2099-01-01'", "minors_never_fly_alone"),
        (
            "INSERT INTO room_block SELECT room_id, check_in || 'x', check_out, 99 FROM hotel_booking "
            "WHERE status = 'confirmed' GROUP BY room_id",
            "hotels_are_never_overbooked",
        ),
    ],
)
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in DESK.invariants if check.__name__ == law)
    with DESK.storage.connect(DESK.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))
