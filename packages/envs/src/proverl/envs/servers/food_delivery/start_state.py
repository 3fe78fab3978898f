"""The platform at nine in the morning: 27 restaurants, 26 customers, 22 couriers, 40 days of orders.

Awkward on purpose: two customers of one name, some who never ordered, paused kitchens and days off, a dish sold out
while it lies in a basket, expired and used vouchers, blocked accounts, one with many refunds.
"""

from datetime import datetime
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import full_names
from proverl.envs.servers.food_delivery import bill, words
from proverl.envs.servers.food_delivery.history import History
from proverl.envs.servers.food_delivery.tables import (
    Basket,
    BasketLine,
    Courier,
    Customer,
    DeliveryAddress,
    Dish,
    FoodOrder,
    Refund,
    Restaurant,
    Voucher,
    basket_of,
)
from proverl.envs.state import Row

_UNDER_WAY = ("placed",) * 3 + ("accepted",) * 3 + ("preparing",) * 4 + ("ready",) * 3 + ("picked_up",) * 4
_FOR_LUNCH = ("placed", "placed", "accepted", "accepted")
_PAST = 110


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    _restaurants(draft)
    _customers(draft)
    _couriers(draft)
    history = History(draft)
    for _ in range(_PAST):
        history.past()
    for days in (3, 9, 16):
        history.complain(history.deliver(draft.rows[Customer][0], days), days)
    for status in _UNDER_WAY:
        history.this_morning(status)
    for status in _FOR_LUNCH:
        history.this_morning(status, later=True)
    _pause(draft)
    for courier in rng.sample(_idle_couriers(draft), 5):
        courier["online"] = False
    _vouchers(draft)
    _baskets(draft)
    return draft.rows


def _spot(rng: Random, reach: int) -> Row:
    return {"x": rng.randint(-reach, reach), "y": rng.randint(-reach, reach)}


def _restaurants(draft: Draft) -> None:
    rng = draft.rng
    for cuisine, (names, opens, closes) in words.RESTAURANTS.items():
        for name in names:
            ratings = rng.randint(12, 400)
            restaurant = draft.add(
                Restaurant,
                name=name,
                cuisine=cuisine,
                opens=opens,
                closes=closes,
                day_off=rng.choice((None, None, None, 0, 1, 6)),
                paused=False,
                min_order=rng.choice((0, 800, 1_000, 1_200, 1_500)),
                base_fee=rng.choice((99, 149, 199, 249, 299)),
                prep_minutes=rng.choice((10, 15, 20, 25)),
                radius=rng.randint(30, 60),
                rating_sum=ratings * rng.randint(34, 48) // 10,
                ratings=ratings,
                **_spot(rng, 25),
            )
            _menu(draft, restaurant)
    rng.choice(draft.rows[Restaurant])["day_off"] = draft.today.weekday()


def _pause(draft: Draft) -> None:
    """Two kitchens are overrun; one of them has an order that it has not accepted."""
    waiting = {row["restaurant_id"] for row in draft.rows[FoodOrder] if row["status"] == "placed"}
    overrun = draft.rng.choice([row for row in draft.rows[Restaurant] if row["id"] in waiting])
    other = draft.rng.choice([row for row in draft.rows[Restaurant] if row["id"] not in waiting])
    overrun["paused"] = other["paused"] = True


def _menu(draft: Draft, restaurant: Row) -> None:
    rng = draft.rng
    level = rng.randint(92, 112)
    for name, section, price, diet, alcohol in words.MENUS[restaurant["cuisine"]]:
        if section == "main" or rng.random() < 0.85:
            draft.add(
                Dish,
                restaurant_id=restaurant["id"],
                name=name,
                section=section,
                price=round(price * level / 1000) * 10,
                diet=diet,
                alcohol=alcohol,
                sold_out=rng.random() < 0.07,
            )


def _customers(draft: Draft) -> None:
    rng = draft.rng
    city, streets = rng.choice(list(words.STREETS.items()))
    blocked = set(rng.sample(range(1, 24), 2))
    for index, name in enumerate(full_names(rng, 26)):
        customer = draft.add(Customer, name=name, age_checked=rng.random() < 0.7, blocked=index in blocked)
        for label in ("Home", *rng.sample(words.LABELS[1:], rng.choice((0, 0, 1, 1)))):
            reach = 12 if label == "Home" else 45
            street = f"{rng.choice(streets)} {rng.randint(1, 180)}, {city}"
            draft.add(DeliveryAddress, customer_id=customer["id"], label=label, street=street, **_spot(rng, reach))


def _couriers(draft: Draft) -> None:
    vehicles = ["bicycle"] * 9 + ["scooter"] * 9 + ["car"] * 4
    draft.rng.shuffle(vehicles)
    for name, vehicle in zip(full_names(draft.rng, 22, namesakes=0), vehicles, strict=True):
        draft.add(Courier, name=name, vehicle=vehicle, online=True)


def _idle_couriers(draft: Draft) -> list[Row]:
    taken = {row["courier_id"] for row in draft.rows[FoodOrder] if row["status"] in ("preparing", "ready", "picked_up")}
    return [row for row in draft.rows[Courier] if row["id"] not in taken]


def _vouchers(draft: Draft) -> None:
    """One to three vouchers for most customers; some were used on their past orders."""
    rng = draft.rng
    refunded = {row["food_order_id"] for row in draft.rows[Refund]}
    orders = [row for row in draft.rows[FoodOrder] if row["status"] == "delivered" and row["id"] not in refunded]
    used: set[str] = set()
    for customer in draft.rows[Customer]:
        for code, kind, value, min_spend, cuisine in rng.sample(words.VOUCHERS, rng.choice((0, 2, 2, 3, 3))):
            fitting = [
                row
                for row in orders
                if row["customer_id"] == customer["id"]
                and row["id"] not in used
                and row["subtotal"] >= min_spend
                and cuisine is None
                and kind != "percent"
            ]
            voucher = draft.add(
                Voucher,
                customer_id=customer["id"],
                code=code,
                kind=kind,
                value=value,
                min_spend=min_spend,
                cuisine=cuisine,
                valid_until=draft.day(-rng.randint(1, 30) if rng.random() < 0.2 else rng.randint(5, 90)),
                used_by=None,
            )
            if fitting and rng.random() < 0.3:
                _use(voucher, fitting[0])
                used.add(fitting[0]["id"])


def _use(voucher: Row, order: Row) -> None:
    voucher["used_by"] = order["id"]
    voucher["valid_until"] = max(voucher["valid_until"], order["placed_on"])
    order["discount"] = bill.discount(voucher, order["subtotal"])
    if voucher["kind"] == "free_delivery":
        order["delivery_fee"] = 0


def _baskets(draft: Draft) -> None:
    """Some customers are choosing; one of them has what was sold out meanwhile."""
    rng = draft.rng
    weekday = draft.today.weekday()
    working = [row for row in draft.rows[Restaurant] if not row["paused"] and row["day_off"] != weekday]
    choosing = rng.sample([row for row in draft.rows[Customer] if not row["blocked"]], 9)
    for index, customer in enumerate(choosing):
        home = next(row for row in draft.rows[DeliveryAddress] if row["customer_id"] == customer["id"])
        near = [row for row in working if bill.way(row, home) <= row["radius"]]
        restaurant = rng.choice([row for row in near if index % 2 or row["opens"] <= "09:00"] or near)
        menu = [row for row in draft.rows[Dish] if row["restaurant_id"] == restaurant["id"] and not row["alcohol"]]
        there = [row for row in menu if not row["sold_out"]]
        chosen = rng.sample(there, min(rng.choice((1, 2, 3)), len(there)))
        if not chosen:
            continue
        basket = draft.add(
            Basket,
            id=basket_of(customer["id"]),
            customer_id=customer["id"],
            restaurant_id=restaurant["id"],
            voucher_id=None,
        )
        for dish in chosen:
            note = rng.choice(words.NOTES_ON_ANYTHING) if rng.random() < 0.2 else None
            draft.add(
                BasketLine, basket_id=basket["id"], dish_id=dish["id"], quantity=rng.choice((1, 1, 2, 3)), note=note
            )
        if index == 0:
            chosen[0]["sold_out"] = True
