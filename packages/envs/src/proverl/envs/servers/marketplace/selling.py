"""Selling: what the user sells, and putting more up for sale."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, case, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, Money, Rejected, Text, cents, money
from proverl.envs.names import folded
from proverl.envs.servers.marketplace import rules, words
from proverl.envs.servers.marketplace.app import server
from proverl.envs.servers.marketplace.browsing import Condition, Format, Limit
from proverl.envs.servers.marketplace.categories import Category, category_of
from proverl.envs.servers.marketplace.tables import ME, Listing, ListingId, Sale

OwnStatus = Literal["active", "to_be_paid", "to_be_shipped", "shipped", "picked_up", "ended"]
Price = Annotated[
    Money, Field(examples=[8, 10, 12.5, 15, 18, 20, 24.99, 30, 35, 40, 45, 50, 60, 75, 90, 120, 165, 220])
]
CLOSING_TIME = "20:00"  # of the last day

_MOST_ACTIVE = 20
LEAST_PRICE = 100
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
        "check my own listings[, those that are {status}]",
        "go through my[ {limit} latest] listings as a seller[, only the ones that are {status}]",
        "tell me how my own sales stand[, up to {limit}][, just those that are {status}]",
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
    """A listing that others see from now on, in the category that the title suggests; `price` in EUR."""

    listing_id: ListingId
    category: Category
    price: float
    ends_at: str


@server.tool(
    phrases=[
        "list {title} for {price}, condition {condition}[, {format} listing][, for {days} days]",
        "sell {title} for {price}, in {condition} condition[, {format} listing][, running {days} days]",
        "put {title} up for sale at {price}, condition {condition}[, {format} listing][, for {days} days]",
        "create this[ {format}] listing: {title}, condition {condition}, price {price}[, for {days} days]",
        "advertise {title} in {condition} condition and ask {price} for it[; it should run for {days} days]",
    ],
    brief=[
        "put something up for sale",
        "sell {title} for {price}",
        "put {title} up for sale, condition {condition}",
    ],
)
def create_listing(
    ctx: Context,
    title: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.NEW_TITLES))], "What is sold, as buyers search for it"
    ],
    condition: Annotated[Condition, "State of the thing"],
    price: Annotated[Price, "Fixed price, or the starting price of an auction, in EUR"],
    format: Annotated[Format, "Fixed price with offers accepted, or auction"] = "fixed_price",
    days: Annotated[Literal[3, 5, 7, 10, 30] | None, "How long it runs; else 30, or 7 for an auction"] = None,
) -> CreatedListing:
    """Put something up for sale, to be sent by parcel. It ends at 20:00 on its last day; at most 20 may be active."""
    search = " ".join(folded(title).split())
    _allowed(search, title)
    if cents(price) < LEAST_PRICE:
        raise Rejected(f"price {price:.2f} is too low; ask {rules.euros(LEAST_PRICE)} or more")
    runs = days or (7 if format == "auction" else 30)
    if format == "auction" and runs > _LONGEST_AUCTION:
        raise Rejected(f"an auction can't run {runs} days; choose 3, 5, 7 or 10 days, or a fixed price")
    _room_for(ctx, search)
    row = ctx.insert(
        Listing,
        seller_id=ME,
        title=" ".join(title.split()),
        folded=search,
        category=category_of(search),
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
        end_reason=None,
    )
    return {"listing_id": row["id"], "category": row["category"], "price": price, "ends_at": row["ends_at"]}


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
