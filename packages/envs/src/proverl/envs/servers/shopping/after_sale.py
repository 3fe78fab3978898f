"""After delivery: returns and the customer's own reviews."""

from datetime import date, timedelta
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text, money
from proverl.envs.servers.shopping import rules, words
from proverl.envs.servers.shopping.app import server
from proverl.envs.servers.shopping.cart import Quantity
from proverl.envs.servers.shopping.catalogue import Limit
from proverl.envs.servers.shopping.prices import refund_of
from proverl.envs.servers.shopping.tables import (
    Order,
    OrderItem,
    OrderItemId,
    Product,
    ProductId,
    ProductReview,
    ProductReviewId,
    Return,
    ReturnId,
)
from proverl.envs.state import Row

ReturnReason = Literal["damaged", "defective", "wrong_item", "not_as_described", "changed_mind"]
ReturnStatus = Literal["requested", "received", "refunded", "declined", "lapsed"]

_RETURN_DAYS, _GUARANTEE_DAYS, _SENDING_DAYS = 60, 730, 14
_ORDER, _ITEM, _PRODUCT = Order.__table__.c, OrderItem.__table__.c, Product.__table__.c
_RETURN, _REVIEW = Return.__table__.c, ProductReview.__table__.c
_BOUGHT = (
    select(OrderItem.__table__, _PRODUCT.hygiene, _ORDER.status, _ORDER.delivered_on, _ORDER.discount)
    .add_columns((_ORDER.total - _ORDER.shipping + _ORDER.discount).label("goods"))
    .join_from(OrderItem.__table__, Order.__table__, _ORDER.id == _ITEM.order_id)
    .join(Product.__table__, _PRODUCT.id == _ITEM.product_id)
    .where(_ITEM.id == bindparam("item"))
)
_GOING_BACK = select(func.coalesce(func.sum(_RETURN.quantity), 0)).where(
    _RETURN.order_item_id == bindparam("item"), _RETURN.status != "declined", _RETURN.status != "lapsed"
)
_RETURNS = (
    select(Return.__table__, _PRODUCT.name)
    .join_from(Return.__table__, OrderItem.__table__, _ITEM.id == _RETURN.order_item_id)
    .join(Product.__table__, _PRODUCT.id == _ITEM.product_id)
    .where(func.coalesce(bindparam("status"), _RETURN.status) == _RETURN.status)
    .order_by(_RETURN.requested_on.desc(), _RETURN.id)
    .limit(bindparam("most"))
)
_STATUSES_OF = (
    select(_ORDER.status)
    .join_from(OrderItem.__table__, Order.__table__, _ORDER.id == _ITEM.order_id)
    .where(_ITEM.product_id == bindparam("product"), _ORDER.status != "cancelled")
    .order_by(_ORDER.status)
)
_OWN_REVIEW = select(_REVIEW.id).where(_REVIEW.product_id == bindparam("product"), _REVIEW.shopper_id.is_not(None))


class RequestedReturn(TypedDict):
    """A return just requested; the refund in EUR follows once it has arrived, if it is sent by `send_by`."""

    return_id: ReturnId
    refund: float
    send_by: str


class ReturnItem(TypedDict):
    """A return in a list; refund in EUR."""

    return_id: ReturnId
    order_item_id: OrderItemId
    name: str
    quantity: int
    status: ReturnStatus
    refund: float


class ReturnList(TypedDict):
    """The customer's returns."""

    returns: list[ReturnItem]


class WrittenReview(TypedDict):
    """A review just published."""

    review_id: ProductReviewId
    author: str
    rating: int


@server.tool(
    phrases=[
        "return[ {quantity} of] {order_item_id}, reason: {reason}",
        "send[ {quantity} of] {order_item_id} back; the reason is {reason}",
        "request a return of[ {quantity} of] {order_item_id} with the reason {reason}",
        "ask for my money back for[ {quantity} of] {order_item_id}, giving {reason} as the reason",
        "register {order_item_id} as a return[, quantity {quantity}], with {reason} as the reason",
    ],
    brief=[
        "return something I bought",
        "send {order_item_id} back",
        "request a return with the reason {reason}",
    ],
)
def request_return(
    ctx: Context,
    order_item_id: Annotated[OrderItemId, "Item of a delivered order"],
    reason: Annotated[ReturnReason, "Why it goes back"],
    quantity: Annotated[Quantity, "Units to send back"] = 1,
) -> RequestedReturn:
    """Announce a return within 60 days of delivery, or within two years for defective products."""
    (item,) = ctx.rows(_BOUGHT, item=order_item_id) or [
        ctx.get(OrderItem, order_item_id, "get_order names the items of an order")
    ]
    _returnable(ctx, item, reason)
    left = item["quantity"] - ctx.scalar(_GOING_BACK, item=order_item_id)
    if left == 0:
        raise Rejected(f"all {item['quantity']} of item {order_item_id} are going back already; list_returns shows how")
    if quantity > left:
        raise Rejected(
            f"{left} of item {order_item_id} can be returned, not {quantity}: {item['quantity']} were bought"
        )
    refund = refund_of(item["price"] * quantity, item["goods"], item["discount"])
    row = ctx.insert(
        Return,
        order_item_id=order_item_id,
        quantity=quantity,
        reason=reason,
        status="requested",
        refund=refund,
        requested_on=ctx.today,
    )
    send_by = (ctx.now.date() + timedelta(days=_SENDING_DAYS)).isoformat()
    return {"return_id": row["id"], "refund": money(refund), "send_by": send_by}


def _returnable(ctx: Context, item: Row, reason: str) -> None:
    if item["status"] != "delivered":
        hint = "; cancel_order stops this one" if item["status"] in ("processing", "packed") else ""
        raise Rejected(
            f"order {item['order_id']} is {item['status']}; only items of delivered orders can be returned{hint}"
        )
    days = _GUARANTEE_DAYS if reason == "defective" else _RETURN_DAYS
    last = (date.fromisoformat(item["delivered_on"]) + timedelta(days=days)).isoformat()
    if ctx.today > last:
        raise Rejected(
            f"item {item['id']} was delivered on {item['delivered_on']} and could be returned until {last}"
            + ("" if reason == "defective" else "; after that, only defective products can, for two years")
        )
    if item["hygiene"] and reason == "changed_mind":
        raise Rejected(
            f"product {item['product_id']} is a hygiene product; it can't be returned for a change of mind, "
            "only when something is wrong with it"
        )


@server.tool(
    read_only=True,
    phrases=[
        "list my[ {status}] returns[, {limit} at most]",
        "show me which[ {status}] returns I have",
        "check how far my returns are[, only the {status} ones]",
        "look up[ the last {limit} of] my[ {status}] returns and their refunds",
        "tell me what became of the things I sent back[, just the {status} returns]",
    ],
)
def list_returns(
    ctx: Context,
    status: Annotated[ReturnStatus | None, "Only returns with this status"] = None,
    limit: Annotated[Limit, "Most returns listed"] = 5,
) -> ReturnList:
    """List the customer's returns, newest first."""
    return {
        "returns": [
            {
                "return_id": row["id"],
                "order_item_id": row["order_item_id"],
                "name": row["name"],
                "quantity": row["quantity"],
                "status": row["status"],
                "refund": money(row["refund"]),
            }
            for row in ctx.rows(_RETURNS, status=status, most=limit)
        ]
    }


@server.tool(
    phrases=[
        "write a {rating}-star review of {product_id}: {text}",
        "rate {product_id} {rating} out of 5 and say {text}",
        "publish my opinion of {product_id}, {rating} out of 5 with the words {text}",
        "give {product_id} a {rating}-star review that says {text}",
        "let other customers know what I think of {product_id}: {rating} out of 5, and {text}",
    ],
    brief=[
        "write a review of something I bought",
        "write a {rating}-star review of {product_id}",
        "publish a review of {product_id} that says {text}",
    ],
)
def write_product_review(
    ctx: Context,
    product_id: Annotated[ProductId, "Product that the customer received"],
    rating: Annotated[Literal[1, 2, 3, 4, 5], "Stars, 5 is best"],
    text: Annotated[
        Annotated[Text, Field(max_length=1000, examples=list(words.REVIEW_TEXTS))], "What other customers will read"
    ],
) -> WrittenReview:
    """Publish the customer's review of a product that was delivered to them; one for each product."""
    rules.product(ctx, product_id)
    statuses = [row["status"] for row in ctx.rows(_STATUSES_OF, product=product_id)]
    if not statuses:
        raise Rejected(f"no order of product {product_id} stands; only products that were received can be reviewed")
    if "delivered" not in statuses:
        raise Rejected(f"product {product_id} is not delivered yet ({statuses[-1]}); review it once it has arrived")
    written = ctx.scalar(_OWN_REVIEW, product=product_id)
    if written:
        raise Rejected(f"the customer has reviewed product {product_id} already, in {written}; review another product")
    shopper = rules.shopper(ctx)
    first, _, last = shopper["name"].partition(" ")
    author = f"{first} {last[0]}."
    row = ctx.insert(
        ProductReview,
        product_id=product_id,
        shopper_id=shopper["id"],
        author=author,
        rating=rating,
        text=text,
        written_on=ctx.today,
    )
    return {"review_id": row["id"], "author": author, "rating": rating}
