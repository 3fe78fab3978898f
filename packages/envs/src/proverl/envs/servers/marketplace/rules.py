"""What the marketplace refuses, and what a sale brings about. Every refusal says what would be right."""

from sqlalchemy import bindparam, select, update

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.marketplace.tables import ME, Listing, Member, Sale
from proverl.envs.servers.marketplace.tables import MarketplaceOffer as Offer
from proverl.envs.state import Row

OPEN = ("pending", "countered")
IS_OPEN = Offer.status.in_(OPEN)
_LISTING = Listing.__table__
_WITH_SELLER = (
    select(_LISTING, Member.name.label("seller"), Member.city, Member.rating, Member.ratings)
    .add_columns(Member.away_until, Member.blocks_me)
    .join_from(_LISTING, Member.__table__, Member.id == Listing.seller_id)
    .where(Listing.id == bindparam("key"))
)
_DECLINE_OPEN = (
    update(Offer)
    .where(Offer.listing_id == bindparam("listing"), IS_OPEN)
    .values(status="declined")
    .execution_options(synchronize_session=False)
)


def listing(ctx: Context, listing_id: str) -> Row:
    """The listing with its seller's name, rating and holiday. Raises NotFound."""
    found = ctx.rows(_WITH_SELLER, key=listing_id)
    if not found:
        ctx.get(Listing, listing_id, "search_listings names what others sell, list_own_listings what you sell")
    return found[0]


def status(ctx: Context, row: Row) -> str:
    """The status of a listing at this moment: one that has run out has ended."""
    return "ended" if row["status"] == "active" and row["ends_at"] <= ctx.timestamp else str(row["status"])


def active(ctx: Context, row: Row, instead: str) -> None:
    """Raises Rejected unless the listing is still for sale."""
    now = status(ctx, row)
    if now == "sold":
        raise Rejected(f"listing {row['id']} is sold already; {instead}")
    if now == "ended":
        raise Rejected(f"listing {row['id']} has ended and is no longer for sale; {instead}")


def buyable(ctx: Context, listing_id: str) -> Row:
    """The listing, which the user may bid on, buy or make an offer for. Raises NotFound or Rejected."""
    row = listing(ctx, listing_id)
    if row["seller_id"] == ME:
        raise Rejected(f"listing {listing_id} is your own; only listings of others can be bought (search_listings)")
    active(ctx, row, "search_listings shows what is for sale")
    if row["blocks_me"]:
        raise Rejected(f"seller {row['seller_id']} has blocked you as a buyer; choose a listing of another seller")
    return row


def at_home(ctx: Context, row: Row) -> None:
    """Raises Rejected while the seller is on holiday."""
    if row["away_until"] is not None and row["away_until"] >= ctx.today:
        raise Rejected(
            f"seller {row['seller_id']} is on holiday and sells nothing through {row['away_until']}; "
            "try after that date, or choose a listing of another seller"
        )


def own(ctx: Context, listing_id: str) -> Row:
    """The user's own listing. Raises NotFound, or Rejected when someone else sells it."""
    row = listing(ctx, listing_id)
    if row["seller_id"] != ME:
        raise Rejected(f"listing {listing_id} is sold by {row['seller_id']}, not by you; list_own_listings names yours")
    return row


def offer_status(ctx: Context, row: Row) -> str:
    """The status of an offer today: one that nobody answered in time has expired."""
    late = row["status"] in OPEN and row["expires_on"] < ctx.today
    return "expired" if late else str(row["status"])


def decline_open_offers(ctx: Context, listing_id: str) -> None:
    """Nobody can buy what is sold or withdrawn."""
    ctx.execute(_DECLINE_OPEN, listing=listing_id)


def sell(ctx: Context, listing_id: str, buyer_id: str, price: int) -> None:
    """Sell the listing, paid at once from the card that the buyer has on file."""
    ctx.insert(
        Sale,
        listing_id=listing_id,
        buyer_id=buyer_id,
        price=price,
        sold_on=ctx.today,
        paid=True,
        tracking_code=None,
        shipped_on=None,
    )
    ctx.update(Listing, listing_id, status="sold")
    decline_open_offers(ctx, listing_id)


def euros(amount: int) -> str:
    """`12.50`, for messages."""
    return f"{money(amount):.2f}"
