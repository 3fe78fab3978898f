"""Payment of an itinerary by a card on file."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.travel_booking import rules
from proverl.envs.servers.travel_booking.app import server
from proverl.envs.servers.travel_booking.tables import (
    CardId,
    FlightBooking,
    HotelBooking,
    ItineraryId,
    Payment,
)
from proverl.envs.state import Row

SecurityCode = Annotated[
    str,
    Field(
        pattern="^[0-9]{3,4}$",
        json_schema_extra={"x-sensitive": True, "x-source": "reveal_travel_card_code.security_code"},
    ),
]

_STAY = HotelBooking.__table__.c
_HELD_STAYS = (
    select(_STAY.id, _STAY.price, _STAY.paid, _STAY.held_until)
    .where(_STAY.itinerary_id == bindparam("itinerary"), _STAY.status == "held")
    .order_by(_STAY.id)
)
_PAY_FLIGHTS, _PAY_STAYS = (
    update(model)
    .where(model.itinerary_id == bindparam("itinerary"), model.status == "held")
    .values(status=done, paid=model.price, card_id=bindparam("card"))
    for model, done in ((FlightBooking, "ticketed"), (HotelBooking, "confirmed"))
)


class PaidItinerary(TypedDict):
    """What was charged (EUR) and how many bookings it confirmed."""

    itinerary_id: ItineraryId
    charged: float
    bookings_confirmed: int
    status: Literal["confirmed"]


@server.tool(
    phrases=[
        "pay {itinerary_id} with {card_id}, security code {security_code}",
        "charge what is due on {itinerary_id} to {card_id}; the security code is {security_code}",
        "confirm {itinerary_id} by paying with {card_id} and security code {security_code}",
        "use {card_id} with code {security_code} to settle {itinerary_id}",
        "take the payment for {itinerary_id} from {card_id} (code {security_code})",
    ],
    brief=[
        "pay for a trip",
        "pay {itinerary_id} with {card_id}",
        "use {card_id} with code {security_code} to settle what is due",
    ],
)
def pay_itinerary(
    ctx: Context,
    itinerary_id: Annotated[ItineraryId, "Itinerary with something due"],
    card_id: Annotated[CardId, "Card on file, of whoever pays for the trip"],
    security_code: Annotated[SecurityCode, "The card's security code (3 digits, 4 on American Express)"],
) -> PaidItinerary:
    """Charge all that is due on an itinerary to a card; held flights are ticketed and held rooms confirmed."""
    rules.itinerary(ctx, itinerary_id)
    card = rules.card(ctx, card_id)
    held = _payable(ctx, itinerary_id)
    if card["expires"] < ctx.today[:7]:
        raise Rejected(f"{card_id} expired in {card['expires']}; use another card")
    if card["security_code"] != security_code:
        raise Rejected(f"wrong security code for {card_id}; ask the card holder for it")
    due = sum(row["price"] - row["paid"] for row in held)
    if due > card["payment_limit"]:
        raise Rejected(
            f"declined: {money(due):.2f} is due, and {card_id} lets at most {money(card['payment_limit']):.2f} "
            "through at once; use another card or take something off the itinerary"
        )
    for statement in (_PAY_FLIGHTS, _PAY_STAYS):
        ctx.execute(statement, itinerary=itinerary_id, card=card_id)
    ctx.insert(Payment, itinerary_id=itinerary_id, card_id=card_id, amount=due, paid_on=ctx.today)
    return {
        "itinerary_id": itinerary_id,
        "charged": money(due),
        "bookings_confirmed": len(held),
        "status": "confirmed",
    }


def _payable(ctx: Context, itinerary_id: str) -> list[Row]:
    """The unpaid bookings. Raises Rejected when there are none, or when one can't be confirmed any more."""
    flights = [row for row in ctx.rows(rules.OF_ITINERARY, itinerary=itinerary_id) if row["status"] == "held"]
    held = [*flights, *ctx.rows(_HELD_STAYS, itinerary=itinerary_id)]
    if not held:
        raise Rejected(f"nothing is due on {itinerary_id}; book a flight or a hotel into it first")
    for row in held:
        if row["held_until"] < ctx.today:
            raise Rejected(f"the hold of {row['id']} ended on {row['held_until']}; cancel it and book anew")
    for row in flights:
        if row["flight_status"] == "cancelled" or row["leaves"] <= ctx.timestamp:
            gone = "was cancelled by the airline" if row["flight_status"] == "cancelled" else "has departed"
            raise Rejected(f"{row['number']} ({row['id']}) {gone}; cancel that booking before paying the rest")
    return held
