"""A customer's basket: fill it, put a voucher on it, order it."""

from typing import Annotated

from pydantic import Field
from sqlalchemy import bindparam, delete, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text, money
from proverl.envs.servers.food_delivery import bill, rules, words
from proverl.envs.servers.food_delivery.app import server
from proverl.envs.servers.food_delivery.tables import (
    Basket,
    BasketId,
    BasketLine,
    CustomerId,
    DeliveryAddress,
    DeliveryAddressId,
    Dish,
    DishId,
    RestaurantId,
    Voucher,
    VoucherId,
    basket_of,
)
from proverl.envs.state import Row

LINES = (
    select(BasketLine.dish_id, Dish.name, BasketLine.quantity, Dish.price, Dish.sold_out, BasketLine.note)
    .join_from(BasketLine, Dish, Dish.id == BasketLine.dish_id)
    .where(BasketLine.basket_id == bindparam("basket"))
    .order_by(Dish.name, BasketLine.dish_id)
)
_ADDRESSES = (
    select(DeliveryAddress.id, DeliveryAddress.x, DeliveryAddress.y)
    .where(DeliveryAddress.customer_id == bindparam("customer"))
    .order_by(DeliveryAddress.id)
)
_SET_LINE = (
    update(BasketLine)
    .where(BasketLine.basket_id == bindparam("basket"), BasketLine.dish_id == bindparam("dish"))
    .values(quantity=bindparam("count"), note=bindparam("words"))
)


_TAKE_OUT = delete(BasketLine).where(
    BasketLine.basket_id == bindparam("basket"), BasketLine.dish_id == bindparam("dish")
)
DROP = delete(Basket).where(Basket.id == bindparam("basket"))


class BasketDish(TypedDict):
    """A dish in a basket; the price of one in EUR."""

    dish_id: DishId
    name: str
    quantity: int
    price: float
    note: str | None


class BasketView(TypedDict):
    """A customer's basket without the delivery fee, empty if there is none; the address is the nearest in reach."""

    basket_id: BasketId | None
    restaurant_id: RestaurantId | None
    delivery_address_id: DeliveryAddressId | None
    voucher_id: VoucherId | None
    dishes: list[BasketDish]
    subtotal: float
    discount: float


@server.tool(
    read_only=True,
    phrases=[
        "show me the basket of {customer_id}",
        "check what {customer_id} has in the basket",
        "look up the basket of {customer_id} and what it comes to",
        "read out what is in {customer_id}'s basket",
        "tell me what {customer_id} has chosen so far and what it adds up to",
    ],
    brief=[
        "show me a customer's basket",
        "check what a customer has in the basket",
    ],
)
def get_basket(ctx: Context, customer_id: Annotated[CustomerId, "Customer whose basket is read"]) -> BasketView:
    """Get the basket of a customer: its dishes, its voucher and what it comes to without delivery."""
    rules.customer(ctx, customer_id)
    basket = ctx.find(Basket, basket_of(customer_id))
    if basket is None:
        return {
            "basket_id": None,
            "restaurant_id": None,
            "delivery_address_id": None,
            "voucher_id": None,
            "dishes": [],
            "subtotal": 0.0,
            "discount": 0.0,
        }
    lines = ctx.rows(LINES, basket=basket["id"])
    voucher = ctx.find(Voucher, basket["voucher_id"]) if basket["voucher_id"] else None
    return {
        "basket_id": basket["id"],
        "restaurant_id": basket["restaurant_id"],
        "delivery_address_id": _nearest(ctx, customer_id, basket["restaurant_id"]),
        "voucher_id": basket["voucher_id"],
        "dishes": [
            {
                "dish_id": line["dish_id"],
                "name": line["name"],
                "quantity": line["quantity"],
                "price": money(line["price"]),
                "note": line["note"],
            }
            for line in lines
        ],
        "subtotal": money(subtotal_of(lines)),
        "discount": money(bill.discount(voucher, subtotal_of(lines))),
    }


class FilledBasket(TypedDict):
    """A basket after a change, without id when it became empty; the address is the customer's nearest within reach."""

    basket_id: BasketId | None
    restaurant_id: RestaurantId
    delivery_address_id: DeliveryAddressId | None
    dishes: int
    subtotal: float


@server.tool(
    idempotent=True,
    phrases=[
        "put {quantity} of {dish_id} into the basket of {customer_id}[ with the note {note}]",
        "set the quantity of {dish_id} in {customer_id}'s basket to {quantity}[, noting {note}]",
        "make it {quantity} of {dish_id} in the basket of {customer_id}[ and tell the kitchen {note}]",
        "change {customer_id}'s basket so that it has {quantity} of {dish_id}[, with the note {note}]",
        "see to it that {customer_id} has {quantity} of {dish_id} in the basket[; the kitchen should know: {note}]",
    ],
    brief=[
        "put a dish into a customer's basket",
        "put {dish_id} into the basket of {customer_id}",
        "set the quantity of a dish in {customer_id}'s basket to {quantity}",
    ],
)
def set_basket_dish(
    ctx: Context,
    customer_id: Annotated[CustomerId, "Customer whose basket it is; a new one is begun when there is none"],
    dish_id: Annotated[DishId, "Dish, of the restaurant that the basket is for"],
    quantity: Annotated[
        int, Field(ge=0, le=20, examples=[1, 2, 3, 4, 5, 6, 7, 8, 10, 12]), "How many in all; 0 takes the dish out"
    ],
    note: Annotated[
        Annotated[Text, Field(max_length=120, examples=list(words.NOTES))] | None,
        "What the kitchen should know; an earlier note stays if left out",
    ] = None,
) -> FilledBasket:
    """Set how many of a dish are in a customer's basket. A basket holds dishes of one restaurant only."""
    customer, dish = rules.customer_in_good_standing(ctx, customer_id), rules.dish(ctx, dish_id)
    basket_id = basket_of(customer_id)
    basket = ctx.find(Basket, basket_id)
    _one_kitchen(basket, dish)
    lines = [] if basket is None else ctx.rows(LINES, basket=basket_id)
    present = any(line["dish_id"] == dish_id for line in lines)
    if quantity:
        _may_have(customer, dish)
        if basket is None:
            restaurant_id = dish["restaurant_id"]
            ctx.insert(Basket, id=basket_id, customer_id=customer_id, restaurant_id=restaurant_id, voucher_id=None)
        if present:
            kept = next(line["note"] for line in lines if line["dish_id"] == dish_id)
            ctx.execute(_SET_LINE, basket=basket_id, dish=dish_id, count=quantity, words=note or kept)
        else:
            ctx.insert(BasketLine, basket_id=basket_id, dish_id=dish_id, quantity=quantity, note=note)
    elif not present:
        raise Rejected(f"{dish['name']} ({dish_id}) is not in the basket of {customer_id}; get_basket shows what is")
    else:
        ctx.execute(_TAKE_OUT, basket=basket_id, dish=dish_id)
        if len(lines) == 1:
            ctx.execute(DROP, basket=basket_id)
    others = [line for line in lines if line["dish_id"] != dish_id]
    left = len(others) + (quantity > 0)
    return {
        "basket_id": basket_id if left else None,
        "restaurant_id": dish["restaurant_id"],
        "delivery_address_id": _nearest(ctx, customer_id, dish["restaurant_id"]),
        "dishes": left,
        "subtotal": money(subtotal_of(others) + quantity * dish["price"]),
    }


def subtotal_of(lines: list[Row]) -> int:
    """Cents that the dishes of a basket cost."""
    return sum(line["quantity"] * line["price"] for line in lines)


def _nearest(ctx: Context, customer_id: str, restaurant_id: str) -> str | None:
    """The customer's address that is nearest to the restaurant, if it delivers there."""
    restaurant = rules.restaurant(ctx, restaurant_id)
    ways = [(bill.way(restaurant, row), row["id"]) for row in ctx.rows(_ADDRESSES, customer=customer_id)]
    way, address_id = min(ways)
    return address_id if way <= restaurant["radius"] else None


def _one_kitchen(basket: Row | None, dish: Row) -> None:
    if basket is not None and basket["restaurant_id"] != dish["restaurant_id"]:
        raise Rejected(
            f"{basket['id']} is for {basket['restaurant_id']}, but {dish['id']} is on the menu of "
            f"{dish['restaurant_id']}; order or empty the basket first"
        )


def _may_have(customer: Row, dish: Row) -> None:
    if dish["sold_out"]:
        raise Rejected(f"{dish['name']} ({dish['id']}) is sold out today; choose an available dish of list_dishes")
    if dish["alcohol"] and not customer["age_checked"]:
        raise Rejected(
            f"{dish['name']} ({dish['id']}) has alcohol and the age of {customer['name']} was never checked; "
            "choose a drink without alcohol"
        )


class BasketDiscount(TypedDict):
    """A basket with its voucher; amounts in EUR without delivery."""

    basket_id: BasketId
    voucher_id: VoucherId
    subtotal: float
    discount: float


@server.tool(
    phrases=[
        "apply {voucher_id} to {basket_id}",
        "use {voucher_id} for {basket_id}",
        "put {voucher_id} on {basket_id}",
        "redeem {voucher_id} with {basket_id}",
        "make sure that {voucher_id} counts when {basket_id} is ordered",
    ],
    brief=[
        "apply a voucher to a basket",
        "use a voucher for {basket_id}",
        "redeem {voucher_id} with a basket",
    ],
)
def apply_voucher(
    ctx: Context,
    basket_id: Annotated[BasketId, "Basket of the voucher's owner"],
    voucher_id: Annotated[VoucherId, "Voucher to use when the basket is ordered"],
) -> BasketDiscount:
    """Put a voucher on a basket, in place of another one. It is used up when the basket is ordered."""
    basket = rules.basket(ctx, basket_id)
    voucher = rules.voucher_of(ctx, voucher_id, basket["customer_id"])
    if basket["voucher_id"] == voucher_id:
        raise Rejected(f"voucher {voucher['code']} ({voucher_id}) is on {basket_id} already; nothing is left to do")
    subtotal = subtotal_of(ctx.rows(LINES, basket=basket_id))
    rules.good_voucher(voucher, ctx, rules.restaurant(ctx, basket["restaurant_id"]), subtotal)
    ctx.update(Basket, basket_id, voucher_id=voucher_id)
    return {
        "basket_id": basket_id,
        "voucher_id": voucher_id,
        "subtotal": money(subtotal),
        "discount": money(bill.discount(voucher, subtotal)),
    }
