"""What is for sale: search it, read one listing."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from sqlalchemy import bindparam, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Money, Rejected, Text, cents, money
from proverl.envs.names import folded
from proverl.envs.servers.marketplace import bidding, rules, words
from proverl.envs.servers.marketplace.app import server
from proverl.envs.servers.marketplace.categories import Category
from proverl.envs.servers.marketplace.tables import ME, Bid, Listing, ListingId, Member, MemberId, Sale
from proverl.envs.state import Row

Condition = Literal["new", "like_new", "good", "worn", "defective"]
Format = Literal["fixed_price", "auction"]
Status = Literal["active", "sold", "ended"]
Limit = Annotated[int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20])]
PriceLimit = Annotated[Money, Field(examples=[20, 25, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300, 400, 500])]

_FOR_SALE = (
    select(Listing.id, Listing.title, Listing.folded, Listing.price, Listing.format)
    .where(
        Listing.status == "active",
        Listing.ends_at > bindparam("now"),
        Listing.seller_id != ME,
        or_(bindparam("category") == "", Listing.category == bindparam("category")),
        or_(bindparam("format") == "", Listing.format == bindparam("format")),
        or_(bindparam("seller") == "", Listing.seller_id == bindparam("seller")),
        Listing.price <= bindparam("most"),
        func.instr(Listing.folded, bindparam("word")) > 0,
    )
    .order_by(Listing.ends_at, Listing.id)
    .limit(bindparam("limit"))
)
_BIDDERS = select(func.count().label("count"), func.max(Bid.maximum).label("best")).where(
    Bid.listing_id == bindparam("listing")
)
_MOST = 2**53
_NO_LIMIT = -1


class ListingItem(TypedDict):
    """A listing in a list; `price` in EUR."""

    listing_id: ListingId
    title: str
    price: float
    format: Format


class ListingList(TypedDict):
    """Listings that fit, those that end soonest first."""

    listings: list[ListingItem]


@server.tool(
    read_only=True,
    phrases=[
        "search the marketplace[ for {query}][, {limit} results at most]",
        "find listings[ that mention {query}][ for {max_price} or less][, {format} only]",
        "show me what is on sale[ in the category {category}][ for up to {max_price}]",
        "look for things to buy[ matching {query}][, only {format} listings][, at most {limit}]",
        "check what others sell[ in {category}][, {format} listings only][, {limit} of them]",
        "see what {seller_id} has for sale[, up to {limit} listings]",
    ],
)
def search_listings(
    ctx: Context,
    query: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.QUERIES))] | None,
        "Words that the title must contain, in any order",
    ] = None,
    category: Annotated[Category | None, "Only this category"] = None,
    format: Annotated[Format | None, "Only listings sold this way"] = None,
    max_price: Annotated[PriceLimit | None, "Highest price or highest bid so far, in EUR"] = None,
    seller_id: Annotated[MemberId | None, "Only listings of this seller"] = None,
    limit: Annotated[
        int, Field(ge=1, le=100, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20]), "Most listings returned"
    ] = 5,
) -> ListingList:
    """Search what other members have for sale now, those that end soonest first."""
    if seller_id is not None:
        ctx.get(Member, seller_id, "get_listing names the seller of a listing")
        if seller_id == ME:
            raise Rejected(f"{ME} is you, and this searches what others sell; list_own_listings shows your listings")
    longest, *others = sorted(folded(query or "").split(), key=len, reverse=True) or [""]
    rows = ctx.rows(
        _FOR_SALE,
        now=ctx.timestamp,
        category=category or "",
        format=format or "",
        seller=seller_id or "",
        most=_MOST if max_price is None else cents(max_price),
        word=longest,
        limit=_NO_LIMIT if others else limit,
    )
    fitting = [row for row in rows if all(word in row["folded"] for word in others)]
    return {
        "listings": [
            {
                "listing_id": row["id"],
                "title": row["title"],
                "price": money(row["price"]),
                "format": row["format"],
            }
            for row in fitting[:limit]
        ]
    }


class ListingView(TypedDict):
    """A listing in full, amounts in EUR; of an auction, `price` is where the bidding stands.

    `seller_rating` is the percentage of good ratings, `buyer_id` is there once it is sold by or to you.
    """

    listing_id: ListingId
    title: str
    condition: Condition
    delivery: Literal["parcel", "pickup"]
    pickup_city: NotRequired[str]
    seller_id: MemberId
    seller: str
    seller_rating: NotRequired[int]
    format: Format
    price: float
    status: Status
    ends_at: str
    bidders: NotRequired[int]
    minimum_bid: NotRequired[float]
    reserve_met: NotRequired[bool]
    buy_now_price: NotRequired[float]
    accepts_offers: NotRequired[bool]
    buyer_id: NotRequired[MemberId]


@server.tool(
    read_only=True,
    phrases=[
        "show me {listing_id}",
        "open {listing_id} and tell me what it says",
        "pull up the details of {listing_id}",
        "check the price and the condition of {listing_id}",
        "find out who sells {listing_id} and what it costs",
    ],
    brief=[
        "tell me all about a listing",
        "open a listing and tell me what it says",
    ],
)
def get_listing(ctx: Context, listing_id: Annotated[ListingId, "Listing to read"]) -> ListingView:
    """Get a listing: what is sold, by whom and at which price. If you sold or bought it, the buyer is named too."""
    row = rules.listing(ctx, listing_id)
    view: ListingView = {
        "listing_id": listing_id,
        "title": row["title"],
        "condition": row["condition"],
        "delivery": row["delivery"],
        "seller_id": row["seller_id"],
        "seller": row["seller"],
        "format": row["format"],
        "price": money(row["price"]),
        "status": rules.status(ctx, row),  # type: ignore[typeddict-item]
        "ends_at": row["ends_at"],
    }
    if row["delivery"] == "pickup":
        view["pickup_city"] = row["city"]
    if row["ratings"]:
        view["seller_rating"] = row["rating"]
    if row["status"] == "sold":
        _add_sale(ctx, view)
    elif view["status"] == "active":
        _add_terms(ctx, view, row)
    return view


def _add_sale(ctx: Context, view: ListingView) -> None:
    sale = ctx.get(Sale, view["listing_id"])
    view["price"] = money(sale["price"])
    if ME in (view["seller_id"], sale["buyer_id"]):
        view["buyer_id"] = sale["buyer_id"]


def _add_terms(ctx: Context, view: ListingView, row: Row) -> None:
    """How an active listing can be bought."""
    if row["format"] == "fixed_price":
        view["accepts_offers"] = row["takes_offers"]
        return
    (bids,) = ctx.rows(_BIDDERS, listing=row["id"])
    bidders = view["bidders"] = bids["count"]
    view["minimum_bid"] = money(bidding.least_bid(row["opening"], row["price"], bidders))
    if row["reserve"] is not None:
        view["reserve_met"] = (bids["best"] or 0) >= row["reserve"]
    if row["buy_now"] is not None and not bidders:
        view["buy_now_price"] = money(row["buy_now"])
