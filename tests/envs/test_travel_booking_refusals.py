"""Every refusal of the travel desk, with what would be right."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from travel_desk import LATER, SEED, SOON, Desk, ago, has

from proverl.core import ErrorCode

Case = tuple[str, dict[str, Any]]
DONE, HELD = "b.status = 'checked_in' AND f.leaves > :now", "b.status = 'held' AND f.leaves > :now"
FLEX, GROUNDED = f"{LATER} AND b.fare = 'flex'", "b.status = 'ticketed' AND f.status = 'cancelled' AND f.leaves > :now"
TODAY = f"{SOON} AND substr(f.leaves, 1, 10) = :today"
NEXT = "leaves > :now AND status = 'scheduled'"


@pytest.fixture
def desk() -> Desk:
    return Desk()


def passport(desk: Desk, **changes: Any) -> Case:
    usual = {"passenger_id": desk.adult(), "passport_number": "QQ12345", "issued_on": desk.today}
    return "update_passenger_passport", {**usual, **changes}


def fly(desk: Desk, flight_id: str, **changes: Any) -> Case:
    usual = {"itinerary_id": desk.trip(), "flight_id": flight_id, "passenger_id": desk.adult(), "fare": "basic"}
    return "book_flight", {**usual, **changes}


def stay(desk: Desk, where: str, **changes: Any) -> Case:
    room = desk.one(f"SELECT r.id FROM hotel_room r JOIN hotel h ON h.id = r.hotel_id WHERE {where} ORDER BY r.id")
    day = (desk.session.now + timedelta(days=20)).date().isoformat()
    return "book_hotel", {
        "itinerary_id": desk.trip(),
        "room_id": room["id"],
        "check_in_date": day,
        "nights": 2,
        **changes,
    }


def pay(desk: Desk, trip: str = "", **changes: Any) -> Case:
    trip = trip or desk.book(desk.flight())["itinerary_id"]
    return "pay_itinerary", {"itinerary_id": trip, **desk.card(), **changes}


def handle(desk: Desk, tool: str, where: str, seed: int = SEED) -> Case:
    """A tool on some booking, in the first start state from `seed` on that has one."""
    desk.__init__(next(number for number in range(seed, 40) if has(number, where)))
    return tool, {"flight_booking_id": desk.booking(where)["id"]}


def change(desk: Desk, where: str, fare: str = "standard") -> Case:
    """From a new booking on `o` to a flight `f` that lies in this relation to it."""
    pair = desk.one(
        f"SELECT o.id AS old, f.id AS new FROM flight o JOIN flight f ON {where} AND f.leaves > :soon "
        "AND f.status = 'scheduled' WHERE o.leaves > :soon AND o.status = 'scheduled' AND o.sold NOT LIKE '%fffff%' "
        "ORDER BY o.id, f.id"
    )
    return "change_flight", {"flight_booking_id": desk.paid(pair["old"], fare), "new_flight_id": pair["new"]}


def seat(desk: Desk, where: str, seat_id: str = "") -> Case:
    row = desk.booking(where)
    seat_id = seat_id or desk.free_seat(row["flight_id"])
    return "select_seat", {"flight_booking_id": row["id"], "seat_id": seat_id}


def repeated(desk: Desk, case: Case) -> Case:
    desk.read(case[0], **case[1])
    return case


def later(desk: Desk, minutes: int, leaves: str, case: Case) -> Case:
    desk.wait_until(ago(leaves, minutes))
    return case


def two_flights_at_once(desk: Desk) -> Case:
    pair = desk.one(
        "SELECT a.id AS first, b.id AS other FROM flight a JOIN flight b ON a.id < b.id AND "
        "substr(a.leaves, 1, 13) = substr(b.leaves, 1, 13) WHERE a.leaves > :soon AND a.status = 'scheduled' "
        "AND b.status = 'scheduled' AND a.sold NOT LIKE '%fff%' ORDER BY a.id, b.id"
    )
    desk.book(pair["first"], "standard")
    return fly(desk, pair["other"])


def ten_passengers(desk: Desk) -> Case:
    trip, flight = (
        desk.trip(),
        desk.one(f"SELECT id FROM flight WHERE {NEXT} AND sold NOT LIKE '%ff%' ORDER BY id DESC"),
    )
    people = desk.all("SELECT id FROM passenger WHERE born_on < '1996' ORDER BY id LIMIT 16")
    calls = [fly(desk, flight["id"], itinerary_id=trip, passenger_id=one["id"]) for one in people]
    results = [desk.call(name, **arguments) for name, arguments in calls]
    return next(call for call, result in zip(calls, results, strict=True) if "has 9" in result.message)


def sold_out(desk: Desk) -> Case:
    block = desk.one(
        "SELECT b.* FROM room_block b JOIN hotel_room r ON r.id = b.room_id AND r.rooms = b.rooms JOIN hotel h "
        "ON h.id = r.hotel_id WHERE b.first_night > :today AND h.closed_until IS NULL ORDER BY r.id, b.first_night"
    )
    return stay(desk, f"r.id = '{block['room_id']}'", check_in_date=block["first_night"])


def expired_card(desk: Desk) -> Case:
    query = "SELECT id FROM payment_card WHERE expires < substr(:today, 1, 7) ORDER BY id"
    desk.__init__(next(seed for seed in range(30) if Desk(seed).all(query)))
    return pay(desk, card_id=desk.one(query)["id"], security_code="000")


def wrong_code(desk: Desk) -> Case:
    name, right = pay(desk)
    code = right["security_code"]
    return name, {**right, "security_code": code[:-1] + str((int(code[-1]) + 1) % 10)}


def too_expensive(desk: Desk) -> Case:
    smallest = desk.one("SELECT min(payment_limit) AS cents FROM payment_card WHERE expires >= substr(:today, 1, 7)")
    dear = desk.one(f"SELECT id FROM flight WHERE {NEXT} AND number NOT LIKE 'LU%' ORDER BY base_price DESC, id")["id"]
    trip = desk.book(dear, "business")["itinerary_id"]
    return pay(desk, trip, **desk.card(f"payment_limit = {smallest['cents']}"))


def minor_left_alone(desk: Desk) -> Case:
    first = desk.book(desk.flight())
    desk.book(desk.flight(), trip=first["itinerary_id"], who=desk.minor())
    return "cancel_flight", {"flight_booking_id": first["flight_booking_id"]}


def taken_seat(desk: Desk) -> Case:
    windows = {"flight_id": desk.booking(FLEX)["flight_id"], "position": "window", "limit": 50}
    free = [one["seat_id"] for one in desk.read("list_flight_seats", **windows)["seats"]]
    return seat(desk, FLEX, next(f"{row}A" for row in range(12, int(free[-1][:-1])) if f"{row}A" not in free))


def minor_at_an_exit(desk: Desk) -> Case:
    for flight in desk.all(
        "SELECT id FROM flight WHERE leaves > :soon AND status = 'scheduled' AND sold NOT LIKE '%fff%'"
    ):
        seats = desk.read("list_flight_seats", flight_id=flight["id"], limit=50)["seats"]
        if exits := [one["seat_id"] for one in seats if one["exit_row"]]:
            break
    trip = desk.book(flight["id"])["itinerary_id"]
    child = desk.book(flight["id"], trip=trip, who=desk.minor())["flight_booking_id"]
    desk.read("pay_itinerary", itinerary_id=trip, **desk.card())
    return "select_seat", {"flight_booking_id": child, "seat_id": exits[0]}


def departed_before_payment(desk: Desk) -> Case:
    flight = desk.one(f"SELECT * FROM flight WHERE {NEXT} ORDER BY leaves, id")
    return later(desk, 0, flight["leaves"], pay(desk, desk.book(flight["id"])["itinerary_id"]))


def last_minute(desk: Desk) -> Case:
    flight = desk.one(f"SELECT * FROM flight WHERE {NEXT} ORDER BY leaves, id")
    return later(desk, 110, flight["leaves"], fly(desk, flight["id"]))


def own(desk: Desk, where: str) -> Case:
    """Book the passenger of a booking on the same flight again."""
    row = desk.booking(where)
    return fly(desk, row["flight_id"], passenger_id=row["passenger_id"])


def hotel(desk: Desk, where: str) -> Case:
    return "cancel_hotel", {"hotel_booking_id": desk.one(f"SELECT id FROM hotel_booking WHERE {where}")["id"]}


REFUSALS: dict[str, Callable[[Desk], Case]] = {
    "name two different airports": lambda desk: ("search_flights", {"origin": "BRU", "destination": "BRU"}),
    "is after today": lambda desk: passport(desk, issued_on="2999-01-01"),
    "check the date of issue": lambda desk: passport(desk, issued_on="1901-01-01"),
    "a valid passport is needed": lambda desk: passport(desk, issued_on="2013-02-28"),
    "check the number": lambda desk: passport(
        desk, passport_number=desk.one("SELECT * FROM passenger WHERE born_on > '2005'")["passport_number"]
    ),
    "is checked in for": lambda desk: passport(desk, passenger_id=desk.booking(DONE)["passenger_id"]),
    "must be 18 or older": lambda desk: ("create_itinerary", {"passenger_id": desk.minor(), "title": "Party"}),
    "search_flights shows later ones": lambda desk: fly(desk, desk.flight("leaves < :now")),
    "flights that operate": lambda desk: fly(desk, desk.flight("status = 'cancelled'")),
    "sale ends 2 hours before departure": last_minute,
    "its fares are basic, standard, flex": lambda desk: fly(
        desk, desk.flight(f"{NEXT} AND number LIKE 'LU%' AND leaves > :soon"), fare="business"
    ),
    "already, by FBK-": lambda desk: own(desk, LATER),
    "cancel that one or choose another flight": two_flights_at_once,
    "has no economy seat left": lambda desk: fly(
        desk, desk.flight(f"{NEXT} AND sold LIKE '%ffffffffffffffffffffff' AND leaves > :soon")
    ),
    "book an adult of itinerary ITN-": lambda desk: fly(desk, desk.flight(), passenger_id=desk.minor()),
    "use another itinerary": ten_passengers,
    "the guest who checks in must be an adult": lambda desk: stay(desk, "1", guest_id=desk.minor()),
    "must be between today": lambda desk: stay(desk, "1", check_in_date="2020-01-01"),
    "it takes guests from": lambda desk: stay(desk, "h.closed_until IS NOT NULL"),
    "takes stays of 2 nights or more, not 1": lambda desk: stay(
        desk, "h.min_nights = 2 AND h.closed_until IS NULL", nights=1
    ),
    "cancel that one or choose other dates": lambda desk: repeated(
        desk, stay(desk, "h.closed_until IS NULL AND r.rooms = 9")
    ),
    "list_hotel_rooms shows what is left": sold_out,
    "book_hotel books a stay anew": lambda desk: hotel(desk, "status = 'cancelled'"),
    "until the day before arrival": lambda desk: hotel(desk, "status = 'confirmed' AND check_in <= :today"),
    "book a flight or a hotel into it first": lambda desk: pay(desk, desk.trip()),
    "ended on 20": lambda desk: handle(desk, "list_rebooking_options", f"{HELD} AND b.held_until < :today"),
    "cancel it and book anew": lambda desk: pay(
        desk, desk.booking("b.status = 'held' AND b.held_until < :today")["itinerary_id"]
    ),
    "has departed; cancel that booking before paying the rest": departed_before_payment,
    "use another card": expired_card,
    "wrong security code for CRD-": wrong_code,
    "declined: ": too_expensive,
    "book_flight books a flight anew": lambda desk: handle(desk, "list_rebooking_options", "b.status = 'cancelled'"),
    "have not departed can be handled": lambda desk: handle(
        desk, "list_rebooking_options", "f.leaves < :now AND b.status != 'cancelled'"
    ),
    "only bookings before check-in can be cancelled": lambda desk: handle(desk, "cancel_flight", DONE),
    "can be cancelled until 2 hours before departure": lambda desk: later(
        desk, 100, desk.booking(TODAY)["leaves"], handle(desk, "cancel_flight", TODAY)
    ),
    "cancel it and book a new": lambda desk: change(desk, "f.number = o.number AND f.id != o.id", "basic"),
    "already; choose another flight": lambda desk: change(desk, "f.id = o.id"),
    "can move to flights ": lambda desk: change(desk, "f.origin = o.destination"),
    "can move to flights of": lambda desk: change(
        desk,
        "f.origin = o.origin AND f.destination = o.destination AND substr(f.number, 1, 2) != substr(o.number, 1, 2)",
    ),
    "without an adult; cancel that booking": minor_left_alone,
    "pay_itinerary for ITN-": lambda desk: seat(desk, HELD),
    "seats are chosen before check-in": lambda desk: seat(desk, DONE),
    "can be chosen once check-in opens, at": lambda desk: seat(desk, f"{LATER} AND b.fare = 'basic'"),
    "a flex fare sits in economy": lambda desk: seat(desk, f"{FLEX} AND f.aircraft = 'A320'", "1A"),
    "is taken; list_flight_seats names the free ones": taken_seat,
    "is too young for": minor_at_an_exit,
    "is checked in already, on seat": lambda desk: handle(desk, "check_in_passenger", DONE),
    "check-in opens 30 hours before": lambda desk: handle(desk, "check_in_passenger", LATER),
    "check-in closed 60 minutes before departure": lambda desk: later(
        desk, 60, desk.booking(TODAY)["leaves"], handle(desk, "check_in_passenger", TODAY)
    ),
    "choose one with select_seat first": lambda desk: handle(
        desk, "check_in_passenger", f"{SOON} AND b.seat IS NULL AND p.passport_expires > :soon"
    ),
    "update_passenger_passport puts a valid one": lambda desk: handle(
        desk, "check_in_passenger", f"{SOON} AND p.passport_expires < :today"
    ),
    "change_flight moves it at no cost": lambda desk: handle(desk, "check_in_passenger", GROUNDED),
}


@pytest.mark.parametrize("message", REFUSALS)
def test_the_desk_refuses_and_says_what_would_be_right(desk, message):
    name, arguments = REFUSALS[message](desk)
    before = desk.session.digest()
    result = desk.call(name, **arguments)
    assert (result.code, message in result.message) == (ErrorCode.REJECTED, True), result
    assert desk.session.digest() == before
