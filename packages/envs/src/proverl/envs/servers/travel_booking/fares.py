"""What each airline sells: the price of a fare against the flight's base price, and what may be done with it later."""

from dataclasses import dataclass
from typing import Literal

Fare = Literal["basic", "standard", "flex", "business"]
Cabin = Literal["economy", "business"]


@dataclass(frozen=True)
class FareRule:
    """Conditions of a fare; fees in cents, None where it isn't possible at all."""

    percent: int
    change_fee: int | None
    cancel_fee: int | None
    bags: int


_NETWORK = {
    "basic": FareRule(100, None, None, 0),
    "standard": FareRule(135, 7_000, None, 1),
    "flex": FareRule(190, 0, 0, 1),
    "business": FareRule(380, 0, 0, 2),
}
FARES: dict[str, dict[str, FareRule]] = {
    "AQ": _NETWORK,
    "MD": {**_NETWORK, "standard": FareRule(130, 6_000, 9_000, 1)},
    "NV": {**_NETWORK, "basic": FareRule(90, None, None, 0), "business": FareRule(330, 0, 5_000, 2)},
    "LU": {
        "basic": FareRule(75, None, None, 0),
        "standard": FareRule(110, 4_500, None, 1),
        "flex": FareRule(160, 0, 6_000, 1),
    },
}


def rule(number: str, fare: str) -> FareRule | None:
    """The conditions of a fare on a flight number, or None where the airline doesn't sell it."""
    return FARES[number[:2]].get(fare)


def price(base_price: int, percent: int) -> int:
    """Price of a fare in cents, always whole euros."""
    return base_price * percent // 10_000 * 100


def cabin(fare: str) -> Cabin:
    """Where a fare sits."""
    return "business" if fare == "business" else "economy"
