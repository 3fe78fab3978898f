"""Food delivery: what its tools do across each other, every refusal, its laws, its start state."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Rejected, Session, load_server, start_time
from proverl.envs.servers.food_delivery.food_orders import give_back

FOOD = load_server("food_delivery")
Row = dict[str, Any]


class Desk:
    """A session and what the reading tools tell of it."""

    def __init__(self, seed: int = 3) -> None:
        self.session = Session([FOOD], seed)
        self.restaurants = self.read("search_restaurants", limit=50)["restaurants"]
        self.addresses = self.read("find_delivery_addresses", limit=50)["delivery_addresses"]
        self.customers = list(dict.fromkeys(row["customer_id"] for row in self.addresses))

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def orders(self, status: str, **more: Any) -> list[Row]:
        found = self.read("list_food_orders", status=status, limit=50, **more)["food_orders"]
        return [self.read("track_food_order", food_order_id=row["food_order_id"]) | row for row in found]

    def order(self, status: str, **more: Any) -> str:
        return self.orders(status, **more)[0]["food_order_id"]

    def asap(self, status: str) -> str:
        """An order for now, not for lunch."""
        return next(row["food_order_id"] for row in self.orders(status) if row["expected_at"] < "10:00")

    def for_lunch(self) -> str:
        return next(row["food_order_id"] for row in self.orders("accepted") if row["expected_at"] > "11:00")

    def menu(self, restaurant_id: str) -> list[Row]:
        return self.read("list_dishes", restaurant_id=restaurant_id, limit=50)["dishes"]

    def diner(self) -> tuple[str, str, str]:
        """Customer, address and open restaurant that fit together; the customer's basket is empty."""
        for row in self.addresses:
            if self.read("get_basket", customer_id=row["customer_id"])["basket_id"] is None and self.allowed(row):
                near = self.near(row["delivery_address_id"], status="open")
                if near:
                    return row["customer_id"], row["delivery_address_id"], near[0]["restaurant_id"]
        raise AssertionError("nobody can order")

    def allowed(self, row: Row) -> bool:
        """Whether the account of this address may order."""
        dish = self.menu(self.restaurants[0]["restaurant_id"])[0]["dish_id"]
        refused = self.call("set_basket_dish", customer_id=row["customer_id"], dish_id=dish, quantity=0)
        return "is blocked" not in refused.message

    def near(self, delivery_address_id: str, **more: Any) -> list[Row]:
        return self.read("search_restaurants", delivery_address_id=delivery_address_id, limit=50, **more)["restaurants"]

    def main(self, restaurant_id: str) -> Row:
        found = self.read("list_dishes", restaurant_id=restaurant_id, section="main")["dishes"]
        return next(row for row in found if row["available"])

    def fill(self, quantity: int = 3, restaurant_id: str = "") -> tuple[str, str]:
        """A new basket with enough in it. Returns its id and the address."""
        customer, address, restaurant = self.diner()
        dish = self.main(restaurant_id or restaurant)["dish_id"]
        filled = self.read("set_basket_dish", customer_id=customer, dish_id=dish, quantity=quantity)
        return filled["basket_id"], address

    def place(self, **more: Any) -> str:
        basket, address = self.fill()
        ordered = self.read("checkout_basket", basket_id=basket, delivery_address_id=address, **more)
        return ordered["food_order_id"]

    def step(self, food_order_id: str, *steps: str) -> None:
        for status in steps:
            self.read("update_food_order_status", food_order_id=food_order_id, status=status)

    def courier(self, status: str = "available", vehicle: str = "car") -> str:
        found = self.read("list_couriers", limit=50, status=status)["couriers"]
        return min(found, key=lambda row: row["vehicle"] != vehicle)["courier_id"]

    def send(self, food_order_id: str) -> str:
        """Send the first courier who goes that far."""
        for row in self.read("list_couriers", status="available", limit=50)["couriers"]:
            if self.call("assign_courier", food_order_id=food_order_id, courier_id=row["courier_id"]).ok:
                return row["courier_id"]
        raise AssertionError("no courier goes that far")

    def code(self, food_order_id: str) -> str:
        return self.read("reveal_delivery_code", food_order_id=food_order_id)["code"]

    def vouchers(self, **wanted: Any) -> list[Row]:
        """Vouchers with their owner."""
        return [
            {"customer_id": customer, **row}
            for customer in self.customers
            for row in self.read("list_vouchers", customer_id=customer)["vouchers"]
            if wanted.items() <= row.items()
        ]

    def basket_for(self, customer_id: str, cuisine: str = "", quantity: int = 10) -> tuple[str, str, str]:
        """A basket of this customer with many of one dish. Returns its id, the dish and an address."""
        self.empty(customer_id)
        for address in (row for row in self.addresses if row["customer_id"] == customer_id):
            for restaurant in self.near(address["delivery_address_id"], status="open"):
                if cuisine in ("", restaurant["cuisine"]):
                    dish = self.main(restaurant["restaurant_id"])["dish_id"]
                    result = self.call("set_basket_dish", customer_id=customer_id, dish_id=dish, quantity=quantity)
                    if result.ok:
                        return result.content["basket_id"], dish, address["delivery_address_id"]  # type: ignore[index, call-overload, return-value]
        raise LookupError("no open restaurant near")

    def empty(self, customer_id: str) -> None:
        for dish in self.read("get_basket", customer_id=customer_id)["dishes"]:
            self.call("set_basket_dish", customer_id=customer_id, dish_id=dish["dish_id"], quantity=0)

    def with_voucher(self) -> tuple[Row, str, str, str]:
        """A voucher that fits, the basket, its dish and the address."""
        for voucher in self.vouchers(status="unused"):
            try:
                basket, dish, address = self.basket_for(voucher["customer_id"])
            except LookupError:
                continue
            if self.call("apply_voucher", basket_id=basket, voucher_id=voucher["voucher_id"]).ok:
                return voucher, basket, dish, address
        raise AssertionError("no voucher fits")


@pytest.fixture
def desk() -> Desk:
    return Desk()


# What the tools do


def test_a_changed_quantity_keeps_the_note_to_the_kitchen(desk):
    customer, _, restaurant = desk.diner()
    dish = {"customer_id": customer, "dish_id": desk.main(restaurant)["dish_id"]}
    desk.read("set_basket_dish", **dish, quantity=2, note="no nuts")
    desk.read("set_basket_dish", **dish, quantity=4)
    (line,) = desk.read("get_basket", customer_id=customer)["dishes"]
    assert (line["quantity"], line["note"]) == (4, "no nuts")


def test_an_order_goes_from_the_basket_over_the_kitchen_to_the_door(desk):
    customer, address, restaurant = desk.diner()
    dish = desk.main(restaurant)
    filled = desk.read("set_basket_dish", customer_id=customer, dish_id=dish["dish_id"], quantity=3, note="no nuts")
    assert filled["subtotal"] == round(3 * dish["price"], 2)
    ordered = desk.read("checkout_basket", basket_id=filled["basket_id"], delivery_address_id=address, tip=1.5)
    assert ordered["total"] == pytest.approx(filled["subtotal"] + ordered["delivery_fee"] + 1.5)
    assert desk.read("get_basket", customer_id=customer)["basket_id"] is None
    order = ordered["food_order_id"]
    desk.step(order, "accepted", "preparing")
    courier = desk.send(order)
    desk.step(order, "ready", "picked_up")
    busy = next(row for row in desk.read("list_couriers", limit=50)["couriers"] if row["courier_id"] == courier)
    assert (busy["status"], busy["food_order_id"]) == ("busy", order)
    desk.read("confirm_delivery", food_order_id=order, delivery_code=desk.code(order))
    tracked = desk.read("track_food_order", food_order_id=order)
    assert (tracked["status"], tracked["courier_id"], tracked["customer_id"]) == ("delivered", courier, customer)
    assert tracked["dishes"] == [{"dish_id": dish["dish_id"], "name": dish["name"], "quantity": 3}]
    assert courier in str(desk.read("list_couriers", status="available", limit=50))
    before = next(row["rating"] for row in desk.restaurants if row["restaurant_id"] == restaurant)
    rated = desk.read("rate_food_order", food_order_id=order, stars=5, comment="Everything as ordered")
    assert rated["restaurant_rating"] >= before
    part = desk.read("refund_food_order", food_order_id=order, reason="cold_food", dish_id=dish["dish_id"])
    assert part["amount"] == filled["subtotal"]


def test_a_voucher_takes_its_share_is_used_up_and_comes_back_when_the_order_is_cancelled(desk):
    voucher, basket, _, address = desk.with_voucher()
    view = desk.read("get_basket", customer_id=voucher["customer_id"])
    assert view["voucher_id"] == voucher["voucher_id"]
    ordered = desk.read("checkout_basket", basket_id=basket, delivery_address_id=address)
    assert ordered["total"] == pytest.approx(view["subtotal"] - view["discount"] + ordered["delivery_fee"])
    owner = {"customer_id": voucher["customer_id"]}
    assert voucher["voucher_id"] in [row["voucher_id"] for row in desk.vouchers(status="used")]
    cancelled = desk.read("cancel_food_order", food_order_id=ordered["food_order_id"], reason="changed_mind")
    assert cancelled["amount"] == ordered["total"]
    assert voucher in [owner | row for row in desk.read("list_vouchers", **owner)["vouchers"]]


def test_a_basket_changes_by_quantity_and_is_gone_when_it_is_empty(desk):
    customer, _, restaurant = desk.diner()
    first, second = [row["dish_id"] for row in desk.menu(restaurant) if row["available"]][:2]
    desk.read("set_basket_dish", customer_id=customer, dish_id=first, quantity=2)
    desk.read("set_basket_dish", customer_id=customer, dish_id=second, quantity=1)
    assert desk.read("set_basket_dish", customer_id=customer, dish_id=first, quantity=5)["dishes"] == 2
    lines = desk.read("get_basket", customer_id=customer)["dishes"]
    assert {row["dish_id"]: row["quantity"] for row in lines} == {first: 5, second: 1}
    desk.read("set_basket_dish", customer_id=customer, dish_id=first, quantity=0)
    assert desk.read("set_basket_dish", customer_id=customer, dish_id=second, quantity=0)["basket_id"] is None


def test_a_closed_restaurant_takes_orders_for_later_today(desk):
    address, restaurant = next(
        (row, found)
        for row in desk.addresses
        if desk.allowed(row)
        for found in desk.near(row["delivery_address_id"], status="closed")
        if desk.read("get_basket", customer_id=row["customer_id"])["basket_id"] is None and found["hours"] < "12:01"
    )
    dish = desk.main(restaurant["restaurant_id"])["dish_id"]
    customer = address["customer_id"]
    basket = desk.read("set_basket_dish", customer_id=customer, dish_id=dish, quantity=4)["basket_id"]
    call = {"basket_id": basket, "delivery_address_id": address["delivery_address_id"]}
    assert desk.read("checkout_basket", **call, deliver_at="13:30")["expected_at"] == "13:30"


def test_restaurants_and_dishes_are_found_by_what_people_want(desk):
    assert {row["cuisine"] for row in desk.read("search_restaurants", cuisine="pizza")["restaurants"]} == {"pizza"}
    assert desk.read("search_restaurants", name="CÈDRE")["restaurants"][0]["name"] == "Cèdre d'Or"
    assert desk.read("search_restaurants", name="%")["restaurants"] == []
    restaurant = desk.restaurants[0]["restaurant_id"]
    vegan = desk.read("list_dishes", restaurant_id=restaurant, diet="vegan", limit=50)["dishes"]
    vegetarian = desk.read("list_dishes", restaurant_id=restaurant, diet="vegetarian", limit=50)["dishes"]
    assert {row["dish_id"] for row in vegan} <= {row["dish_id"] for row in vegetarian}


def test_orders_are_listed_newest_first_by_customer_restaurant_and_status(desk):
    every = desk.read("list_food_orders", limit=50)["food_orders"]
    assert [row["date"] for row in every] == sorted((row["date"] for row in every), reverse=True)
    order = desk.orders("delivered")[0]
    for name in ("customer_id", "restaurant_id"):
        found = desk.read("list_food_orders", **{name: order[name]}, limit=50)["food_orders"]
        assert order["food_order_id"] in str(found)
    assert desk.read("list_food_orders", customer_id=desk.customers[0], restaurant_id=order["restaurant_id"], limit=1)


# Refusals


def recent(desk: Desk, status: str = "delivered", days: int = 13) -> list[Row]:
    first = (desk.session.now.date() - timedelta(days=days)).isoformat()
    return [row for row in desk.orders(status) if row["date"] >= first]


def old(desk: Desk, days: int) -> str:
    first = (desk.session.now.date() - timedelta(days=days)).isoformat()
    places = [row["restaurant_id"] for row in desk.restaurants]
    every = (row for place in places for row in desk.orders("delivered", restaurant_id=place))
    return next(row["food_order_id"] for row in every if row["date"] < first)


def own(desk: Desk, rows: list[Row], quantity: int = 10) -> Row:
    """Arguments to apply the first of these vouchers whose owner can fill a basket."""
    for row in rows:
        with suppress(LookupError):
            return {
                "basket_id": desk.basket_for(row["customer_id"], quantity=quantity)[0],
                "voucher_id": row["voucher_id"],
            }
    raise AssertionError("no owner can order")


def dish_for(desk: Desk, **wanted: Any) -> Row:
    """Arguments to put a dish of this kind into a basket, of a restaurant that is open."""
    customer, _, _ = desk.diner()
    for place in desk.restaurants:
        for row in desk.menu(place["restaurant_id"]):
            if wanted.items() <= row.items():
                return {"customer_id": customer, "dish_id": row["dish_id"], "quantity": 1}
    raise AssertionError("no such dish")


def other(digits: str) -> str:
    return digits[:-1] + str((int(digits[-1]) + 1) % 10)


def of(food_order_id: str, **more: Any) -> Row:
    return {"food_order_id": food_order_id, **more}


# fmt: off
SIMPLE: list[tuple[str, Callable[[Desk], Row], str]] = [
    ("set_basket_dish", lambda d: dish_for(d, available=False), "is sold out today; choose an available dish"),
    ("set_basket_dish", lambda d: dish_for(d) | {"quantity": 0}, "get_basket shows what is"),
    ("apply_voucher", lambda d: own(d, d.vouchers(status="used")), "list_vouchers shows the ones left"),
    ("apply_voucher", lambda d: own(d, d.vouchers(status="expired")), "expired on"),
    ("cancel_food_order", lambda d: of(d.order("ready"), reason="changed_mind"),
     "is ready; only orders that are placed or accepted can be cancelled"),
    ("rate_food_order", lambda d: of(d.order("placed"), stars=3), "only delivered orders can be rated"),
    ("refund_food_order", lambda d: of(d.order("placed"), reason="cold_food"), "cancel_food_order stops"),
    ("refund_food_order", lambda d: of(d.order("ready"), reason="cold_food"), "delivered ones can be"),
    ("refund_food_order", lambda d: of(old(d, 14), reason="cold_food"), "on can be refunded"),
    ("refund_food_order",
     lambda d: of(recent(d)[0]["food_order_id"], reason="cold_food",
                dish_id=d.orders("ready")[0]["dishes"][0]["dish_id"]), "track_food_order shows what is"),
    ("update_food_order_status", lambda d: of(d.order("delivered"), status="ready"), "only orders under way can"),
    ("update_food_order_status", lambda d: of(d.order("placed"), status="ready"), "its next step is accepted"),
    ("update_food_order_status", lambda d: of(d.order("picked_up"), status="ready"), "next step is confirm_delivery"),
    ("update_food_order_status", lambda d: of(d.for_lunch(), status="preparing"), "it can be prepared from 1"),
    ("confirm_delivery", lambda d: of(d.order("ready"), delivery_code="1234"), "that are picked up can"),
    ("confirm_delivery",
     lambda d: of(d.order("picked_up"), delivery_code=other(d.code(d.order("picked_up")))),
     "ask the customer for the four digits"),
    ("assign_courier", lambda d: of(d.order("placed"), courier_id=d.courier()), "must be accepted before"),
    ("assign_courier", lambda d: of(d.order("delivered"), courier_id=d.courier()), "couriers are sent for"),
    ("assign_courier", lambda d: of(d.for_lunch(), courier_id=d.courier()), "it can get a courier from"),
    ("assign_courier", lambda d: of(d.order("ready"), courier_id=d.courier("offline")), "is offline; choose"),
    ("assign_courier", lambda d: of(d.asap("accepted"), courier_id=d.courier("busy")), "is busy with FOR-"),
    ("assign_courier",
     lambda d: of(d.order("ready"), courier_id=d.orders("ready")[0]["courier_id"]), "nothing is left to do"),
]
# fmt: on

Case = Callable[[Desk], tuple[str, Row, str]]
REFUSALS: list[Case] = []


def refusal(case: Case) -> Case:
    REFUSALS.append(case)
    return case


@refusal
def order_for_a_blocked_account(desk):
    row = next(row for row in desk.addresses if not desk.allowed(row))
    return "set_basket_dish", dish_for(desk) | {"customer_id": row["customer_id"]}, "until an unpaid bill is settled"


@refusal
def mix_two_kitchens(desk):
    basket, _ = desk.fill()
    customer = next(row for row in desk.customers if row.endswith(basket[4:]))
    mine = desk.read("get_basket", customer_id=customer)["restaurant_id"]
    foreign = next(row["restaurant_id"] for row in desk.restaurants if row["restaurant_id"] != mine)
    call = {"customer_id": customer, "dish_id": desk.main(foreign)["dish_id"], "quantity": 1}
    return "set_basket_dish", call, "order or empty the basket first"


@refusal
def alcohol_without_an_age_check(desk):
    menus = [row for place in desk.restaurants for row in desk.menu(place["restaurant_id"])]
    beers = [row["dish_id"] for row in menus if " 33 cl" in row["name"] and row["available"]]
    for customer in desk.customers:
        desk.empty(customer)
        call = {"customer_id": customer, "dish_id": beers[0], "quantity": 1}
        if "was never checked" in desk.call("set_basket_dish", **call).message:
            return "set_basket_dish", call, "choose a drink without alcohol"
    raise AssertionError("everybody's age is checked")


@refusal
def apply_a_voucher_twice(desk):
    voucher, basket, _, _ = desk.with_voucher()
    return "apply_voucher", {"basket_id": basket, "voucher_id": voucher["voucher_id"]}, "nothing is left to do"


@refusal
def apply_somebody_elses_voucher(desk):
    basket, _ = desk.fill()
    foreign = next(row for row in desk.vouchers(status="unused") if not row["customer_id"].endswith(basket[4:]))
    return "apply_voucher", {"basket_id": basket, "voucher_id": foreign["voucher_id"]}, "use one of theirs"


@refusal
def apply_a_voucher_for_another_kitchen(desk):
    vouchers = [row for row in desk.vouchers(status="unused") if row["code"] in ("PIZZA20", "SUSHI25")]
    return "apply_voucher", own(desk, vouchers), "cooks "


@refusal
def apply_a_voucher_to_too_little(desk):
    arguments = own(desk, desk.vouchers(status="unused", code="WELCOME10"), quantity=1)
    return "apply_voucher", arguments, "so add more"


@refusal
def check_out_with_too_little_for_the_voucher(desk):
    voucher, basket, dish, address = desk.with_voucher()
    desk.read("set_basket_dish", customer_id=voucher["customer_id"], dish_id=dish, quantity=1)
    return "checkout_basket", {"basket_id": basket, "delivery_address_id": address}, "so add more"


@refusal
def check_out_to_somebody_elses_address(desk):
    basket, _ = desk.fill()
    foreign = next(row for row in desk.addresses if not row["customer_id"].endswith(basket[4:]))
    call = {"basket_id": basket, "delivery_address_id": foreign["delivery_address_id"]}
    return "checkout_basket", call, "use one of their addresses"


@refusal
def check_out_too_far_away(desk):
    for row in desk.addresses:
        near = {place["restaurant_id"] for place in desk.near(row["delivery_address_id"])}
        far = [place["restaurant_id"] for place in desk.restaurants if place["restaurant_id"] not in near]
        if far and desk.allowed(row):
            desk.empty(row["customer_id"])
            call = {"customer_id": row["customer_id"], "dish_id": desk.main(far[0])["dish_id"], "quantity": 5}
            basket = desk.read("set_basket_dish", **call)["basket_id"]
            call = {"basket_id": basket, "delivery_address_id": row["delivery_address_id"]}
            return "checkout_basket", call, "use a nearer address or restaurant"
    raise AssertionError("everything is near")


def basket_at(desk: Desk, fits: Callable[[Row], bool]) -> Row:
    """Arguments to check out a basket of a restaurant like this."""
    for row in desk.addresses:
        for place in desk.near(row["delivery_address_id"]):
            if fits(place) and desk.allowed(row):
                desk.empty(row["customer_id"])
                call = {"customer_id": row["customer_id"], "dish_id": desk.main(place["restaurant_id"])["dish_id"]}
                basket = desk.read("set_basket_dish", **call, quantity=4)["basket_id"]
                return {"basket_id": basket, "delivery_address_id": row["delivery_address_id"]}
    raise AssertionError("no such restaurant")


@refusal
def check_out_at_a_paused_restaurant(desk):
    return "checkout_basket", basket_at(desk, lambda row: row["status"] == "paused"), "has paused its orders; choose"


@refusal
def check_out_before_the_restaurant_opens(desk):
    call = basket_at(desk, lambda row: row["hours"] == "17:00-23:00")
    return "checkout_basket", call, "order for a time within these hours"


@refusal
def check_out_for_a_time_after_closing(desk):
    call = basket_at(desk, lambda row: row["status"] == "open" and row["cuisine"] == "bakery")
    return "checkout_basket", call | {"deliver_at": "20:00"}, "delivers from 06:30 to 18:00, not at 20:00"


@refusal
def check_out_for_a_time_too_soon(desk):
    basket, address = desk.fill()
    call = {"basket_id": basket, "delivery_address_id": address, "deliver_at": "09:10"}
    return "checkout_basket", call, "09:10 is too soon"


@refusal
def check_out_on_a_day_off(desk):
    closed = basket_at(desk, lambda row: row["hours"] == "closed today")
    return "checkout_basket", closed, "is closed all day today"


@refusal
def check_out_less_than_the_minimum(desk):
    for row in desk.addresses:
        for place in desk.near(row["delivery_address_id"], status="open"):
            cheap = min(
                (dish for dish in desk.menu(place["restaurant_id"]) if dish["available"]),
                key=lambda dish: dish["price"],
            )
            if cheap["price"] < place["min_order"] and desk.allowed(row):
                desk.empty(row["customer_id"])
                call = {"customer_id": row["customer_id"], "dish_id": cheap["dish_id"], "quantity": 1}
                basket = desk.read("set_basket_dish", **call)["basket_id"]
                call = {"basket_id": basket, "delivery_address_id": row["delivery_address_id"]}
                return "checkout_basket", call, f"delivers from {place['min_order']:.2f}"
    raise AssertionError("no least order")


@refusal
def check_out_what_was_sold_out_meanwhile(desk):
    gone = {
        dish["dish_id"] for row in desk.restaurants for dish in desk.menu(row["restaurant_id"]) if not dish["available"]
    }
    for row in desk.addresses:
        basket = desk.read("get_basket", customer_id=row["customer_id"])
        call = {"basket_id": basket["basket_id"], "delivery_address_id": row["delivery_address_id"]}
        if gone & {dish["dish_id"] for dish in basket["dishes"]}:
            now = desk.call("checkout_basket", **call).message
            return (
                "checkout_basket",
                call | ({} if "sold out" in now else {"deliver_at": "14:00"}),
                "set its quantity to 0",
            )
    raise AssertionError("everything is there")


@refusal
def accept_for_a_paused_restaurant(desk):
    paused = {row["restaurant_id"] for row in desk.restaurants if row["status"] == "paused"}
    order = next(row["food_order_id"] for row in desk.orders("placed") if row["restaurant_id"] in paused)
    return "update_food_order_status", of(order, status="accepted"), "cancel it instead"


@refusal
def pick_up_without_a_courier(desk):
    order = desk.place()
    desk.step(order, "accepted", "preparing", "ready")
    return "update_food_order_status", of(order, status="picked_up"), "assign_courier sends one"


@refusal
def send_a_bicycle_too_far(desk):
    bicycle = desk.courier(vehicle="bicycle")
    for row in desk.addresses:
        for place in desk.near(row["delivery_address_id"], status="open"):
            if not desk.allowed(row):
                continue
            desk.empty(row["customer_id"])
            call = {"customer_id": row["customer_id"], "dish_id": desk.main(place["restaurant_id"])["dish_id"]}
            basket = desk.read("set_basket_dish", **call, quantity=4)["basket_id"]
            address = row["delivery_address_id"]
            order = desk.read("checkout_basket", basket_id=basket, delivery_address_id=address)["food_order_id"]
            desk.step(order, "accepted")
            arguments = {"food_order_id": order, "courier_id": bicycle}
            if not desk.call("assign_courier", **arguments).ok:
                return "assign_courier", arguments, "choose a faster vehicle"
            desk.read("cancel_food_order", food_order_id=order, reason="changed_mind")
    raise AssertionError("everything is near")


@refusal
def rate_twice(desk):
    order = next(
        row["food_order_id"]
        for row in recent(desk)
        if desk.call("rate_food_order", food_order_id=row["food_order_id"], stars=4).ok
    )
    return "rate_food_order", {"food_order_id": order, "stars": 5}, "with 4 stars already"


@refusal
def rate_too_late(desk):
    return "rate_food_order", {"food_order_id": old(desk, 30), "stars": 5}, "on can be rated"


@refusal
def refund_twice(desk):
    order = next(
        row["food_order_id"]
        for row in recent(desk)
        if desk.call("refund_food_order", food_order_id=row["food_order_id"], reason="late_delivery").ok
    )
    dish = desk.read("track_food_order", food_order_id=order)["dishes"][0]["dish_id"]
    call = {"food_order_id": order, "reason": "cold_food", "dish_id": dish}
    return "refund_food_order", call, "refunded the whole order of"


@refusal
def refund_a_customer_with_many_refunds(desk):
    for customer in desk.customers:
        for row in desk.orders("delivered", customer_id=customer):
            call = {
                "food_order_id": row["food_order_id"],
                "reason": "wrong_dish",
                "dish_id": row["dishes"][-1]["dish_id"],
            }
            if "need a review" in desk.call("refund_food_order", **call).message:
                return "refund_food_order", call, "leave this one to the refund team"
    raise AssertionError("nobody complains that much")


@pytest.mark.parametrize(("name", "arguments", "message"), SIMPLE)
def test_the_platform_refuses_at_once(desk, name, arguments, message):
    check_refusal(desk, name, arguments(desk), message)


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.__name__)
def test_the_platform_refuses_after_other_calls(desk, case):
    check_refusal(desk, *case(desk))


def check_refusal(desk: Desk, name: str, arguments: Row, message: str) -> None:
    before = desk.session.digest()
    result = desk.call(name, **arguments)
    assert result.code == ErrorCode.REJECTED
    assert message in result.message
    assert desk.session.digest() == before


def test_what_a_voucher_paid_is_not_refunded(desk):
    order, refusal = desk.order("delivered"), pytest.raises(Rejected, match="a voucher covered it; leave it as it is")
    with FOOD.storage.connect(FOOD.image(3, start_time(3))) as connection, refusal:
        give_back(Context(connection, start_time(3), ""), order, None, 0, "cold_food")


# Laws and the start state


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("UPDATE food_order SET subtotal = subtotal + 1", "subtotal_is_sum_of_dishes"),
        ("UPDATE refund SET amount = amount * 100", "no_more_goes_back_than_was_paid"),
        (
            "UPDATE food_order SET courier_id = (SELECT id FROM courier) WHERE status = 'ready'",
            "couriers_carry_one_order_at_a_time",
        ),
        ("UPDATE voucher SET customer_id = (SELECT max(id) FROM customer)", "vouchers_are_used_by_their_owner"),
        ("UPDATE basket SET restaurant_id = (SELECT max(id) FROM restaurant)", "baskets_and_orders_are_of_one_kitchen"),
    ],
)
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in FOOD.invariants if check.__name__ == law)
    with FOOD.storage.connect(FOOD.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        desk = Desk(5)
        customer, _, restaurant = desk.diner()
        first, second = [row["dish_id"] for row in desk.menu(restaurant) if row["available"]][:2]
        picked, (one, two) = desk.order("picked_up"), desk.orders("delivered")[:2]
        calls = [
            ("set_basket_dish", {"customer_id": customer, "dish_id": first, "quantity": 2}),
            ("set_basket_dish", {"customer_id": customer, "dish_id": second, "quantity": 1}),
            ("confirm_delivery", {"food_order_id": picked, "delivery_code": desk.code(picked)}),
            ("rate_food_order", {"food_order_id": one["food_order_id"], "stars": 2}),
            ("rate_food_order", {"food_order_id": two["food_order_id"], "stars": 5}),
            ("cancel_food_order", {"food_order_id": desk.order("placed"), "reason": "wrong_address"}),
        ]
        results = [desk.call(name, **arguments) for name, arguments in calls[::turn]]
        assert sum(result.ok for result in results) >= 4
        digests.add(desk.session.digest())
    assert len(digests) == 1


@pytest.mark.parametrize("seed", range(4))
def test_the_start_state_is_full_of_life_and_nothing_of_it_lies_in_the_future(seed):
    desk = Desk(seed)
    assert (len(desk.restaurants), len(desk.customers)) == (27, 26)
    names = [row["customer"] for row in {row["customer_id"]: row for row in desk.addresses}.values()]
    assert len(set(names)) == len(names) - 1
    assert {row["status"] for row in desk.restaurants} == {"open", "closed", "paused"}
    couriers = desk.read("list_couriers", limit=50)["couriers"]
    assert {row["status"] for row in couriers} == {"available", "busy", "offline"}
    today = desk.session.now.date().isoformat()
    for name in ("placed", "accepted", "preparing", "ready", "picked_up"):
        assert {row["date"] for row in desk.orders(name)} == {today}
    for name in ("delivered", "cancelled"):
        assert max(row["date"] for row in desk.orders(name)) < today
    assert desk.vouchers(status="expired")
    assert desk.vouchers(status="used")
