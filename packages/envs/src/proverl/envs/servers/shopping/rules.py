"""What the shop refuses, and the cart as every tool sees it. Every refusal says what would be right."""

from sqlalchemy import bindparam, select, update

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.shopping import words
from proverl.envs.servers.shopping.prices import counted
from proverl.envs.servers.shopping.tables import (
    Address,
    CartItem,
    Coupon,
    Order,
    PaymentMethod,
    Product,
    Shopper,
)
from proverl.envs.state import Row

_PRODUCT, _CART, _ORDER = Product.__table__.c, CartItem.__table__.c, Order.__table__.c
_LINES = (
    select(
        _CART.product_id,
        _PRODUCT.name,
        _CART.quantity,
        _PRODUCT.price,
        _PRODUCT.category,
        _PRODUCT.stock,
        _PRODUCT.status,
        _PRODUCT.per_order,
        _PRODUCT.bulky,
    )
    .join_from(CartItem.__table__, Product.__table__, _PRODUCT.id == _CART.product_id)
    .order_by(_CART.product_id)
)
_SHOPPER = select(Shopper.__table__)
_USED_IN = (
    select(_ORDER.id)
    .where(_ORDER.coupon_code == bindparam("code"), _ORDER.status != "cancelled")
    .order_by(_ORDER.id)
    .limit(1)
)
_MOVE_STOCK = (
    update(Product).where(_PRODUCT.id == bindparam("product")).values(stock=_PRODUCT.stock + bindparam("units"))
)


def product(ctx: Context, product_id: str) -> Row:
    """The product. Raises NotFound."""
    return ctx.get(Product, product_id, "search_products names the products")


def order(ctx: Context, order_id: str) -> Row:
    """The order. Raises NotFound."""
    return ctx.get(Order, order_id, "list_orders names the orders")


def address(ctx: Context, address_id: str) -> Row:
    """The address. Raises NotFound."""
    return ctx.get(Address, address_id, "list_addresses names the addresses")


def shopper(ctx: Context) -> Row:
    """The customer who is signed in."""
    (row,) = ctx.rows(_SHOPPER)
    return row


def cart_lines(ctx: Context) -> list[Row]:
    """The products in the cart with quantity and today's price."""
    return ctx.rows(_LINES)


def cart_coupon(ctx: Context) -> Row | None:
    """The coupon applied to the cart."""
    code = shopper(ctx)["coupon_code"]
    return ctx.find(Coupon, code) if code else None


def orderable(row: Row, product_id: str, quantity: int) -> None:
    """Raises Rejected unless this many units of the product can be ordered today."""
    if row["status"] == "discontinued":
        raise Rejected(f"product {product_id} is discontinued and can't be ordered any more; choose another product")
    if row["stock"] == 0:
        raise Rejected(f"product {product_id} is sold out; add_to_wishlist keeps it in view until it is back")
    if quantity > row["per_order"]:
        raise Rejected(
            f"at most {row['per_order']} of product {product_id} can be ordered at a time; "
            f"{quantity} would be in the cart"
        )
    if quantity > row["stock"]:
        raise Rejected(f"only {row['stock']} of product {product_id} are in stock; {quantity} would be in the cart")


def unused(ctx: Context, code: str) -> None:
    """Raises Rejected when an order that stands has used the coupon."""
    used_in = ctx.scalar(_USED_IN, code=code)
    if used_in:
        raise Rejected(f"coupon {code} was used for order {used_in}; it is good for one order, choose another coupon")


def coupon_valid(ctx: Context, row: Row) -> None:
    """Raises Rejected unless the coupon can be used today."""
    if ctx.today < row["starts_on"]:
        raise Rejected(f"coupon {row['id']} is not valid before {row['starts_on']}; choose one that is valid today")
    if ctx.today > row["ends_on"]:
        raise Rejected(f"coupon {row['id']} expired on {row['ends_on']}; choose one that is valid today")
    unused(ctx, row["id"])


def coupon_fits(row: Row, lines: list[Row]) -> None:
    """Raises Rejected unless the cart has what the coupon is for."""
    base, kind = counted(row, lines), words.CATEGORY_NAMES.get(row["category"], "products")
    if base == 0:
        raise Rejected(f"coupon {row['id']} is for {kind} only; the cart has none of them")
    if base < row["minimum"]:
        raise Rejected(
            f"coupon {row['id']} needs {kind} for {money(row['minimum']):.2f} in the cart; "
            f"there are {money(base):.2f}, so {money(row['minimum'] - base):.2f} are missing"
        )


def deliverable(place: Row, bulky: list[str]) -> None:
    """Raises Rejected when bulky products would go to a pick-up point; `bulky` are their ids."""
    if bulky and place["kind"] == "pickup_point":
        raise Rejected(f"product {bulky[0]} is too bulky for a pick-up point such as {place['id']}; use a door address")


def payable(ctx: Context, method: Row, security_code: str, total: int) -> None:
    """Raises Rejected unless the payment method can pay `total` cents today with this code."""
    if method["expires"] < ctx.today[:7]:
        raise Rejected(f"payment method {method['id']} expired in {method['expires']}; use another one")
    if method["security_code"] != security_code:
        secret = "CVC" if method["type"] == "card" else "PIN"
        raise Rejected(f"wrong {secret} for {method['label']}; ask the customer for it")
    if method["balance"] is not None and method["balance"] < total:
        raise Rejected(
            f"gift card {method['id']} has {money(method['balance']):.2f} left and the order costs {money(total):.2f}; "
            "use another payment method or order less"
        )


def payment_method(ctx: Context, payment_method_id: str) -> Row:
    """The payment method. Raises NotFound."""
    return ctx.get(PaymentMethod, payment_method_id, "list_payment_methods names the payment methods")


def restock(ctx: Context, lines: list[Row], sign: int) -> None:
    """Put the lines' units back into the stock, or with -1 take them out of it."""
    for line in lines:
        ctx.execute(_MOVE_STOCK, product=line["product_id"], units=sign * line["quantity"])
