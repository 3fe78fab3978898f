"""The shop's tables. Amounts are integer cents of one currency (EUR); dates are ISO text."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

ProductId = Ref("Product")
CouponCode = Ref("Coupon")
AddressId = Ref("Address")
PaymentMethodId = Ref("PaymentMethod")
OrderId = Ref("Order")
OrderItemId = Ref("OrderItem")
ReturnId = Ref("Return")
ProductReviewId = Ref("ProductReview")


class Base(DeclarativeBase):
    """Tables of the shopping server."""


class Product(Base):
    """Something the shop sells or sold; `stock` units can be ordered now, `per_order` at a time."""

    __tablename__ = "product"
    __table_args__ = (CheckConstraint("stock >= 0"), CheckConstraint("price > 0"), COMPACT)
    id_prefix = "PRD"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    category: Mapped[str]
    price: Mapped[int]
    stock: Mapped[int]
    status: Mapped[str]  # active, discontinued
    per_order: Mapped[int]
    bulky: Mapped[bool]  # too large for express shipping and for pick-up points
    hygiene: Mapped[bool]  # once delivered, it can't be sent back for a change of mind
    released_on: Mapped[str]


class Coupon(Base):
    """A coupon of the customer, good for one order; the key is its code. An order that stands and has it uses it up."""

    __tablename__ = "coupon"
    __table_args__ = (CheckConstraint("starts_on <= ends_on"), COMPACT)
    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]  # percent, amount, free_shipping
    value: Mapped[int]  # percent, or cents; 0 for free shipping
    category: Mapped[str | None]  # only products of this category count
    minimum: Mapped[int]  # what the products that count must cost together
    starts_on: Mapped[str]
    ends_on: Mapped[str]


class Shopper(Base):
    """The customer who is signed in (one row), with the coupon applied to the cart."""

    __tablename__ = "shopper"
    __table_args__ = (COMPACT,)
    id_prefix = "CUS"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    coupon_code: Mapped[str | None] = mapped_column(ForeignKey("coupon.id"))


class Address(Base):
    """Where the customer has orders delivered, in Belgium."""

    __tablename__ = "address"
    __table_args__ = (COMPACT,)
    id_prefix = "ADR"
    id: Mapped[str] = mapped_column(primary_key=True)
    label: Mapped[str]
    kind: Mapped[str]  # door, pickup_point
    street: Mapped[str]
    town: Mapped[str]  # with the postal code before it


class PaymentMethod(Base):
    """A payment card or a gift card; only gift cards have a balance. Issuer and shop check `security_code`."""

    __tablename__ = "payment_method"
    __table_args__ = (
        CheckConstraint("balance >= 0"),
        CheckConstraint("(type = 'gift_card') = (balance IS NOT NULL)"),
        COMPACT,
    )
    id_prefix = "PMT"
    id: Mapped[str] = mapped_column(primary_key=True)
    type: Mapped[str]  # card, gift_card
    label: Mapped[str]
    expires: Mapped[str]  # YYYY-MM, good through that month
    security_code: Mapped[str]
    loaded: Mapped[int | None]  # what the gift card was bought with
    balance: Mapped[int | None]


class Order(Base):
    """An order: `total` is what was paid, for the items less `discount` plus `shipping`."""

    __tablename__ = "order"
    __table_args__ = (
        CheckConstraint("total >= 0 AND discount >= 0 AND shipping >= 0"),
        CheckConstraint("(status = 'delivered') = (delivered_on IS NOT NULL)"),
        CheckConstraint("(status = 'cancelled') = (cancel_reason IS NOT NULL)"),
        COMPACT,
    )
    id_prefix = "ORD"
    id: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[str]  # processing, packed, shipped, delivered; cancelled before it was shipped
    placed_on: Mapped[str]
    placed_at: Mapped[str] = mapped_column(info={"audit": True})  # time of day, orders the orders of a day
    expected_on: Mapped[str]
    delivered_on: Mapped[str | None]
    address_id: Mapped[str] = mapped_column(ForeignKey("address.id"))
    payment_method_id: Mapped[str] = mapped_column(ForeignKey("payment_method.id"))
    shipping_method: Mapped[str]  # standard, express
    coupon_code: Mapped[str | None] = mapped_column(ForeignKey("coupon.id"))
    discount: Mapped[int]
    shipping: Mapped[int]
    total: Mapped[int]
    cancel_reason: Mapped[str | None]


class OrderItem(Base):
    """A product in an order, at the price of that day."""

    __tablename__ = "order_item"
    __table_args__ = (CheckConstraint("quantity > 0"), COMPACT)
    id_prefix = "ITM"
    id: Mapped[str] = mapped_column(primary_key=True)
    order_id: Mapped[str] = mapped_column(ForeignKey("order.id"), index=True)
    product_id: Mapped[str] = mapped_column(ForeignKey("product.id"))
    quantity: Mapped[int]
    price: Mapped[int]


class Return(Base):
    """Units of an order item that go back; `refund` is what is paid back once they have arrived."""

    __tablename__ = "return"
    __table_args__ = (CheckConstraint("quantity > 0"), CheckConstraint("refund >= 0"), COMPACT)
    id_prefix = "RET"
    id: Mapped[str] = mapped_column(primary_key=True)
    order_item_id: Mapped[str] = mapped_column(ForeignKey("order_item.id"), index=True)
    quantity: Mapped[int]
    reason: Mapped[str]
    status: Mapped[str]  # requested, received, refunded; declined on inspection; lapsed when nothing was sent back
    refund: Mapped[int]
    requested_on: Mapped[str]


class ProductReview(Base):
    """What a buyer wrote about a product; `shopper_id` is set on the signed-in customer's own."""

    __tablename__ = "product_review"
    __table_args__ = (CheckConstraint("rating BETWEEN 1 AND 5"), COMPACT)
    id_prefix = "REV"
    id: Mapped[str] = mapped_column(primary_key=True)
    product_id: Mapped[str] = mapped_column(ForeignKey("product.id"), index=True)
    shopper_id: Mapped[str | None] = mapped_column(ForeignKey("shopper.id"))
    author: Mapped[str]
    rating: Mapped[int]
    text: Mapped[str]
    written_on: Mapped[str]


class CartItem(Base):
    """A product in the cart; prices are today's."""

    __tablename__ = "cart_item"
    __table_args__ = (CheckConstraint("quantity > 0"), COMPACT)
    product_id: Mapped[str] = mapped_column(ForeignKey("product.id"), primary_key=True)
    quantity: Mapped[int]


class WishlistItem(Base):
    """A product that the customer would like to have one day."""

    __tablename__ = "wishlist_item"
    __table_args__ = (COMPACT,)
    product_id: Mapped[str] = mapped_column(ForeignKey("product.id"), primary_key=True)
    added_on: Mapped[str]
