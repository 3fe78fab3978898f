"""Itineraries: create, list, read, add flights, pay."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import bindparam, select, union, union_all
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text, money
from proverl.envs.servers.travel_booking import fares, rules, words
from proverl.envs.servers.travel_booking.app import server
from proverl.envs.servers.travel_booking.tables import (
    Flight,
    FlightBooking,
    FlightBookingId,
    FlightId,
    Hotel,
    HotelBooking,
    HotelBookingId,
    HotelRoom,
    Itinerary,
    ItineraryId,
    PassengerId,
)
from proverl.envs.servers.travel_booking.timetable import departs
from proverl.envs.state import Row

ItineraryStatus = Literal["empty", "awaiting_payment", "confirmed", "completed", "cancelled"]
_MOST_PASSENGERS = 9  # on one booking, as airlines have it
_TRIP, _FLOWN, _STAY = Itinerary.__table__.c, FlightBooking.__table__.c, HotelBooking.__table__.c
_MINE = union(
    select(_TRIP.id).where(_TRIP.passenger_id == bindparam("passenger")),
    select(_FLOWN.itinerary_id).where(_FLOWN.passenger_id == bindparam("passenger")),
    select(_STAY.itinerary_id).where(_STAY.passenger_id == bindparam("passenger")),
).cte("mine")
_TRIPS = (
    select(Itinerary.__table__)
    .join_from(Itinerary.__table__, _MINE, _MINE.c.id == _TRIP.id)
    .order_by(_TRIP.created_on.desc(), _TRIP.id)
)
_PARTS: Any = union_all(
    select(_FLOWN.itinerary_id, _FLOWN.status, Flight.leaves.label("ends"))
    .join_from(FlightBooking.__table__, Flight.__table__, Flight.id == _FLOWN.flight_id)
    .where(_FLOWN.itinerary_id.in_(select(_MINE.c.id))),
    select(_STAY.itinerary_id, _STAY.status, _STAY.check_out).where(_STAY.itinerary_id.in_(select(_MINE.c.id))),
)
_STAYS = (
    select(HotelBooking.__table__, Hotel.name.label("hotel"), HotelRoom.name.label("room"))
    .join_from(HotelBooking.__table__, HotelRoom.__table__, HotelRoom.id == _STAY.room_id)
    .join(Hotel.__table__, Hotel.id == HotelRoom.hotel_id)
    .where(_STAY.itinerary_id == bindparam("itinerary"))
    .order_by(_STAY.check_in, _STAY.id)
)


def _status(parts: Iterable[tuple[str, str]], now: str) -> ItineraryStatus:
    """From the status and the end of every booking."""
    every = list(parts)
    live = [(status, ends) for status, ends in every if status != "cancelled"]
    if not live:
        return "cancelled" if every else "empty"
    if any(status == "held" for status, _ in live):
        return "awaiting_payment"
    return "completed" if all(ends <= now for _, ends in live) else "confirmed"


class CreatedItinerary(TypedDict):
    """A new itinerary without bookings."""

    itinerary_id: ItineraryId
    title: str
    status: Literal["empty"]


@server.tool(
    phrases=[
        "create an itinerary called {title} for {passenger_id}",
        "start a new trip {title} with {passenger_id} as the lead passenger",
        "open an itinerary under the name {title} for {passenger_id}",
        "set up {title} as a new itinerary of {passenger_id}",
        "make {passenger_id} the lead of a new trip named {title}",
    ],
    brief=[
        "set up a new trip",
        "create an itinerary for {passenger_id}",
        "open a new itinerary under the name {title}",
    ],
)
def create_itinerary(
    ctx: Context,
    passenger_id: Annotated[PassengerId, "Lead passenger, an adult"],
    title: Annotated[Annotated[Text, Field(max_length=80, examples=list(words.TITLES))], "What the trip is called"],
) -> CreatedItinerary:
    """Create an empty itinerary; flights and hotels are then booked into it."""
    lead = rules.passenger(ctx, passenger_id)
    if rules.years_old(lead["born_on"], ctx.today) < rules.GUARDIAN:
        raise Rejected(
            f"{lead['name']} was born on {lead['born_on']}; the lead passenger must be {rules.GUARDIAN} or older"
        )
    row = ctx.insert(Itinerary, passenger_id=passenger_id, title=title, created_on=ctx.today)
    return {"itinerary_id": row["id"], "title": title, "status": "empty"}


class ItineraryItem(TypedDict):
    """An itinerary in a list."""

    itinerary_id: ItineraryId
    title: str
    status: ItineraryStatus


class ItineraryList(TypedDict):
    """Itineraries, the latest created first."""

    itineraries: list[ItineraryItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the itineraries of {passenger_id}[ that are {status}]",
        "show me the trips of {passenger_id}[ with the status {status}]",
        "look up which itineraries {passenger_id} is part of[, only {status} ones]",
        "check what trips {passenger_id} has[ that are {status}]",
        "find every[ {status}] itinerary with {passenger_id} in it",
    ],
    brief=[
        "list the itineraries of a passenger",
        "check what trips somebody has",
        "show me a traveller's {status} itineraries",
    ],
)
def list_itineraries(
    ctx: Context,
    passenger_id: Annotated[PassengerId, "Passenger who leads the trip or takes part in it"],
    status: Annotated[ItineraryStatus | None, "Only itineraries with this status"] = None,
) -> ItineraryList:
    """List the itineraries that a passenger leads or takes part in, the latest created first."""
    rules.passenger(ctx, passenger_id)
    parts: dict[str, list[tuple[str, str]]] = {}
    for part in ctx.rows(_PARTS, passenger=passenger_id):
        parts.setdefault(part["itinerary_id"], []).append((part["status"], part["ends"]))
    trips: list[ItineraryItem] = [
        {
            "itinerary_id": row["id"],
            "title": row["title"],
            "status": _status(parts.get(row["id"], ()), ctx.timestamp),
        }
        for row in ctx.rows(_TRIPS, passenger=passenger_id)
    ]
    return {"itineraries": [trip for trip in trips if status in (None, trip["status"])]}


class BookedFlight(TypedDict):
    """A flight of an itinerary; `departs` is local time."""

    flight_booking_id: FlightBookingId
    flight_id: FlightId
    flight: str
    passenger_id: PassengerId
    departs: str
    fare: fares.Fare
    seat: str | None
    status: Literal["held", "hold_expired", "ticketed", "checked_in", "flown", "cancelled", "cancelled_by_airline"]


class BookedStay(TypedDict):
    """A stay of an itinerary."""

    hotel_booking_id: HotelBookingId
    hotel: str
    room: str
    check_in_date: str
    check_out_date: str
    status: Literal["held", "hold_expired", "confirmed", "cancelled"]


class ItineraryView(TypedDict):
    """An itinerary in full; amounts in EUR, `due` is not paid yet."""

    itinerary_id: ItineraryId
    title: str
    lead_passenger_id: PassengerId
    status: ItineraryStatus
    flights: list[BookedFlight]
    hotels: list[BookedStay]
    paid: float
    due: float


def _hold_status(row: Row, today: str) -> Any:
    return "hold_expired" if row["status"] == "held" and row["held_until"] < today else row["status"]


def _flight_status(row: Row, now: str) -> Any:
    if row["status"] == "cancelled":
        return "cancelled"
    if row["flight_status"] == "cancelled":
        return "cancelled_by_airline"
    return "flown" if row["leaves"] <= now and row["status"] == "checked_in" else _hold_status(row, now[:10])


@server.tool(
    read_only=True,
    phrases=[
        "show me {itinerary_id}",
        "pull up {itinerary_id} with its flights and hotels",
        "check what is booked and what is still due on {itinerary_id}",
        "get the details of {itinerary_id}",
        "read me everything that belongs to {itinerary_id}",
    ],
    brief=[
        "pull up an itinerary with its flights and hotels",
        "check what is still due on a trip",
    ],
)
def get_itinerary(ctx: Context, itinerary_id: Annotated[ItineraryId, "Itinerary to read"]) -> ItineraryView:
    """Get an itinerary with all its flight and hotel bookings and what is paid and due."""
    trip = rules.itinerary(ctx, itinerary_id)
    flights, stays = ctx.rows(rules.OF_ITINERARY, itinerary=itinerary_id), ctx.rows(_STAYS, itinerary=itinerary_id)
    parts = [(row["status"], row["leaves"]) for row in flights] + [(row["status"], row["check_out"]) for row in stays]
    paid = sum(row["paid"] for row in (*flights, *stays))
    return {
        "itinerary_id": itinerary_id,
        "title": trip["title"],
        "lead_passenger_id": trip["passenger_id"],
        "status": _status(parts, ctx.timestamp),
        "flights": [
            {
                "flight_booking_id": row["id"],
                "flight_id": row["flight_id"],
                "flight": f"{row['number']} {row['origin']}-{row['destination']}",
                "passenger_id": row["passenger_id"],
                "departs": departs(row["leaves"], row["origin"]),
                "fare": row["fare"],
                "seat": row["seat"],
                "status": _flight_status(row, ctx.timestamp),
            }
            for row in flights
        ],
        "hotels": [
            {
                "hotel_booking_id": row["id"],
                "hotel": row["hotel"],
                "room": row["room"],
                "check_in_date": row["check_in"],
                "check_out_date": row["check_out"],
                "status": _hold_status(row, ctx.today),
            }
            for row in stays
        ],
        "paid": money(paid),
        "due": money(sum(row["price"] for row in (*flights, *stays)) - paid),
    }


class HeldFlight(TypedDict):
    """A place on a flight, held until it is paid; `price` in EUR."""

    flight_booking_id: FlightBookingId
    price: float
    pay_by: str


@server.tool(
    phrases=[
        "book {passenger_id} on {flight_id} at the {fare} fare under {itinerary_id}",
        "add {flight_id} to {itinerary_id} for {passenger_id}, {fare} fare",
        "reserve a {fare} ticket on {flight_id} for {passenger_id} as part of {itinerary_id}",
        "put {passenger_id} on {flight_id} with a {fare} fare in {itinerary_id}",
        "hold a place on {flight_id} for {passenger_id} at the {fare} fare within {itinerary_id}",
    ],
    brief=[
        "book somebody on a flight",
        "book {passenger_id} on {flight_id} under {itinerary_id}",
        "reserve a {fare} ticket on {flight_id} for {passenger_id}",
        "add a flight to {itinerary_id} for {passenger_id}, {fare} fare",
    ],
)
def book_flight(
    ctx: Context,
    itinerary_id: Annotated[ItineraryId, "Itinerary that the flight belongs to"],
    flight_id: Annotated[FlightId, "Flight to book"],
    passenger_id: Annotated[PassengerId, "Who flies; children need an adult of the itinerary on the same flight"],
    fare: Annotated[fares.Fare, "Fare, as list_flight_fares describes it"],
) -> HeldFlight:
    """Hold a place on a flight for two days; pay_itinerary issues the ticket."""
    rules.itinerary(ctx, itinerary_id)
    flight, person = rules.flight(ctx, flight_id), rules.passenger(ctx, passenger_id)
    rules.sellable(ctx, flight)
    conditions = rules.fare_rule(flight, fare)
    rules.free_to_fly(ctx, person, flight)
    rules.has_place(ctx, flight, fare)
    if len(ctx.rows(rules.PARTY, itinerary=itinerary_id, flight=flight_id)) >= _MOST_PASSENGERS:
        raise Rejected(
            f"{itinerary_id} has {_MOST_PASSENGERS} passengers on {flight['number']}, the most an airline takes on one "
            "booking; use another itinerary"
        )
    rules.accompanied(
        ctx, itinerary_id, {**flight, "passenger": person["name"], "born_on": person["born_on"]}, flight_id
    )
    day = departs(flight["leaves"], flight["origin"])[:10]
    row = ctx.insert(
        FlightBooking,
        itinerary_id=itinerary_id,
        flight_id=flight_id,
        passenger_id=passenger_id,
        fare=fare,
        status="held",
        price=fares.price(flight["base_price"], conditions.percent),
        paid=0,
        card_id=None,
        seat=None,
        held_until=rules.hold_end(ctx, day),
    )
    return {"flight_booking_id": row["id"], "price": money(row["price"]), "pay_by": row["held_until"]}
