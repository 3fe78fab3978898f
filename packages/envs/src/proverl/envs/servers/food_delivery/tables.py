"""The platform's tables. Amounts are integer cents (EUR), positions hundreds of metres, dates and times ISO text."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

RestaurantId = Ref("Restaurant")
DishId = Ref("Dish")
CustomerId = Ref("Customer")
DeliveryAddressId = Ref("DeliveryAddress")
VoucherId = Ref("Voucher")
BasketId = Ref("Basket")
FoodOrderId = Ref("FoodOrder")
CourierId = Ref("Courier")
RefundId = Ref("Refund")


class Base(DeclarativeBase):
    """Tables of the food delivery server."""


class Restaurant(Base):
    """A kitchen that delivers within `radius`; ratings are kept as their sum and number."""

    __tablename__ = "restaurant"
    __table_args__ = (CheckConstraint("opens < closes"), CheckConstraint("rating_sum <= 5 * ratings"), COMPACT)
    id_prefix = "RST"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    cuisine: Mapped[str]
    opens: Mapped[str]  # HH:MM
    closes: Mapped[str]
    day_off: Mapped[int | None]  # 0 is Monday
    paused: Mapped[bool]
    min_order: Mapped[int]
    base_fee: Mapped[int]
    prep_minutes: Mapped[int]
    radius: Mapped[int]
    x: Mapped[int]
    y: Mapped[int]
    rating_sum: Mapped[int]
    ratings: Mapped[int]


class Dish(Base):
    """Something on a restaurant's menu."""

    __tablename__ = "dish"
    __table_args__ = (CheckConstraint("price > 0"), COMPACT)
    id_prefix = "DSH"
    id: Mapped[str] = mapped_column(primary_key=True)
    restaurant_id: Mapped[str] = mapped_column(ForeignKey("restaurant.id"), index=True)
    name: Mapped[str]
    section: Mapped[str]  # starter, main, side, dessert, drink
    price: Mapped[int]
    diet: Mapped[str]  # vegan, vegetarian, any
    alcohol: Mapped[bool]
    sold_out: Mapped[bool]


class Customer(Base):
    """A person who orders; a blocked account has an unpaid bill, only adults with a checked age get alcohol."""

    __tablename__ = "customer"
    __table_args__ = (COMPACT,)
    id_prefix = "CUS"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    age_checked: Mapped[bool]
    blocked: Mapped[bool]


class DeliveryAddress(Base):
    """Where a customer wants food brought."""

    __tablename__ = "delivery_address"
    __table_args__ = (COMPACT,)
    id_prefix = "ADR"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customer.id"))
    label: Mapped[str]
    street: Mapped[str]
    x: Mapped[int]
    y: Mapped[int]


class Courier(Base):
    """A person who delivers; busy while an order is theirs."""

    __tablename__ = "courier"
    __table_args__ = (COMPACT,)
    id_prefix = "COU"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    vehicle: Mapped[str]  # bicycle, scooter, car
    online: Mapped[bool]


class FoodOrder(Base):
    """An order; its total is `subtotal - discount + delivery_fee + tip`."""

    __tablename__ = "food_order"
    __table_args__ = (
        CheckConstraint("discount BETWEEN 0 AND subtotal AND delivery_fee >= 0 AND tip >= 0"),
        CheckConstraint("status NOT IN ('picked_up', 'delivered') OR courier_id IS NOT NULL"),
        CheckConstraint("stars IS NULL OR status = 'delivered'"),
        COMPACT,
    )
    id_prefix = "FOR"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customer.id"))
    restaurant_id: Mapped[str] = mapped_column(ForeignKey("restaurant.id"))
    delivery_address_id: Mapped[str] = mapped_column(ForeignKey("delivery_address.id"))
    courier_id: Mapped[str | None] = mapped_column(ForeignKey("courier.id"), index=True)
    status: Mapped[str]  # placed, accepted, preparing, ready, picked_up, delivered, cancelled
    subtotal: Mapped[int]
    discount: Mapped[int]
    delivery_fee: Mapped[int]
    tip: Mapped[int]
    scheduled_for: Mapped[str | None]  # HH:MM of the day it was placed; else as soon as possible
    delivery_code: Mapped[str]
    stars: Mapped[int | None]
    comment: Mapped[str | None]
    placed_on: Mapped[str]
    placed_at: Mapped[str] = mapped_column(info={"audit": True})
    promised_at: Mapped[str] = mapped_column(info={"audit": True})  # HH:MM when it should arrive


class FoodOrderLine(Base):
    """A dish of an order at the price of then."""

    __tablename__ = "food_order_line"
    __table_args__ = (CheckConstraint("quantity > 0"), COMPACT)
    food_order_id: Mapped[str] = mapped_column(ForeignKey("food_order.id"), primary_key=True)
    dish_id: Mapped[str] = mapped_column(ForeignKey("dish.id"), primary_key=True)
    quantity: Mapped[int]
    price: Mapped[int]
    note: Mapped[str | None]


class Voucher(Base):
    """A customer's voucher, good for one order: so many percent or cents off, or no delivery fee."""

    __tablename__ = "voucher"
    __table_args__ = (COMPACT,)
    id_prefix = "VCH"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customer.id"))
    code: Mapped[str]
    kind: Mapped[str]  # percent, amount, free_delivery
    value: Mapped[int]
    min_spend: Mapped[int]
    cuisine: Mapped[str | None]
    valid_until: Mapped[str]
    used_by: Mapped[str | None] = mapped_column(ForeignKey("food_order.id"), unique=True)


class Basket(Base):
    """What a customer is about to order; gone when it is ordered or empty."""

    __tablename__ = "basket"
    __table_args__ = (COMPACT,)
    id_prefix = "BSK"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customer.id"))
    restaurant_id: Mapped[str] = mapped_column(ForeignKey("restaurant.id"))
    voucher_id: Mapped[str | None] = mapped_column(ForeignKey("voucher.id"))


def basket_of(customer_id: str) -> str:
    """The id of a customer's basket: there is one at a time, and it does not matter which dish began it."""
    return f"{Basket.id_prefix}-{customer_id.partition('-')[2]}"


class BasketLine(Base):
    """A dish in a basket."""

    __tablename__ = "basket_line"
    __table_args__ = (CheckConstraint("quantity > 0"), COMPACT)
    basket_id: Mapped[str] = mapped_column(ForeignKey("basket.id"), primary_key=True)
    dish_id: Mapped[str] = mapped_column(ForeignKey("dish.id"), primary_key=True)
    quantity: Mapped[int]
    note: Mapped[str | None]


class Refund(Base):
    """Money given back for an order, or for one of its dishes."""

    __tablename__ = "refund"
    __table_args__ = (CheckConstraint("amount > 0"), COMPACT)
    id_prefix = "RFD"
    id: Mapped[str] = mapped_column(primary_key=True)
    food_order_id: Mapped[str] = mapped_column(ForeignKey("food_order.id"))
    dish_id: Mapped[str | None] = mapped_column(ForeignKey("dish.id"))
    amount: Mapped[int]
    reason: Mapped[str]
    issued_on: Mapped[str]
