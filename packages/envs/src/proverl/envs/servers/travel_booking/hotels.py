"""Hotels and rooms: search, availability, booking, cancelling."""

from datetime import date, timedelta
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected, money
from proverl.envs.servers.travel_booking import rules, words
from proverl.envs.servers.travel_booking.app import server
from proverl.envs.servers.travel_booking.passengers import Limit
from proverl.envs.servers.travel_booking.tables import (
    Hotel,
    HotelBooking,
    HotelBookingId,
    HotelId,
    HotelRoom,
    ItineraryId,
    PassengerId,
    RoomId,
)
from proverl.envs.servers.travel_booking.timetable import City
from proverl.envs.state import Row

Nights = Annotated[int, Field(ge=1, le=30, examples=words.NIGHTS)]

_HORIZON = 365  # days ahead that hotels sell
_HOTELS = (
    select(Hotel.__table__)
    .where(Hotel.city == bindparam("city"), Hotel.stars >= bindparam("stars"))
    .order_by(Hotel.stars.desc(), Hotel.name, Hotel.id)
    .limit(bindparam("limit"))
)
_ROOMS = (
    select(HotelRoom.__table__).where(HotelRoom.hotel_id == bindparam("hotel")).order_by(HotelRoom.price, HotelRoom.id)
)
_STAY = HotelBooking.__table__.c
_STAYS_OF_GUEST = (
    select(_STAY.id, Hotel.name)
    .join_from(HotelBooking.__table__, HotelRoom.__table__, HotelRoom.id == _STAY.room_id)
    .join(Hotel.__table__, Hotel.id == HotelRoom.hotel_id)
    .where(
        _STAY.passenger_id == bindparam("guest"),
        _STAY.status != "cancelled",
        _STAY.check_in < bindparam("end"),
        _STAY.check_out > bindparam("start"),
    )
    .order_by(_STAY.check_in, _STAY.id)
)


class HotelItem(TypedDict):
    """A hotel in a list."""

    hotel_id: HotelId
    name: str
    stars: int
    address: str


class HotelList(TypedDict):
    """Hotels of a city, best first."""

    hotels: list[HotelItem]


@server.tool(
    read_only=True,
    phrases=[
        "find hotels in {city}[ with {min_stars} stars or more][, {limit} at most]",
        "look for a place to stay in {city}[ with at least {min_stars} stars]",
        "show me[ up to {limit}] hotels in {city}[ from {min_stars} stars up]",
        "search {city} for hotels[ of {min_stars} stars or better]",
        "check which hotels there are in {city}[, no fewer than {min_stars} stars]",
    ],
    brief=[
        "find a hotel",
        "look for a place to stay with at least {min_stars} stars",
        "show me some hotels",
    ],
)
def search_hotels(
    ctx: Context,
    city: Annotated[City, "City to stay in"],
    min_stars: Annotated[Literal[3, 4, 5] | None, "Only hotels with at least so many stars"] = None,
    limit: Annotated[Limit, "Most hotels listed"] = 5,
) -> HotelList:
    """Search the hotels of a city, those with the most stars first."""
    rows = ctx.rows(_HOTELS, city=city, stars=min_stars or 0, limit=limit)
    return {
        "hotels": [
            {"hotel_id": row["id"], "name": row["name"], "stars": row["stars"], "address": row["address"]}
            for row in rows
        ]
    }


def _stay_dates(ctx: Context, hotel: Row, check_in_date: str, nights: int) -> str:
    """The date of departure. Raises Rejected when the hotel takes nobody for such a stay."""
    name = f"{hotel['name']} ({hotel['id']})"
    last = (ctx.now.date() + timedelta(days=_HORIZON)).isoformat()
    if not ctx.today <= check_in_date <= last:
        raise Rejected(f"check_in_date {check_in_date} must be between today ({ctx.today}) and {last}")
    if hotel["closed_until"] and check_in_date < hotel["closed_until"]:
        raise Rejected(f"{name} is closed for renovation; it takes guests from {hotel['closed_until']} on")
    if nights < hotel["min_nights"]:
        raise Rejected(f"{name} takes stays of {hotel['min_nights']} nights or more, not {nights}")
    return (date.fromisoformat(check_in_date) + timedelta(days=nights)).isoformat()


class RoomItem(TypedDict):
    """A room type for the dates asked; `total` in EUR is for all nights, `free_cancellation` null if never free."""

    room_id: RoomId
    name: str
    sleeps: int
    rooms_left: int
    total: float
    free_cancellation: str | None


class RoomList(TypedDict):
    """Room types of a hotel, cheapest first; those without rooms left are sold out on these dates."""

    check_out_date: str
    rooms: list[RoomItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the rooms of {hotel_id} from {check_in_date} for {nights} nights",
        "check which rooms {hotel_id} has on {check_in_date}, staying {nights} nights",
        "show me prices and cancellation rules at {hotel_id} for {nights} nights from {check_in_date} on",
        "see what is free at {hotel_id} when arriving on {check_in_date} for {nights} nights",
        "tell me what {nights} nights at {hotel_id} cost, beginning on {check_in_date}",
    ],
    brief=[
        "check which rooms a hotel has left",
        "list the rooms of {hotel_id} for {nights} nights",
        "see what is free at {hotel_id} when arriving on {check_in_date}",
    ],
)
def list_hotel_rooms(
    ctx: Context,
    hotel_id: Annotated[HotelId, "Hotel to look at"],
    check_in_date: Annotated[IsoDate, "Date of arrival"],
    nights: Annotated[Nights, "Length of the stay"],
) -> RoomList:
    """List a hotel's room types with what is left, the price of the stay and the last day of free cancellation."""
    check_out = _stay_dates(ctx, rules.hotel(ctx, hotel_id), check_in_date, nights)
    taken = rules.taken_rooms(ctx, hotel_id, check_in_date, check_out)
    return {
        "check_out_date": check_out,
        "rooms": [
            {
                "room_id": row["id"],
                "name": row["name"],
                "sleeps": row["sleeps"],
                "rooms_left": row["rooms"] - taken.get(row["id"], 0),
                "total": money(row["price"] * nights),
                "free_cancellation": _free_until(row["free_cancellation_days"], check_in_date),
            }
            for row in ctx.rows(_ROOMS, hotel=hotel_id)
        ],
    }


def _free_until(days: int | None, check_in: str) -> str | None:
    return None if days is None else (date.fromisoformat(check_in) - timedelta(days=days)).isoformat()


class HeldRoom(TypedDict):
    """A stay held until it is paid; `total` in EUR."""

    hotel_booking_id: HotelBookingId
    check_out_date: str
    total: float
    pay_by: str


@server.tool(
    phrases=[
        "book {room_id} for {nights} nights from {check_in_date} under {itinerary_id}[, guest {guest_id}]",
        "reserve {room_id} on {itinerary_id}, arriving {check_in_date} for {nights} nights[, for {guest_id}]",
        "add a stay of {nights} nights in {room_id} from {check_in_date} to {itinerary_id}[ for {guest_id}]",
        "hold {room_id} as part of {itinerary_id} from {check_in_date}, {nights} nights[, in the name of {guest_id}]",
        "put {nights} nights in {room_id}, beginning on {check_in_date}, into {itinerary_id}[ with {guest_id} as the "
        "guest]",
    ],
    brief=[
        "book a hotel room",
        "book {room_id} from {check_in_date} under {itinerary_id}",
        "reserve {room_id} on {itinerary_id} for {nights} nights",
        "hold {room_id} from {check_in_date} for {nights} nights",
    ],
)
def book_hotel(
    ctx: Context,
    itinerary_id: Annotated[ItineraryId, "Itinerary that the stay belongs to"],
    room_id: Annotated[RoomId, "Room type, as list_hotel_rooms names it"],
    check_in_date: Annotated[IsoDate, "Date of arrival"],
    nights: Annotated[Nights, "Length of the stay"],
    guest_id: Annotated[PassengerId | None, "Who stays; the lead passenger if left out"] = None,
) -> HeldRoom:
    """Hold a room for two days; pay_itinerary confirms it."""
    trip, room = rules.itinerary(ctx, itinerary_id), rules.room(ctx, room_id)
    hotel = rules.hotel(ctx, room["hotel_id"])
    guest = rules.passenger(ctx, guest_id or trip["passenger_id"])
    if rules.years_old(guest["born_on"], check_in_date) < rules.GUARDIAN:
        raise Rejected(f"{guest['name']} is under {rules.GUARDIAN}; the guest who checks in must be an adult")
    check_out = _stay_dates(ctx, hotel, check_in_date, nights)
    for stay in ctx.rows(_STAYS_OF_GUEST, guest=guest["id"], start=check_in_date, end=check_out):
        raise Rejected(
            f"{guest['name']} stays at {stay['name']} then, by {stay['id']}; cancel that one or choose other dates"
        )
    taken = rules.taken_rooms(ctx, hotel["id"], check_in_date, check_out).get(room_id, 0)
    if taken >= room["rooms"]:
        raise Rejected(
            f"{room['name']} ({room_id}) at {hotel['name']} is sold out between {check_in_date} and {check_out}; "
            "list_hotel_rooms shows what is left"
        )
    pay_by = rules.hold_end(ctx, check_in_date)
    row = ctx.insert(
        HotelBooking,
        itinerary_id=itinerary_id,
        room_id=room_id,
        passenger_id=guest["id"],
        check_in=check_in_date,
        check_out=check_out,
        status="held",
        price=room["price"] * nights,
        paid=0,
        card_id=None,
        held_until=pay_by,
    )
    return {
        "hotel_booking_id": row["id"],
        "check_out_date": check_out,
        "total": money(row["price"]),
        "pay_by": pay_by,
    }


class CancelledStay(TypedDict):
    """A stay that was cancelled; amounts in EUR."""

    hotel_booking_id: HotelBookingId
    refunded: float
    kept: float


@server.tool(
    destructive=True,
    phrases=[
        "cancel {hotel_booking_id}",
        "call off {hotel_booking_id} and refund what can be refunded",
        "release the room of {hotel_booking_id}",
        "drop {hotel_booking_id} from the trip",
        "tell the hotel that nobody will come for {hotel_booking_id}",
    ],
    brief=[
        "cancel a hotel booking",
        "call off one of the hotel stays",
    ],
)
def cancel_hotel(
    ctx: Context, hotel_booking_id: Annotated[HotelBookingId, "Stay that will not happen"]
) -> CancelledStay:
    """Cancel a stay before the day of arrival. After free cancellation ends the first night is kept; without it all.

    A hold is released without cost at any time.
    """
    stay = ctx.get(HotelBooking, hotel_booking_id, "get_itinerary names those of an itinerary")
    if stay["status"] == "cancelled":
        raise Rejected(f"{hotel_booking_id} is cancelled already; book_hotel books a stay anew")
    if stay["check_in"] <= ctx.today and stay["status"] != "held":
        raise Rejected(
            f"{hotel_booking_id} begins on {stay['check_in']}; a stay can be cancelled until the day before arrival"
        )
    room = rules.room(ctx, stay["room_id"])
    free_until = _free_until(room["free_cancellation_days"], stay["check_in"])
    fee = stay["price"] if free_until is None else 0 if ctx.today <= free_until else room["price"]
    kept = min(stay["paid"], fee)
    ctx.update(HotelBooking, hotel_booking_id, status="cancelled", price=kept, paid=kept)
    rules.refund(ctx, stay, stay["paid"] - kept)
    return {"hotel_booking_id": hotel_booking_id, "refunded": money(stay["paid"] - kept), "kept": money(kept)}
