"""From the basket to an order: what is checked, what it costs."""

from hashlib import blake2b
from typing import Annotated

from pydantic import Field, WithJsonSchema
from sqlalchemy import bindparam, delete, insert
from typing_extensions import TypedDict

from proverl.envs import Context, IsoTime, Money, Rejected, cents, money
from proverl.envs.servers.food_delivery import bill, rules, words
from proverl.envs.servers.food_delivery.app import server
from proverl.envs.servers.food_delivery.baskets import DROP, LINES, subtotal_of
from proverl.envs.servers.food_delivery.tables import (
    BasketId,
    BasketLine,
    DeliveryAddressId,
    FoodOrder,
    FoodOrderId,
    FoodOrderLine,
    Voucher,
)
from proverl.envs.state import Row

Tip = Annotated[  # Money's own schema knows neither this maximum nor examples
    Money,
    Field(le=50),
    WithJsonSchema(
        {"type": "number", "exclusiveMinimum": 0, "maximum": 50, "multipleOf": 0.01, "examples": list(words.TIPS)}
    ),
]

_ADD_LINES = insert(FoodOrderLine)
_EMPTY = delete(BasketLine).where(BasketLine.basket_id == bindparam("basket"))
_SOONEST = 30  # minutes from now to the first time that can be asked for


class PlacedOrder(TypedDict):
    """An order just placed; the total in EUR, `expected_at` the time of day when it should arrive."""

    food_order_id: FoodOrderId
    delivery_fee: float
    total: float
    expected_at: str


@server.tool(
    phrases=[
        "order {basket_id} to {delivery_address_id}[ for {deliver_at} today][, with a tip of {tip}]",
        "check out {basket_id} with delivery to {delivery_address_id}[ at {deliver_at}][ and a tip of {tip}]",
        "place the order for {basket_id}[, tipping {tip}], to be brought to {delivery_address_id}[ at {deliver_at}]",
        "send {basket_id} to the kitchen, delivered to {delivery_address_id}[ by {deliver_at}][, tip {tip}]",
        "have {basket_id} delivered to {delivery_address_id}[ today at {deliver_at}][, adding a tip of {tip}]",
    ],
    brief=[
        "check out a basket",
        "place the order for {basket_id}",
        "order a basket to {delivery_address_id}",
    ],
)
def checkout_basket(
    ctx: Context,
    basket_id: Annotated[BasketId, "Basket to order"],
    delivery_address_id: Annotated[DeliveryAddressId, "Address of the same customer, within the restaurant's reach"],
    deliver_at: Annotated[IsoTime | None, "Time today when it should arrive; as soon as possible if left out"] = None,
    tip: Annotated[Tip | None, "Tip for the courier in EUR"] = None,
) -> PlacedOrder:
    """Order what is in a basket and charge the customer. It uses up the voucher and the basket."""
    basket, address = rules.basket(ctx, basket_id), rules.address(ctx, delivery_address_id)
    rules.customer_in_good_standing(ctx, basket["customer_id"])
    restaurant, lines = rules.restaurant(ctx, basket["restaurant_id"]), ctx.rows(LINES, basket=basket_id)
    subtotal = subtotal_of(lines)
    _reachable(basket, restaurant, address)
    _in_time(ctx, deliver_at)
    rules.takes_orders(restaurant, ctx, deliver_at)
    _orderable(restaurant, lines)
    voucher = ctx.get(Voucher, basket["voucher_id"]) if basket["voucher_id"] else None
    if voucher:
        rules.good_voucher(voucher, ctx, restaurant, subtotal)
    free = voucher is not None and voucher["kind"] == "free_delivery"
    minutes = restaurant["prep_minutes"] + bill.way(restaurant, address) // 3
    order = _place(
        ctx,
        basket,
        lines,
        delivery_address_id=delivery_address_id,
        discount=bill.discount(voucher, subtotal),
        delivery_fee=0 if free else bill.delivery_fee(restaurant, address),
        tip=cents(tip or 0),
        scheduled_for=deliver_at,
        promised_at=deliver_at or bill.shift(ctx.timestamp[11:], minutes),
    )
    return {
        "food_order_id": order["id"],
        "delivery_fee": money(order["delivery_fee"]),
        "total": money(bill.total(order)),
        "expected_at": order["promised_at"],
    }


def _reachable(basket: Row, restaurant: Row, address: Row) -> None:
    if address["customer_id"] != basket["customer_id"]:
        raise Rejected(
            f"{address['id']} is an address of {address['customer_id']}, but {basket['id']} belongs to "
            f"{basket['customer_id']}; use one of their addresses"
        )
    if bill.way(restaurant, address) > restaurant["radius"]:
        raise Rejected(
            f"{restaurant['name']} delivers within {restaurant['radius'] / 10:.1f} km, and {address['id']} is "
            f"{bill.way(restaurant, address) / 10:.1f} km away; use a nearer address or restaurant"
        )


def _in_time(ctx: Context, deliver_at: str | None) -> None:
    soonest = bill.shift(ctx.timestamp[11:], _SOONEST)
    if deliver_at is not None and deliver_at < soonest:
        raise Rejected(f"{deliver_at} is too soon; leave the time out, or choose {soonest} or later today")


def _orderable(restaurant: Row, lines: list[Row]) -> None:
    for line in lines:
        if line["sold_out"]:
            raise Rejected(f"{line['name']} ({line['dish_id']}) was sold out meanwhile; set its quantity to 0 to go on")
    if subtotal_of(lines) < restaurant["min_order"]:
        least, so_far = money(restaurant["min_order"]), money(subtotal_of(lines))
        raise Rejected(f"{restaurant['name']} delivers from {least:.2f}; the basket holds {so_far:.2f}, so add more")


def _place(ctx: Context, basket: Row, lines: list[Row], **values: object) -> Row:
    """Turn the basket into an order."""
    order_id = ctx.new_id(FoodOrder)
    order = ctx.insert(
        FoodOrder,
        id=order_id,
        customer_id=basket["customer_id"],
        restaurant_id=basket["restaurant_id"],
        courier_id=None,
        status="placed",
        subtotal=subtotal_of(lines),
        delivery_code=f"{int.from_bytes(blake2b(order_id.encode(), digest_size=4).digest(), 'big') % 10_000:04d}",
        stars=None,
        comment=None,
        placed_on=ctx.today,
        placed_at=ctx.timestamp[11:],
        **values,
    )
    kept = [{name: line[name] for name in ("dish_id", "quantity", "price", "note")} for line in lines]
    ctx.db.execute(_ADD_LINES, [{"food_order_id": order_id, **line} for line in kept])
    if basket["voucher_id"]:
        ctx.update(Voucher, basket["voucher_id"], used_by=order_id)
    ctx.execute(_EMPTY, basket=basket["id"])
    ctx.execute(DROP, basket=basket["id"])
    return order
