"""Offers below a fixed price: make one, list them, answer them."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, case, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Money, Rejected, Text, cents, money
from proverl.envs.servers.marketplace import rules, words
from proverl.envs.servers.marketplace.app import server
from proverl.envs.servers.marketplace.browsing import Limit
from proverl.envs.servers.marketplace.tables import ME, Listing, ListingId, MarketplaceOffer, MarketplaceOfferId
from proverl.envs.state import Row

Direction = Literal["received", "sent"]
OfferStatus = Literal["pending", "countered", "accepted", "declined", "expired"]
Amount = Annotated[Money, Field(examples=[5, 8, 10, 12, 15, 18, 20, 25, 30, 37.5, 40, 50, 65, 75, 90, 110, 140])]

_MOST_OFFERS = 3  # of one buyer for one listing
_DAYS_OPEN = 2
_OFFER = MarketplaceOffer
_MINE_FOR = select(_OFFER.__table__).where(_OFFER.listing_id == bindparam("listing"), _OFFER.buyer_id == ME)
_MINE_FOR = _MINE_FOR.order_by(_OFFER.id)
_direction = case((_OFFER.buyer_id == ME, "sent"), else_="received")
_status = case((rules.IS_OPEN & (_OFFER.expires_on < bindparam("today")), "expired"), else_=_OFFER.status)
_OFFERS = (
    select(
        _OFFER.id,
        _OFFER.listing_id,
        Listing.title,
        case((_OFFER.status == "countered", _OFFER.counter), else_=_OFFER.amount).label("amount"),
        _direction.label("direction"),
        _status.label("status"),
    )
    .join_from(_OFFER.__table__, Listing.__table__, Listing.id == _OFFER.listing_id)
    .where(
        or_(bindparam("way") == "", _direction == bindparam("way")),
        or_(bindparam("wanted") == "", _status == bindparam("wanted")),
    )
    .order_by(_OFFER.made_on.desc(), _OFFER.id)
    .limit(bindparam("limit"))
)


class OfferItem(TypedDict):
    """An offer in a list, in EUR; of a countered offer, `amount` is what the seller asks."""

    marketplace_offer_id: MarketplaceOfferId
    listing_id: ListingId
    title: str
    amount: float
    direction: Direction
    status: OfferStatus


class OfferList(TypedDict):
    """Offers, newest first."""

    offers: list[OfferItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the offers[ that I have {direction}][ which are {status}]",
        "show me my[ {status}] offers[, only the {direction} ones]",
        "check the offers[ {direction} so far][ with the status {status}][, {limit} at most]",
        "go through the latest[ {limit}][ {direction}] offers",
        "tell me which price offers there are[ among those I have {direction}][, no more than {limit}]",
    ],
)
def list_marketplace_offers(
    ctx: Context,
    direction: Annotated[Direction | None, "Received for your listings, or sent by you to other sellers"] = None,
    status: Annotated[OfferStatus | None, "Pending waits for the seller, countered for the buyer"] = None,
    limit: Annotated[Limit, "Most offers listed"] = 5,
) -> OfferList:
    """List the offers that you received and sent, newest first."""
    rows = ctx.rows(_OFFERS, way=direction or "", wanted=status or "", today=ctx.today, limit=limit)
    return {
        "offers": [
            {
                "marketplace_offer_id": row["id"],
                "listing_id": row["listing_id"],
                "title": row["title"],
                "amount": money(row["amount"]),
                "direction": row["direction"],
                "status": row["status"],
            }
            for row in rows
        ]
    }


class SentOffer(TypedDict):
    """An offer that waits for the seller until the end of `expires_on`."""

    marketplace_offer_id: MarketplaceOfferId
    amount: float
    status: Literal["pending"]
    expires_on: str


@server.tool(
    phrases=[
        "make an offer of {amount} for {listing_id}[ and write {message} to the seller]",
        "offer {amount} for {listing_id}[ with the message {message}]",
        "ask the seller of {listing_id} to take {amount}[, adding {message}]",
        "propose {amount} as the price of {listing_id}[ with the note {message}]",
        "try to get {listing_id} for {amount} from its seller[ and tell them {message}]",
    ],
    brief=[
        "make an offer below the asking price",
        "make the seller of {listing_id} an offer",
        "offer a seller {amount} instead of the asking price",
    ],
)
def make_marketplace_offer(
    ctx: Context,
    listing_id: Annotated[ListingId, "Fixed-price listing of another member that accepts offers"],
    amount: Annotated[Amount, "What you would pay in EUR, less than the price"],
    message: Annotated[
        Annotated[Text, Field(max_length=250, examples=list(words.MESSAGES))] | None, "What the seller reads with it"
    ] = None,
) -> SentOffer:
    """Offer less than the fixed price. It binds you for two days: if the seller accepts, you have bought it."""
    row = rules.buyable(ctx, listing_id)
    if row["format"] == "auction":
        raise Rejected(f"listing {listing_id} is an auction and takes bids, not offers; place_bid bids on it")
    rules.at_home(ctx, row)
    sum_cents = cents(amount)
    _acceptable(row, sum_cents)
    _first_open(ctx, listing_id)
    expires_on = (ctx.now.date() + timedelta(days=_DAYS_OPEN)).isoformat()
    offer = ctx.insert(
        MarketplaceOffer,
        listing_id=listing_id,
        buyer_id=ME,
        amount=sum_cents,
        counter=None,
        message=message,
        status="pending",
        made_on=ctx.today,
        expires_on=expires_on,
    )
    return {"marketplace_offer_id": offer["id"], "amount": amount, "status": "pending", "expires_on": expires_on}


def _acceptable(row: Row, amount: int) -> None:
    price, least = rules.euros(row["price"]), row["least_offer"]
    if not row["takes_offers"]:
        raise Rejected(f"the seller of {row['id']} accepts no offers; buy_listing buys it for {price}")
    if amount >= row["price"]:
        raise Rejected(f"listing {row['id']} costs {price}; offer less, or buy it at that price with buy_listing")
    if least is not None and amount < least:
        raise Rejected(f"the seller of {row['id']} takes no offer below {rules.euros(least)}; the price is {price}")


def _first_open(ctx: Context, listing_id: str) -> None:
    made = ctx.rows(_MINE_FOR, listing=listing_id)
    for offer in made:
        now = rules.offer_status(ctx, offer)
        if now == "pending":
            raise Rejected(
                f"your offer {offer['id']} of {rules.euros(offer['amount'])} for {listing_id} still waits for the "
                f"seller, until {offer['expires_on']}; make another one when it has been answered"
            )
        if now == "countered":
            raise Rejected(
                f"the seller of {listing_id} asks {rules.euros(offer['counter'])} in answer to {offer['id']}; "
                "accept or decline that first with answer_marketplace_offer"
            )
    if len(made) >= _MOST_OFFERS:
        raise Rejected(f"you made {len(made)} offers for {listing_id}, the most allowed; buy_listing pays the price")


class AnsweredOffer(TypedDict):
    """The offer, and what became of its listing; `price` in EUR is what was paid, or is still asked."""

    marketplace_offer_id: MarketplaceOfferId
    listing_id: ListingId
    status: Literal["accepted", "declined"]
    price: float


@server.tool(
    phrases=[
        "{answer} {marketplace_offer_id}",
        "respond to {marketplace_offer_id}: {answer} it",
        "answer {marketplace_offer_id} for me and {answer} it",
        "deal with {marketplace_offer_id} and {answer} it",
        "let the other side know that I {answer} {marketplace_offer_id}",
    ],
    brief=[
        "answer an offer",
        "respond to {marketplace_offer_id}",
        "{answer} one of the open offers",
    ],
)
def answer_marketplace_offer(
    ctx: Context,
    marketplace_offer_id: Annotated[
        MarketplaceOfferId, "Pending offer for your listing, or your own offer that a seller countered"
    ],
    answer: Annotated[Literal["accept", "decline"], "Accepting sells the listing; other open offers are declined"],
) -> AnsweredOffer:
    """Accept or decline an offer for a listing of yours, or a seller's counter-offer to you."""
    offer = ctx.get(MarketplaceOffer, marketplace_offer_id, "list_marketplace_offers names your offers")
    now = rules.offer_status(ctx, offer)
    if now not in rules.OPEN:
        raise Rejected(f"offer {marketplace_offer_id} is {now} already; only pending and countered ones are open")
    sent = offer["buyer_id"] == ME
    if sent and now == "pending":
        raise Rejected(
            f"offer {marketplace_offer_id} is your own; its seller can answer it until {offer['expires_on']}"
        )
    row = rules.listing(ctx, offer["listing_id"])
    rules.active(ctx, row, "its offers can no longer be answered")
    if answer == "decline":
        ctx.update(MarketplaceOffer, marketplace_offer_id, status="declined")
        return _answered(offer, "declined", row["price"])
    if sent:
        rules.at_home(ctx, row)
    price = offer["counter"] if sent else offer["amount"]
    ctx.update(MarketplaceOffer, marketplace_offer_id, status="accepted")
    rules.sell(ctx, offer["listing_id"], offer["buyer_id"], price)
    return _answered(offer, "accepted", price)


def _answered(offer: Row, status: Literal["accepted", "declined"], price: int) -> AnsweredOffer:
    return {
        "marketplace_offer_id": offer["id"],
        "listing_id": offer["listing_id"],
        "status": status,
        "price": money(price),
    }
