"""A session on the marketplace, and shorthands for what a caller can find out."""

from typing import Any

from proverl.core import Result
from proverl.envs import Session, load_server

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


def new(**changes: Any) -> dict[str, Any]:
    return {"title": "Garden bench", "condition": "good", "price": 45.0, **changes}


def bid(row: str, amount: float = MUCH) -> dict[str, Any]:
    return {"listing_id": row, "max_amount": amount}
