"""The shop on the morning of a session: its catalogue, and a customer with a year of orders behind them.

Awkward on purpose: sold-out and discontinued products on the wishlist and in the cart, near twins among the products,
expired, future and used coupons, an expired card, a nearly empty gift card, returns that were declined or lapsed.
"""

from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import FIRST_NAMES, full_names
from proverl.envs.servers.shopping import words
from proverl.envs.servers.shopping.prices import SHIPPING, refund_of, shipping_cost, workday
from proverl.envs.servers.shopping.tables import (
    Address,
    CartItem,
    Coupon,
    Order,
    OrderItem,
    PaymentMethod,
    Product,
    ProductReview,
    Return,
    Shopper,
    WishlistItem,
)
from proverl.envs.state import Row

_RECENT = (  # status and days since the order was placed
    ("processing", 0), ("processing", 1), ("processing", 1), ("packed", 1), ("packed", 2), ("packed", 2),
    ("shipped", 2), ("shipped", 3), ("shipped", 4), ("cancelled", 3), ("cancelled", 9), ("cancelled", 40),
    ("cancelled", 120),
)  # fmt: skip
_RETURN_REASONS = ("damaged", "defective", "wrong_item", "not_as_described", "changed_mind")
CANCEL_REASONS = ("ordered_by_mistake", "no_longer_needed", "found_cheaper", "delivery_too_slow")


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    products = _products(draft)
    _coupons(draft)
    shopper = draft.add(Shopper, name=full_names(rng, 2)[0], coupon_code=None)
    _addresses(draft)
    _payment_methods(draft)
    _orders(draft, products)
    _use_coupons(draft)
    _returns(draft)
    _settle_gift_cards(draft)
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


def _orders(draft: Draft, products: list[Row]) -> None:
    rng = draft.rng
    delivered = [("delivered", rng.randint(5, 28)) for _ in range(9)]
    older = [("delivered", rng.randint(45, 390)) for _ in range(14)]
    for status, days in [*_RECENT, *delivered, *older]:
        placed = draft.today - timedelta(days=days)
        chosen = [row for row in rng.sample(products, 9) if row["released_on"] < placed.isoformat()]
        if days < 60:
            chosen = [row for row in chosen if row["status"] == "active"]
        if chosen:
            _order(draft, status, placed, chosen[: rng.choice((1, 1, 2, 2, 3))])


def _order(draft: Draft, status: str, placed: date, products: list[Row]) -> None:
    rng = draft.rng
    bulky = any(row["bulky"] for row in products)
    places = [row for row in draft.rows[Address] if not (bulky and row["kind"] == "pickup_point")]
    method = "express" if not bulky and rng.random() < 0.2 else "standard"
    arrived = status == "delivered"
    expected = workday(placed, SHIPPING[method][1])
    order = draft.add(
        Order,
        status=status,
        placed_on=placed.isoformat(),
        placed_at=f"{rng.randint(7, 8 if placed == draft.today else 22):02d}:{rng.randrange(60):02d}",
        expected_on=expected,
        delivered_on=workday(placed, SHIPPING[method][1] - rng.choice((0, 0, 1))) if arrived else None,
        address_id=rng.choice(places)["id"],
        payment_method_id="",
        shipping_method=method,
        coupon_code=None,
        discount=0,
        shipping=0,
        total=0,
        cancel_reason=rng.choice(CANCEL_REASONS) if status == "cancelled" else None,
    )
    goods = 0
    for product in products:
        quantity = 1 if rng.random() < 0.7 else rng.randint(1, min(product["per_order"], 4))
        price = (
            product["price"]
            if placed > draft.today - timedelta(days=30) or rng.random() < 0.6
            else product["price"] - 50
        )
        draft.add(OrderItem, order_id=order["id"], product_id=product["id"], quantity=quantity, price=price)
        goods += quantity * price
    order["shipping"] = shipping_cost(method, goods)
    order["total"] = goods + order["shipping"]
    order["payment_method_id"] = _payer(draft, order["total"])["id"]


def _payer(draft: Draft, total: int) -> Row:
    """A payment method that was good then: a card that has not run out since, or a gift card for a small order."""
    methods = draft.rows[PaymentMethod]
    return draft.rng.choice(methods[4:] if total < 6_000 and draft.rng.random() < 0.4 else methods[:3])


def _use_coupons(draft: Draft) -> None:
    """Three coupons went into orders of theirs: two that can't be used again, and one whose order was cancelled."""
    free = [row for row in draft.rows[Coupon] if row["kind"] == "percent" and row["category"] is None]
    orders = [row for row in draft.rows[Order] if row["status"] in ("delivered", "processing", "cancelled")]
    for coupon in free:
        fitting = [
            row
            for row in orders
            if coupon["starts_on"] <= row["placed_on"] <= coupon["ends_on"]
            and row["coupon_code"] is None
            and _goods(row) >= coupon["minimum"]
        ]
        if not fitting or draft.rng.random() < 0.4:
            continue
        order = draft.rng.choice(fitting)
        goods = _goods(order)
        order["discount"] = goods * coupon["value"] // 100
        order["shipping"] = shipping_cost(order["shipping_method"], goods - order["discount"])
        order["total"] = goods - order["discount"] + order["shipping"]
        order["coupon_code"] = coupon["id"]


def _goods(order: Row) -> int:
    return int(order["total"] - order["shipping"] + order["discount"])


def _returns(draft: Draft) -> None:
    rng = draft.rng
    orders = {row["id"]: row for row in draft.rows[Order]}
    products = {row["id"]: row for row in draft.rows[Product]}
    items = [row for row in draft.rows[OrderItem] if orders[row["order_id"]]["status"] == "delivered"]
    for item in rng.sample(items, 12):
        order = orders[item["order_id"]]
        delivered = date.fromisoformat(order["delivered_on"])
        age = (draft.today - delivered).days
        if age < 1:
            continue
        asked = delivered + timedelta(days=rng.randint(0, min(age - 1, 25)))
        waited = (draft.today - asked).days
        status = (
            "requested"
            if waited < 6
            else rng.choice(
                ("received", "requested") if waited < 14 else ("refunded", "refunded", "declined", "lapsed")
            )
        )
        hygiene = products[item["product_id"]]["hygiene"]
        quantity = rng.randint(1, item["quantity"])
        draft.add(
            Return,
            order_item_id=item["id"],
            quantity=quantity,
            reason=rng.choice(_RETURN_REASONS[:4] if hygiene else _RETURN_REASONS),
            status=status,
            refund=refund_of(item["price"] * quantity, _goods(order), order["discount"]),
            requested_on=asked.isoformat(),
        )


def _settle_gift_cards(draft: Draft) -> None:
    """What a gift card was bought with covers the orders paid with it, less refunds, and leaves its balance."""
    orders = {row["id"]: row for row in draft.rows[Order]}
    items = {row["id"]: row for row in draft.rows[OrderItem]}
    for card in draft.rows[PaymentMethod]:
        if card["type"] != "gift_card":
            continue
        paid = sum(
            row["total"]
            for row in orders.values()
            if row["payment_method_id"] == card["id"] and row["status"] != "cancelled"
        )
        refunded = sum(
            row["refund"]
            for row in draft.rows.get(Return, ())
            if row["status"] == "refunded"
            and orders[items[row["order_item_id"]]["order_id"]]["payment_method_id"] == card["id"]
        )
        card["loaded"] = -(-(card["balance"] + paid - refunded) // 500) * 500  # sold in steps of 5.00
        card["balance"] = card["loaded"] - paid + refunded


def _reviews(draft: Draft, products: list[Row], shopper: Row) -> None:
    rng = draft.rng
    for product in products:
        for _ in range(rng.choice((0, 0, 1, 1, 2, 2, 3))):
            released = (draft.today - date.fromisoformat(product["released_on"])).days
            author = f"{rng.choice(FIRST_NAMES)} {rng.choice('ABCDEFGHIJKLMNOPRSTVWZ')}."
            _review(draft, product["id"], rng.randint(1, max(released - 7, 1)), author, None)
    orders = {row["id"]: row for row in draft.rows[Order] if row["status"] == "delivered"}
    bought = {row["product_id"]: orders[row["order_id"]] for row in draft.rows[OrderItem] if row["order_id"] in orders}
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
