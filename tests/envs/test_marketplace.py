"""The marketplace: what its tools do together, every refusal, its laws on corrupted states."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time
from proverl.envs.servers.marketplace.bidding import standing, step

MARKET = load_server("marketplace")
CODE = "3SKLTA482917305"
MUCH = 9_000_000.0  # above every price


class Market:
    """A session, and shorthands for what a caller can find out."""

    def __init__(self, seed: int = 3) -> None:
        self.session = Session([MARKET], seed)

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def listing(self, listing_id: str) -> dict[str, Any]:
        return self.read("get_listing", listing_id=listing_id)

    def for_sale(self, **wanted: Any) -> list[dict[str, Any]]:
        """Others' active listings whose details are as wanted."""
        formats = ("fixed_price", "auction")
        found = [self.read("search_listings", limit=50, format=format)["listings"] for format in formats]
        rows = [self.listing(row["listing_id"]) for rows in found for row in rows]
        return [row for row in rows if wanted.items() <= row.items()]

    def own(self, status: str, format: str = "") -> list[str]:
        rows = self.read("list_own_listings", status=status, limit=50)["listings"]
        return [row["listing_id"] for row in rows if row["format"] == format or not format]

    def bids(self, state: str) -> list[dict[str, Any]]:
        return self.read("list_own_bids", state=state, limit=50)["bids"]

    def offers(self, direction: str, status: str) -> list[dict[str, Any]]:
        return self.read("list_marketplace_offers", direction=direction, status=status, limit=50)["offers"]

    def auction(self) -> dict[str, Any]:
        """An auction of others in which the user has not bid, with bidders."""
        mine = {row["listing_id"] for row in self.read("list_own_bids", limit=50)["bids"]}
        rows = [row for row in self.for_sale(format="auction") if row["bidders"] and row["listing_id"] not in mine]
        return next(row for row in rows if "too low" in self.call("place_bid", **bid(row["listing_id"], 0.01)).message)

    def negotiable(self) -> dict[str, Any]:
        """A listing for which an offer just below its price is taken."""
        with Session([MARKET], self.session.seed) as probe:
            for row in self.for_sale(format="fixed_price", accepts_offers=True):
                offer = {"listing_id": row["listing_id"], "amount": round(row["price"] - 0.5, 2)}
                if probe.call("make_marketplace_offer", offer).ok:
                    return row
        raise AssertionError("no listing takes an offer")


@pytest.fixture
def market() -> Market:
    return Market()


def new(**changes: Any) -> dict[str, Any]:
    return {"title": "Garden bench", "condition": "good", "price": 45.0, **changes}


# What the tools do


def test_a_bid_pays_one_step_more_than_the_next_best_and_hides_its_maximum(market):
    auction = market.auction()
    low = market.read("place_bid", listing_id=auction["listing_id"], max_amount=auction["minimum_bid"])
    high = market.read("place_bid", listing_id=auction["listing_id"], max_amount=MUCH)
    assert high["state"] == "leading"
    assert auction["price"] <= low["price"] <= high["price"] < 3_000
    (own,) = [row for row in market.bids("leading") if row["listing_id"] == auction["listing_id"]]
    assert (own["price"], own["your_maximum"]) == (high["price"], MUCH)
    seen = market.listing(auction["listing_id"])
    assert (seen["price"], seen["bidders"]) == (high["price"], auction["bidders"] + 1)
    assert "buy_now_price" not in seen


def test_raising_the_maximum_of_the_leader_does_not_raise_the_price(market):
    own = market.bids("leading")[0]
    raised = market.read("place_bid", listing_id=own["listing_id"], max_amount=own["your_maximum"] + 1)
    assert raised["price"] == own["price"]


def test_whoever_is_outbid_may_bid_again(market):
    own = market.bids("outbid")[0]
    least = market.listing(own["listing_id"])["minimum_bid"]
    assert least > own["your_maximum"]
    assert market.read("place_bid", listing_id=own["listing_id"], max_amount=least)["price"] > own["price"]


def test_won_auctions_name_the_user_as_the_buyer_and_lost_ones_nobody(market):
    assert market.listing(market.bids("won")[0]["listing_id"])["buyer_id"] == "MEM-00001"
    assert "buyer_id" not in market.listing(market.bids("lost")[0]["listing_id"])


@pytest.mark.parametrize(
    ("maxima", "reserve", "price"),
    [
        ([], None, 1_000),
        ([5_000], None, 1_000),
        ([5_000, 2_000], None, 2_100),
        ([5_000, 4_990], None, 5_000),
        ([5_000, 5_000], None, 5_000),
        ([5_000], 4_000, 4_000),
        ([5_000, 4_500], 4_000, 4_600),
        ([3_000], 4_000, 1_000),
    ],
)
def test_the_price_follows_from_the_two_best_bids_and_the_reserve(maxima, reserve, price):
    assert standing(1_000, reserve, maxima) == price


def test_steps_grow_with_the_price():
    steps = [step(price) for price in range(0, 500_000, 100)]
    assert steps == sorted(steps)


def test_searches_find_words_in_any_order_whatever_case_and_accents(market):
    title = next(row for row in market.for_sale() if len(row["title"].split()) > 2)["title"]
    first, second, *_ = title.split()
    found = market.read("search_listings", query=f"{second.upper()} {first.lower()}", limit=50)["listings"]
    assert title in [row["title"] for row in found]
    assert market.read("search_listings", query="100% _ nothing") == {"listings": []}


def test_searches_narrow_by_seller_format_and_price(market):
    seller = market.for_sale()[0]["seller_id"]
    rows = market.read("search_listings", seller_id=seller, limit=50)["listings"]
    assert rows
    assert all(market.listing(row["listing_id"])["seller_id"] == seller for row in rows)
    cheap = market.read("search_listings", format="auction", max_price=20.0, limit=50)["listings"]
    assert cheap
    assert all(row["format"] == "auction" and row["price"] <= 20 for row in cheap)


def test_what_is_bought_is_gone_from_the_search_and_open_offers_for_it_are_declined(market):
    offer = market.offers("sent", "pending")[0]
    bought = market.read("buy_listing", listing_id=offer["listing_id"])
    assert market.listing(offer["listing_id"])["buyer_id"] == "MEM-00001"
    assert bought["listing_id"] not in [row["listing_id"] for row in market.for_sale()]
    assert offer["marketplace_offer_id"] in [row["marketplace_offer_id"] for row in market.offers("sent", "declined")]


def test_an_auction_without_bids_is_bought_at_its_buy_now_price():
    market, row = next(
        (market, row) for market in map(Market, range(9)) for row in market.for_sale() if row.get("buy_now_price")
    )
    assert market.read("buy_listing", listing_id=row["listing_id"])["price"] == row["buy_now_price"]


def test_an_accepted_offer_sells_the_listing_which_is_then_shipped(market):
    offers = market.offers("received", "pending")
    offer = next(row for row in offers if market.listing(row["listing_id"])["delivery"] == "parcel")
    sold = market.read("answer_marketplace_offer", marketplace_offer_id=offer["marketplace_offer_id"], answer="accept")
    assert (sold["status"], sold["price"]) == ("accepted", offer["amount"])
    assert offer["listing_id"] in market.own("to_be_shipped")
    assert not [row for row in market.offers("received", "pending") if row["listing_id"] == offer["listing_id"]]
    shipped = market.read("ship_listing", listing_id=offer["listing_id"], tracking_code=CODE)
    assert (shipped["carrier"], offer["listing_id"] in market.own("shipped")) == ("PostNL", True)


def test_a_counter_offer_is_bought_at_what_the_seller_asks(market):
    offer = market.offers("sent", "countered")[0]
    sold = market.read("answer_marketplace_offer", marketplace_offer_id=offer["marketplace_offer_id"], answer="accept")
    assert sold["price"] == offer["amount"] == market.listing(offer["listing_id"])["price"]


def test_a_declined_offer_leaves_the_listing_for_sale(market):
    offer = market.offers("received", "pending")[0]["marketplace_offer_id"]
    done = market.read("answer_marketplace_offer", marketplace_offer_id=offer, answer="decline")
    assert done["listing_id"] in market.own("active")


def test_a_listing_is_created_repriced_and_ended(market):
    row = market.read("create_listing", **new())
    assert row["ends_at"] == f"{(market.session.now + timedelta(days=30)).date()}T20:00"
    changed = market.read("update_listing_price", listing_id=row["listing_id"], price=39.5)
    assert (changed["previous_price"], market.listing(row["listing_id"])["price"]) == (45.0, 39.5)
    market.read("end_listing", listing_id=row["listing_id"], reason="listed_by_mistake")
    assert row["listing_id"] in market.own("ended")
    assert market.call("create_listing", **new()).ok


def test_the_title_of_a_new_listing_decides_where_it_is_found(market):
    assert market.read("create_listing", **new(title="Set of wine GLASSES, six"))["category"] == "home_and_garden"
    assert market.read("create_listing", **new(title="Things"))["category"] == "other"


def test_an_auction_of_ones_own_runs_a_week_and_takes_no_offers(market):
    row = market.read("create_listing", **new(format="auction"))
    assert row["ends_at"][:10] == (market.session.now + timedelta(days=7)).date().isoformat()
    assert "accepts_offers" not in market.listing(row["listing_id"])


# Refusals


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


def bid(row: str, amount: float = MUCH) -> dict[str, Any]:
    return {"listing_id": row, "max_amount": amount}


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


# Laws


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("UPDATE bid SET maximum = maximum + 500", "prices_follow_from_bids"),
        ("UPDATE listing SET leader_id = 'MEM-00001' WHERE format = 'auction'", "prices_follow_from_bids"),
        ("DELETE FROM sale WHERE paid", "sold_once_or_not_at_all"),
        ("UPDATE sale SET price = price + 1", "sold_once_or_not_at_all"),
        ("UPDATE listing SET seller_id = 'MEM-00001'", "nobody_deals_with_themselves"),
        ("UPDATE listing SET status = 'ended' WHERE format = 'fixed_price'", "open_offers_can_be_accepted"),
        ("UPDATE sale SET paid = 0 WHERE tracking_code IS NULL", "only_auctions_are_paid_later"),
    ],
)
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in MARKET.invariants if check.__name__ == law)
    with MARKET.storage.connect(MARKET.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        market = Market(5)
        auction, bought = market.auction()["listing_id"], market.negotiable()["listing_id"]
        calls = [
            ("place_bid", {"listing_id": auction, "max_amount": MUCH}),
            ("buy_listing", {"listing_id": bought}),
            ("create_listing", new()),
            ("create_listing", new(title="Rake")),
            ("ship_listing", {"listing_id": market.own("to_be_shipped")[0], "tracking_code": CODE}),
        ]
        assert all(market.call(name, **arguments).ok for name, arguments in calls[::turn])
        digests.add(market.session.digest())
    assert len(digests) == 1
