"""A session of the travel desk for its tests: start states searched by SQL, and the usual calls."""

import sqlite3
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from proverl.core import Result
from proverl.envs import Session, load_server, start_time

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
        code = self.read("reveal_travel_card_code", card_id=card["id"])["security_code"]
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


def has(seed: int, where: str) -> bool:
    return bool(
        Desk(seed).all(
            "SELECT 1 FROM flight_booking b JOIN flight f ON f.id = b.flight_id JOIN passenger p "
            f"ON p.id = b.passenger_id WHERE {where}"
        )
    )


def ago(leaves: str, minutes: int) -> str:
    moment = datetime.fromisoformat(leaves) - timedelta(minutes=minutes)
    return moment.isoformat(timespec="minutes")
