"""What things cost: shipping, discounts, refunds; and when parcels arrive. Amounts are cents."""

from collections.abc import Sequence
from datetime import date, timedelta

from proverl.envs.state import Row

SHIPPING = {"standard": (495, 3), "express": (995, 1)}  # price, and working days until delivery
FREE_FROM = 5_000  # standard shipping is free for goods of this price, after the discount


def shipping_cost(method: str, goods: int) -> int:
    """The price of shipping goods that cost this much after the discount."""
    return 0 if method == "standard" and goods >= FREE_FROM else SHIPPING[method][0]


def counted(coupon: Row, lines: Sequence[Row]) -> int:
    """What the lines cost together that the coupon is for."""
    return sum(line["quantity"] * line["price"] for line in lines if coupon["category"] in (None, line["category"]))


def discount_of(coupon: Row | None, lines: Sequence[Row]) -> int:
    """What the coupon takes off the lines; nothing while they cost less than its minimum."""
    if coupon is None:
        return 0
    base = counted(coupon, lines)
    if base < coupon["minimum"] or coupon["kind"] == "free_shipping":
        return 0
    return min(base * coupon["value"] // 100 if coupon["kind"] == "percent" else coupon["value"], base)


def ships_free(coupon: Row | None, lines: Sequence[Row]) -> bool:
    """Whether the coupon pays for standard shipping."""
    return coupon is not None and coupon["kind"] == "free_shipping" and counted(coupon, lines) >= coupon["minimum"]


def refund_of(price: int, goods: int, discount: int) -> int:
    """What is paid back for items of this price from an order of `goods`: its share of the discount stays off."""
    return price * (goods - discount) // goods


def workday(start: date, days: int) -> str:
    """The ISO date this many delivery days after `start`; nothing is delivered on Sundays."""
    day = start
    for _ in range(days):
        day += timedelta(days=2 if day.weekday() == 5 else 1)
    return (day + timedelta(days=1) if day.weekday() == 6 else day).isoformat()


def subtotal(lines: Sequence[Row]) -> int:
    """What the lines cost together."""
    return sum(line["quantity"] * line["price"] for line in lines)


def shipping(coupon: Row | None, lines: Sequence[Row], method: str, discount: int) -> int:
    """What shipping the lines costs, once the coupon has done its part."""
    if not lines or (method == "standard" and ships_free(coupon, lines)):
        return 0
    return shipping_cost(method, subtotal(lines) - discount)
