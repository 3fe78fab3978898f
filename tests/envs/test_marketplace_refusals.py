"""Every refusal of the marketplace, with what would be right."""

from collections.abc import Callable
from typing import Any

import pytest
from market_stall import CODE, MUCH, Market, bid, new

from proverl.core import ErrorCode


@pytest.fixture
def market() -> Market:
    return Market()


def blocked(market: Market, reason: str) -> dict[str, Any]:
    """A fixed-price listing for which an offer of any amount is refused for that reason."""
    for row in market.for_sale(format="fixed_price"):
        if reason in market.call("make_marketplace_offer", listing_id=row["listing_id"], amount=MUCH).message:
            return {"listing_id": row["listing_id"]}
    raise AssertionError(reason)


def elsewhere(market: Market, find: Callable[[Market], list[str]]) -> str:
    """The first listing that is found in some world; the session moves there."""
    for seed in range(40):
        market.session = Market(seed).session
        for row in find(market):
            return row
    raise AssertionError("in no world")


def unsold(market: Market) -> list[str]:
    lost = [row["listing_id"] for row in market.bids("lost")]
    return [row for row in lost if market.listing(row)["status"] == "ended"]


def below(term: str) -> Callable[[Market], list[str]]:
    """The user's auctions whose reserve or buy-now price forbids a high starting price."""

    def find(market: Market) -> list[str]:
        high = {row: market.call("update_listing_price", listing_id=row, price=MUCH) for row in market.own("active")}
        return [row for row, result in high.items() if term in result.message]

    return find


def with_bids(market: Market, today: bool = False) -> str:
    """An active auction of the user that has bidders."""
    day = market.session.now.date().isoformat() if today else ""
    rows = map(market.listing, market.own("active", "auction"))
    return next(row["listing_id"] for row in rows if row["bidders"] and row["ends_at"].startswith(day))


def created(market: Market) -> str:
    return market.read("create_listing", **new())["listing_id"]


def filled(market: Market) -> Market:
    while market.call("create_listing", **new(title=f"Chair {market.session.now:%H:%M}")).ok:
        pass
    return market


def bought(market: Market) -> str:
    return market.read("buy_listing", listing_id=market.negotiable()["listing_id"])["listing_id"]


def bidden(market: Market) -> str:
    """An auction that had a buy-now price until the user bid."""
    row = next(row for row in market.for_sale() if row.get("buy_now_price"))
    return market.read("place_bid", listing_id=row["listing_id"], max_amount=row["minimum_bid"])["listing_id"]


def shipment(listing_id: str, code: str = CODE) -> dict[str, Any]:
    return {"listing_id": listing_id, "tracking_code": code}


def shipped_one(market: Market) -> str:
    first, second, *_ = market.own("to_be_shipped")
    assert market.call("ship_listing", **shipment(first)).ok
    return second


def offer(market: Market, direction: str, status: str) -> dict[str, Any]:
    return {"listing_id": market.offers(direction, status)[0]["listing_id"], "amount": 5.0}


def answer(market: Market, direction: str, status: str) -> dict[str, Any]:
    row = market.offers(direction, status)[0]
    return {"marketplace_offer_id": row["marketplace_offer_id"], "answer": "accept"}


def thrice_declined(market: Market) -> dict[str, Any]:
    declined = [row["listing_id"] for row in market.offers("sent", "declined")]
    return {"listing_id": next(row for row in declined if declined.count(row) == 3), "amount": 5.0}


def no_buy_now(market: Market) -> str:
    rows = market.for_sale(format="auction", bidders=0)
    return next(row["listing_id"] for row in rows if "buy_now_price" not in row)


def stingy(market: Market) -> dict[str, Any]:
    """An offer below what a seller takes."""
    for row in market.for_sale(format="fixed_price", accepts_offers=True):
        bid = {"listing_id": row["listing_id"], "amount": 0.01}
        if "takes no offer below" in market.call("make_marketplace_offer", **bid).message:
            return bid
    raise AssertionError("every seller takes anything")


def ends(row: str) -> dict[str, Any]:
    return {"listing_id": row, "reason": "lost_or_broken"}


def costs(row: str, price: float = 5.0) -> dict[str, Any]:
    return {"listing_id": row, "price": price}


def leading(market: Market) -> dict[str, Any]:
    row = market.bids("leading")[0]
    return bid(row["listing_id"], row["your_maximum"])


Case = Callable[[Market], dict[str, Any]]
REFUSALS: list[tuple[str, Case, str]] = [  # tool, its arguments in a world, part of the message
    ("search_listings", lambda m: {"seller_id": "MEM-00001"}, "list_own_listings shows your listings"),
    ("buy_listing", lambda m: {"listing_id": m.own("active")[0]}, "is your own; only listings of others"),
    ("buy_listing", lambda m: {"listing_id": bought(m)}, "is sold already; search_listings shows what is for sale"),
    ("place_bid", lambda m: bid(elsewhere(m, unsold)), "has ended and is no longer for sale"),
    ("buy_listing", lambda m: blocked(m, "has blocked you"), "choose a listing of another seller"),
    ("buy_listing", lambda m: blocked(m, "on holiday"), "try after that date"),
    ("place_bid", lambda m: bid(m.negotiable()["listing_id"]), "is no auction; it can be bought for"),
    ("place_bid", lambda m: bid(m.auction()["listing_id"], 0.01), "a bid of 0.01 on LST-"),
    ("place_bid", leading, "a new one must be above that"),
    ("buy_listing", lambda m: {"listing_id": no_buy_now(m)}, "without a buy-now price; place_bid bids on it"),
    ("buy_listing", lambda m: {"listing_id": bidden(m)}, "has bids, which ends its buy-now price"),
    ("make_marketplace_offer", lambda m: {"listing_id": m.auction()["listing_id"], "amount": 5.0}, "bids, not offers"),
    ("make_marketplace_offer", lambda m: {**blocked(m, "no offers"), "amount": 1.0}, "buy_listing buys it for"),
    ("make_marketplace_offer", lambda m: {"listing_id": m.negotiable()["listing_id"], "amount": MUCH}, "offer less"),
    ("make_marketplace_offer", stingy, "takes no offer below"),
    ("make_marketplace_offer", lambda m: offer(m, "sent", "pending"), "still waits for the seller, until"),
    ("make_marketplace_offer", lambda m: offer(m, "sent", "countered"), "accept or decline that first with"),
    ("make_marketplace_offer", thrice_declined, "you made 3 offers for"),
    ("answer_marketplace_offer", lambda m: answer(m, "received", "expired"), "is expired already; only pending"),
    ("answer_marketplace_offer", lambda m: answer(m, "sent", "pending"), "is your own; its seller can answer it until"),
    ("create_listing", lambda m: created(m) and new(title="GARDEN  bench"), "you sell that already as LST-"),
    ("create_listing", lambda m: filled(m) and new(), "20 active listings, and at most 20 are allowed; end one"),
    ("create_listing", lambda m: new(title="Rolex Replica"), "has the word 'replica'"),
    ("create_listing", lambda m: new(title=" x "), "says too little; name the thing"),
    ("create_listing", lambda m: new(price=0.99), "price 0.99 is too low; ask 1.00 or more"),
    ("create_listing", lambda m: new(format="auction", days=30), "choose 3, 5, 7 or 10 days"),
    ("update_listing_price", lambda m: costs(m.for_sale()[0]["listing_id"]), "not by you; list_own_listings names"),
    ("update_listing_price", lambda m: costs(m.own("ended")[0]), "create_listing lists it again"),
    ("update_listing_price", lambda m: costs(with_bids(m)), "its price follows from them"),
    ("update_listing_price", lambda m: costs(created(m), 45.0), "costs 45.00 already; give another price"),
    ("update_listing_price", lambda m: costs(created(m), 0.5), "price 0.50 is too low; ask 1.00 or more"),
    ("update_listing_price", lambda m: costs(elsewhere(m, below("reserve")), MUCH), "above its reserve of"),
    ("update_listing_price", lambda m: costs(elsewhere(m, below("buy-now")), MUCH), "below its buy-now price of"),
    ("update_listing_price", lambda m: costs(m.offers("received", "pending")[0]["listing_id"]), "or decline it first"),
    ("end_listing", lambda m: ends(with_bids(m, today=True)), "closes today at 20:00; it is too late"),
    ("end_listing", lambda m: ends(m.own("ended")[0]), "there is nothing left to end"),
    ("ship_listing", lambda m: shipment(m.own("active")[0]), "is active, not sold; list_own_listings with"),
    ("ship_listing", lambda m: shipment(m.own("to_be_paid")[0]), "ship it when paid"),
    ("ship_listing", lambda m: shipment(m.own("picked_up")[0]), "is collected by its buyer"),
    ("ship_listing", lambda m: shipment(m.own("shipped")[0]), "was shipped on"),
    ("ship_listing", lambda m: shipment(m.own("to_be_shipped")[0], "ABC 12345"), "'ABC 12345' is no tracking code"),
    ("ship_listing", lambda m: shipment(shipped_one(m), CODE.lower()), "each parcel has its own code"),
]


@pytest.mark.parametrize(("name", "arguments", "message"), REFUSALS, ids=[case[2] for case in REFUSALS])
def test_the_marketplace_refuses_and_says_what_would_be_right(market, name, arguments, message):
    wrong = arguments(market)
    before = market.session.digest()
    result = market.call(name, **wrong)
    assert result.code == ErrorCode.REJECTED, result
    assert message in result.message
    assert market.session.digest() == before
