"""The travel desk: what its tools do together, and its laws."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import text
from travel_desk import DESK, LATER, SOON, Desk, has

from proverl.core import ErrorCode
from proverl.envs import Context, start_time

GROUNDED = "b.status = 'ticketed' AND f.status = 'cancelled' AND f.leaves > :now"


@pytest.fixture
def desk() -> Desk:
    return Desk()


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


def test_a_passport_of_a_leap_day_expires_on_a_day_that_exists(desk):
    issued = {"passenger_id": desk.adult(), "passport_number": "QQ12345", "issued_on": "2024-02-29"}
    assert desk.read("update_passenger_passport", **issued)["passport_expires"] == "2034-02-28"


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
    others = "(SELECT count(*) FROM flight o WHERE o.number = f.number AND o.leaves > :soon AND o.status = 'scheduled')"
    flight = desk.one(f"SELECT id FROM flight f WHERE {others} > 2 AND leaves > :soon AND sold NOT LIKE '%fffff%'")[
        "id"
    ]
    held = desk.book(flight)
    booking = {"id": held["flight_booking_id"], "itinerary_id": held["itinerary_id"]}
    desk.read("pay_itinerary", itinerary_id=booking["itinerary_id"], **desk.card())
    options = desk.read("list_rebooking_options", flight_booking_id=booking["id"])["options"]
    option = options[-1]
    changed = desk.read("change_flight", flight_booking_id=booking["id"], new_flight_id=option["new_flight_id"])
    assert (changed["due"], changed["departs"], changed["status"]) == (option["due"], option["departs"], "held")
    trip = desk.read("get_itinerary", itinerary_id=booking["itinerary_id"])
    assert trip["due"] == option["due"] > 0
    paid = desk.read("pay_itinerary", itinerary_id=booking["itinerary_id"], **desk.card("payment_limit > 200000"))
    assert paid["charged"] == option["due"]


def test_a_flight_that_the_airline_cancelled_is_refunded_whatever_the_fare():
    desk = Desk(next(seed for seed in range(40) if has(seed, GROUNDED)))
    booking = desk.booking(GROUNDED)
    gone = desk.read("cancel_flight", flight_booking_id=booking["id"])
    assert (gone["kept"], gone["refunded"]) == (0, booking["price"] / 100)


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
        hours = datetime.fromisoformat(row["arrives"]) - datetime.fromisoformat(row["departs"])
        assert timedelta(hours=1) < hours < timedelta(hours=3)  # eight hours in the air, six back by the clock


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
        passport = {"passenger_id": desk.adult(), "passport_number": "QQ12345", "issued_on": desk.today}
        flight, row = desk.flight(), desk.booking(f"{SOON} AND b.seat IS NOT NULL AND p.passport_expires > :soon")
        calls = [
            ("create_itinerary", {"passenger_id": desk.adult(), "title": "Museum tour"}),
            ("check_in_passenger", {"flight_booking_id": row["id"]}),
            ("update_passenger_passport", passport),
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
