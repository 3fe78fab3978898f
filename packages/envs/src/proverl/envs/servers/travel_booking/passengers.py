"""Travellers, their passports and the cards they left on file."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected, Text, money
from proverl.envs.names import folded
from proverl.envs.servers.travel_booking import rules, words
from proverl.envs.servers.travel_booking.app import server
from proverl.envs.servers.travel_booking.tables import (
    CardId,
    Flight,
    FlightBooking,
    Passenger,
    PassengerId,
    PaymentCard,
)
from proverl.envs.servers.travel_booking.timetable import years_after

Limit = Annotated[int, Field(ge=1, le=50, examples=words.LIMITS)]

_ADULTS_PASSPORT, _MINORS_PASSPORT = 10, 5  # years of validity
_PERSON = Passenger.__table__.c
_PASSENGERS = select(Passenger.__table__).order_by(Passenger.name, Passenger.id)
_BY_PASSPORT = select(_PERSON.id).where(_PERSON.passport_number == bindparam("number"))
_CARDS = (
    select(PaymentCard.__table__).where(PaymentCard.passenger_id == bindparam("passenger")).order_by(PaymentCard.id)
)
_BOOKING, _FLIGHT = FlightBooking.__table__.c, Flight.__table__.c
_CHECKED_IN = (
    select(_BOOKING.id, _FLIGHT.number)
    .join_from(FlightBooking.__table__, Flight.__table__, _FLIGHT.id == _BOOKING.flight_id)
    .where(
        _BOOKING.passenger_id == bindparam("passenger"),
        _BOOKING.status == "checked_in",
        _FLIGHT.leaves > bindparam("now"),
    )
    .order_by(_FLIGHT.leaves, _BOOKING.id)
)


class PassengerItem(TypedDict):
    """A passenger in a list."""

    passenger_id: PassengerId
    name: str
    born_on: str


class PassengerList(TypedDict):
    """Passengers that fit, by name."""

    passengers: list[PassengerItem]


class CardItem(TypedDict):
    """A card on file; `payment_limit` in EUR is the most that its issuer lets through at once."""

    card_id: CardId
    brand: Literal["Visa", "Mastercard", "American Express"]
    last4: str
    expires: str
    payment_limit: float


class PassengerView(TypedDict):
    """A passenger with the passport and the payment cards on file."""

    passenger_id: PassengerId
    name: str
    born_on: str
    nationality: str
    passport_number: str
    passport_expires: str
    cards: list[CardItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the passengers[ called {name}][, {limit} at most]",
        "look up the travellers[ with {name} in their name]",
        "search the passenger profiles[ for {name}]",
        "show me the[ first {limit}] passengers[ whose name contains {name}]",
        "check which travellers we know[ by the name {name}]",
    ],
)
def find_passengers(
    ctx: Context,
    name: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.NAMES))] | None,
        "Part of the name; case and accents make no difference. All passengers if left out",
    ] = None,
    limit: Annotated[Limit, "Most passengers listed"] = 5,
) -> PassengerList:
    """Find travellers that the agency knows, by name."""
    wanted = folded(name or "")
    fitting = [row for row in ctx.rows(_PASSENGERS) if not wanted or wanted in folded(row["name"])]
    return {
        "passengers": [
            {"passenger_id": row["id"], "name": row["name"], "born_on": row["born_on"]} for row in fitting[:limit]
        ]
    }


@server.tool(
    read_only=True,
    phrases=[
        "show me the profile of {passenger_id}",
        "check until when the passport of {passenger_id} is valid",
        "pull up the travel document of {passenger_id}",
        "look up which payment cards {passenger_id} has on file",
        "tell me what we know about {passenger_id}",
    ],
    brief=[
        "show me the profile of a passenger",
        "check until when somebody's passport is valid",
        "look up which payment cards a traveller has on file",
    ],
)
def get_passenger(ctx: Context, passenger_id: Annotated[PassengerId, "Passenger to read"]) -> PassengerView:
    """Get a passenger's profile with the passport and the payment cards on file."""
    row = rules.passenger(ctx, passenger_id)
    return {
        "passenger_id": passenger_id,
        "name": row["name"],
        "born_on": row["born_on"],
        "nationality": row["nationality"],
        "passport_number": row["passport_number"],
        "passport_expires": row["passport_expires"],
        "cards": [
            {
                "card_id": card["id"],
                "brand": card["brand"],
                "last4": card["last4"],
                "expires": card["expires"],
                "payment_limit": money(card["payment_limit"]),
            }
            for card in ctx.rows(_CARDS, passenger=passenger_id)
        ],
    }


class NewPassport(TypedDict):
    """The passport now on file."""

    passenger_id: PassengerId
    passport_number: str
    passport_expires: str


@server.tool(
    idempotent=True,
    phrases=[
        "put the new passport {passport_number}, issued on {issued_on}, on file for {passenger_id}",
        "update the passport of {passenger_id} to {passport_number}, issued on {issued_on}",
        "register passport {passport_number}, dated {issued_on}, for {passenger_id}",
        "replace the travel document of {passenger_id} by passport {passport_number} issued on {issued_on}",
        "enter {passport_number}, issued on {issued_on}, as the passport of {passenger_id} from now on",
    ],
    brief=[
        "put a new passport on file",
        "update the passport of {passenger_id} to {passport_number}",
        "put a new passport, issued on {issued_on}, on file for {passenger_id}",
    ],
)
def update_passenger_passport(
    ctx: Context,
    passenger_id: Annotated[PassengerId, "Passenger with a new passport"],
    passport_number: Annotated[
        Annotated[str, Field(pattern="^[A-Z0-9]{6,9}$", examples=list(words.PASSPORTS))],
        "Number of the passport: 6 to 9 capitals and digits",
    ],
    issued_on: Annotated[
        Annotated[IsoDate, Field(json_schema_extra={"x-when": "past"})], "Date of issue; valid 10 years, minors' 5"
    ],
) -> NewPassport:
    """Replace the passport on file; its expiry follows from the date of issue and the passenger's age."""
    row = rules.passenger(ctx, passenger_id)
    if issued_on > ctx.today:
        raise Rejected(f"issued_on {issued_on} is after today ({ctx.today}); give the date printed in the passport")
    if issued_on < row["born_on"]:
        raise Rejected(f"{row['name']} was born on {row['born_on']}, after {issued_on}; check the date of issue")
    minor = rules.years_old(row["born_on"], issued_on) < rules.GUARDIAN
    expires = years_after(issued_on, _MINORS_PASSPORT if minor else _ADULTS_PASSPORT)
    if expires <= ctx.today:
        raise Rejected(f"a passport issued on {issued_on} expired on {expires}; a valid passport is needed")
    holder = ctx.scalar(_BY_PASSPORT, number=passport_number)
    if holder not in (None, passenger_id):
        raise Rejected(f"passport {passport_number} is on file for {holder}; check the number")
    for booked in ctx.rows(_CHECKED_IN, passenger=passenger_id, now=ctx.timestamp):
        raise Rejected(
            f"{row['name']} is checked in for {booked['number']} ({booked['id']}) with the passport on file; "
            "it can be replaced after that flight"
        )
    ctx.update(Passenger, passenger_id, passport_number=passport_number, passport_expires=expires)
    return {"passenger_id": passenger_id, "passport_number": passport_number, "passport_expires": expires}


class SecurityCode(TypedDict):
    """What is printed on the card."""

    security_code: str


@server.tool(read_only=True, hidden=True, phrases=[])
def reveal_travel_card_code(ctx: Context, card_id: Annotated[CardId, "Card of the holder"]) -> SecurityCode:
    """The security code of a card, for writing what its holder would say."""
    return {"security_code": rules.card(ctx, card_id)["security_code"]}
