"""The shop: what its tools do together, every refusal, what its laws notice, which calls commute."""

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from functools import cache
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import Result
from proverl.envs import Context, Session, load_server, start_time

SHOP = load_server("shopping")
CATEGORIES = ("electronics", "kitchen", "home", "garden", "sports", "toys", "books", "personal_care")
Row = dict[str, Any]
Call = tuple[str, Row]  # a tool and its arguments


def pick(rows: Iterable[Row], fits: Callable[[Row], bool] = lambda row: True, **wanted: Any) -> Row:
    """The first row with these values that fits; StopIteration without one."""
    return next(row for row in rows if wanted.items() <= row.items() and fits(row))


class Shop:
    """A session, and what the visible reading tools found in its start state."""

    def __init__(self, seed: int) -> None:
        self.session = Session([SHOP], seed)
        found = start_of(seed)
        self.products, self.orders, self.coupons = found["products"], found["orders"], found["coupons"]
        self.addresses, self.methods, self.returns = found["addresses"], found["payment_methods"], found["returns"]
        self.month_ago = (self.session.now.date() - timedelta(days=30)).isoformat()

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def product(self, low: float = 0, high: float = 1_000, **wanted: Any) -> Row:
        """A product in stock within a range of prices."""
        return pick(self.products, lambda row: row["in_stock"] > 1 and low < row["price"] < high, **wanted)

    def address(self, kind: str = "door") -> str:
        return pick(self.addresses, kind=kind)["address_id"]

    def card(self, good: bool = True) -> str:
        month = str(self.session.now)[:7]
        return pick(self.methods, lambda row: (row["expires"] >= month) == good, balance=None)["payment_method_id"]

    def items(self, *statuses: str) -> list[Row]:
        """Items of orders with these statuses, newest order first; each knows its order."""
        return [{**order, **item} for order in self.orders if order["status"] in statuses for item in order["items"]]

    def fill(self, *products: Row) -> "Shop":
        """Have exactly these products in the cart."""
        for line in self.read("get_cart")["items"]:
            self.read("remove_from_cart", product_id=line["product_id"])
        for product in products:
            self.read("add_to_cart", product_id=product["product_id"])
        return self

    def checkout(self, **changes: Any) -> Row:
        """Arguments that order the cart."""
        method = changes.get("payment_method_id", self.card())
        code = self.read("reveal_payment_code", payment_method_id=method)["security_code"]
        return {"address_id": self.address(), "payment_method_id": method, "security_code": code, **changes}

    def applied(self, fits: Callable[[Row], bool] = lambda row: True) -> str:
        """The first coupon that the cart takes."""
        return pick(self.coupons, lambda row: fits(row) and self.call(*code(row)[:1], **code(row)[1]).ok)["coupon_code"]

    def listed(self, tool: str, **wanted: Any) -> Row:
        (rows,) = self.read(tool, **({} if "payment" in tool else {"limit": 50})).values()
        return pick(rows, **wanted)


@cache
def start_of(seed: int) -> dict[str, list[Row]]:
    """Everything in the start state that callers can see."""
    with Session([SHOP], seed) as session:

        def read(name: str, **arguments: Any) -> Any:
            return session.call(name, arguments).content

        listed = [row for name in CATEGORIES for row in read("search_products", category=name, limit=50)["products"]]
        orders = read("list_orders", limit=50)["orders"]
        return {
            "products": [read("get_product", product_id=row["product_id"]) for row in listed],
            "orders": [read("get_order", order_id=row["order_id"]) for row in orders],
            **read("list_coupons", limit=50),
            **read("list_returns", limit=50),
            **read("list_addresses"),
            **read("list_payment_methods"),
        }


@pytest.fixture
def shop() -> Shop:
    return Shop(3)


def code(row: Row) -> Call:
    return "apply_coupon", {"coupon_code": row["coupon_code"]}


def names(rows: list[Row]) -> list[str]:
    return [row["name"] for row in rows]


def ids(rows: Iterable[Row]) -> list[str]:
    return [row["product_id"] for row in rows]


# What the tools do


def test_an_order_empties_the_cart_takes_stock_and_is_listed_first(shop):
    product = shop.product(bulky=False)
    cart = shop.fill(product).read("get_cart")
    placed = shop.read("place_order", **shop.checkout())
    assert placed["total"] == cart["total"] == round(cart["subtotal"] + cart["shipping"], 2)
    assert shop.read("get_cart")["items"] == []
    assert shop.read("get_product", product_id=product["product_id"])["in_stock"] == product["in_stock"] - 1
    assert shop.read("list_orders", limit=1)["orders"][0]["order_id"] == placed["order_id"]
    (item,) = shop.read("get_order", order_id=placed["order_id"])["items"]
    assert (item["product_id"], item["quantity"], item["price"]) == (product["product_id"], 1, product["price"])


def test_a_cancelled_order_gives_back_stock_money_and_coupon(shop):
    gift_card = max((row for row in shop.methods if row["balance"]), key=lambda row: row["balance"])
    method = {"payment_method_id": gift_card["payment_method_id"]}
    product = shop.product(40, 100)
    coupon = shop.fill(product).applied()
    placed = shop.read("place_order", **shop.checkout(**method))
    left = shop.listed("list_payment_methods", **method)["balance"]
    assert left == round(gift_card["balance"] - placed["total"], 2)
    assert shop.read("get_order", order_id=placed["order_id"])["coupon_code"] == coupon
    assert shop.listed("list_coupons", coupon_code=coupon)["status"] == "used"
    refund = shop.read("cancel_order", order_id=placed["order_id"], reason="ordered_by_mistake")
    assert refund == {"order_id": placed["order_id"], "status": "cancelled", "refund": placed["total"], **method}
    assert shop.listed("list_payment_methods", **method)["balance"] == gift_card["balance"]
    assert shop.read("get_product", product_id=product["product_id"])["in_stock"] == product["in_stock"]
    assert shop.listed("list_coupons", coupon_code=coupon)["status"] == "valid"


def test_a_coupon_that_no_longer_fits_takes_nothing_off_and_is_not_used_up(shop):
    dear, cheap = shop.product(140), shop.product(0, 20)
    coupon = shop.fill(dear, cheap).applied(lambda row: " off from" in row["benefit"])
    shop.read("remove_from_cart", product_id=dear["product_id"])
    assert shop.read("get_cart")["discount"] == 0
    placed = shop.read("place_order", **shop.checkout())
    assert shop.read("get_order", order_id=placed["order_id"])["coupon_code"] is None
    assert shop.listed("list_coupons", coupon_code=coupon)["status"] == "valid"


def test_shipping_is_free_from_50_and_express_costs_more(shop):
    assert shop.fill(shop.product(0, 30)).read("get_cart")["shipping"] == 4.95
    assert shop.fill(shop.product(50)).read("get_cart")["shipping"] == 0
    subtotal = shop.fill(shop.product(50, bulky=False)).read("get_cart")["subtotal"]
    assert shop.read("place_order", **shop.checkout(shipping_method="express"))["total"] == round(subtotal + 9.95, 2)


def test_a_new_address_can_receive_an_order_that_is_still_processing(shop):
    saved = shop.read("add_address", label="Boat", street="Veldstraat 9", town="9000 Ghent")
    order = pick(shop.orders, status="processing")["order_id"]
    shop.read("change_order_address", order_id=order, address_id=saved["address_id"])
    assert shop.read("get_order", order_id=order)["address_id"] == saved["address_id"]


def test_a_return_pays_back_the_price_less_its_share_of_the_discount():
    for shop in map(Shop, range(12)):
        for item in shop.items("delivered"):
            if item["coupon_code"] and shop.call("request_return", **back(item, "wrong_item")[1]).ok:
                goods = sum(row["quantity"] * row["price"] for row in item["items"])
                refund = shop.read("list_returns", limit=1)["returns"][0]["refund"]
                assert refund < item["price"]
                assert refund == pytest.approx(item["price"] * min(item["total"], goods) / goods, abs=5)
                return
    raise AssertionError("nothing was bought with a coupon")


def test_a_defective_product_can_go_back_long_after_the_return_period(shop):
    returned = {row["order_item_id"] for row in shop.returns}
    item = pick(shop.items("delivered")[::-1], lambda row: row["order_item_id"] not in returned)
    assert "could be returned until" in shop.call("request_return", **back(item, "damaged")[1]).message
    assert shop.call("request_return", **back(item, "defective")[1]).ok


def test_a_review_of_a_received_product_moves_its_rating(shop):
    product = pick(shop.items("delivered"), lambda row: shop.call("write_product_review", **review(row)[1]).ok)
    before = pick(shop.products, product_id=product["product_id"])
    assert shop.read("get_product", product_id=product["product_id"])["review_count"] == before["review_count"] + 1
    newest = shop.read("list_product_reviews", product_id=product["product_id"], rating=4)["reviews"]
    assert "Fine." in [row["text"] for row in newest]


def test_products_are_found_by_all_words_whatever_case_and_accents_within_a_price():
    shop = next(shop for shop in map(Shop, range(9)) if "L'Étranger, Albert Camus" in names(shop.products))
    assert names(shop.read("search_products", query="ETRANGER camus")["products"]) == ["L'Étranger, Albert Camus"]
    assert shop.read("search_products", query="%")["products"] == []
    cheap = shop.read("search_products", max_price=20, sort="highest_price", limit=50)["products"]
    assert [row["price"] for row in cheap] == sorted((row["price"] for row in cheap), reverse=True)
    assert len(cheap) == len([row for row in shop.products if row["price"] <= 20])


def test_the_wishlist_keeps_what_is_sold_out_until_it_is_taken_off(shop):
    wished = ids(shop.read("get_wishlist")["products"])
    product = {"product_id": unwished(shop, "sold_out")}
    assert shop.read("add_to_wishlist", **product)["availability"] == "sold_out"
    assert ids(shop.read("get_wishlist")["products"]) == [product["product_id"], *wished]
    shop.read("remove_from_wishlist", **product)
    assert ids(shop.read("get_wishlist")["products"]) == wished


@pytest.mark.parametrize("seed", range(4))
def test_the_past_of_orders_is_consistent(seed):
    shop = Shop(seed)
    today = shop.session.now.date().isoformat()
    assert {row["status"] for row in shop.orders} == {"processing", "packed", "shipped", "delivered", "cancelled"}
    assert len(shop.orders) > 30
    for row in shop.orders:
        assert row["placed_on"] <= (row["delivered_on"] or today) <= today
        assert (row["delivered_on"] is not None) == (row["status"] == "delivered")
        assert row["delivered_on"] is None or date.fromisoformat(row["delivered_on"]).weekday() < 6


# Refusals: what the message says, and the call, for a shop that has what it needs


def add(product: Row, quantity: int = 1) -> Call:
    return "add_to_cart", {"product_id": product["product_id"], "quantity": quantity}


def order(shop: Shop, product: Row, **changes: Any) -> Call:
    return "place_order", shop.fill(product).checkout(**changes)


def coupon(shop: Shop, status: str = "valid", fits: Callable[[Row], bool] = lambda row: True) -> Call:
    return code(pick(shop.coupons, fits, status=status))


def address(label: str, street: str = "Dreef 77") -> Call:
    return "add_address", {"label": label, "street": street, "town": "9000 Ghent"}


def cancel(shop: Shop, status: str) -> Call:
    return "cancel_order", {"order_id": pick(shop.orders, status=status)["order_id"], "reason": "found_cheaper"}


def redirect(row: Row, place: str) -> Call:
    return "change_order_address", {"order_id": row["order_id"], "address_id": place}


def back(item: Row, reason: str = "damaged", quantity: int = 1) -> Call:
    return "request_return", {"order_item_id": item["order_item_id"], "quantity": quantity, "reason": reason}


def review(product: Row) -> Call:
    return "write_product_review", {"product_id": product["product_id"], "rating": 4, "text": "Fine."}


def a_full_cart(shop: Shop) -> Call:
    products = [row for row in shop.products if row["in_stock"]]
    shop.fill(*products[:20])
    return add(products[20])


def more_than_in_stock(shop: Shop) -> Call:
    product = pick(shop.products, lambda row: 0 < row["in_stock"] < row["max_per_order"])
    return add(product, product["in_stock"] + 1)


def same_quantity(shop: Shop, product: Row) -> Call:
    shop.fill(product)
    return "update_cart_item", add(product)[1]


def other_category(shop: Shop) -> Call:
    row = pick(shop.coupons, lambda row: "products" in row["benefit"], status="valid")
    shop.fill(pick(shop.products, lambda one: one["in_stock"] > 0 and one["category"][:4] not in row["benefit"]))
    return code(row)


def unwished(shop: Shop, availability: str) -> str:
    wished = ids(shop.read("get_wishlist")["products"])
    return pick(shop.products, lambda row: row["product_id"] not in wished, availability=availability)["product_id"]


def known_address(shop: Shop) -> Call:
    street, _, town = shop.addresses[0]["address"].rpartition(", ")
    return "add_address", {"label": "Again", "street": street.upper(), "town": town}


def too_many_addresses(shop: Shop) -> Call:
    for number in range(4):
        shop.read("add_address", **address(f"Site {number}", f"Dreef {number}")[1])
    return address("One more")


def sold_out_in_cart(shop: Shop) -> Call:
    gone = ids(row for row in shop.products if row["in_stock"] == 0)
    pick(shop.read("get_cart")["items"], lambda row: row["product_id"] in gone)
    return "place_order", shop.checkout()


def small_gift_card(shop: Shop) -> Call:
    small = min((row for row in shop.methods if row["balance"] is not None), key=lambda row: row["balance"])
    return order(shop, shop.product(small["balance"]), payment_method_id=small["payment_method_id"])


def recent(shop: Shop, fits: Callable[[Row], bool] = lambda row: True) -> Row:
    """An item delivered lately, none of which goes back yet."""
    returned = {row["order_item_id"] for row in shop.returns}
    items = [row for row in shop.items("delivered") if row["delivered_on"] >= shop.month_ago]
    return pick(items, lambda row: row["order_item_id"] not in returned and fits(row))


def twice(shop: Shop, call: Call) -> Call:
    shop.call(call[0], **call[1])
    return call


def bulky_order(shop: Shop) -> Row:
    return shop.read("place_order", **order(shop, shop.product(bulky=True))[1])


def early_review(shop: Shop) -> Call:
    received = ids(shop.items("delivered"))
    return review(pick(shop.items("shipped"), lambda row: row["product_id"] not in received))


def never_ordered(shop: Shop) -> Row:
    known = ids(shop.items("processing", "packed", "shipped", "delivered", "cancelled"))
    return pick(shop.products, lambda row: row["product_id"] not in known)


REFUSALS: dict[str, Callable[[Shop], Call]] = {
    "is discontinued and can't be ordered": lambda shop: add(pick(shop.products, availability="discontinued")),
    "is sold out; add_to_wishlist keeps it in view": lambda shop: add(pick(shop.products, availability="sold_out")),
    "at most 2 of product": lambda shop: add(shop.product(max_per_order=2), 3),
    "are in stock; ": more_than_in_stock,
    "the cart holds 20 different products already": a_full_cart,
    "not in the cart; get_cart": lambda shop: ("remove_from_cart", {"product_id": shop.fill().product()["product_id"]}),
    "in the cart; get_cart shows": lambda shop: ("update_cart_item", add(shop.fill().product())[1]),
    "already; name another quantity": lambda shop: same_quantity(shop, shop.product()),
    "is not valid before": lambda shop: coupon(shop, "upcoming"),
    "expired on": lambda shop: coupon(shop, "expired"),
    "was used for order ORD-": lambda shop: coupon(shop, "used"),
    "is applied to the cart already": lambda shop: code({"coupon_code": shop.fill(shop.product(80)).applied().lower()}),
    "the cart is empty; put products in it before coupon": lambda shop: coupon(shop.fill()),
    "products only; the cart has none of them": other_category,
    "are missing": lambda shop: coupon(shop.fill(shop.product(0, 15)), fits=lambda row: " off from" in row["benefit"]),
    "is free already; keep": lambda shop: coupon(
        shop.fill(shop.product(60)), fits=lambda row: "free" in row["benefit"]
    ),
    "is on the wishlist already": lambda shop: (
        "add_to_wishlist",
        {"product_id": shop.read("get_wishlist")["products"][0]["product_id"]},
    ),
    "won't come back": lambda shop: ("add_to_wishlist", {"product_id": unwished(shop, "discontinued")}),
    "is not on the wishlist": lambda shop: ("remove_from_wishlist", {"product_id": unwished(shop, "in_stock")}),
    "is called 'Home' already; give the new address another label": lambda shop: address("home"),
    "this address is saved already, as ADR-": known_address,
    "no more than 10 can be": too_many_addresses,
    "the cart is empty; add_to_cart": lambda shop: ("place_order", shop.fill().checkout()),
    "product PRD-": sold_out_in_cart,
    "too bulky for a pick-up point such as": lambda shop: order(
        shop, shop.product(bulky=True), address_id=shop.address("pickup_point")
    ),
    "too bulky for express": lambda shop: order(shop, shop.product(bulky=True), shipping_method="express"),
    "use another one": lambda shop: order(shop, shop.product(), payment_method_id=shop.card(good=False)),
    "wrong CVC for": lambda shop: order(shop, shop.product(), security_code="0000"),
    "left and the order costs": small_gift_card,
    "is cancelled already; list_orders": lambda shop: cancel(shop, "cancelled"),
    "is already shipped; only orders that are processing or packed": lambda shop: cancel(shop, "shipped"),
    "only while an order is processing": lambda shop: redirect(pick(shop.orders, status="packed"), shop.address()),
    "name another address": lambda shop: redirect(
        pick(shop.orders, status="processing"), pick(shop.orders, status="processing")["address_id"]
    ),
    "for a pick-up point": lambda shop: redirect(bulky_order(shop), shop.address("pickup_point")),
    "cancel_order stops this one": lambda shop: back(shop.items("packed")[0]),
    "only defective products can, for two years": lambda shop: back(shop.items("delivered")[-1]),
    "is a hygiene product": lambda shop: back(recent(shop, lambda row: "Oral-B" in row["name"]), "changed_mind"),
    "are going back already": lambda shop: twice(shop, back(recent(shop, lambda row: row["quantity"] == 1))),
    "can be returned, not 99": lambda shop: back(recent(shop), quantity=99),
    "stands; only products that were received": lambda shop: review(never_ordered(shop)),
    "is not delivered yet": early_review,
    "already, in REV-": lambda shop: twice(shop, review(recent(shop))),
}


@pytest.mark.parametrize("message", REFUSALS)
def test_refused_with_what_would_be_right_and_without_effect(message):
    for seed in range(3, 60):  # the first start state that has what the case needs
        shop = Shop(seed)
        try:
            tool, arguments = REFUSALS[message](shop)
        except StopIteration:
            continue
        before = shop.session.digest()
        result = shop.call(tool, **arguments)
        assert result.code == "rejected", result
        assert message in result.message
        assert shop.session.digest() == before
        return
    raise AssertionError("no start state has what it needs")


# Laws


@pytest.mark.parametrize(
    ("law", "corruption"),
    {
        "order_totals_add_up": 'UPDATE "order" SET total = total + 1',
        "gift_cards_account_for_every_cent": "UPDATE payment_method SET balance = balance + 1 WHERE balance > 0",
        "returns_stay_within_the_purchase": "UPDATE return SET quantity = 50, status = 'requested'",
        "coupons_are_used_once": 'UPDATE "order" SET coupon_code = (SELECT min(id) FROM coupon)',
        "nothing_is_sold_that_is_gone": "UPDATE product SET stock = 1 WHERE status = 'discontinued'",
        "own_reviews_are_of_products_received": "UPDATE product_review SET shopper_id = (SELECT id FROM shopper)",
    }.items(),
)
def test_each_law_notices_a_state_that_breaks_it(law, corruption):
    now = start_time(2)
    check = next(check for check in SHOP.invariants if check.__name__ == law)
    with SHOP.storage.connect(SHOP.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))


def test_independent_calls_lead_to_the_same_state_in_either_order():
    def digest(step: int) -> str:
        shop = Shop(3).fill()
        first, second = [row for row in shop.products if row["in_stock"] > 3][:2]
        wish = ("add_to_wishlist", {"product_id": unwished(shop, "sold_out")})
        calls = [add(first), add(second), cancel(shop, "processing"), cancel(shop, "packed"), back(recent(shop)), wish]
        for name, arguments in [*calls, address("Site")][::step]:
            shop.read(name, **arguments)
        return shop.session.digest()

    assert digest(1) == digest(-1)
