"""The cart: see it, fill it, change it."""

from typing import Annotated

from pydantic import Field
from sqlalchemy import bindparam, delete
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.shopping import prices, rules
from proverl.envs.servers.shopping.app import server
from proverl.envs.servers.shopping.tables import CartItem, CouponCode, ProductId
from proverl.envs.state import Row

Quantity = Annotated[int, Field(ge=1, le=99, examples=[1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10])]

_MOST_PRODUCTS = 20
_TAKE_OUT = delete(CartItem).where(CartItem.product_id == bindparam("product"))


class CartLine(TypedDict):
    """A product in the cart; price of one in EUR."""

    product_id: ProductId
    name: str
    quantity: int
    price: float


class CartView(TypedDict):
    """The cart; amounts in EUR, standard shipping included in the total."""

    items: list[CartLine]
    coupon_code: CouponCode | None
    subtotal: float
    discount: float
    shipping: float
    total: float


class CartChange(TypedDict):
    """A product's place in the cart after a change, and what all products in it cost now (EUR)."""

    product_id: ProductId
    quantity: int
    subtotal: float


def _in_cart(ctx: Context, product_id: str) -> Row:
    rules.product(ctx, product_id)
    row = ctx.find(CartItem, product_id)
    if row is None:
        raise Rejected(f"product {product_id} is not in the cart; get_cart shows what is, add_to_cart adds it")
    return row


def _changed(ctx: Context, product_id: str, quantity: int) -> CartChange:
    return {"product_id": product_id, "quantity": quantity, "subtotal": money(prices.subtotal(rules.cart_lines(ctx)))}


@server.tool(
    read_only=True,
    phrases=[
        "show me my cart",
        "check what is in my cart and what it costs",
        "open my cart",
        "list my cart's contents",
        "tell me what everything in my cart comes to",
    ],
)
def get_cart(ctx: Context) -> CartView:
    """Get the cart: products, coupon, and what an order with standard shipping would cost."""
    lines, coupon = rules.cart_lines(ctx), rules.cart_coupon(ctx)
    goods, discount = prices.subtotal(lines), prices.discount_of(coupon, lines)
    cost = prices.shipping(coupon, lines, "standard", discount)
    return {
        "items": [
            {
                "product_id": line["product_id"],
                "name": line["name"],
                "quantity": line["quantity"],
                "price": money(line["price"]),
            }
            for line in lines
        ],
        "coupon_code": coupon["id"] if coupon else None,
        "subtotal": money(goods),
        "discount": money(discount),
        "shipping": money(cost),
        "total": money(goods - discount + cost),
    }


@server.tool(
    phrases=[
        "add[ {quantity} of] {product_id} to my cart",
        "put {product_id} in my cart[, {quantity} of them]",
        "place[ {quantity} of] {product_id} in the shopping cart",
        "throw {product_id} into my cart[, quantity {quantity}]",
        "get[ {quantity} of] {product_id} into my basket for me",
    ],
    brief=[
        "add something to my cart",
        "put a product in my cart",
        "place {quantity} of a product in the shopping cart",
    ],
)
def add_to_cart(
    ctx: Context,
    product_id: Annotated[ProductId, "Product to add"],
    quantity: Annotated[Quantity, "Units to add to those in the cart"] = 1,
) -> CartChange:
    """Put units of a product in the cart, on top of those that are there."""
    row = rules.product(ctx, product_id)
    held = ctx.find(CartItem, product_id)
    units = quantity + (held["quantity"] if held else 0)
    rules.orderable(row, product_id, units)
    if held:
        ctx.update(CartItem, product_id, quantity=units)
    elif len(rules.cart_lines(ctx)) >= _MOST_PRODUCTS:
        raise Rejected(
            f"the cart holds {_MOST_PRODUCTS} different products already; order or remove some of them first"
        )
    else:
        ctx.insert(CartItem, product_id=product_id, quantity=units)
    return _changed(ctx, product_id, units)


@server.tool(
    phrases=[
        "change the quantity of {product_id} in my cart to {quantity}",
        "set how many of {product_id} are in the cart to {quantity}",
        "have {quantity} of {product_id} in my cart instead",
        "update my cart so that it has {quantity} of {product_id}",
        "correct my cart: I want {quantity} of {product_id} in all",
    ],
    brief=[
        "change a quantity in my cart",
        "change the quantity of {product_id} in my cart",
        "set the quantity of one of the products in my cart to {quantity}",
    ],
)
def update_cart_item(
    ctx: Context,
    product_id: Annotated[ProductId, "Product in the cart"],
    quantity: Annotated[Quantity, "Units that the cart shall have"],
) -> CartChange:
    """Change how many units of a product are in the cart."""
    if _in_cart(ctx, product_id)["quantity"] == quantity:
        raise Rejected(f"the cart has {quantity} of product {product_id} already; name another quantity")
    rules.orderable(rules.product(ctx, product_id), product_id, quantity)
    ctx.update(CartItem, product_id, quantity=quantity)
    return _changed(ctx, product_id, quantity)


@server.tool(
    destructive=True,
    phrases=[
        "remove {product_id} from my cart",
        "take {product_id} out of my cart",
        "drop {product_id} from the cart",
        "delete {product_id} from my shopping cart",
        "throw {product_id} out of my cart because I won't buy it",
    ],
    brief=[
        "take something out of my cart",
        "remove one of the products from my cart",
    ],
)
def remove_from_cart(ctx: Context, product_id: Annotated[ProductId, "Product in the cart"]) -> CartChange:
    """Take all units of a product out of the cart."""
    _in_cart(ctx, product_id)
    ctx.execute(_TAKE_OUT, product=product_id)
    return _changed(ctx, product_id, 0)
