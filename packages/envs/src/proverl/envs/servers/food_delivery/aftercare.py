"""After the meal: ratings and refunds."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text, money
from proverl.envs.servers.food_delivery import rules, words
from proverl.envs.servers.food_delivery.app import server
from proverl.envs.servers.food_delivery.food_orders import LINES, give_back, said
from proverl.envs.servers.food_delivery.tables import (
    DishId,
    FoodOrder,
    FoodOrderId,
    Refund,
    RefundId,
    Restaurant,
    RestaurantId,
)
from proverl.envs.state import Row

Complaint = Literal["missing_dish", "wrong_dish", "cold_food", "poor_quality", "late_delivery"]


_REFUND_DAYS = 14
_RATING_DAYS = 30
_MOST_REFUNDS = 3  # in 30 days
_REFUNDS = select(Refund.id, Refund.dish_id).where(Refund.food_order_id == bindparam("food_order")).order_by(Refund.id)
_REFUNDS_SINCE = (
    select(func.count())
    .select_from(Refund)
    .join(FoodOrder, FoodOrder.id == Refund.food_order_id)
    .where(
        FoodOrder.customer_id == bindparam("customer"),
        FoodOrder.status == "delivered",
        Refund.issued_on >= bindparam("since"),
    )
)
_COUNT_RATING = (
    update(Restaurant)
    .where(Restaurant.id == bindparam("restaurant"))
    .values(ratings=Restaurant.ratings + 1, rating_sum=Restaurant.rating_sum + bindparam("stars"))
)


class RatedOrder(TypedDict):
    """A rating, and the restaurant's mean with it."""

    food_order_id: FoodOrderId
    stars: int
    restaurant_id: RestaurantId
    restaurant_rating: float


@server.tool(
    phrases=[
        "rate {food_order_id} with {stars} out of 5[ and the comment {comment}]",
        "give {food_order_id} {stars} of 5 stars[, commenting {comment}]",
        "leave a {stars}-star rating for {food_order_id}[ with the words {comment}]",
        "record a rating of {stars} for {food_order_id}[; the customer says {comment}]",
        "put down {stars} out of 5 for {food_order_id}[ together with what the customer wrote: {comment}]",
    ],
    brief=[
        "rate a food order",
        "leave a rating for {food_order_id}",
        "give a food order {stars} of 5 stars",
    ],
)
def rate_food_order(
    ctx: Context,
    food_order_id: Annotated[FoodOrderId, "Delivered order"],
    stars: Annotated[Literal[1, 2, 3, 4, 5], "1 (bad) to 5 (excellent)"],
    comment: Annotated[
        Annotated[Text, Field(max_length=300, examples=list(words.COMMENTS))] | None, "What the customer says"
    ] = None,
) -> RatedOrder:
    """Rate a delivered order once, within 30 days. It counts towards the restaurant's rating."""
    row = rules.food_order(ctx, food_order_id)
    if row["status"] != "delivered":
        raise Rejected(f"{food_order_id} is {said(row['status'])}; only delivered orders can be rated")
    _recent(ctx, row, _RATING_DAYS, "rated")
    if row["stars"] is not None:
        raise Rejected(f"{food_order_id} was rated with {row['stars']} stars already; choose another order")
    ctx.update(FoodOrder, food_order_id, stars=stars, comment=comment)
    ctx.execute(_COUNT_RATING, restaurant=row["restaurant_id"], stars=stars)
    restaurant = rules.restaurant(ctx, row["restaurant_id"])
    return {
        "food_order_id": food_order_id,
        "stars": stars,
        "restaurant_id": row["restaurant_id"],
        "restaurant_rating": round(restaurant["rating_sum"] / restaurant["ratings"], 1),
    }


def _recent(ctx: Context, row: Row, days: int, what: str) -> None:
    first = (ctx.now.date() - timedelta(days=days)).isoformat()
    if row["placed_on"] < first:
        raise Rejected(f"{row['id']} is of {row['placed_on']}; orders from {first} on can be {what}")


class RefundedOrder(TypedDict):
    """Money given back, in EUR."""

    refund_id: RefundId
    food_order_id: FoodOrderId
    amount: float


@server.tool(
    phrases=[
        "refund {food_order_id} with the reason {reason}[, {dish_id} only]",
        "give the money for[ {dish_id} in] {food_order_id} back (reason: {reason})",
        "issue a refund for {food_order_id}[, limited to {dish_id},] with the reason {reason}",
        "pay the customer back for {food_order_id}[, just for {dish_id}], stating {reason} as the reason",
        "enter {reason} as a complaint about {food_order_id} and refund[ {dish_id} from] it",
    ],
    brief=[
        "refund a food order",
        "give the customer the money for {food_order_id} back",
        "issue a refund with the reason {reason}",
    ],
)
def refund_food_order(
    ctx: Context,
    food_order_id: Annotated[FoodOrderId, "Delivered order of the last 14 days"],
    reason: Annotated[Complaint, "What was wrong"],
    dish_id: Annotated[DishId | None, "Only this dish; everything but the tip if left out"] = None,
) -> RefundedOrder:
    """Refund a delivered order, or one of its dishes. A customer gets at most 3 refunds in 30 days."""
    row = rules.food_order(ctx, food_order_id)
    if row["status"] != "delivered":
        other = "cancel_food_order stops it" if row["status"] in ("placed", "accepted") else "delivered ones can be"
        raise Rejected(f"{food_order_id} is {said(row['status'])} and can't be refunded; {other}")
    _recent(ctx, row, _REFUND_DAYS, "refunded")
    amount = row["subtotal"] - row["discount"] + row["delivery_fee"] if dish_id is None else _paid(ctx, row, dish_id)
    for earlier in ctx.rows(_REFUNDS, food_order=food_order_id):
        if dish_id is None or earlier["dish_id"] in (None, dish_id):
            what = earlier["dish_id"] or "the whole order"
            raise Rejected(f"{earlier['id']} refunded {what} of {food_order_id} already; refund another dish, if any")
    since = (ctx.now.date() - timedelta(days=30)).isoformat()
    count = ctx.scalar(_REFUNDS_SINCE, customer=row["customer_id"], since=since)
    if count >= _MOST_REFUNDS:
        raise Rejected(
            f"{row['customer_id']} had {count} refunds since {since}; more than {_MOST_REFUNDS} in 30 days need "
            "a review, so leave this one to the refund team"
        )
    return {
        "refund_id": give_back(ctx, food_order_id, dish_id, amount, reason),
        "food_order_id": food_order_id,
        "amount": money(amount),
    }


def _paid(ctx: Context, row: Row, dish_id: str) -> int:
    """Cents paid for a dish of an order, its share of the discount taken off. Raises Rejected when it is not in it."""
    rules.dish(ctx, dish_id)
    for line in ctx.rows(LINES, food_order=row["id"]):
        if line["dish_id"] == dish_id:
            return int(line["quantity"] * line["price"] * (row["subtotal"] - row["discount"]) // row["subtotal"])
    raise Rejected(f"{dish_id} is not in {row['id']}; track_food_order shows what is")
