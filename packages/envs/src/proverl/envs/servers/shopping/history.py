"""The customer's past: orders, the coupons they used, what went back, and what gift cards paid."""

from datetime import date, timedelta

from proverl.envs import Draft
from proverl.envs.servers.shopping.prices import SHIPPING, refund_of, shipping_cost, workday
from proverl.envs.servers.shopping.tables import Address, Coupon, Order, OrderItem, PaymentMethod, Product, Return
from proverl.envs.state import Row

_RECENT = (  # status and days since the order was placed
    ("processing", 0), ("processing", 1), ("packed", 1), ("delivered", 2), ("delivered", 2), ("packed", 2),
    ("delivered", 3), ("shipped", 3), ("shipped", 4), ("processing", 3), ("cancelled", 4), ("cancelled", 9),
    ("cancelled", 40), ("cancelled", 120),
)  # fmt: skip
_RETURN_REASONS = ("damaged", "defective", "wrong_item", "not_as_described", "changed_mind")
CANCEL_REASONS = ("ordered_by_mistake", "no_longer_needed", "found_cheaper", "delivery_too_slow")


def orders(draft: Draft, products: list[Row]) -> None:
    """A year of orders, the latest of them still on their way."""
    rng = draft.rng
    delivered = [("delivered", rng.randint(5, 28)) for _ in range(10)]
    older = [("delivered", rng.randint(35, 390)) for _ in range(13)]
    for status, days in [*_RECENT, *delivered, *older]:
        placed = draft.today - timedelta(days=days)
        chosen = [row for row in rng.sample(products, 9) if row["released_on"] < placed.isoformat()]
        if days < 60:
            chosen = [row for row in chosen if row["status"] == "active"]
        if status == "delivered" and days < 5:
            chosen = [row for row in chosen if not row["bulky"]]
        if chosen:
            _order(draft, status, placed, chosen[: rng.choice((1, 1, 2, 2, 3))])


def _order(draft: Draft, status: str, placed: date, products: list[Row]) -> None:
    rng = draft.rng
    bulky = any(row["bulky"] for row in products)
    places = [row for row in draft.rows[Address] if not (bulky and row["kind"] == "pickup_point")]
    arrived, days = status == "delivered", (draft.today - placed).days
    method = "express" if not bulky and (rng.random() < 0.2 or (arrived and days < 5)) else "standard"
    expected = workday(placed, SHIPPING[method][1])
    order = draft.add(
        Order,
        status=status,
        placed_on=placed.isoformat(),
        placed_at=f"{rng.randint(7, 8 if placed == draft.today else 22):02d}:{rng.randrange(60):02d}",
        expected_on=expected,
        delivered_on=workday(placed, max(SHIPPING[method][1] - rng.choice((0, 0, 1)), 1)) if arrived else None,
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
        cheaper = days > 30 and rng.random() < 0.4
        price = product["price"] - (50 if cheaper else 0)
        draft.add(OrderItem, order_id=order["id"], product_id=product["id"], quantity=quantity, price=price)
        goods += quantity * price
    order["shipping"] = shipping_cost(method, goods)
    order["total"] = goods + order["shipping"]
    order["payment_method_id"] = _payer(draft, order["total"])["id"]


def _payer(draft: Draft, total: int) -> Row:
    """A payment method that was good then: a card that has not run out since, or a gift card for a small order."""
    methods = draft.rows[PaymentMethod]
    return draft.rng.choice(methods[4:] if total < 6_000 and draft.rng.random() < 0.4 else methods[:3])


def use_coupons(draft: Draft) -> None:
    """Some coupons went into orders; one whose order was cancelled can be used again."""
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


def returns(draft: Draft) -> None:
    """What went back, or was announced and never sent."""
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
        later = ("received", "requested") if waited < 14 else ("refunded", "refunded", "declined", "lapsed")
        status = "requested" if waited < 6 else rng.choice(later)
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


def settle_gift_cards(draft: Draft) -> None:
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
