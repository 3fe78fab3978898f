"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from collections import defaultdict

from sqlalchemy import select

from proverl.envs import Context
from proverl.envs.servers.marketplace import bidding, rules
from proverl.envs.servers.marketplace.app import server
from proverl.envs.servers.marketplace.tables import Bid, Listing, MarketplaceOffer, Sale


@server.invariant
def prices_follow_from_bids(ctx: Context) -> None:
    """An auction stands where its bidders' maxima put it, and a highest bidder leads."""
    maxima: dict[str, dict[str, int]] = defaultdict(dict)
    for bid in ctx.rows(select(Bid.__table__)):
        maxima[bid["listing_id"]][bid["bidder_id"]] = bid["maximum"]
    for row in ctx.rows(select(Listing.__table__)):
        bids = maxima[row["id"]]
        price = bidding.standing(row["opening"], row["reserve"], [*bids.values()])
        assert row["price"] == price, f"{row['id']} stands at {row['price']}, not {price}"
        best = max(bids.values(), default=None)
        assert bids.get(row["leader_id"]) == best, f"{row['id']}: {row['leader_id']} leads without the highest bid"
        assert best is None or min(bids.values()) >= row["opening"], f"{row['id']}: a bid below the starting price"


@server.invariant
def sold_once_or_not_at_all(ctx: Context) -> None:
    """A listing is sold exactly when it has a sale, at the price of the auction, of the offer or of the listing."""
    accepted = {
        row["listing_id"]: row for row in ctx.rows(select(MarketplaceOffer.__table__)) if row["status"] == "accepted"
    }
    sales = {row["listing_id"]: row for row in ctx.rows(select(Sale.__table__))}
    for row in ctx.rows(select(Listing.__table__)):
        sale = sales.get(row["id"])
        assert (row["status"] == "sold") == (sale is not None), f"{row['id']} is {row['status']}, sale {sale}"
        if sale is None:
            continue
        offer = accepted.get(row["id"])
        right = {row["price"], row["buy_now"]} if offer is None else {offer["counter"] or offer["amount"]}
        assert sale["price"] in right, f"{row['id']} sold for {sale['price']}, not {right}"
        assert offer is None or sale["buyer_id"] == offer["buyer_id"], f"{row['id']} sold to another than who offered"
    assert accepted.keys() <= sales.keys(), f"accepted, but not sold: {sorted(accepted.keys() - sales.keys())}"


@server.invariant
def nobody_deals_with_themselves(ctx: Context) -> None:
    """No member bids on, offers for or buys what the same member sells."""
    for model, buyer in ((Bid, Bid.bidder_id), (MarketplaceOffer, MarketplaceOffer.buyer_id), (Sale, Sale.buyer_id)):
        own = select(Listing.id).where(Listing.seller_id == buyer, Listing.id == model.listing_id)
        assert not ctx.rows(own), f"sellers in their own {model.__name__}: {ctx.rows(own)}"


@server.invariant
def open_offers_can_be_accepted(ctx: Context) -> None:
    """Open offers are for active fixed-price listings, one of each buyer for a listing, three at most in all."""
    joined = select(MarketplaceOffer.__table__, Listing.status.label("listing_status"), Listing.takes_offers)
    made: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in ctx.rows(joined.where(Listing.id == MarketplaceOffer.listing_id)):
        made[row["listing_id"], row["buyer_id"]].append(row["status"])
        assert row["takes_offers"], f"{row['id']} for a listing that takes none"
        assert row["status"] not in rules.OPEN or row["listing_status"] == "active", f"{row['id']} is open for nothing"
    for pair, statuses in made.items():
        assert len(statuses) <= 3, f"{pair}: {len(statuses)} offers"
        assert sum(status in rules.OPEN for status in statuses) <= 1, f"{pair}: several open offers"


@server.invariant
def only_auctions_are_paid_later(ctx: Context) -> None:
    """What has a fixed price is paid when it is sold."""
    unpaid = select(Listing.id).join_from(Listing.__table__, Sale.__table__, Sale.listing_id == Listing.id)
    strange = unpaid.where(~Sale.paid, Listing.format != "auction")
    assert not ctx.rows(strange), f"sold at a fixed price without payment: {ctx.rows(strange)}"
