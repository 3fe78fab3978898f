"""How the price of an auction follows from what its bidders would pay at most."""

from collections.abc import Sequence

_STEPS = ((500, 20), (1_500, 50), (6_000, 100), (15_000, 200), (30_000, 500), (60_000, 1_000), (150_000, 2_000))
_LARGEST_STEP = 5_000


def step(price: int) -> int:
    """By how much a bid must pass this price (cents)."""
    return next((rise for below, rise in _STEPS if price < below), _LARGEST_STEP)


def standing(opening: int, reserve: int | None, maxima: Sequence[int]) -> int:
    """The price: one step above the second highest maximum, at most the highest; a reserve that is reached is asked."""
    best, *others = sorted(maxima, reverse=True) or [0]
    price = min(best, others[0] + step(others[0])) if others else opening
    return max(price, reserve) if reserve is not None and best >= reserve else price


def least_bid(opening: int, price: int, bids: int) -> int:
    """The least that a further bidder must bid."""
    return price + step(price) if bids else opening
