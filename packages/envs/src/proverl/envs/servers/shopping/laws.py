"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import func, select

from proverl.envs import Context
from proverl.envs.servers.shopping.app import server
from proverl.envs.servers.shopping.tables import Order, OrderItem, PaymentMethod, Product, ProductReview, Return

_ORDER, _ITEM, _RETURN = Order.__table__.c, OrderItem.__table__.c, Return.__table__.c
_METHOD, _PRODUCT, _REVIEW = PaymentMethod.__table__.c, Product.__table__.c, ProductReview.__table__.c
_STANDING_RETURN = _RETURN.status.in_(("requested", "received", "refunded"))


@server.invariant
def order_totals_add_up(ctx: Context) -> None:
    """Every order has items, and its total is their price less the discount plus shipping."""
    goods = select(_ITEM.order_id, func.sum(_ITEM.quantity * _ITEM.price).label("goods")).group_by(_ITEM.order_id)
    sums = {row["order_id"]: row["goods"] for row in ctx.rows(goods)}
    for row in ctx.rows(select(Order.__table__)):
        total = sums.get(row["id"], 0) - row["discount"] + row["shipping"]
        assert sums.get(row["id"]), f"{row['id']} has no items"
        assert row["total"] == total, f"{row['id']}: total {row['total']} is not {total}"


@server.invariant
def gift_cards_account_for_every_cent(ctx: Context) -> None:
    """A gift card's balance is what it was bought with, less the orders that stand, plus refunds paid."""
    balances = {
        row["id"]: row["loaded"] for row in ctx.rows(select(PaymentMethod.__table__).where(_METHOD.type == "gift_card"))
    }
    for row in ctx.rows(select(_ORDER.payment_method_id, _ORDER.total).where(_ORDER.status != "cancelled")):
        if row["payment_method_id"] in balances:
            balances[row["payment_method_id"]] -= row["total"]
    refunds = (
        select(_ORDER.payment_method_id, _RETURN.refund)
        .join_from(Return.__table__, OrderItem.__table__, _ITEM.id == _RETURN.order_item_id)
        .join(Order.__table__, _ORDER.id == _ITEM.order_id)
        .where(_RETURN.status == "refunded")
    )
    for row in ctx.rows(refunds):
        if row["payment_method_id"] in balances:
            balances[row["payment_method_id"]] += row["refund"]
    for row in ctx.rows(select(_METHOD.id, _METHOD.balance).where(_METHOD.type == "gift_card")):
        assert row["balance"] == balances[row["id"]], f"{row['id']}: {row['balance']} is not {balances[row['id']]}"


@server.invariant
def returns_stay_within_the_purchase(ctx: Context) -> None:
    """Only delivered items go back, and no more of them than were bought."""
    returned = (
        select(_ITEM.id, _ITEM.quantity, _ORDER.status, func.sum(_RETURN.quantity).label("returned"))
        .join_from(Return.__table__, OrderItem.__table__, _ITEM.id == _RETURN.order_item_id)
        .join(Order.__table__, _ORDER.id == _ITEM.order_id)
        .where(_STANDING_RETURN)
        .group_by(_ITEM.id)
    )
    for row in ctx.rows(returned):
        assert row["status"] == "delivered", f"{row['id']} goes back but is {row['status']}"
        assert row["returned"] <= row["quantity"], f"{row['id']}: {row['returned']} of {row['quantity']} go back"


@server.invariant
def coupons_are_used_once(ctx: Context) -> None:
    """No two orders that stand have used the same coupon."""
    uses = (
        select(_ORDER.coupon_code, func.count().label("uses"))
        .where(_ORDER.coupon_code.is_not(None), _ORDER.status != "cancelled")
        .group_by(_ORDER.coupon_code)
        .having(func.count() > 1)
    )
    assert not ctx.rows(uses), f"used more than once: {ctx.rows(uses)}"


@server.invariant
def nothing_is_sold_that_is_gone(ctx: Context) -> None:
    """No product has less than nothing in stock, and discontinued ones have nothing left."""
    gone = select(_PRODUCT.id).where(
        (_PRODUCT.stock < 0) | ((_PRODUCT.status == "discontinued") & (_PRODUCT.stock > 0))
    )
    assert not ctx.rows(gone), f"stock that can't be: {ctx.rows(gone)}"


@server.invariant
def own_reviews_are_of_products_received(ctx: Context) -> None:
    """The customer reviews a product once, and only after it was delivered."""
    received = (
        select(_ITEM.product_id)
        .join_from(OrderItem.__table__, Order.__table__, _ORDER.id == _ITEM.order_id)
        .where(_ORDER.status == "delivered")
    )
    own = [row["product_id"] for row in ctx.rows(select(_REVIEW.product_id).where(_REVIEW.shopper_id.is_not(None)))]
    assert len(own) == len(set(own)), "two reviews of one product"
    assert set(own) <= {row["product_id"] for row in ctx.rows(received)}, "a review of something never received"
