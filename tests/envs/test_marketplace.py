"""The marketplace: what its tools do together, its laws on corrupted states, calls in any order."""

from datetime import timedelta

import pytest
from market_stall import CODE, MARKET, MUCH, Market, new
from sqlalchemy import text

from proverl.envs import Context, start_time
from proverl.envs.servers.marketplace.bidding import standing, step


@pytest.fixture
def market() -> Market:
    return Market()


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


def test_who_collects_a_thing_learns_the_city_and_titles_tell_the_same_as_the_condition():
    rows = [row for seed in range(3) for row in Market(seed).for_sale()]
    assert all(("pickup_city" in row) == (row["delivery"] == "pickup") for row in rows)
    assert {"parcel", "pickup"} == {row["delivery"] for row in rows}
    assert not [row["title"] for row in rows if row["condition"] == "new" and "vintage" in row["title"]]
    assert {row["condition"] for row in rows if "barely used" in row["title"]} <= {"like_new"}
