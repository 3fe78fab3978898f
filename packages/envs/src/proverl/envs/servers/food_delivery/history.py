"""The orders of the last weeks and of this morning, with what became of them."""

from datetime import timedelta

from proverl.envs import Draft
from proverl.envs.servers.food_delivery import bill, words
from proverl.envs.servers.food_delivery.tables import (
    Courier,
    Customer,
    DeliveryAddress,
    Dish,
    FoodOrder,
    FoodOrderLine,
    Refund,
    Restaurant,
)
from proverl.envs.state import Row

_MINUTES = {  # after eight, when an order with this status was placed
    "placed": (48, 58),
    "accepted": (40, 55),
    "preparing": (30, 48),
    "ready": (24, 40),
    "picked_up": (12, 34),
}
_COMPLAINTS = ("missing_dish", "wrong_dish", "cold_food", "poor_quality")


class History:
    """Draws orders that could have been: open kitchens, addresses within reach, couriers free."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        rows = draft.rows
        self._customers = [row for row in rows[Customer] if not row["blocked"]][:-2]  # the last two never ordered
        self._couriers = list(rows[Courier])
        self._menus: dict[str, list[Row]] = {}
        for dish in rows[Dish]:
            self._menus.setdefault(dish["restaurant_id"], []).append(dish)
        self._near = {
            customer["id"]: [
                (restaurant, address)
                for address in rows[DeliveryAddress]
                if address["customer_id"] == customer["id"]
                for restaurant in rows[Restaurant]
                if bill.way(restaurant, address) <= restaurant["radius"]
            ]
            for customer in self._customers
        }

    def past(self) -> None:
        """An order of one of the last 40 days, mostly delivered."""
        draft, rng = self._draft, self._draft.rng
        customer = rng.choice(self._customers)
        days = rng.randint(1, 40)
        weekday = (draft.today - timedelta(days=days)).weekday()
        restaurant, address = rng.choice(self._near[customer["id"]])
        if restaurant["day_off"] == weekday:
            return
        latest = int(restaurant["closes"][:2]) - 1
        at = f"{rng.randint(int(restaurant['opens'][:2]) + 1, latest):02d}:{rng.randrange(60):02d}"
        cancelled = rng.random() < 0.12
        order = self._order(customer, restaurant, address, draft.day(-days), at)
        order["status"] = "cancelled" if cancelled else "delivered"
        if cancelled:
            self._refund(
                order, None, rng.choice(("changed_mind", "restaurant_cannot_deliver")), bill.total(order), days
            )
            return
        order["courier_id"] = self._courier(restaurant, address)["id"]
        if rng.random() < 0.5:
            order["stars"] = rng.choice((2, 3, 4, 4, 5, 5, 5))
            order["comment"] = (
                rng.choice(words.PRAISE if order["stars"] > 3 else words.GRUMBLES) if rng.random() < 0.5 else None
            )
            restaurant["ratings"] += 1
            restaurant["rating_sum"] += order["stars"]
        elif rng.random() < 0.2:
            self.complain(order, days)

    def complain(self, order: Row, days: int) -> None:
        """Give back the money for the first dish of a delivered order, on the same day."""
        line = next(row for row in self._draft.rows[FoodOrderLine] if row["food_order_id"] == order["id"])
        amount = line["quantity"] * line["price"]
        self._refund(order, line["dish_id"], self._draft.rng.choice(_COMPLAINTS), amount, days)

    def deliver(self, customer: Row, days: int) -> Row:
        """A delivered order of this customer, so many days ago."""
        weekday = (self._draft.today - timedelta(days=days)).weekday()
        near = [pair for pair in self._near[customer["id"]] if pair[0]["day_off"] != weekday]
        restaurant, address = self._draft.rng.choice(near)
        at = bill.shift(restaurant["opens"], 75)
        order = self._order(customer, restaurant, address, self._draft.day(-days), at)
        order.update(status="delivered", courier_id=self._courier(restaurant, address)["id"])
        return order

    def _courier(self, restaurant: Row, address: Row) -> Row:
        reach = bill.way(restaurant, address)
        return self._draft.rng.choice([row for row in self._couriers if bill.REACH[row["vehicle"]] >= reach])

    def this_morning(self, status: str, later: bool = False) -> None:
        """An order that is under way, one for each customer; `later` for lunch."""
        draft, rng = self._draft, self._draft.rng
        weekday = draft.today.weekday()
        at = f"08:{rng.randint(*_MINUTES[status]):02d}"
        places = [
            (customer, *pair)
            for customer in self._customers
            for pair in self._near[customer["id"]]
            if pair[0]["day_off"] != weekday and not pair[0]["paused"] and (later or pair[0]["opens"] <= "08:00")
        ]
        if not places:
            return
        customer, restaurant, address = rng.choice(places)
        self._customers.remove(customer)
        order = self._order(customer, restaurant, address, draft.day(0), at)
        order["status"] = status
        if later:
            order["scheduled_for"] = order["promised_at"] = bill.shift(max(restaurant["opens"], "11:00"), 60)
        elif status in ("ready", "picked_up") or (status == "preparing" and rng.random() < 0.5):
            courier = self._courier(restaurant, address)
            self._couriers.remove(courier)
            order["courier_id"] = courier["id"]

    def _order(self, customer: Row, restaurant: Row, address: Row, day: str, at: str) -> Row:
        rng = self._draft.rng
        menu = [dish for dish in self._menus[restaurant["id"]] if customer["age_checked"] or not dish["alcohol"]]
        first = rng.choice([dish for dish in menu if dish["section"] == "main"])
        chosen = [first, *rng.sample([dish for dish in menu if dish is not first], rng.choice((0, 1, 1, 2)))]
        quantities = [rng.choice((1, 1, 1, 2, 2, 3)) for _ in chosen]
        while (
            sum(dish["price"] * count for dish, count in zip(chosen, quantities, strict=True)) < restaurant["min_order"]
        ):
            quantities[0] += 1
        order = self._draft.add(
            FoodOrder,
            customer_id=customer["id"],
            restaurant_id=restaurant["id"],
            delivery_address_id=address["id"],
            courier_id=None,
            status="placed",
            subtotal=sum(dish["price"] * count for dish, count in zip(chosen, quantities, strict=True)),
            discount=0,
            delivery_fee=bill.delivery_fee(restaurant, address),
            tip=rng.choice((0, 0, 100, 150, 200, 300)),
            scheduled_for=None,
            delivery_code=f"{rng.randrange(10_000):04d}",
            stars=None,
            comment=None,
            placed_on=day,
            placed_at=at,
            promised_at=bill.shift(at, restaurant["prep_minutes"] + bill.way(restaurant, address) // 3),
        )
        for dish, count in zip(chosen, quantities, strict=True):
            note = rng.choice(words.NOTES_ON_ANYTHING) if rng.random() < 0.1 else None
            self._draft.add(
                FoodOrderLine,
                food_order_id=order["id"],
                dish_id=dish["id"],
                quantity=count,
                price=dish["price"],
                note=note,
            )
        return order

    def _refund(self, order: Row, dish_id: str | None, reason: str, amount: int, days: int) -> None:
        self._draft.add(
            Refund,
            food_order_id=order["id"],
            dish_id=dish_id,
            amount=amount,
            reason=reason,
            issued_on=self._draft.day(-days),
        )
