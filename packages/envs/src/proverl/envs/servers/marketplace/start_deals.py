"""The past of the start state: bids that were placed, things that were sold, offers that were made."""

from proverl.envs import Draft
from proverl.envs.servers.marketplace import bidding, words
from proverl.envs.servers.marketplace.tables import ME, Bid, Listing, MarketplaceOffer, Member, Sale
from proverl.envs.state import Row

_LONG_AGO = 9  # days; the oldest offers, for things that were for sale by then


def let_bid(draft: Draft, row: Row, bidders: list[Row], worth: int) -> None:
    """Each member bids once, the last one highest; the auction then stands where they put it."""
    maxima: list[int] = []
    for bidder in bidders:
        least = bidding.least_bid(row["opening"], row["price"], len(maxima))
        best = max(maxima, default=0)
        room = max(worth // (len(bidders) + 1), 300)
        maximum = max(least, best + bidding.step(best)) + draft.rng.randint(0, room) // 50 * 50
        maxima.append(maximum)
        draft.add(Bid, listing_id=row["id"], bidder_id=bidder["id"], maximum=maximum)
        row["price"] = bidding.standing(row["opening"], row["reserve"], maxima)
        row["leader_id"] = bidder["id"]


def close(draft: Draft, row: Row, paid: bool) -> None:
    """An auction that has run out is sold to its leader, unless the reserve was not met."""
    best = max(bid["maximum"] for bid in draft.rows[Bid] if bid["listing_id"] == row["id"])
    row["price"] = bidding.standing(
        row["opening"], row["reserve"], [bid["maximum"] for bid in draft.rows[Bid] if bid["listing_id"] == row["id"]]
    )
    if row["reserve"] is None or best >= row["reserve"]:
        _add_sale(draft, row, row["leader_id"], row["price"], row["ends_at"][:10], paid, shipped=False)


def sell(draft: Draft, row: Row, buyer: Row, price: int, days_ago: int, shipped: bool) -> None:
    """A fixed-price listing is sold, paid, and perhaps on its way."""
    _add_sale(draft, row, buyer["id"], price, draft.day(-days_ago), paid=True, shipped=shipped)


def _add_sale(draft: Draft, row: Row, buyer_id: str, price: int, day: str, paid: bool, shipped: bool) -> None:
    row["status"] = "sold"
    draft.add(
        Sale,
        listing_id=row["id"],
        buyer_id=buyer_id,
        price=price,
        sold_on=day,
        paid=paid,
        tracking_code=f"3S{_letters(draft)}{draft.rng.randrange(10**9):09d}" if shipped else None,
        shipped_on=day if shipped else None,
    )


def _letters(draft: Draft) -> str:
    return "".join(draft.rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(4))


def offer_to_user(draft: Draft, buyers: list[Row]) -> None:
    """Offers for the user's listings: open ones, and those that were declined, ran out or were accepted."""
    own = [row for row in draft.rows[Listing] if row["seller_id"] == ME and row["format"] == "fixed_price"]
    active = [row for row in own if row["status"] == "active"]
    for index, buyer in enumerate(buyers[:8]):
        _offer(draft, active[index % 5], buyer["id"], "pending", draft.rng.choice((0, 1, 1, 2)))
    for index, buyer in enumerate(buyers[8:]):
        _offer(draft, active[3 + index], buyer["id"], ("declined", "expired")[index % 2], draft.rng.randint(3, 9))
    sales = {row["listing_id"]: row for row in draft.rows[Sale]}
    for row in [row for row in own if row["status"] == "sold"][:3]:
        offer = _offer(draft, row, sales[row["id"]]["buyer_id"], "accepted", 0)
        sales[row["id"]]["price"] = offer["amount"]
        offer["made_on"] = offer["expires_on"] = sales[row["id"]]["sold_on"]


def offer_by_user(draft: Draft) -> None:
    """The user's offers to other sellers: waiting, countered, answered, and all three that one listing allows."""
    unreachable = {row["id"] for row in draft.rows[Member] if row["blocks_me"] or row["away_until"]}
    others = [
        row
        for row in draft.rows[Listing]
        if row["seller_id"] not in unreachable | {ME}
        and row["takes_offers"]
        and row["status"] == "active"
        and row["listed_on"] < draft.day(-_LONG_AGO)
    ]
    rows = iter(draft.rng.sample(others, 13))
    for status in ("pending", "pending", "pending", "countered", "countered", "countered", "countered"):
        _offer(draft, next(rows), ME, status, draft.rng.choice((0, 1, 2)))
    for status in ("declined", "declined", "declined", "expired", "expired"):
        _offer(draft, next(rows), ME, status, draft.rng.randint(3, _LONG_AGO))
    stubborn = next(rows)
    for days in (_LONG_AGO, 7, 4):
        _offer(draft, stubborn, ME, "declined", days)


def _offer(draft: Draft, row: Row, buyer_id: str, status: str, days_ago: int) -> Row:
    rng = draft.rng
    amount = row["price"] * rng.randint(72, 92) // 10_000 * 100 or 100
    midway = (amount + row["price"]) // 200 * 100
    return draft.add(
        MarketplaceOffer,
        listing_id=row["id"],
        buyer_id=buyer_id,
        amount=amount,
        counter=max(midway, amount + 50) if status == "countered" else None,
        message=rng.choice((None, rng.choice(words.MESSAGES))),
        status=status,
        made_on=draft.day(-days_ago),
        expires_on=draft.day(2 - days_ago),
    )
