"""What an order costs: the dishes, a voucher's discount, the way."""

from math import hypot

from proverl.envs.state import Row

_FREE_WAY = 20  # hundreds of metres that the restaurant's base fee covers
REACH = {"bicycle": 35, "scooter": 60, "car": 1_000}  # hundreds of metres that a courier goes with an order
_FEE_BEYOND = 5  # cents for every further hundred metres


def way(start: Row, end: Row) -> int:
    """Distance between a restaurant and an address in hundreds of metres."""
    return round(hypot(start["x"] - end["x"], start["y"] - end["y"]))


def delivery_fee(restaurant: Row, address: Row) -> int:
    """Cents for bringing food from the restaurant to the address."""
    return int(restaurant["base_fee"] + max(0, way(restaurant, address) - _FREE_WAY) * _FEE_BEYOND)


def discount(voucher: Row | None, subtotal: int) -> int:
    """Cents that the voucher takes off the dishes."""
    if voucher is None or voucher["kind"] == "free_delivery":
        return 0
    off = subtotal * voucher["value"] // 100 if voucher["kind"] == "percent" else voucher["value"]
    return int(min(off, subtotal))


def total(order: Row) -> int:
    """Cents that the customer pays."""
    return int(order["subtotal"] - order["discount"] + order["delivery_fee"] + order["tip"])


def shift(time: str, minutes: int) -> str:
    """A time of day so many minutes later; the day ends at 23:59."""
    late = min(int(time[:2]) * 60 + int(time[3:]) + minutes, 24 * 60 - 1)
    return f"{late // 60:02d}:{late % 60:02d}"
