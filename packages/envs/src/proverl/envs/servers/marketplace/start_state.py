"""The marketplace on the morning of a session: what others sell, what the signed-in member sells, bids and offers.

Auctions stand where their bids put them, sold things have a buyer and a price, offers are answered or still open.
Awkward on purpose: two sellers of one name, the same thing sold twice, sellers on holiday, auctions that close today,
a reserve not met, offers that ran out, a buyer who has not paid.
"""

from collections.abc import Iterator
from datetime import datetime
from random import Random
from typing import Any, NamedTuple

from proverl.envs import Draft
from proverl.envs.names import CITIES, folded, full_names
from proverl.envs.servers.marketplace import start_deals, words
from proverl.envs.servers.marketplace.tables import ME, Listing, Member
from proverl.envs.state import Row

_MEMBERS = 45
_CONDITIONS = ("new", "like_new", "like_new", "good", "good", "good", "worn")
_OTHERS_AUCTIONS = 26
_OTHERS_FIXED = 54


class Thing(NamedTuple):
    """Something to sell, and what it is worth (cents)."""

    category: str
    title: str
    worth: int


class Market:
    """The draft of a market: its members, and a stock of things not yet listed."""

    def __init__(self, rng: Random, now: datetime) -> None:
        self.draft = Draft(rng, now)
        self.rng = rng
        self.members = _members(self.draft)
        self._things = self._stock()

    def _stock(self) -> Iterator[Thing]:
        things = [(category, *thing) for category, sold in words.THINGS.items() for thing in sold]
        while True:  # the second round repeats titles, as different people sell the same thing
            for category, title, low, high in self.rng.sample(things, len(things)):
                yield Thing(category, title, self.rng.randint(low, high) * 100)

    def list_at_price(self, seller: Row, left: int, **values: Any) -> Row:
        """A fixed-price listing that has `left` of its 30 days left; ended when negative."""
        thing = next(self._things)
        price = thing.worth - self.rng.choice((0, 0, 1, 5, 50))
        return self._list(seller, thing, price, 30, left, format="fixed_price", takes_offers=True, **values)

    def auction(self, seller: Row, left: int, bidders: list[Row]) -> Row:
        """An auction in which these members have bid, one after the other."""
        thing, rng = next(self._things), self.rng
        low = rng.choice((100, 500, 1_000)) if len(bidders) > 2 else thing.worth
        days = rng.choice([days for days in (3, 5, 7, 10) if days > left])
        row = self._list(seller, thing, min(low, thing.worth // 200 * 100), days, left, format="auction")
        if rng.random() < 0.3:
            row["reserve"] = thing.worth // 1_000 * 800
        if rng.random() < 0.35:
            row["buy_now"] = thing.worth // 1_000 * 1_300
        start_deals.let_bid(self.draft, row, bidders, thing.worth)
        return row

    def _list(self, seller: Row, thing: Thing, price: int, days: int, left: int, **values: Any) -> Row:
        bulky = thing.category == "furniture" or thing.title.startswith(words.BULKY)
        usual: Row = {
            "seller_id": seller["id"],
            "title": thing.title,
            "folded": folded(thing.title),
            "category": thing.category,
            "condition": self._condition(thing),
            "delivery": "pickup" if bulky else "parcel",
            "opening": price,
            "price": price,
            "reserve": None,
            "buy_now": None,
            "leader_id": None,
            "takes_offers": False,
            "least_offer": None,
            "listed_on": self.draft.day(left - days),
            "ends_at": f"{self.draft.day(left)}T20:00",
            "status": "active" if left >= 0 else "ended",
            "end_reason": None,
        }
        return self.draft.add(Listing, **{**usual, **values})

    def _condition(self, thing: Thing) -> str:
        title = thing.title
        if "cracked" in title:
            return "defective"
        if any(said in title for said in words.HARDLY_USED):
            return "like_new"
        old = thing.category == "collectibles" or any(said in title for said in words.OLD)
        return self.rng.choice(_CONDITIONS[3 if old else 0 :])

    def others(self, count: int, *but: Row) -> list[Row]:
        """Members other than the user, these, and those who want no business with the user."""
        barred = {row["id"] for row in but} | {ME}
        return self.rng.sample([row for row in self.members if row["id"] not in barred and not row["blocks_me"]], count)


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    market = Market(rng, now)
    _sell_own(market)
    _sell_others(market)
    _bid_for_user(market)
    start_deals.offer_to_user(market.draft, market.others(12))
    start_deals.offer_by_user(market.draft)
    return market.draft.rows


def _members(draft: Draft) -> list[Row]:
    rng = draft.rng
    names = full_names(rng, _MEMBERS)
    rows = []
    for index, name in enumerate(names):
        own = {"id": ME} if index == 5 else {}
        rows.append(
            draft.add(
                Member,
                **own,
                name=name,
                city=rng.choice(CITIES),
                rating=rng.choice((100, 100, 100, 99, 99, 98, 97, 95, 91)),
                ratings=0
                if index == 9
                else rng.choice((rng.randint(1, 20), rng.randint(15, 160), rng.randint(200, 900))),
                away_until=draft.day(rng.randint(2, 12)) if index in (11, 23, 37) else None,
                blocks_me=index in (17, 29),
            )
        )
    return rows


def _sell_own(market: Market) -> None:
    rng, me = market.rng, next(row for row in market.members if row["id"] == ME)
    for index in range(8):
        market.list_at_price(me, rng.randint(2, 14) if index < 5 else rng.randint(10, 29))
    for left, bidders in ((0, 3), (0, 1), (rng.randint(1, 4), 2), (rng.randint(2, 6), 0), (rng.randint(5, 8), 0)):
        market.auction(me, left, market.others(bidders))
    for shipped, delivery in ((True, "parcel"),) * 2 + ((False, "parcel"),) * 5 + ((False, "pickup"),):
        row = market.list_at_price(me, rng.randint(5, 25), delivery=delivery)
        start_deals.sell(
            market.draft, row, market.others(1)[0], row["price"], days_ago=rng.randint(1, 3), shipped=shipped
        )
    for paid in (True, True, False, False):
        row = market.auction(me, -rng.randint(1, 3), market.others(rng.randint(1, 3)))
        row["reserve"] = None
        start_deals.close(market.draft, row, paid=paid)
    for _ in range(4):
        market.list_at_price(me, -rng.randint(1, 40))


def _sell_others(market: Market) -> None:
    rng = market.rng
    sellers = [row for row in market.members if row["id"] != ME]
    for index in range(_OTHERS_FIXED):
        row = market.list_at_price(sellers[index % 40], rng.randint(0, 19 if index % 3 else 29))
        row["takes_offers"] = index % 6 > 0
        if row["takes_offers"] and rng.random() < 0.2:
            row["least_offer"] = row["price"] * rng.choice((50, 60, 70)) // 10_000 * 100
    for index in range(_OTHERS_AUCTIONS):
        seller = sellers[(index * 7 + 3) % 40]
        market.auction(seller, rng.choice((0, 1, 1, 2, 3, 5, 8)), market.others(rng.choice((0, 0, 1, 2, 3, 5)), seller))
    for _ in range(5):
        seller = market.others(1)[0]
        row = market.list_at_price(seller, rng.randint(2, 20))
        start_deals.sell(market.draft, row, market.others(1, seller)[0], row["price"], days_ago=1, shipped=False)


def _bid_for_user(market: Market) -> None:
    """Running auctions that the user leads or is outbid in, and past ones that the user won or lost."""
    rng, me = market.rng, next(row for row in market.members if row["id"] == ME)
    for index in range(12):
        (seller, *rivals) = market.others(rng.randint(2, 4))
        leading = index % 2 == 0
        left = rng.choice((0, 1, 2, 4)) if index < 7 else -rng.randint(1, 9)
        row = market.auction(seller, left, [*rivals, me] if leading else [me, *rivals])
        if left < 0:
            start_deals.close(market.draft, row, paid=rng.random() < 0.7)
