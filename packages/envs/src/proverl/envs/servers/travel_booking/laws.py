"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import func, select

from proverl.envs import Context
from proverl.envs.servers.travel_booking import cabins, fares, rules
from proverl.envs.servers.travel_booking.app import server
from proverl.envs.servers.travel_booking.tables import (
    Flight,
    FlightBooking,
    HotelBooking,
    HotelRoom,
    Passenger,
    Payment,
)
from proverl.envs.servers.travel_booking.timetable import arrival, departs

_FLIGHT, _BOOKING, _STAY = Flight.__table__.c, FlightBooking.__table__.c, HotelBooking.__table__.c
_LIVE = (
    select(
        FlightBooking.__table__,
        _FLIGHT.leaves,
        _FLIGHT.minutes,
        _FLIGHT.origin,
        _FLIGHT.aircraft,
        _FLIGHT.sold,
        _FLIGHT.status.label("flight_status"),
        Passenger.born_on,
    )
    .join_from(FlightBooking.__table__, Flight.__table__, _FLIGHT.id == _BOOKING.flight_id)
    .join(Passenger.__table__, Passenger.id == _BOOKING.passenger_id)
    .where(_BOOKING.status != "cancelled")
    .order_by(_BOOKING.passenger_id, _FLIGHT.leaves, _BOOKING.id)
)


@server.invariant
def payments_are_what_bookings_were_paid(ctx: Context) -> None:
    """Charges less refunds of an itinerary add up to what its bookings have been paid."""
    totals: dict[str, int] = {}
    for table, amount, sign in (
        (Payment.__table__, Payment.__table__.c.amount, 1),
        (FlightBooking.__table__, _BOOKING.paid, -1),
        (HotelBooking.__table__, _STAY.paid, -1),
    ):
        for row in ctx.rows(
            select(table.c.itinerary_id, func.sum(amount).label("total")).group_by(table.c.itinerary_id)
        ):
            totals[row["itinerary_id"]] = totals.get(row["itinerary_id"], 0) + sign * row["total"]
    assert not any(totals.values()), f"payments differ: {sorted(key for key, total in totals.items() if total)}"


@server.invariant
def flights_are_never_oversold(ctx: Context) -> None:
    """Each cabin has a place for every booking, and seats are of the fare's cabin and nobody else's."""
    sold: dict[tuple[str, str], int] = {}
    for row in ctx.rows(_LIVE):
        cabin = fares.cabin(row["fare"])
        key = (row["flight_id"], cabin)
        sold[key] = sold.get(key, 0) + 1
        left = cabins.unsold(row["aircraft"], row["sold"], cabin) - sold[key]
        assert left >= 0, f"{cabin} of {row['flight_id']} is oversold"
        if row["seat"]:
            seat = cabins.plan(row["aircraft"])[row["seat"]]
            assert seat.cabin == cabin, f"{row['id']} sits in {seat.cabin}"
            assert not seat.bit & int(row["sold"], 16), f"{row['id']} sits on somebody's seat"


@server.invariant
def nobody_is_on_two_flights_at_once(ctx: Context) -> None:
    """The flights of a passenger follow each other."""
    last: dict[str, str] = {}
    for row in ctx.rows(_LIVE):
        if row["flight_status"] != "cancelled":
            assert last.get(row["passenger_id"], "") <= row["leaves"], f"{row['id']} overlaps another flight"
            last[row["passenger_id"]] = arrival(row["leaves"], row["minutes"])


@server.invariant
def minors_never_fly_alone(ctx: Context) -> None:
    """On every flight that operates, an itinerary with a minor has an adult on it."""
    parties: dict[tuple[str, str], list[int]] = {}
    for row in ctx.rows(_LIVE):
        if row["flight_status"] != "cancelled":
            age = rules.years_old(row["born_on"], departs(row["leaves"], row["origin"])[:10])
            parties.setdefault((row["itinerary_id"], row["flight_id"]), []).append(age)
    alone = [key for key, ages in parties.items() if min(ages) < rules.ADULT and max(ages) < rules.GUARDIAN]
    assert not alone, f"minors alone: {alone}"


@server.invariant
def hotels_are_never_overbooked(ctx: Context) -> None:
    """On no night are more rooms of a type taken than there are."""
    stays = (
        select(_STAY.check_in, _STAY.check_out, HotelRoom.__table__)
        .join_from(HotelBooking.__table__, HotelRoom.__table__, HotelRoom.id == _STAY.room_id)
        .where(_STAY.status != "cancelled")
        .order_by(_STAY.id)
    )
    for row in ctx.rows(stays):
        taken = rules.taken_rooms(ctx, row["hotel_id"], row["check_in"], row["check_out"])
        assert taken.get(row["id"], 0) <= row["rooms"], f"{row['id']} is overbooked"
