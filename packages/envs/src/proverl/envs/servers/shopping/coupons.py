"""Coupons: which there are, and applying one to the cart."""

from typing import Annotated, Literal

from sqlalchemy import select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.shopping import prices, rules, words
from proverl.envs.servers.shopping.app import server
from proverl.envs.servers.shopping.catalogue import Limit
from proverl.envs.servers.shopping.tables import Coupon, CouponCode, Order, Shopper
from proverl.envs.state import Row

CouponStatus = Literal["valid", "upcoming", "used", "expired"]

_COUPON, _ORDER = Coupon.__table__.c, Order.__table__.c
_COUPONS = select(Coupon.__table__).order_by(_COUPON.ends_on, _COUPON.id)
_USED = select(_ORDER.coupon_code).where(_ORDER.coupon_code.is_not(None), _ORDER.status != "cancelled")


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


def _status(row: Row, used: set[str], today: str) -> CouponStatus:
    if row["id"] in used:
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
        "tell me what my[ {status}] coupons are good for",
    ],
)
def list_coupons(
    ctx: Context,
    status: Annotated[CouponStatus | None, "Only coupons with this status"] = None,
    limit: Annotated[Limit, "Most coupons listed"] = 5,
) -> CouponList:
    """List the customer's coupons and what they are good for: valid ones first, those that end soonest at the top."""
    used = {row["coupon_code"] for row in ctx.rows(_USED)}
    ranked = [(_status(row, used, ctx.today), row) for row in ctx.rows(_COUPONS)]
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
        "take something off my cart with {coupon_code}",
    ],
    brief=[
        "apply a coupon to my cart",
        "use one of my coupons for what is in my cart",
        "redeem a discount code",
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
    if coupon["kind"] == "free_shipping" and not prices.shipping(None, lines, "standard", 0):
        raise Rejected(f"standard shipping of this cart is free already; keep coupon {code} for a smaller order")
    ctx.update(Shopper, shopper["id"], coupon_code=code)
    discount = prices.discount_of(coupon, lines)
    total = prices.subtotal(lines) - discount + prices.shipping(coupon, lines, "standard", discount)
    return {"coupon_code": code, "discount": money(discount), "total": money(total)}
