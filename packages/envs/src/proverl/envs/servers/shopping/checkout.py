"""Checkout: from the cart to an order."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import delete
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.shopping import prices, rules
from proverl.envs.servers.shopping.app import server
from proverl.envs.servers.shopping.tables import (
    AddressId,
    CartItem,
    Order,
    OrderId,
    OrderItem,
    PaymentMethod,
    PaymentMethodId,
    Shopper,
)
from proverl.envs.state import Row

ShippingMethod = Literal["standard", "express"]
Code = Annotated[
    str,
    Field(
        pattern="^[0-9]{3,4}$",
        json_schema_extra={"x-sensitive": True, "x-source": "reveal_payment_code.security_code"},
    ),
]

_EMPTY_CART = delete(CartItem)


class PlacedOrder(TypedDict):
    """An order just placed; amounts in EUR."""

    order_id: OrderId
    total: float
    discount: float
    expected_on: str


@server.tool(
    phrases=[
        "order what is in my cart, delivered to {address_id} and paid with {payment_method_id}, security code "
        "{security_code}[, by {shipping_method} shipping]",
        "check out my cart: deliver it to {address_id}[ by {shipping_method} shipping] and pay with "
        "{payment_method_id}, code {security_code}",
        "place the order for my cart with {payment_method_id} (code {security_code}) and send it to {address_id}[ "
        "with {shipping_method} shipping]",
        "buy everything in my cart using {payment_method_id}, whose security code is {security_code}, and have it "
        "brought to {address_id}",
        "send me what is in my cart to {address_id}[, {shipping_method} delivery], and charge {payment_method_id} "
        "with security code {security_code}",
    ],
    brief=[
        "check out my cart",
        "order what is in my cart, delivered to {address_id} and paid with {payment_method_id}",
        "buy everything in my cart using {payment_method_id}, security code {security_code}",
    ],
)
def place_order(
    ctx: Context,
    address_id: Annotated[AddressId, "Where to deliver"],
    payment_method_id: Annotated[PaymentMethodId, "What to pay with"],
    security_code: Annotated[Code, "CVC of the card or PIN of the gift card, as the customer gave it"],
    shipping_method: Annotated[
        ShippingMethod, "Standard: 3 working days, 4.95, free from 50.00. Express: 1 working day, 9.95"
    ] = "standard",
) -> PlacedOrder:
    """Order and pay everything in the cart. The coupon is used up if it takes something off; the cart is empty then."""
    place, method = rules.address(ctx, address_id), rules.payment_method(ctx, payment_method_id)
    lines = rules.cart_lines(ctx)
    if not lines:
        raise Rejected("the cart is empty; add_to_cart puts products in it")
    for line in lines:
        rules.orderable(line, line["product_id"], line["quantity"])
    bulky = [line["product_id"] for line in lines if line["bulky"]]
    rules.deliverable(place, bulky)
    if bulky and shipping_method == "express":
        raise Rejected(f"product {bulky[0]} is too bulky for express shipping; use standard shipping")
    coupon = rules.cart_coupon(ctx)
    discount = prices.discount_of(coupon, lines)
    cost = prices.shipping(coupon, lines, shipping_method, discount)
    total = prices.subtotal(lines) - discount + cost
    rules.payable(ctx, method, security_code, total)
    expected = prices.workday(ctx.now.date(), prices.SHIPPING[shipping_method][1])
    helps = discount > 0 or cost < prices.shipping(None, lines, shipping_method, discount)
    order = ctx.insert(
        Order,
        status="processing",
        placed_on=ctx.today,
        placed_at=ctx.timestamp[11:],
        expected_on=expected,
        delivered_on=None,
        address_id=address_id,
        payment_method_id=payment_method_id,
        shipping_method=shipping_method,
        coupon_code=coupon["id"] if coupon and helps else None,
        discount=discount,
        shipping=cost,
        total=total,
        cancel_reason=None,
    )
    _hand_over(ctx, order["id"], lines)
    if coupon:
        ctx.update(Shopper, rules.shopper(ctx)["id"], coupon_code=None)
    if method["balance"] is not None:
        ctx.update(PaymentMethod, payment_method_id, balance=method["balance"] - total)
    return {"order_id": order["id"], "total": money(total), "discount": money(discount), "expected_on": expected}


def _hand_over(ctx: Context, order_id: str, lines: list[Row]) -> None:
    """Move the cart's lines into the order, and their units out of the stock."""
    for line in lines:
        ctx.insert(
            OrderItem,
            order_id=order_id,
            product_id=line["product_id"],
            quantity=line["quantity"],
            price=line["price"],
        )
    rules.restock(ctx, lines, -1)
    ctx.execute(_EMPTY_CART)
