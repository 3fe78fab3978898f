"""Changes of booked flights: see where they can move, move them, cancel them."""

from typing import Annotated, Literal

from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.travel_booking import fares, rules
from proverl.envs.servers.travel_booking.app import server
from proverl.envs.servers.travel_booking.passengers import Limit
from proverl.envs.servers.travel_booking.tables import Flight, FlightBooking, FlightBookingId, FlightId
from proverl.envs.servers.travel_booking.timetable import AIRLINES, SALE_ENDS, before, departs
from proverl.envs.state import Row

_SAME_SERVICE = (
    select(Flight.__table__)
    .where(
        Flight.origin == bindparam("origin"),
        Flight.destination == bindparam("destination"),
        Flight.number.startswith(bindparam("airline")),
        Flight.id != bindparam("besides"),
        Flight.leaves > bindparam("since"),
        Flight.status == "scheduled",
    )
    .order_by(Flight.leaves, Flight.id)
)


def _changeable(ctx: Context, flight_booking_id: str, verb: str) -> Row:
    """The booking, whose flight hasn't begun. Raises NotFound, or Rejected with what can't be done (`verb`)."""
    booking = rules.upcoming_flight_booking(ctx, flight_booking_id)
    if booking["status"] == "checked_in":
        raise Rejected(f"{flight_booking_id} is checked in; only bookings before check-in can be {verb}")
    if booking["flight_status"] != "cancelled" and before(booking["leaves"], SALE_ENDS) <= ctx.timestamp:
        raise Rejected(
            f"{booking['number']} leaves at {departs(booking['leaves'], booking['origin'])}; "
            f"bookings can be {verb} until 2 hours before departure"
        )
    return booking


def _fare_to_change(ctx: Context, booking: Row) -> fares.FareRule:
    """Conditions of the booking's fare. Raises Rejected when its hold ended or a paid fare can't be changed."""
    if booking["status"] == "held" and booking["held_until"] < ctx.today:
        raise Rejected(f"the hold of {booking['id']} ended on {booking['held_until']}; cancel it and book anew")
    conditions = rules.fare_rule(booking, booking["fare"])
    if conditions.change_fee is None and booking["paid"] and booking["flight_status"] != "cancelled":
        raise Rejected(
            f"{booking['id']} has a {booking['fare']} fare, which can't be changed; "
            "cancel it and book a new flight instead"
        )
    return conditions


class ChangeOption(TypedDict):
    """A flight to move to; `due` in EUR is the fee and the difference in price, `departs` is local time."""

    new_flight_id: FlightId
    number: str
    departs: str
    due: float


class ChangeOptionList(TypedDict):
    """Flights that a booking can move to, soonest first."""

    options: list[ChangeOption]


@server.tool(
    read_only=True,
    phrases=[
        "list the flights to which {flight_booking_id} can be changed[, {limit} at most]",
        "show me the rebooking options for {flight_booking_id}[, up to {limit}]",
        "find other departures for {flight_booking_id} and what a change costs",
        "check where {flight_booking_id} could be moved[, {limit} options at most]",
        "tell me which other flights {flight_booking_id} could take",
    ],
    brief=[
        "show me the rebooking options for a flight booking",
        "find out what other flights one of the bookings can be changed to",
    ],
)
def list_rebooking_options(
    ctx: Context,
    flight_booking_id: Annotated[FlightBookingId, "Booking to move"],
    limit: Annotated[Limit, "Most options listed"] = 5,
) -> ChangeOptionList:
    """List other flights of the airline on the same route that a booking can be changed to, with what becomes due."""
    booking = _changeable(ctx, flight_booking_id, "changed")
    conditions = _fare_to_change(ctx, booking)
    cabin = fares.cabin(booking["fare"])
    flights = ctx.rows(
        _SAME_SERVICE,
        origin=booking["origin"],
        destination=booking["destination"],
        airline=booking["number"][:2],
        besides=booking["flight_id"],
        since=before(ctx.timestamp, -SALE_ENDS),
    )
    options: list[ChangeOption] = []
    for flight in flights:
        if len(options) < limit and rules.places(ctx, flight, cabin) > 0:
            options.append(
                {
                    "new_flight_id": flight["id"],
                    "number": flight["number"],
                    "departs": departs(flight["leaves"], flight["origin"]),
                    "due": money(_new_price(booking, flight, conditions) - booking["paid"]),
                }
            )
    return {"options": options}


class ChangedFlight(TypedDict):
    """A booking on its new flight; `due` in EUR must be paid before check-in, `departs` is local time."""

    flight_booking_id: FlightBookingId
    flight: str
    departs: str
    due: float
    status: Literal["held", "ticketed"]


@server.tool(
    phrases=[
        "change {flight_booking_id} to {new_flight_id}",
        "move {flight_booking_id} over to {new_flight_id}",
        "rebook {flight_booking_id} on {new_flight_id}",
        "switch {flight_booking_id} to {new_flight_id} instead",
        "let the passenger of {flight_booking_id} take {new_flight_id} instead of the flight booked",
    ],
    brief=[
        "move a flight booking to another flight",
        "rebook {flight_booking_id} on another flight",
        "switch one of the bookings to {new_flight_id}",
    ],
)
def change_flight(
    ctx: Context,
    flight_booking_id: Annotated[FlightBookingId, "Booking to move"],
    new_flight_id: Annotated[FlightId, "Another flight of the same airline on the same route"],
) -> ChangedFlight:
    """Move a booking to another flight of the airline on the same route, keeping the fare.

    The change fee and any higher price become due; a lower price isn't paid back. The seat must be chosen anew.
    """
    booking = _changeable(ctx, flight_booking_id, "changed")
    flight = rules.flight(ctx, new_flight_id)
    _same_service(booking, flight)
    rules.sellable(ctx, flight)
    conditions = _fare_to_change(ctx, booking)
    rules.free_to_fly(ctx, {"id": booking["passenger_id"], "name": booking["passenger"]}, flight, flight_booking_id)
    rules.has_place(ctx, flight, booking["fare"])
    moved = {**booking, "leaves": flight["leaves"]}
    rules.accompanied(ctx, booking["itinerary_id"], moved, new_flight_id, flight_booking_id)
    if booking["flight_status"] != "cancelled":
        rules.leaves_nobody_alone(ctx, booking)
    price = _new_price(booking, flight, conditions)
    status: Literal["held", "ticketed"] = "held" if price > booking["paid"] else "ticketed"
    day = departs(flight["leaves"], flight["origin"])
    ctx.update(
        FlightBooking,
        flight_booking_id,
        flight_id=new_flight_id,
        price=price,
        seat=None,
        status=status,
        held_until=rules.hold_end(ctx, day[:10]),
    )
    return {
        "flight_booking_id": flight_booking_id,
        "flight": f"{flight['number']} {flight['origin']}-{flight['destination']}",
        "departs": day,
        "due": money(price - booking["paid"]),
        "status": status,
    }


def _same_service(booking: Row, flight: Row) -> None:
    """Raises Rejected unless the flight is another one of the booked airline and route."""
    if flight["id"] == booking["flight_id"]:
        raise Rejected(f"{booking['id']} is on {flight['id']} already; choose another flight")
    route = (booking["origin"], booking["destination"])
    if (flight["origin"], flight["destination"]) != route:
        raise Rejected(
            f"{flight['id']} flies {flight['origin']}-{flight['destination']}; "
            f"{booking['id']} can move to flights {route[0]}-{route[1]} only"
        )
    if flight["number"][:2] != booking["number"][:2]:
        raise Rejected(
            f"{flight['number']} is {AIRLINES[flight['number'][:2]]}'s; "
            f"{booking['id']} can move to flights of {AIRLINES[booking['number'][:2]]} only"
        )


def _new_price(booking: Row, flight: Row, conditions: fares.FareRule) -> int:
    """What the booking costs on the new flight: a hold is just priced anew, an airline's cancellation costs nothing."""
    asked = fares.price(flight["base_price"], conditions.percent)
    if not booking["paid"]:
        return asked
    if booking["flight_status"] == "cancelled":
        return int(booking["price"])
    return int(max(booking["price"], asked)) + (conditions.change_fee or 0)


class CancelledFlight(TypedDict):
    """A flight booking that was cancelled; amounts in EUR."""

    flight_booking_id: FlightBookingId
    refunded: float
    kept: float


@server.tool(
    destructive=True,
    phrases=[
        "cancel {flight_booking_id}",
        "call off {flight_booking_id} and refund what the fare allows",
        "give back the ticket of {flight_booking_id}",
        "take {flight_booking_id} off the itinerary",
        "drop {flight_booking_id}, as nobody will take that flight",
    ],
    brief=[
        "cancel a flight booking",
        "give back one of the plane tickets",
    ],
)
def cancel_flight(
    ctx: Context, flight_booking_id: Annotated[FlightBookingId, "Booking that will not be flown"]
) -> CancelledFlight:
    """Cancel a flight booking; refunds the price less the fare's cancel fee, or all of it if the airline cancelled.

    A hold is released without cost at any time.
    """
    booking = rules.flight_booking(ctx, flight_booking_id)
    if booking["paid"]:
        booking = _changeable(ctx, flight_booking_id, "cancelled")
    if booking["flight_status"] == "cancelled":
        kept = 0
    else:
        rules.leaves_nobody_alone(ctx, booking)
        fee = rules.fare_rule(booking, booking["fare"]).cancel_fee
        kept = booking["paid"] if fee is None else min(booking["paid"], fee)
    ctx.update(FlightBooking, flight_booking_id, status="cancelled", price=kept, paid=kept, seat=None)
    rules.refund(ctx, booking, booking["paid"] - kept)
    return {"flight_booking_id": flight_booking_id, "refunded": money(booking["paid"] - kept), "kept": money(kept)}
