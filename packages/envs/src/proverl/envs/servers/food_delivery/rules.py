"""What the platform refuses. Every refusal says what would be right."""

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.food_delivery.tables import (
    Basket,
    Courier,
    Customer,
    DeliveryAddress,
    Dish,
    FoodOrder,
    Restaurant,
    Voucher,
)
from proverl.envs.state import Row

STEPS = ("placed", "accepted", "preparing", "ready", "picked_up", "delivered")


def restaurant(ctx: Context, restaurant_id: str) -> Row:
    """The restaurant. Raises NotFound."""
    return ctx.get(Restaurant, restaurant_id, "search_restaurants names the restaurants")


def dish(ctx: Context, dish_id: str) -> Row:
    """The dish. Raises NotFound."""
    return ctx.get(Dish, dish_id, "list_dishes names what a restaurant has")


def customer(ctx: Context, customer_id: str) -> Row:
    """The customer. Raises NotFound."""
    return ctx.get(Customer, customer_id, "find_delivery_addresses names customers and their addresses")


def customer_in_good_standing(ctx: Context, customer_id: str) -> Row:
    """The customer, who may order. Raises NotFound, or Rejected when the account is blocked."""
    row = customer(ctx, customer_id)
    if row["blocked"]:
        raise Rejected(f"the account of {row['name']} ({customer_id}) is blocked until an unpaid bill is settled")
    return row


def address(ctx: Context, delivery_address_id: str) -> Row:
    """The delivery address. Raises NotFound."""
    return ctx.get(DeliveryAddress, delivery_address_id, "find_delivery_addresses names the addresses")


def basket(ctx: Context, basket_id: str) -> Row:
    """The basket. Raises NotFound."""
    return ctx.get(Basket, basket_id, "get_basket names the one of a customer; it is gone once it is ordered or empty")


def courier(ctx: Context, courier_id: str) -> Row:
    """The courier. Raises NotFound."""
    return ctx.get(Courier, courier_id, "list_couriers names the couriers")


def food_order(ctx: Context, food_order_id: str) -> Row:
    """The order. Raises NotFound."""
    return ctx.get(FoodOrder, food_order_id, "list_food_orders names the orders")


def opening(row: Row, time: str, weekday: int) -> str:
    """Whether a restaurant is open, closed or paused at this time (HH:MM) of the weekday (0 is Monday)."""
    if row["paused"]:
        return "paused"
    return "open" if row["opens"] <= time < row["closes"] and row["day_off"] != weekday else "closed"


def takes_orders(row: Row, ctx: Context, at: str | None) -> None:
    """Raises Rejected unless the restaurant is at work at this time of today (now if None)."""
    if row["paused"]:
        raise Rejected(f"{row['name']} ({row['id']}) has paused its orders; choose a restaurant that is open")
    if row["day_off"] == ctx.now.weekday():
        raise Rejected(f"{row['name']} ({row['id']}) is closed all day today; choose another restaurant")
    if at is None and opening(row, ctx.timestamp[11:], ctx.now.weekday()) != "open":
        raise Rejected(
            f"{row['name']} ({row['id']}) is open from {row['opens']} to {row['closes']}; "
            "order for a time within these hours, or choose a restaurant that is open now"
        )
    if at is not None and not row["opens"] <= at <= row["closes"]:
        raise Rejected(f"{row['name']} ({row['id']}) delivers from {row['opens']} to {row['closes']}, not at {at}")


def good_voucher(row: Row, ctx: Context, restaurant_row: Row, subtotal: int) -> None:
    """Raises Rejected unless the voucher is good for this restaurant and amount today."""
    code = f"voucher {row['code']} ({row['id']})"
    if row["used_by"]:
        raise Rejected(f"{code} was used for {row['used_by']}; list_vouchers shows the ones left")
    if row["valid_until"] < ctx.today:
        raise Rejected(f"{code} expired on {row['valid_until']}; list_vouchers shows the ones left")
    if row["cuisine"] not in (None, restaurant_row["cuisine"]):
        raise Rejected(f"{code} is for {row['cuisine']}; {restaurant_row['name']} cooks {restaurant_row['cuisine']}")
    if subtotal < row["min_spend"]:
        raise Rejected(
            f"{code} needs dishes for {money(row['min_spend']):.2f}; there are {money(subtotal):.2f}, so add more"
        )


def voucher_of(ctx: Context, voucher_id: str, customer_id: str) -> Row:
    """The customer's voucher. Raises NotFound, or Rejected when it is somebody else's."""
    row = ctx.get(Voucher, voucher_id, "list_vouchers names those of a customer")
    if row["customer_id"] != customer_id:
        raise Rejected(f"voucher {voucher_id} belongs to {row['customer_id']}, not to {customer_id}; use one of theirs")
    return row
