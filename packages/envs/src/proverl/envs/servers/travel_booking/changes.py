"""Changes of booked flights: move to another departure, cancel."""

from typing import Annotated, Literal

from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.travel_booking import fares, rules
from proverl.envs.servers.travel_booking.app import server
from proverl.envs.servers.travel_booking.tables import FlightBooking, FlightBookingId, FlightId
from proverl.envs.servers.travel_booking.timetable import AIRLINES, SALE_ENDS, before, departs
from proverl.envs.state import Row


def _changeable(ctx: Context, flight_booking_id: str, verb: str) -> Row:
    """The booking, whose flight hasn't begun. Raises NotFound, or Rejected with what can't be done (`verb`)."""
    booking = rules.live_flight_booking(ctx, flight_booking_id)
    if booking["status"] == "checked_in":
        raise Rejected(f"{flight_booking_id} is checked in; only bookings before check-in can be {verb}")
    if booking["flight_status"] != "cancelled" and before(booking["leaves"], SALE_ENDS) <= ctx.timestamp:
        raise Rejected(
            f"{booking['number']} leaves at {departs(booking['leaves'], booking['origin'])}; "
            f"bookings can be {verb} until 2 hours before departure"
        )
    return booking


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
    conditions = rules.fare_rule(booking, booking["fare"])
    by_airline = booking["flight_status"] == "cancelled"
    if conditions.change_fee is None and booking["paid"] and not by_airline:
        raise Rejected(
            f"{flight_booking_id} has a basic fare, which can't be changed; cancel it and book a new flight instead"
        )
    rules.free_to_fly(ctx, {"id": booking["passenger_id"], "name": booking["passenger"]}, flight, flight_booking_id)
    rules.has_place(ctx, flight, booking["fare"])
    moved = {**booking, "leaves": flight["leaves"]}
    rules.accompanied(ctx, booking["itinerary_id"], moved, new_flight_id, flight_booking_id)
    if not by_airline:
        rules.leaves_nobody_alone(ctx, booking)
    price = _new_price(booking, flight, conditions, by_airline)
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


def _new_price(booking: Row, flight: Row, conditions: fares.FareRule, by_airline: bool) -> int:
    """What the booking costs on the new flight: a hold is just priced anew, an airline's cancellation costs nothing."""
    asked = fares.price(flight["base_price"], conditions.percent)
    if not booking["paid"]:
        return asked
    if by_airline:
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
    ],
)
def cancel_flight(
    ctx: Context, flight_booking_id: Annotated[FlightBookingId, "Booking that will not be flown"]
) -> CancelledFlight:
    """Cancel a flight booking; refunds the price less the fare's cancel fee, or all of it if the airline cancelled."""
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
