"""Looking after one's listings: change the price, end one early, ship what was sold."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, cents, money
from proverl.envs.servers.marketplace import parcels, rules, words
from proverl.envs.servers.marketplace.app import server
from proverl.envs.servers.marketplace.selling import CLOSING_TIME, LEAST_PRICE, Price
from proverl.envs.servers.marketplace.tables import Bid, Listing, ListingId, MarketplaceOffer, Sale
from proverl.envs.state import Row

_BIDS = select(func.count()).where(Bid.listing_id == bindparam("listing"))
_OPEN_OFFERS = (
    select(MarketplaceOffer.id, MarketplaceOffer.amount)
    .where(
        MarketplaceOffer.listing_id == bindparam("listing"),
        rules.IS_OPEN,
        MarketplaceOffer.expires_on >= bindparam("today"),
        MarketplaceOffer.amount >= bindparam("price"),
    )
    .order_by(MarketplaceOffer.amount.desc(), MarketplaceOffer.id)
    .limit(1)
)
_WITH_CODE = select(Sale.listing_id).where(Sale.tracking_code == bindparam("code"))
_SHIP = (
    Sale.__table__.update()  # type: ignore[attr-defined]
    .where(Sale.listing_id == bindparam("listing"))
    .values(tracking_code=bindparam("code"), shipped_on=bindparam("day"))
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
        "ask {price} for {listing_id} from now on",
    ],
    brief=[
        "change the price of one of my listings",
        "change the price of {listing_id}",
        "set one of my listings to a new price of {price}",
    ],
)
def update_listing_price(
    ctx: Context,
    listing_id: Annotated[ListingId, "Active listing of yours"],
    price: Annotated[Price, "New fixed price, or new starting price of an auction without bids, in EUR"],
) -> ChangedPrice:
    """Change what an active listing of yours costs. The starting price of an auction is fixed by its first bid."""
    row = rules.own(ctx, listing_id)
    rules.active(ctx, row, "create_listing lists it again")
    if row["leader_id"] is not None:
        raise Rejected(f"auction {listing_id} has bids, so its price follows from them; only end_listing is left")
    wanted = cents(price)
    if wanted == row["price"]:
        raise Rejected(f"listing {listing_id} costs {price:.2f} already; give another price")
    if wanted < LEAST_PRICE:
        raise Rejected(f"price {price:.2f} is too low; ask {rules.euros(LEAST_PRICE)} or more")
    if row["reserve"] is not None and wanted > row["reserve"]:
        raise Rejected(
            f"the starting price of {listing_id} can't be above its reserve of {rules.euros(row['reserve'])}; go lower"
        )
    if row["buy_now"] is not None and wanted >= row["buy_now"]:
        raise Rejected(
            f"the starting price of {listing_id} must be below its buy-now price of {rules.euros(row['buy_now'])}"
        )
    _above_open_offers(ctx, listing_id, wanted)
    ctx.update(Listing, listing_id, price=wanted, opening=wanted)
    return {"listing_id": listing_id, "price": price, "previous_price": money(row["price"])}


def _above_open_offers(ctx: Context, listing_id: str, price: int) -> None:
    for offer in ctx.rows(_OPEN_OFFERS, listing=listing_id, today=ctx.today, price=price):
        raise Rejected(
            f"offer {offer['id']} of {rules.euros(offer['amount'])} for {listing_id} is not below that price; "
            "accept or decline it first with answer_marketplace_offer"
        )


class EndedListing(TypedDict):
    """A listing that can no longer be bought."""

    listing_id: ListingId
    status: Literal["ended"]


@server.tool(
    destructive=True,
    phrases=[
        "end {listing_id} early (reason: {reason})",
        "take {listing_id} off the marketplace with the reason {reason}",
        "withdraw {listing_id} from sale and give {reason} as the reason",
        "stop selling {listing_id}; the reason is {reason}",
        "close {listing_id} before its time because it is {reason}",
    ],
    brief=[
        "end one of my listings early",
        "take {listing_id} off the marketplace",
        "withdraw one of my listings with the reason {reason}",
    ],
)
def end_listing(
    ctx: Context,
    listing_id: Annotated[ListingId, "Active listing of yours"],
    reason: Annotated[Literal["lost_or_broken", "listed_by_mistake", "not_for_sale_any_more"], "Told to those who bid"],
) -> EndedListing:
    """End a listing of yours early: bids and open offers lapse. Not an auction with bids on its last day."""
    row = rules.own(ctx, listing_id)
    rules.active(ctx, row, "there is nothing left to end")
    if row["leader_id"] is not None and row["ends_at"][:10] == ctx.today:
        raise Rejected(
            f"auction {listing_id} has {_bids(ctx, row)} and closes today at {CLOSING_TIME}; "
            "it is too late to end it, so let the bidding decide"
        )
    ctx.update(Listing, listing_id, status="ended", end_reason=reason)
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
        "note that I have posted {listing_id}; the tracking code is {tracking_code}",
    ],
    brief=[
        "mark something I sold as shipped",
        "mark {listing_id} as shipped",
        "record {tracking_code} as the tracking code of something I have sent",
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
    ctx.execute(_SHIP, listing=listing_id, code=code, day=ctx.today)
    return {"listing_id": listing_id, "carrier": carrier, "shipped_on": ctx.today}
