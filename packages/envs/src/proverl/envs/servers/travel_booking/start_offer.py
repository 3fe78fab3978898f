"""What the agency can sell on the morning of a session: five departures on every route, hotels and their rooms."""

from datetime import datetime, time, timedelta
from math import asin, cos, radians, sin, sqrt
from random import Random

from proverl.envs import Draft
from proverl.envs.servers.travel_booking import cabins, words
from proverl.envs.servers.travel_booking.tables import Flight, FlightBooking, Hotel, HotelBooking, HotelRoom, RoomBlock
from proverl.envs.servers.travel_booking.timetable import AIRPORTS, PLACES, departs, text
from proverl.envs.state import Row

_NETWORK_AIRLINES = ("AQ", "MD", "NV")


def _kilometres(origin: str, destination: str) -> float:
    (south, west), (north, east) = ((radians(x), radians(y)) for x, y in (PLACES[origin], PLACES[destination]))
    chord = sin((north - south) / 2) ** 2 + cos(south) * cos(north) * sin((east - west) / 2) ** 2
    return 2 * 6371 * asin(sqrt(chord))


def _clock(rng: Random, origin: str, destination: str) -> time:
    """Brussels time of a daily departure: to America by day, back from it overnight."""
    low, high = (23, 23) if origin == "JFK" else (12, 16) if destination == "JFK" else (6, 20)
    return time(rng.randint(low, high), rng.randrange(0, 60, 5))


def add_flights(draft: Draft) -> None:
    """A daily service's next departures on each route, often another airline's too, and flights of the past weeks."""
    rng, number = draft.rng, 100
    for origin in AIRPORTS:
        for destination in AIRPORTS:
            if origin == destination:
                continue
            overseas = "JFK" in (origin, destination)
            first, second = rng.sample(_NETWORK_AIRLINES[:2] if overseas else _NETWORK_AIRLINES, 2)
            second = "LU" if not overseas and rng.random() < 0.6 else second
            number += rng.randint(3, 20)
            clocks = [_clock(rng, origin, destination) for _ in range(2)]
            soonest = 0 if clocks[0].hour >= 12 else 1
            days = (soonest, rng.randint(3, 7), rng.randint(8, 15), rng.randint(16, 44), -rng.randint(3, 60))
            for day in days if rng.random() < 0.5 else days[:4]:
                _add_flight(draft, f"{first} {number}", origin, destination, clocks[0], day)
            for day in (rng.randint(2, 9), rng.randint(30, 44))[: rng.choice((0, 1, 1))]:
                _add_flight(draft, f"{second} {number + 1}", origin, destination, clocks[1], day)


def _add_flight(draft: Draft, number: str, origin: str, destination: str, clock: time, day: int) -> None:
    rng, distance = draft.rng, _kilometres(origin, destination)
    base = (45 + distance * 0.055) * rng.uniform(0.8, 1.4)
    small = "E190" if distance < 1_300 and number.startswith("NV") else "A320"
    draft.add(
        Flight,
        number=number,
        origin=origin,
        destination=destination,
        leaves=text(datetime.combine(draft.today, clock) + timedelta(days=day)),
        minutes=(35 + int(distance / 13.3)) // 5 * 5,
        aircraft="A330" if distance > 4_000 else "B737" if number.startswith("LU") else small,
        base_price=int(base) * 100,
        status="scheduled",
        sold="0",
    )


def sell_seats(draft: Draft) -> None:
    """Other people's seats: never the agency's own, a few flights full to the last place."""
    rng = draft.rng
    own: dict[str, list[Row]] = {}
    for booking in draft.rows[FlightBooking]:
        if booking["status"] != "cancelled":
            own.setdefault(booking["flight_id"], []).append(booking)
    for index, flight in enumerate(draft.rows[Flight]):
        plan = cabins.plan(flight["aircraft"])
        first, second = rng.getrandbits(len(plan)), rng.getrandbits(len(plan))
        every = (1 << len(plan)) - 1
        sold = every if index % 23 == 7 else (first, first | second, first & second, first)[index % 4]
        bookings = own.get(flight["id"], [])
        for booking in bookings:
            if booking["seat"]:
                sold &= ~plan[booking["seat"]].bit
        for booking in bookings:
            if not booking["seat"]:
                cabin = "business" if booking["fare"] == "business" else "economy"
                taken = [seat.bit for seat in plan.values() if seat.cabin == cabin and seat.bit & sold]
                sold &= ~(taken[-1] if taken else 0)
        flight["sold"] = f"{sold:x}"


def add_hotels(draft: Draft) -> None:
    """Five hotels in each city, two of them namesakes, two under renovation; two or three room types each."""
    rng = draft.rng
    everywhere = [(city, name, streets) for city, (names, streets) in words.HOTELS.items() for name in names]
    stars = {city: rng.sample((3, 3, 4, 4, 5), 5) for city in words.HOTELS}
    closed = rng.sample(range(len(everywhere)), 2)
    for index, (city, name, streets) in enumerate(everywhere):
        hotel = draft.add(
            Hotel,
            name=name,
            city=city,
            stars=stars[city][index % 5],
            address=f"{rng.choice(streets)} {rng.randint(1, 120)}",
            min_nights=2 if rng.random() < 0.15 else 1,
            closed_until=draft.day(rng.randint(25, 80)) if index in closed else None,
        )
        nightly = rng.randint(55, 85) * (hotel["stars"] - 1.2) / 2
        for room, sleeps, percent in sorted(rng.sample(words.ROOMS, rng.choice((2, 3, 3))), key=lambda kind: kind[2]):
            draft.add(
                HotelRoom,
                hotel_id=hotel["id"],
                name=room,
                sleeps=sleeps,
                rooms=rng.choice((1, 2, 4, 6, 9)),
                price=int(nightly * percent) // 100 * 100 + 3_000,
                free_cancellation_days=rng.choice((None, 1, 2, 3, 7)),
            )


def block_rooms(draft: Draft) -> None:
    """Other people's stays: never so many that a stay of the agency's own guests would not fit."""
    rng = draft.rng
    for room in draft.rows[HotelRoom]:
        own = sum(row["room_id"] == room["id"] for row in draft.rows[HotelBooking] if row["status"] != "cancelled")
        free, day = room["rooms"] - own, -3
        while free > 0 and rng.random() < 0.75 and day < 22:
            day += rng.randint(1, 12)
            nights = rng.randint(1, 6)
            rooms = free if rng.random() < 0.5 else rng.randint(1, free)
            draft.add(
                RoomBlock, room_id=room["id"], first_night=draft.day(day), until=draft.day(day + nights), rooms=rooms
            )
            day += nights


def local_day(flight: Row) -> str:
    """The date of a departure at its airport."""
    return departs(flight["leaves"], flight["origin"])[:10]
