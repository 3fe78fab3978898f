"""Buying: bids in auctions, and buying at once."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, case, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Money, Rejected, cents, money
from proverl.envs.servers.marketplace import bidding, rules
from proverl.envs.servers.marketplace.app import server
from proverl.envs.servers.marketplace.browsing import Limit
from proverl.envs.servers.marketplace.tables import ME, Bid, Listing, ListingId, Sale

BidState = Literal["leading", "outbid", "won", "lost"]
Maximum = Annotated[Money, Field(examples=[25, 40, 52.5, 60, 76, 85, 101, 120, 126, 150, 180, 210, 260, 320, 405, 550])]

_BIDS = select(Bid.bidder_id, Bid.maximum).where(Bid.listing_id == bindparam("listing")).order_by(Bid.bidder_id)
_running = (Listing.status == "active") & (Listing.ends_at > bindparam("now"))
_STATE = case(
    (_running & (Listing.leader_id == ME), "leading"),
    (_running, "outbid"),
    (Sale.buyer_id == ME, "won"),
    else_="lost",
)
_OWN_BIDS = (
    select(Listing.id, Listing.title, Listing.price, Bid.maximum, _STATE.label("state"))
    .join_from(Bid.__table__, Listing.__table__, Listing.id == Bid.listing_id)
    .outerjoin(Sale.__table__, Sale.listing_id == Listing.id)
    .where(Bid.bidder_id == ME, or_(bindparam("wanted") == "", bindparam("wanted") == _STATE))
    .order_by(_running.desc(), Listing.ends_at, Listing.id)
    .limit(bindparam("limit"))
)


class OwnBid(TypedDict):
    """The user's bid in one auction; `price` is where the auction stands, amounts in EUR."""

    listing_id: ListingId
    title: str
    price: float
    your_maximum: float
    state: BidState


class OwnBidList(TypedDict):
    """Auctions that the user bid in, running ones first."""

    bids: list[OwnBid]


@server.tool(
    read_only=True,
    phrases=[
        "list my bids[ with the state {state}][, {limit} at most]",
        "show me the auctions I have bid in[, only the {state} ones]",
        "check how my bids are doing[, {state} ones only][, no more than {limit}]",
        "go through the[ {limit}] auctions that I take part in",
        "tell me in which auctions I have placed a bid[, just the {state} ones]",
    ],
)
def list_own_bids(
    ctx: Context,
    state: Annotated[BidState | None, "Only bids in this state; leading and outbid auctions still run"] = None,
    limit: Annotated[Limit, "Most bids listed"] = 5,
) -> OwnBidList:
    """List the auctions in which you have bid, running ones first, with your maximum and how you stand."""
    rows = ctx.rows(_OWN_BIDS, now=ctx.timestamp, wanted=state or "", limit=limit)
    return {
        "bids": [
            {
                "listing_id": row["id"],
                "title": row["title"],
                "price": money(row["price"]),
                "your_maximum": money(row["maximum"]),
                "state": row["state"],
            }
            for row in rows
        ]
    }


class PlacedBid(TypedDict):
    """How the auction stands after the bid; `price` in EUR."""

    listing_id: ListingId
    price: float
    state: Literal["leading", "outbid"]
    reserve_met: bool


@server.tool(
    phrases=[
        "bid up to {max_amount} on {listing_id}",
        "place a bid on {listing_id} with a maximum of {max_amount}",
        "offer {max_amount} at most in the auction of {listing_id}",
        "go as high as {max_amount} for {listing_id} in the auction",
        "enter {max_amount} as my maximum bid on {listing_id}",
    ],
    brief=[
        "place a bid in an auction",
        "bid on {listing_id}",
        "bid up to {max_amount} in an auction",
    ],
)
def place_bid(
    ctx: Context,
    listing_id: Annotated[ListingId, "Auction of another member"],
    max_amount: Annotated[Maximum, "The most you would pay, in EUR; others don't see it"],
) -> PlacedBid:
    """Bid in an auction up to a maximum. Only as much of it is used as leads; bidding again raises your maximum."""
    row = rules.buyable(ctx, listing_id)
    if row["format"] != "auction":
        raise Rejected(f"listing {listing_id} is no auction; it can be bought for {rules.euros(row['price'])}")
    maxima = {bid["bidder_id"]: bid["maximum"] for bid in ctx.rows(_BIDS, listing=listing_id)}
    mine, maximum = maxima.get(ME), cents(max_amount)
    if row["leader_id"] == ME:
        if mine is not None and maximum <= mine:
            raise Rejected(f"you lead {listing_id} with a maximum of {rules.euros(mine)}; a new one must be above that")
    else:
        least = bidding.least_bid(row["opening"], row["price"], len(maxima))
        if maximum < least:
            raise Rejected(f"a bid of {max_amount:.2f} on {listing_id} is too low; bid {rules.euros(least)} or more")
    leads = maximum > max((value for bidder, value in maxima.items() if bidder != ME), default=0)
    _store(ctx, listing_id, maximum, first=mine is None)
    price = bidding.standing(row["opening"], row["reserve"], [*{**maxima, ME: maximum}.values()])
    ctx.update(Listing, listing_id, price=price, leader_id=ME if leads else row["leader_id"])
    reserve = row["reserve"] or 0
    return {
        "listing_id": listing_id,
        "price": money(price),
        "state": "leading" if leads else "outbid",
        "reserve_met": max(maximum, *maxima.values(), 0) >= reserve,
    }


_RAISE = (
    Bid.__table__.update()  # type: ignore[attr-defined]
    .where(Bid.listing_id == bindparam("listing"), Bid.bidder_id == ME)
    .values(maximum=bindparam("most"))
)


def _store(ctx: Context, listing_id: str, maximum: int, first: bool) -> None:
    if first:
        ctx.insert(Bid, listing_id=listing_id, bidder_id=ME, maximum=maximum)
    else:
        ctx.execute(_RAISE, listing=listing_id, most=maximum)


class Purchase(TypedDict):
    """What was bought; `price` in EUR."""

    listing_id: ListingId
    title: str
    price: float
    status: Literal["sold"]


@server.tool(
    phrases=[
        "buy {listing_id}",
        "purchase {listing_id} right away",
        "get {listing_id} for me at the price asked",
        "pay the asking price for {listing_id}",
        "order {listing_id} now and charge my card",
    ],
    brief=[
        "buy something right away",
        "purchase a listing at the price asked",
    ],
)
def buy_listing(ctx: Context, listing_id: Annotated[ListingId, "Listing of another member"]) -> Purchase:
    """Buy a listing at its fixed price, or an auction without bids at its buy-now price; your saved card is charged."""
    row = rules.buyable(ctx, listing_id)
    price = row["price"]
    if row["format"] == "fixed_price":
        rules.at_home(ctx, row)
    else:
        price = _buy_now_price(row)
    rules.sell(ctx, listing_id, ME, price)
    return {"listing_id": listing_id, "title": row["title"], "price": money(price), "status": "sold"}


def _buy_now_price(row: dict[str, object]) -> int:
    if row["buy_now"] is None:
        raise Rejected(f"listing {row['id']} is an auction without a buy-now price; place_bid bids on it")
    if row["leader_id"] is not None:
        raise Rejected(f"listing {row['id']} has bids, which ends its buy-now price; place_bid bids on it")
    assert isinstance(row["buy_now"], int)
    return row["buy_now"]
