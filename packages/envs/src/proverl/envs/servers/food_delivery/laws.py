"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import func, select

from proverl.envs import Context
from proverl.envs.servers.food_delivery import bill
from proverl.envs.servers.food_delivery.app import server
from proverl.envs.servers.food_delivery.tables import (
    Basket,
    BasketLine,
    Dish,
    FoodOrder,
    FoodOrderLine,
    Refund,
    Voucher,
)


@server.invariant
def subtotal_is_sum_of_dishes(ctx: Context) -> None:
    """The subtotal of every order is what its dishes cost."""
    sums = select(FoodOrderLine.food_order_id, func.sum(FoodOrderLine.quantity * FoodOrderLine.price).label("total"))
    totals = {row["food_order_id"]: row["total"] for row in ctx.rows(sums.group_by(FoodOrderLine.food_order_id))}
    for row in ctx.rows(select(FoodOrder.id, FoodOrder.subtotal)):
        assert totals.get(row["id"]) == row["subtotal"], (
            f"{row['id']}: {row['subtotal']} is not {totals.get(row['id'])}"
        )


@server.invariant
def no_more_goes_back_than_was_paid(ctx: Context) -> None:
    """Refunds never exceed the total; a cancelled order is refunded in full."""
    sums = select(Refund.food_order_id, func.sum(Refund.amount).label("total")).group_by(Refund.food_order_id)
    refunded = {row["food_order_id"]: row["total"] for row in ctx.rows(sums)}
    for row in ctx.rows(select(FoodOrder.__table__)):
        back, paid = refunded.get(row["id"], 0), bill.total(row)
        assert back <= paid, f"{row['id']}: {back} refunded of {paid}"
        assert row["status"] != "cancelled" or back == paid, f"{row['id']} cancelled, {back} refunded of {paid}"
        assert row["status"] in ("cancelled", "delivered") or not back, f"{row['id']} refunded while {row['status']}"


@server.invariant
def couriers_carry_one_order_at_a_time(ctx: Context) -> None:
    """No courier has two orders under way."""
    taken = (
        select(FoodOrder.courier_id)
        .where(FoodOrder.status.not_in(("delivered", "cancelled")), FoodOrder.courier_id.is_not(None))
        .group_by(FoodOrder.courier_id)
        .having(func.count() > 1)
    )
    assert not ctx.rows(taken), f"couriers with two orders: {ctx.rows(taken)}"


@server.invariant
def vouchers_are_used_by_their_owner(ctx: Context) -> None:
    """A used voucher belongs to the customer of its order, which was not cancelled; one in a basket to its owner."""
    used = (
        select(Voucher.id)
        .join_from(Voucher, FoodOrder, FoodOrder.id == Voucher.used_by)
        .where((FoodOrder.customer_id != Voucher.customer_id) | (FoodOrder.status == "cancelled"))
    )
    assert not ctx.rows(used), f"vouchers of somebody else: {ctx.rows(used)}"
    held = (
        select(Voucher.id)
        .join_from(Voucher, Basket, Basket.voucher_id == Voucher.id)
        .where((Basket.customer_id != Voucher.customer_id) | Voucher.used_by.is_not(None))
    )
    assert not ctx.rows(held), f"vouchers in a wrong basket: {ctx.rows(held)}"


@server.invariant
def baskets_and_orders_are_of_one_kitchen(ctx: Context) -> None:
    """Whatever lies in a basket or an order is on its restaurant's menu; no basket is empty."""
    for table, line, key in (
        (Basket, BasketLine, BasketLine.basket_id),
        (FoodOrder, FoodOrderLine, FoodOrderLine.food_order_id),
    ):
        foreign = (
            select(table.id)
            .join_from(table, line, key == table.id)
            .join(Dish, Dish.id == line.dish_id)
            .where(Dish.restaurant_id != table.restaurant_id)
        )
        assert not ctx.rows(foreign), f"dishes of another restaurant: {ctx.rows(foreign)}"
        empty = select(table.id).where(table.id.not_in(select(key)))
        assert not ctx.rows(empty), f"without dishes: {ctx.rows(empty)}"
