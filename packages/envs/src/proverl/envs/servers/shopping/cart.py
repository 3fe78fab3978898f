"""The cart and the coupon applied to it."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import and_, bindparam, delete, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.shopping import prices, rules, words
from proverl.envs.servers.shopping.app import server
from proverl.envs.servers.shopping.catalogue import Limit
from proverl.envs.servers.shopping.tables import CartItem, Coupon, CouponCode, Order, ProductId, Shopper
from proverl.envs.state import Row

CouponStatus = Literal["valid", "upcoming", "used", "expired"]
Quantity = Annotated[int, Field(ge=1, le=99, examples=[1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10])]

_MOST_PRODUCTS = 20
_COUPON, _ORDER = Coupon.__table__.c, Order.__table__.c
_COUPONS = (
    select(Coupon.__table__, _ORDER.id.label("used_in"))
    .outerjoin_from(
        Coupon.__table__, Order.__table__, and_(_ORDER.coupon_code == _COUPON.id, _ORDER.status != "cancelled")
    )
    .order_by(_COUPON.ends_on, _COUPON.id)
)
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


class CouponItem(TypedDict):
    """A coupon in a list."""

    coupon_code: CouponCode
    benefit: str
    valid_until: str
    status: CouponStatus


class CouponList(TypedDict):
    """Coupons of the customer."""

    coupons: list[CouponItem]


class AppliedCoupon(TypedDict):
    """What the coupon does to the cart now (EUR)."""

    coupon_code: CouponCode
    discount: float
    total: float


def subtotal(lines: list[Row]) -> int:
    """What the lines cost together."""
    return sum(line["quantity"] * line["price"] for line in lines)


def shipping(coupon: Row | None, lines: list[Row], method: str, discount: int) -> int:
    """What shipping the lines costs, once the coupon has done its part."""
    if not lines or (method == "standard" and prices.ships_free(coupon, lines)):
        return 0
    return prices.shipping_cost(method, subtotal(lines) - discount)


def _in_cart(ctx: Context, product_id: str) -> Row:
    rules.product(ctx, product_id)
    row = ctx.find(CartItem, product_id)
    if row is None:
        raise Rejected(f"product {product_id} is not in the cart; get_cart shows what is, add_to_cart adds it")
    return row


def _changed(ctx: Context, product_id: str, quantity: int) -> CartChange:
    return {"product_id": product_id, "quantity": quantity, "subtotal": money(subtotal(rules.cart_lines(ctx)))}


@server.tool(
    read_only=True,
    phrases=[
        "show me my cart",
        "check what is in my cart and what it costs",
        "open my cart",
        "list my cart's contents",
    ],
)
def get_cart(ctx: Context) -> CartView:
    """Get the cart: products, coupon, and what an order with standard shipping would cost."""
    lines, coupon = rules.cart_lines(ctx), rules.cart_coupon(ctx)
    goods, discount = subtotal(lines), prices.discount_of(coupon, lines)
    cost = shipping(coupon, lines, "standard", discount)
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
        "add {product_id} to my cart[, {quantity} of it]",
        "put[ {quantity} of] {product_id} in my cart",
        "place[ {quantity} of] {product_id} in the shopping cart",
        "throw {product_id} into my cart[, quantity {quantity}]",
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
        "set the quantity of {product_id} in the cart to {quantity}",
        "make it {quantity} of {product_id} in my cart",
        "update my cart so that it has {quantity} of {product_id}",
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
    ],
)
def remove_from_cart(ctx: Context, product_id: Annotated[ProductId, "Product in the cart"]) -> CartChange:
    """Take all units of a product out of the cart."""
    _in_cart(ctx, product_id)
    ctx.db.execute(_TAKE_OUT, {"product": product_id})
    return _changed(ctx, product_id, 0)


def _status(row: Row, today: str) -> CouponStatus:
    if row["used_in"]:
        return "used"
    if row["ends_on"] < today:
        return "expired"
    return "upcoming" if row["starts_on"] > today else "valid"


def _benefit(row: Row) -> str:
    """`10% off books from 25.00`."""
    what = {
        "percent": f"{row['value']}% off",
        "amount": f"{money(row['value']):.2f} off",
        "free_shipping": "free standard shipping",
    }[row["kind"]]
    what += f" {words.CATEGORY_NAMES[row['category']]}" if row["category"] else ""
    return what + (f" from {money(row['minimum']):.2f}" if row["minimum"] else "")


@server.tool(
    read_only=True,
    phrases=[
        "list my[ {status}] coupons[, {limit} at most]",
        "show me which[ {status}] coupons I have",
        "check my coupons[ that are {status}]",
        "look up[ the first {limit} of] my[ {status}] discount coupons",
    ],
)
def list_coupons(
    ctx: Context,
    status: Annotated[CouponStatus | None, "Only coupons with this status"] = None,
    limit: Annotated[Limit, "Most coupons listed"] = 5,
) -> CouponList:
    """List the customer's coupons and what they are good for: valid ones first, those that end soonest at the top."""
    ranked = [(_status(row, ctx.today), row) for row in ctx.rows(_COUPONS)]
    ranked.sort(key=lambda pair: ("valid", "upcoming", "used", "expired").index(pair[0]))
    fitting = [(state, row) for state, row in ranked if status in (None, state)]
    return {
        "coupons": [
            {"coupon_code": row["id"], "benefit": _benefit(row), "valid_until": row["ends_on"], "status": state}
            for state, row in fitting[:limit]
        ]
    }


@server.tool(
    phrases=[
        "apply {coupon_code} to my cart",
        "use {coupon_code} for what is in my cart",
        "redeem {coupon_code} on my cart",
        "put {coupon_code} on my cart and tell me what it saves",
    ],
)
def apply_coupon(ctx: Context, coupon_code: Annotated[CouponCode, "The coupon's code"]) -> AppliedCoupon:
    """Apply a coupon to the cart instead of the one applied before; it is used up when the order is placed."""
    code = coupon_code.strip().upper()
    coupon = ctx.get(Coupon, code, "list_coupons names the customer's coupons")
    rules.coupon_valid(ctx, coupon)
    lines, shopper = rules.cart_lines(ctx), rules.shopper(ctx)
    if shopper["coupon_code"] == code:
        raise Rejected(f"coupon {code} is applied to the cart already; get_cart shows what it takes off")
    if not lines:
        raise Rejected(f"the cart is empty; put products in it before coupon {code} is applied")
    rules.coupon_fits(coupon, lines)
    if coupon["kind"] == "free_shipping" and not shipping(None, lines, "standard", 0):
        raise Rejected(f"standard shipping of this cart is free already; keep coupon {code} for a smaller order")
    ctx.update(Shopper, shopper["id"], coupon_code=code)
    discount = prices.discount_of(coupon, lines)
    total = subtotal(lines) - discount + shipping(coupon, lines, "standard", discount)
    return {"coupon_code": code, "discount": money(discount), "total": money(total)}
