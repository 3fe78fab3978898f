"""Seats and check-in."""

from datetime import timedelta
from typing import Annotated, Literal

from typing_extensions import TypedDict

from proverl.envs import Context, NotFound, Rejected
from proverl.envs.servers.travel_booking import cabins, fares, rules
from proverl.envs.servers.travel_booking.app import server
from proverl.envs.servers.travel_booking.tables import FlightBooking, FlightBookingId, SeatId
from proverl.envs.servers.travel_booking.timetable import CHECK_IN_CLOSES, CHECK_IN_OPENS, before, departs
from proverl.envs.state import Row

_BOARDING = timedelta(minutes=40)  # before departure


def _operates(booking: Row) -> None:
    """Raises Rejected when the airline cancelled the flight."""
    if booking["flight_status"] == "cancelled":
        raise Rejected(
            f"{booking['number']} of {booking['id']} was cancelled by the airline; change_flight moves it at no cost, "
            "cancel_flight refunds it"
        )


def _paid(booking: Row) -> None:
    """Raises Rejected while something is due on the booking."""
    if booking["status"] == "held":
        raise Rejected(f"{booking['id']} is not paid; pay_itinerary for {booking['itinerary_id']} comes first")


class ChosenSeat(TypedDict):
    """A booking's seat."""

    flight_booking_id: FlightBookingId
    seat_id: SeatId
    position: cabins.Position


@server.tool(
    phrases=[
        "choose {seat_id} as the seat for {flight_booking_id}",
        "put the passenger of {flight_booking_id} in {seat_id}",
        "reserve {seat_id} on {flight_booking_id}",
        "assign {seat_id} to {flight_booking_id}",
        "change the seating on {flight_booking_id} to {seat_id}",
    ],
    brief=[
        "choose a seat for a flight booking",
        "reserve a seat on {flight_booking_id}",
        "assign {seat_id} to one of the flight bookings",
    ],
)
def select_seat(
    ctx: Context,
    flight_booking_id: Annotated[FlightBookingId, "Paid booking"],
    seat_id: Annotated[SeatId, "Free seat in the fare's cabin, e.g. 14C"],
) -> ChosenSeat:
    """Choose or change the seat of a paid booking. Basic fares choose once check-in is open."""
    booking = rules.upcoming_flight_booking(ctx, flight_booking_id)
    seat = cabins.plan(booking["aircraft"]).get(seat_id)
    if seat is None:
        raise NotFound(f"no seat {seat_id!r} on {booking['number']}; list_flight_seats names the free ones")
    _operates(booking)
    _paid(booking)
    if booking["status"] == "checked_in":
        raise Rejected(f"{flight_booking_id} is checked in on seat {booking['seat']}; seats are chosen before check-in")
    opens = before(booking["leaves"], CHECK_IN_OPENS)
    if booking["fare"] == "basic" and ctx.timestamp < opens:
        raise Rejected(
            f"{flight_booking_id} has a basic fare; its seat can be chosen once check-in opens, "
            f"at {departs(opens, booking['origin'])} local time"
        )
    _may_sit(ctx, booking, seat)
    ctx.update(FlightBooking, flight_booking_id, seat=seat_id)
    return {"flight_booking_id": flight_booking_id, "seat_id": seat_id, "position": seat.position}


def _may_sit(ctx: Context, booking: Row, seat: cabins.Seat) -> None:
    """Raises Rejected when the seat is another cabin's, taken, or not for minors."""
    cabin = fares.cabin(booking["fare"])
    if seat.cabin != cabin:
        raise Rejected(f"seat {seat.name} is in {seat.cabin}; a {booking['fare']} fare sits in {cabin}")
    others = {
        row["seat"] for row in ctx.rows(rules.ON_FLIGHT, flight=booking["flight_id"]) if row["id"] != booking["id"]
    }
    if seat.bit & int(booking["sold"], 16) or seat.name in others:
        raise Rejected(f"seat {seat.name} on {booking['number']} is taken; list_flight_seats names the free ones")
    if seat.exit_row and rules.years_old(booking["born_on"], ctx.today) < rules.ADULT:
        raise Rejected(f"seat {seat.name} is in an exit row, which {booking['passenger']} is too young for")


class BoardingPass(TypedDict):
    """A passenger who is checked in; `boarding` is local time."""

    flight_booking_id: FlightBookingId
    flight: str
    seat: str
    boarding: str
    status: Literal["checked_in"]


@server.tool(
    phrases=[
        "check in {flight_booking_id}",
        "do the online check-in for {flight_booking_id}",
        "issue the boarding pass of {flight_booking_id}",
        "get {flight_booking_id} checked in",
        "complete the check-in of {flight_booking_id}",
    ],
    brief=[
        "check somebody in for a flight",
        "issue a boarding pass",
    ],
)
def check_in_passenger(
    ctx: Context, flight_booking_id: Annotated[FlightBookingId, "Paid booking with a seat"]
) -> BoardingPass:
    """Check a passenger in, from 30 hours to 60 minutes before departure, with a seat chosen and a valid passport."""
    booking = rules.upcoming_flight_booking(ctx, flight_booking_id)
    if booking["status"] == "checked_in":
        raise Rejected(f"{flight_booking_id} is checked in already, on seat {booking['seat']}")
    _operates(booking)
    _paid(booking)
    local_departure = departs(booking["leaves"], booking["origin"])
    opens, closes = before(booking["leaves"], CHECK_IN_OPENS), before(booking["leaves"], CHECK_IN_CLOSES)
    if ctx.timestamp < opens:
        raise Rejected(
            f"{booking['number']} leaves at {local_departure}; check-in opens 30 hours before, "
            f"at {departs(opens, booking['origin'])} local time"
        )
    if ctx.timestamp >= closes:
        raise Rejected(f"{booking['number']} leaves at {local_departure}; check-in closed 60 minutes before departure")
    if booking["passport_expires"] < local_departure[:10]:
        raise Rejected(
            f"the passport of {booking['passenger']} ({booking['passenger_id']}) expires on "
            f"{booking['passport_expires']}, before the flight; update_passenger_passport puts a valid one on file"
        )
    if booking["seat"] is None:
        raise Rejected(f"{flight_booking_id} has no seat; choose one with select_seat first")
    ctx.update(FlightBooking, flight_booking_id, status="checked_in")
    return {
        "flight_booking_id": flight_booking_id,
        "flight": f"{booking['number']} {booking['origin']}-{booking['destination']}",
        "seat": booking["seat"],
        "boarding": departs(before(booking["leaves"], _BOARDING), booking["origin"]),
        "status": "checked_in",
    }
