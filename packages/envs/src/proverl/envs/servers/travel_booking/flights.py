"""Flights on sale: search, fares with their conditions, free seats."""

from typing import Annotated

from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected, money
from proverl.envs.servers.travel_booking import cabins, fares, rules
from proverl.envs.servers.travel_booking.app import server
from proverl.envs.servers.travel_booking.passengers import Limit
from proverl.envs.servers.travel_booking.tables import Flight, FlightBooking, FlightId, SeatId
from proverl.envs.servers.travel_booking.timetable import AIRLINES, Airport, departs, local, start_of_day
from proverl.envs.state import Row

_FLIGHTS = (
    select(Flight.__table__)
    .where(
        Flight.origin == bindparam("origin"),
        Flight.destination == bindparam("destination"),
        Flight.leaves > bindparam("now"),
        Flight.leaves >= bindparam("since"),
        Flight.status == "scheduled",
    )
    .order_by(Flight.leaves, Flight.id)
    .limit(bindparam("limit"))
)
_BOOKED = (
    select(FlightBooking.flight_id, FlightBooking.fare)
    .join_from(FlightBooking, Flight, Flight.id == FlightBooking.flight_id)
    .where(
        Flight.origin == bindparam("origin"),
        Flight.destination == bindparam("destination"),
        Flight.leaves > bindparam("now"),
        FlightBooking.status != "cancelled",
    )
)


class FlightItem(TypedDict):
    """A flight in a list; times are local, `from_price` in EUR is the cheapest fare, null when all seats are sold."""

    flight_id: FlightId
    number: str
    departs: str
    arrives: str
    from_price: float | None


class FlightList(TypedDict):
    """Flights of a route, soonest first."""

    flights: list[FlightItem]


@server.tool(
    read_only=True,
    phrases=[
        "find flights from {origin} to {destination}[ on {earliest_date} or later][, {limit} at most]",
        "search for flights out of {origin} to {destination}[, leaving {earliest_date} at the earliest]",
        "show me the[ next {limit}] flights between {origin} and {destination}[ from {earliest_date} on]",
        "look for a way to fly from {origin} to {destination}[ as of {earliest_date}]",
        "check when one can fly to {destination} from {origin}[, not before {earliest_date}]",
    ],
    brief=[
        "search for flights",
        "find flights to {destination}",
        "look for a way to fly out of {origin}",
    ],
)
def search_flights(
    ctx: Context,
    origin: Annotated[Airport, "Airport of departure (IATA code)"],
    destination: Annotated[Airport, "Airport of arrival (IATA code)"],
    earliest_date: Annotated[IsoDate | None, "Only departures on this date or later; from now on if left out"] = None,
    limit: Annotated[Limit, "Most flights listed"] = 5,
) -> FlightList:
    """Search non-stop flights of a route that still operate, soonest first."""
    if origin == destination:
        raise Rejected(f"origin and destination are both {origin}; name two different airports")
    since = "" if (earliest_date or "") <= ctx.today else start_of_day(earliest_date or "", origin)
    booked: dict[str, list[Row]] = {}
    for row in ctx.rows(_BOOKED, origin=origin, destination=destination, now=ctx.timestamp):
        booked.setdefault(row["flight_id"], []).append(row)
    rows = ctx.rows(_FLIGHTS, origin=origin, destination=destination, now=ctx.timestamp, since=since, limit=limit)
    return {
        "flights": [
            {
                "flight_id": row["id"],
                "number": row["number"],
                "departs": departs(row["leaves"], origin),
                "arrives": local(row["leaves"], row["minutes"], destination),
                "from_price": _from_price(row, booked.get(row["id"], [])),
            }
            for row in rows
        ]
    }


def _from_price(row: Row, booked: list[Row]) -> float | None:
    """The cheapest fare whose cabin has a seat left."""
    for fare, rule in fares.FARES[row["number"][:2]].items():
        if rules.places_beside(row, fares.cabin(fare), booked) > 0:
            return money(fares.price(row["base_price"], rule.percent))
    return None


class FareItem(TypedDict):
    """A fare of a flight; prices and fees in EUR, a fee of null means that it isn't possible."""

    fare: fares.Fare
    price: float
    seats_left: int
    bags: int
    change_fee: float | None
    cancel_fee: float | None


class FareList(TypedDict):
    """Fares of a flight, cheapest first."""

    airline: str
    fares: list[FareItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the fares of {flight_id}",
        "show me prices and fare rules for {flight_id}",
        "compare the fares on {flight_id}",
        "check what a ticket on {flight_id} costs and how many are left",
        "tell me how much it costs to fly on {flight_id}",
    ],
    brief=[
        "compare the fares of a flight",
        "tell me what a ticket on one of the flights costs",
    ],
)
def list_flight_fares(ctx: Context, flight_id: Annotated[FlightId, "Flight to price"]) -> FareList:
    """List a flight's fares with price, places left, checked bags included, and fees to change or cancel."""
    row = rules.flight(ctx, flight_id)
    left = {cabin: rules.places(ctx, row, cabin) for cabin in ("economy", "business")}
    return {
        "airline": AIRLINES[row["number"][:2]],
        "fares": [
            {
                "fare": fare,  # type: ignore[typeddict-item]
                "price": money(fares.price(row["base_price"], rule.percent)),
                "seats_left": left[fares.cabin(fare)],
                "bags": rule.bags,
                "change_fee": None if rule.change_fee is None else money(rule.change_fee),
                "cancel_fee": None if rule.cancel_fee is None else money(rule.cancel_fee),
            }
            for fare, rule in fares.FARES[row["number"][:2]].items()
        ],
    }


class SeatItem(TypedDict):
    """A free seat."""

    seat_id: SeatId
    position: cabins.Position
    exit_row: bool


class SeatList(TypedDict):
    """Free seats, front to back."""

    seats: list[SeatItem]


@server.tool(
    read_only=True,
    phrases=[
        "list free seats on {flight_id}[ in {cabin}][, {position} only][, {limit} at most]",
        "show me the seat map of {flight_id}[ for {cabin}][, just {position} seats]",
        "find[ {position}] seats on {flight_id}[ in {cabin}]",
        "check which[ {cabin}] seats are still free on {flight_id}[, up to {limit} of them]",
        "tell me where one could still sit on {flight_id}[ in {cabin}]",
    ],
    brief=[
        "check which seats are free on a flight",
        "show me a seat map",
        "find {position} seats on one of the flights",
    ],
)
def list_flight_seats(
    ctx: Context,
    flight_id: Annotated[FlightId, "Flight to look at"],
    cabin: Annotated[fares.Cabin, "Part of the aircraft"] = "economy",
    position: Annotated[cabins.Position | None, "Only seats at this place"] = None,
    limit: Annotated[Limit, "Most seats listed"] = 5,
) -> SeatList:
    """List the free seats of a flight's cabin, front to back."""
    row = rules.flight(ctx, flight_id)
    sold = int(row["sold"], 16)
    own = {booking["seat"] for booking in ctx.rows(rules.ON_FLIGHT, flight=flight_id)}
    free: list[SeatItem] = []
    for seat in cabins.plan(row["aircraft"]).values():
        fits = seat.cabin == cabin and position in (None, seat.position)
        if fits and not seat.bit & sold and seat.name not in own:
            free.append({"seat_id": seat.name, "position": seat.position, "exit_row": seat.exit_row})
            if len(free) == limit:
                break
    return {"seats": free}
