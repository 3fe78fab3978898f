"""Selling: put things up for sale, change the price, end a listing, ship what was sold."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, case, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, Money, Rejected, Text, cents, money
from proverl.envs.servers.marketplace import parcels, rules, words
from proverl.envs.servers.marketplace.app import server
from proverl.envs.servers.marketplace.browsing import Category, Condition, Format, Limit
from proverl.envs.servers.marketplace.tables import ME, Bid, Listing, ListingId, Sale
from proverl.envs.state import Row

OwnStatus = Literal["active", "to_be_paid", "to_be_shipped", "shipped", "picked_up", "ended"]
CLOSING_TIME = "20:00"  # of the last day

_MOST_ACTIVE = 20
_LEAST_PRICE = 100
_LONGEST_AUCTION = 10
_REFUSED_WORDS = ("replica", "fake", "counterfeit", "namaak")
_status = case(
    ((Listing.status == "active") & (Listing.ends_at > bindparam("now")), "active"),
    (Listing.status != "sold", "ended"),
    (~Sale.paid, "to_be_paid"),
    (Sale.tracking_code.is_not(None), "shipped"),
    (Listing.delivery == "parcel", "to_be_shipped"),
    else_="picked_up",
)
_OWN = (
    select(
        Listing.id,
        Listing.title,
        Listing.format,
        func.coalesce(Sale.price, Listing.price).label("price"),
        _status.label("status"),
    )
    .outerjoin_from(Listing.__table__, Sale.__table__, Sale.listing_id == Listing.id)
    .where(Listing.seller_id == ME, (bindparam("wanted") == "") | (_status == bindparam("wanted")))
    .order_by(Listing.listed_on.desc(), Listing.id)
    .limit(bindparam("limit"))
)
_ACTIVE_TITLES = (
    select(Listing.id, Listing.folded)
    .where(Listing.seller_id == ME, Listing.status == "active", Listing.ends_at > bindparam("now"))
    .order_by(Listing.id)
)
_BIDS = select(func.count()).where(Bid.listing_id == bindparam("listing"))
_WITH_CODE = select(Sale.listing_id).where(Sale.tracking_code == bindparam("code"))


class OwnListing(TypedDict):
    """One of the user's listings; `price` in EUR, once sold what the buyer pays."""

    listing_id: ListingId
    title: str
    format: Format
    price: float
    status: OwnStatus


class OwnListingList(TypedDict):
    """The user's listings."""

    listings: list[OwnListing]


@server.tool(
    read_only=True,
    phrases=[
        "list what I am selling[, only the listings that are {status}]",
        "show me my own listings[ that are {status}][, {limit} at most]",
        "check which of my things are[ {status}] on the marketplace",
        "go through my[ {limit} latest] listings as a seller[, {status} ones only]",
    ],
)
def list_own_listings(
    ctx: Context,
    status: Annotated[OwnStatus | None, "Only listings in this state; ended ones ran out or were withdrawn"] = None,
    limit: Annotated[Limit, "Most listings returned"] = 5,
) -> OwnListingList:
    """List what you sell and have sold, the latest listings first."""
    rows = ctx.rows(_OWN, now=ctx.timestamp, wanted=status or "", limit=limit)
    return {
        "listings": [
            {
                "listing_id": row["id"],
                "title": row["title"],
                "format": row["format"],
                "price": money(row["price"]),
                "status": row["status"],
            }
            for row in rows
        ]
    }


class CreatedListing(TypedDict):
    """A listing that others see from now on; `price` in EUR."""

    listing_id: ListingId
    title: str
    price: float
    ends_at: str


@server.tool(
    phrases=[
        "list {title} for {price} under {category}, condition {condition}[, sold as {format}][ for {days} days]",
        "sell {title} in {category} for {price}, in {condition} condition[, as {format}][, running {days} days]",
        "put {title} up for sale at {price} in {category}, condition {condition}[, for {days} days][, by {format}]",
        "create a[ {format}] listing in {category}: {title}, condition {condition}, price {price}[, for {days} days]",
    ],
)
def create_listing(
    ctx: Context,
    title: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.NEW_TITLES))], "What is sold, as buyers search for it"
    ],
    category: Annotated[Category, "Where buyers find it"],
    condition: Annotated[Condition, "State of the thing"],
    price: Annotated[Money, "Fixed price, or the starting price of an auction, in EUR"],
    format: Annotated[Format, "Fixed price with offers accepted, or auction"] = "fixed_price",
    days: Annotated[Literal[3, 5, 7, 10, 30] | None, "How long it runs; else 30, or 7 for an auction"] = None,
) -> CreatedListing:
    """Put something up for sale, to be sent by parcel. It ends at 20:00 on its last day; at most 20 may be active."""
    folded = " ".join(rules.folded(title).split())
    _allowed(folded, title)
    if cents(price) < _LEAST_PRICE:
        raise Rejected(f"price {price:.2f} is too low; ask {rules.euros(_LEAST_PRICE)} or more")
    runs = days or (7 if format == "auction" else 30)
    if format == "auction" and runs > _LONGEST_AUCTION:
        raise Rejected(f"an auction can't run {runs} days; choose 3, 5, 7 or 10 days, or a fixed price")
    _room_for(ctx, folded)
    row = ctx.insert(
        Listing,
        seller_id=ME,
        title=title,
        folded=folded,
        category=category,
        condition=condition,
        format=format,
        delivery="parcel",
        opening=cents(price),
        price=cents(price),
        reserve=None,
        buy_now=None,
        leader_id=None,
        takes_offers=format == "fixed_price",
        least_offer=None,
        listed_on=ctx.today,
        ends_at=f"{(ctx.now.date() + timedelta(days=runs)).isoformat()}T{CLOSING_TIME}",
        status="active",
    )
    return {"listing_id": row["id"], "title": title, "price": price, "ends_at": row["ends_at"]}


def _allowed(folded: str, title: str) -> None:
    if len(folded) < 3:
        raise Rejected(f"title {title!r} says too little; name the thing so that buyers find it")
    refused = [word for word in _REFUSED_WORDS if word in folded]
    if refused:
        raise Rejected(f"the title has the word {refused[0]!r}; only genuine things may be sold, with a title to match")


def _room_for(ctx: Context, folded: str) -> None:
    listed = ctx.rows(_ACTIVE_TITLES, now=ctx.timestamp)
    for row in listed:
        if row["folded"] == folded:
            raise Rejected(f"you sell that already as {row['id']}; give this one a title that tells them apart")
    if len(listed) >= _MOST_ACTIVE:
        raise Rejected(
            f"you have {len(listed)} active listings, and at most {_MOST_ACTIVE} are allowed; end one with end_listing"
        )


class ChangedPrice(TypedDict):
    """The listing with its new price in EUR."""

    listing_id: ListingId
    price: float
    previous_price: float


@server.tool(
    phrases=[
        "change the price of {listing_id} to {price}",
        "set {price} as the new price of {listing_id}",
        "reprice {listing_id} at {price}",
        "update {listing_id} so that it costs {price}",
    ],
)
def update_listing_price(
    ctx: Context,
    listing_id: Annotated[ListingId, "Active listing of yours"],
    price: Annotated[Money, "New fixed price, or new starting price of an auction without bids, in EUR"],
) -> ChangedPrice:
    """Change what an active listing of yours costs. The starting price of an auction is fixed by its first bid."""
    row = rules.own(ctx, listing_id)
    rules.active(ctx, row, "create_listing lists it again")
    if row["leader_id"] is not None:
        raise Rejected(f"auction {listing_id} has bids, so its price follows from them; only end_listing is left")
    wanted = cents(price)
    if wanted == row["price"]:
        raise Rejected(f"listing {listing_id} costs {price:.2f} already; give another price")
    if wanted < _LEAST_PRICE:
        raise Rejected(f"price {price:.2f} is too low; ask {rules.euros(_LEAST_PRICE)} or more")
    if row["reserve"] is not None and wanted > row["reserve"]:
        raise Rejected(
            f"the starting price of {listing_id} can't be above its reserve of {rules.euros(row['reserve'])}; go lower"
        )
    if row["buy_now"] is not None and wanted >= row["buy_now"]:
        raise Rejected(
            f"the starting price of {listing_id} must be below its buy-now price of {rules.euros(row['buy_now'])}"
        )
    ctx.update(Listing, listing_id, price=wanted, opening=wanted)
    return {"listing_id": listing_id, "price": price, "previous_price": money(row["price"])}


class EndedListing(TypedDict):
    """A listing that can no longer be bought."""

    listing_id: ListingId
    status: Literal["ended"]


@server.tool(
    destructive=True,
    phrases=[
        "end {listing_id}, reason {reason}",
        "take {listing_id} off the marketplace because it is {reason}",
        "withdraw {listing_id} from sale and give {reason} as the reason",
        "stop selling {listing_id}; the reason is {reason}",
    ],
)
def end_listing(
    ctx: Context,
    listing_id: Annotated[ListingId, "Active listing of yours"],
    reason: Annotated[Literal["lost_or_broken", "listed_by_mistake", "no_longer_for_sale"], "Told to those who bid"],
) -> EndedListing:
    """End a listing of yours early: bids and open offers lapse. Not an auction with bids on its last day."""
    row = rules.own(ctx, listing_id)
    rules.active(ctx, row, "there is nothing left to end")
    if row["leader_id"] is not None and row["ends_at"][:10] == ctx.today:
        raise Rejected(
            f"auction {listing_id} has {_bids(ctx, row)} and closes today at {CLOSING_TIME}; "
            "it is too late to end it, as the highest bidder will buy it"
        )
    ctx.update(Listing, listing_id, status="ended")
    rules.decline_open_offers(ctx, listing_id)
    return {"listing_id": listing_id, "status": "ended"}


def _bids(ctx: Context, row: Row) -> str:
    count = ctx.scalar(_BIDS, listing=row["id"])
    return "a bidder" if count == 1 else f"{count} bidders"


class ShippedListing(TypedDict):
    """A sold listing on its way to the buyer."""

    listing_id: ListingId
    carrier: str
    shipped_on: str


@server.tool(
    phrases=[
        "mark {listing_id} as shipped with tracking code {tracking_code}",
        "record {tracking_code} as the tracking code of {listing_id}",
        "tell the buyer of {listing_id} that the parcel is on its way with code {tracking_code}",
        "add the tracking code {tracking_code} to {listing_id}, which I have sent",
    ],
)
def ship_listing(
    ctx: Context,
    listing_id: Annotated[ListingId, "Sold and paid listing of yours"],
    tracking_code: Annotated[
        str,
        Field(min_length=8, max_length=40, examples=list(words.TRACKING_CODES)),
        "Code of the parcel from PostNL, bpost, DPD or UPS",
    ],
) -> ShippedListing:
    """Mark something you sold as shipped. The buyer must have paid; the tracking code tells the carrier."""
    row = rules.own(ctx, listing_id)
    sale = ctx.find(Sale, listing_id)
    if sale is None:
        raise Rejected(
            f"listing {listing_id} is {rules.status(ctx, row)}, not sold; "
            "list_own_listings with the status to_be_shipped shows what is to be sent"
        )
    if not sale["paid"]:
        raise Rejected(f"the buyer of {listing_id} has not paid {rules.euros(sale['price'])} yet; ship it when paid")
    if row["delivery"] == "pickup":
        raise Rejected(f"listing {listing_id} is collected by its buyer; only parcels are shipped")
    if sale["tracking_code"] is not None:
        raise Rejected(f"listing {listing_id} was shipped on {sale['shipped_on']} with code {sale['tracking_code']}")
    code = tracking_code.replace(" ", "").upper()
    carrier = parcels.carrier_of(code)
    if carrier is None:
        raise Rejected(f"{tracking_code!r} is no tracking code of a known carrier: {parcels.EXPLAINED}")
    other = ctx.scalar(_WITH_CODE, code=code)
    if other is not None:
        raise Rejected(f"tracking code {code} belongs to the parcel of another sale; each parcel has its own code")
    ctx.db.execute(_SHIP, {"listing": listing_id, "code": code, "day": ctx.today})
    return {"listing_id": listing_id, "carrier": carrier, "shipped_on": ctx.today}


_SHIP = (
    Sale.__table__.update()  # type: ignore[attr-defined]
    .where(Sale.listing_id == bindparam("listing"))
    .values(tracking_code=bindparam("code"), shipped_on=bindparam("day"))
)
