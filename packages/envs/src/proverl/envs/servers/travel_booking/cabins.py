"""Seat plans of the aircraft. A flight keeps the seats that others hold as the bits of one number."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

Position = Literal["window", "middle", "aisle"]
_POSITIONS: dict[str, tuple[Position, ...]] = {
    "ACDF": ("window", "aisle", "aisle", "window"),
    "ABCDEF": ("window", "middle", "aisle", "aisle", "middle", "window"),
    "ABDEFGJK": ("window", "aisle", "aisle", "middle", "middle", "aisle", "aisle", "window"),
}
_PLANS = {  # cabin, first and last row, letters
    "A320": (("business", 1, 3, "ACDF"), ("economy", 4, 28, "ABCDEF")),
    "E190": (("business", 1, 2, "ACDF"), ("economy", 3, 24, "ACDF")),
    "A330": (("business", 1, 5, "ACDF"), ("economy", 10, 32, "ABDEFGJK")),
    "B737": (("economy", 1, 31, "ABCDEF"),),
}
_EXITS = {"A320": (11, 12), "E190": (13,), "A330": (20,), "B737": (15, 16)}


@dataclass(frozen=True)
class Seat:
    """A seat of a plan; `bit` is its place in a flight's `sold`."""

    name: str
    cabin: str
    position: Position
    exit_row: bool
    bit: int


@cache
def plan(aircraft: str) -> dict[str, Seat]:
    """Every seat of an aircraft by name, front to back."""
    seats: dict[str, Seat] = {}
    for cabin, first, last, letters in _PLANS[aircraft]:
        for row in range(first, last + 1):
            for letter, position in zip(letters, _POSITIONS[letters], strict=True):
                name = f"{row}{letter}"
                seats[name] = Seat(name, cabin, position, row in _EXITS[aircraft], 1 << len(seats))
    return seats


@cache
def cabin_mask(aircraft: str, cabin: str) -> int:
    """The bits of all seats of a cabin."""
    return sum(seat.bit for seat in plan(aircraft).values() if seat.cabin == cabin)


def unsold(aircraft: str, sold: str, cabin: str) -> int:
    """How many seats of a cabin nobody else holds."""
    return (cabin_mask(aircraft, cabin) & ~int(sold, 16)).bit_count()
