"""What the desk refuses, and the rows it looks at to decide. Every refusal says what would be right."""

from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, literal, select, union_all

from proverl.envs import Context, Rejected
from proverl.envs.servers.travel_booking import cabins, fares
from proverl.envs.servers.travel_booking.tables import (
    Flight,
    FlightBooking,
    Hotel,
    HotelBooking,
    HotelRoom,
    Itinerary,
    Passenger,
    Payment,
    PaymentCard,
    RoomBlock,
)
from proverl.envs.servers.travel_booking.timetable import SALE_ENDS, arrival, before, departs
from proverl.envs.state import Row

ADULT, GUARDIAN = 16, 18  # years: who may fly alone, and who may accompany a minor
BOOKING = FlightBooking.__table__.c
_FLIGHT, _PERSON, _STAY = Flight.__table__.c, Passenger.__table__.c, HotelBooking.__table__.c
_BLOCK = RoomBlock.__table__.c

_BOOKED_FLIGHTS: Any = (
    select(
        FlightBooking.__table__,
        *(_FLIGHT[name] for name in ("number", "origin", "destination", "leaves", "minutes", "aircraft", "base_price")),
        _FLIGHT.sold,
        _FLIGHT.status.label("flight_status"),
        _PERSON.name.label("passenger"),
        _PERSON.born_on,
        _PERSON.passport_expires,
    )
    .join_from(FlightBooking.__table__, Flight.__table__, _FLIGHT.id == BOOKING.flight_id)
    .join(Passenger.__table__, _PERSON.id == BOOKING.passenger_id)
)
_BOOKED_FLIGHT = _BOOKED_FLIGHTS.where(BOOKING.id == bindparam("key"))
OF_ITINERARY = _BOOKED_FLIGHTS.where(BOOKING.itinerary_id == bindparam("itinerary")).order_by(
    _FLIGHT.leaves, BOOKING.id
)
_OF_PASSENGER = _BOOKED_FLIGHTS.where(
    BOOKING.passenger_id == bindparam("passenger"), BOOKING.status != "cancelled"
).order_by(_FLIGHT.leaves, BOOKING.id)
ON_FLIGHT = select(BOOKING.id, BOOKING.seat, BOOKING.fare).where(
    BOOKING.flight_id == bindparam("flight"), BOOKING.status != "cancelled"
)
PARTY = (
    select(BOOKING.id, BOOKING.passenger_id, _PERSON.name, _PERSON.born_on)
    .join_from(FlightBooking.__table__, Passenger.__table__, _PERSON.id == BOOKING.passenger_id)
    .where(
        BOOKING.itinerary_id == bindparam("itinerary"),
        BOOKING.flight_id == bindparam("flight"),
        BOOKING.status != "cancelled",
    )
    .order_by(_PERSON.name, BOOKING.id)
)
_ROOM = HotelRoom.__table__.c
_TAKEN: Any = union_all(
    select(_BLOCK.room_id, _BLOCK.first_night, _BLOCK.until, _BLOCK.rooms)
    .join_from(RoomBlock.__table__, HotelRoom.__table__, _ROOM.id == _BLOCK.room_id)
    .where(
        _ROOM.hotel_id == bindparam("hotel"),
        _BLOCK.first_night < bindparam("end"),
        _BLOCK.until > bindparam("start"),
    ),
    select(_STAY.room_id, _STAY.check_in, _STAY.check_out, literal(1))
    .join_from(HotelBooking.__table__, HotelRoom.__table__, _ROOM.id == _STAY.room_id)
    .where(
        _ROOM.hotel_id == bindparam("hotel"),
        _STAY.status != "cancelled",
        _STAY.check_in < bindparam("end"),
        _STAY.check_out > bindparam("start"),
    ),
)


def passenger(ctx: Context, passenger_id: str) -> Row:
    """The passenger. Raises NotFound."""
    return ctx.get(Passenger, passenger_id, "find_passengers names the passengers")


def itinerary(ctx: Context, itinerary_id: str) -> Row:
    """The itinerary. Raises NotFound."""
    return ctx.get(Itinerary, itinerary_id, "list_itineraries names those of a passenger")


def flight(ctx: Context, flight_id: str) -> Row:
    """The flight. Raises NotFound."""
    return ctx.get(Flight, flight_id, "search_flights names the flights of a route")


def hotel(ctx: Context, hotel_id: str) -> Row:
    """The hotel. Raises NotFound."""
    return ctx.get(Hotel, hotel_id, "search_hotels names the hotels of a city")


def room(ctx: Context, room_id: str) -> Row:
    """The room type. Raises NotFound."""
    return ctx.get(HotelRoom, room_id, "list_hotel_rooms names the rooms of a hotel")


def card(ctx: Context, card_id: str) -> Row:
    """The payment card. Raises NotFound."""
    return ctx.get(PaymentCard, card_id, "get_passenger names the cards of a passenger")


def flight_booking(ctx: Context, flight_booking_id: str) -> Row:
    """The flight booking with its flight and passenger. Raises NotFound, or Rejected when it is cancelled."""
    rows = ctx.rows(_BOOKED_FLIGHT, key=flight_booking_id)
    row = rows[0] if rows else ctx.get(FlightBooking, flight_booking_id, "get_itinerary names those of an itinerary")
    if row["status"] == "cancelled":
        raise Rejected(f"{flight_booking_id} is cancelled; book_flight books a flight anew")
    return row


def upcoming_flight_booking(ctx: Context, flight_booking_id: str) -> Row:
    """The same, of a flight to come. Raises NotFound, or Rejected when the booking is cancelled or has departed."""
    row = flight_booking(ctx, flight_booking_id)
    if row["leaves"] <= ctx.timestamp:
        raise Rejected(
            f"{row['number']} of {flight_booking_id} departed at {departs(row['leaves'], row['origin'])}; "
            "only bookings of flights that have not departed can be handled"
        )
    return row


def sellable(ctx: Context, row: Row) -> None:
    """Raises Rejected unless places on the flight can still be sold."""
    name = f"{row['number']} ({row['id']})"
    if row["leaves"] <= ctx.timestamp:
        raise Rejected(f"{name} departed at {departs(row['leaves'], row['origin'])}; search_flights shows later ones")
    if row["status"] == "cancelled":
        raise Rejected(f"{name} was cancelled by the airline; search_flights shows the flights that operate")
    if before(row["leaves"], SALE_ENDS) <= ctx.timestamp:
        raise Rejected(f"{name} leaves at {departs(row['leaves'], row['origin'])}; sale ends 2 hours before departure")


def places(ctx: Context, row: Row, cabin: str) -> int:
    """How many places of a cabin can still be sold."""
    return places_beside(row, cabin, ctx.rows(ON_FLIGHT, flight=row["id"]))


def places_beside(row: Row, cabin: str, booked: list[Row]) -> int:
    """The same, when the agency's own bookings of the flight are known."""
    own = sum(fares.cabin(booking["fare"]) == cabin for booking in booked)
    return cabins.unsold(row["aircraft"], row["sold"], cabin) - own


def has_place(ctx: Context, row: Row, fare: str) -> None:
    """Raises Rejected when the fare's cabin is full."""
    cabin = fares.cabin(fare)
    if places(ctx, row, cabin) < 1:
        raise Rejected(f"{row['number']} ({row['id']}) has no {cabin} seat left; choose another flight or cabin")


def fare_rule(row: Row, fare: str) -> fares.FareRule:
    """Conditions of a fare. Raises Rejected when the flight's airline doesn't sell it."""
    found = fares.rule(row["number"], fare)
    if found is None:
        sold = ", ".join(fares.FARES[row["number"][:2]])
        raise Rejected(f"{row['number']} has no {fare} fare; its fares are {sold}")
    return found


def free_to_fly(ctx: Context, person: Row, row: Row, besides: str = "") -> None:
    """Raises Rejected when another flight of the passenger (not the booking `besides`) is at the same time."""
    end = arrival(row["leaves"], row["minutes"])
    for booked in ctx.rows(_OF_PASSENGER, passenger=person["id"]):
        if booked["id"] == besides or booked["flight_status"] == "cancelled":
            continue
        if booked["flight_id"] == row["id"]:
            raise Rejected(f"{person['name']} is on {row['number']} already, by {booked['id']}")
        if booked["leaves"] < end and row["leaves"] < arrival(booked["leaves"], booked["minutes"]):
            raise Rejected(
                f"{person['name']} is on {booked['number']} at that time, by {booked['id']}; "
                "cancel that one or choose another flight"
            )


def years_old(born_on: str, day: str) -> int:
    """Age in full years on a day."""
    return int(day[:4]) - int(born_on[:4]) - (day[5:] < born_on[5:])


def accompanied(ctx: Context, itinerary_id: str, row: Row, flight_id: str, besides: str = "") -> None:
    """Raises Rejected when the passenger in `row` is a minor and no adult of the itinerary is on the flight."""
    day = departs(row["leaves"], row["origin"])[:10]
    if years_old(row["born_on"], day) >= ADULT:
        return
    party = ctx.rows(PARTY, itinerary=itinerary_id, flight=flight_id)
    if not any(years_old(one["born_on"], day) >= GUARDIAN for one in party if one["id"] != besides):
        raise Rejected(
            f"{row['passenger']} is under {ADULT} and may not fly alone; "
            f"book an adult of itinerary {itinerary_id} on that flight first"
        )


def leaves_nobody_alone(ctx: Context, booking: Row) -> None:
    """Raises Rejected when a minor would stay on the flight without an adult once this booking leaves it."""
    day = departs(booking["leaves"], booking["origin"])[:10]
    party = ctx.rows(PARTY, itinerary=booking["itinerary_id"], flight=booking["flight_id"])
    ages = {one["id"]: years_old(one["born_on"], day) for one in party if one["id"] != booking["id"]}
    if any(age >= GUARDIAN for age in ages.values()):
        return
    alone = [one for one in party if one["id"] in ages and ages[one["id"]] < ADULT]
    if alone:
        raise Rejected(
            f"{alone[0]['name']} (under {ADULT}, {alone[0]['id']}) would fly on {booking['number']} without an adult; "
            "cancel that booking first or book another adult on that flight"
        )


def taken_rooms(ctx: Context, hotel_id: str, check_in: str, check_out: str) -> dict[str, int]:
    """Of each room type of a hotel, how many rooms are taken on the fullest night of a stay; 0 is left out."""
    spans: dict[str, list[Row]] = {}
    for row in ctx.rows(_TAKEN, hotel=hotel_id, start=check_in, end=check_out):
        spans.setdefault(row["room_id"], []).append(row)
    return {room_id: _fullest(rows, check_in) for room_id, rows in spans.items()}


def _fullest(spans: list[Row], check_in: str) -> int:
    """The most rooms taken at once: on the first night, or one on which another stay begins."""
    nights = {max(row["first_night"], check_in) for row in spans}
    return max(sum(row["rooms"] for row in spans if row["first_night"] <= night < row["until"]) for night in nights)


def hold_end(ctx: Context, first_day: str) -> str:
    """Last day to pay a booking made now."""
    return min((ctx.now.date() + timedelta(days=2)).isoformat(), max(first_day, ctx.today))


def refund(ctx: Context, booking: Row, amount: int) -> None:
    """Send money of a booking back to the card that paid it."""
    if amount:
        ctx.insert(
            Payment,
            itinerary_id=booking["itinerary_id"],
            card_id=booking["card_id"],
            amount=-amount,
            paid_on=ctx.today,
        )
