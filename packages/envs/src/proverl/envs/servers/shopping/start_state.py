"""The shop on the morning of a session: its catalogue, and a customer with a year of orders behind them.

Awkward on purpose: sold-out and discontinued products on the wishlist and in the cart, near twins among the products,
expired, future and used coupons, an expired card, a nearly empty gift card, returns that were declined or lapsed.
"""

from datetime import date, datetime
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import FIRST_NAMES, full_names
from proverl.envs.servers.shopping import words
from proverl.envs.servers.shopping.history import orders, returns, settle_gift_cards, use_coupons
from proverl.envs.servers.shopping.tables import (
    Address,
    CartItem,
    Coupon,
    Order,
    OrderItem,
    PaymentMethod,
    Product,
    ProductReview,
    Shopper,
    WishlistItem,
)
from proverl.envs.state import Row


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    products = _products(draft)
    _coupons(draft)
    shopper = draft.add(Shopper, name=full_names(rng, 2)[0], coupon_code=None)
    _addresses(draft)
    _payment_methods(draft)
    orders(draft, products)
    use_coupons(draft)
    returns(draft)
    settle_gift_cards(draft)
    _reviews(draft, products, shopper)
    for product in rng.sample(products, rng.randint(6, 11)):
        draft.add(WishlistItem, product_id=product["id"], added_on=draft.day(-rng.randint(1, 300)))
    _cart(draft, products)
    return draft.rows


def _products(draft: Draft) -> list[Row]:
    rng = draft.rng
    products = []
    for number, listed in enumerate(rng.sample(words.PRODUCTS, 80)):
        category, brand, name, price, bulky, hygiene = listed
        sold_out, discontinued = number % 11 == 3, number % 16 == 7
        stock = (
            0 if sold_out or discontinued else rng.choice((rng.randint(1, 4), rng.randint(5, 40), rng.randint(40, 180)))
        )
        products.append(
            draft.add(
                Product,
                name=f"{brand} {name}".strip(),
                category=category,
                price=max(price + 100 * rng.randint(-price // 1_500, price // 1_500), 495),
                stock=stock,
                status="discontinued" if discontinued else "active",
                per_order=1 if price > 20_000 else rng.choice((2, 3, 5, 10)),
                bulky=bulky,
                hygiene=hygiene,
                released_on=draft.day(-rng.randint(420, 2_000) if discontinued else -rng.randint(20, 1_500)),
            )
        )
    return products


def _coupons(draft: Draft) -> None:
    rng = draft.rng
    stems: list[tuple[str, str | None]] = [(stem, None) for stem in rng.sample(words.COUPON_STEMS, 14)]
    stems += [(stem, category) for category, stem in rng.sample(sorted(words.CATEGORY_STEMS.items()), 6)]
    for number, (stem, category) in enumerate(stems):
        kind = "free_shipping" if number in (2, 9) else rng.choice(("percent", "percent", "amount"))
        value = {"percent": rng.choice((5, 10, 15, 20)), "amount": rng.choice((5, 10, 15)), "free_shipping": 0}[kind]
        ended, not_begun = number % 5 == 1, number % 9 == 4
        begins = rng.randint(2, 20) if not_begun else -rng.randint(120, 380) if ended else -rng.randint(1, 60)
        lasts = rng.choice((30, 60, 90)) if ended else max(-begins, 0) + rng.randint(5, 60)
        draft.add(
            Coupon,
            id=f"{stem}{value or 'SHIP'}",
            kind=kind,
            value=value * 100 if kind == "amount" else value,
            category=category,
            minimum=value * rng.choice((300, 400, 500)) if kind == "amount" else rng.choice((0, 2_500, 4_000)),
            starts_on=draft.day(begins),
            ends_on=draft.day(begins + lasts),
        )


def _addresses(draft: Draft) -> None:
    rng = draft.rng
    doors = [(street, rng.choice(words.TOWNS)) for street in rng.sample(words.STREETS, 4)]
    points = rng.sample(words.PICKUP_POINTS, 2)
    labels = ["Home", *rng.sample(words.ADDRESS_LABELS[1:], 3), "Pick-up point", "Pick-up point near work"]
    for number, (label, (street, town)) in enumerate(zip(labels, [*doors, *points], strict=True)):
        kind = "door" if number < len(doors) else "pickup_point"
        draft.add(Address, label=label, kind=kind, street=street, town=town)


def _payment_methods(draft: Draft) -> None:
    rng = draft.rng
    for number, brand in enumerate(rng.sample(words.CARD_BRANDS, 4)):
        digits = 4 if brand == "American Express" else 3
        draft.add(
            PaymentMethod,
            type="card",
            label=f"{brand} ending in {rng.randrange(10_000):04d}",
            expires=draft.day(-rng.randint(32, 90) if number == 3 else rng.randint(50, 1_200))[:7],
            security_code=f"{rng.randrange(10**digits):0{digits}d}",
            loaded=None,
            balance=None,
        )
    for balance in (rng.randint(40, 690), rng.choice((5_000, 7_500, 10_000)), rng.randint(12_000, 30_000)):
        draft.add(
            PaymentMethod,
            type="gift_card",
            label=f"Gift card ending in {rng.randrange(10_000):04d}",
            expires=draft.day(rng.randint(60, 900))[:7],
            security_code=f"{rng.randrange(10_000):04d}",
            loaded=0,
            balance=balance,
        )


def _reviews(draft: Draft, products: list[Row], shopper: Row) -> None:
    rng = draft.rng
    for product in products:
        for _ in range(rng.choice((0, 0, 1, 1, 2, 2, 3))):
            released = (draft.today - date.fromisoformat(product["released_on"])).days
            author = f"{rng.choice(FIRST_NAMES)} {rng.choice('ABCDEFGHIJKLMNOPRSTVWZ')}."
            _review(draft, product["id"], rng.randint(1, max(released - 7, 1)), author, None)
    received = {row["id"]: row for row in draft.rows[Order] if row["status"] == "delivered"}
    items = [row for row in draft.rows[OrderItem] if row["order_id"] in received]
    bought = {row["product_id"]: received[row["order_id"]] for row in items}
    for product_id, order in rng.sample(list(bought.items()), 6):
        days = (draft.today - date.fromisoformat(order["delivered_on"])).days
        _review(draft, product_id, rng.randint(min(days, 1), days), _signature(shopper["name"]), shopper["id"])


def _signature(name: str) -> str:
    first, _, last = name.partition(" ")
    return f"{first} {last[0]}."


def _review(draft: Draft, product_id: str, days_ago: int, author: str, shopper_id: str | None) -> None:
    rating = draft.rng.choice((5, 5, 5, 4, 4, 4, 3, 3, 2, 1))
    draft.add(
        ProductReview,
        product_id=product_id,
        shopper_id=shopper_id,
        author=author,
        rating=rating,
        text=draft.rng.choice(words.REVIEWS[rating]),
        written_on=draft.day(-days_ago),
    )


def _cart(draft: Draft, products: list[Row]) -> None:
    """Mostly a cart that can be ordered as it is; now and then an empty one, or one with something that sold out."""
    rng = draft.rng
    kind = rng.choice(("ready", "ready", "ready", "ready", "empty", "sold out"))
    ready = [row for row in products if row["stock"] > 3 and row["price"] < 15_000]
    for product in () if kind == "empty" else rng.sample(ready, rng.randint(1, 4)):
        draft.add(CartItem, product_id=product["id"], quantity=rng.randint(1, min(product["per_order"], 2)))
    if kind == "sold out":
        gone = rng.choice([row for row in products if row["stock"] == 0])
        draft.add(CartItem, product_id=gone["id"], quantity=1)
