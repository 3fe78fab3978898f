"""The merchant's tables. Amounts are integer cents of one currency (EUR); dates are ISO text."""

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

CustomerId = Ref("Customer")
InvoiceId = Ref("Invoice")
ChargeId = Ref("Charge")
RefundId = Ref("Refund")
PaymentLinkId = Ref("PaymentLink")
WebhookId = Ref("Webhook")


class Base(DeclarativeBase):
    """Tables of the payments server."""


class Customer(Base):
    """Someone who buys from the merchant, with the saved card if there is one.

    `card_funds` is what the card's issuer still approves; `card_confirms` says that every charge needs the holder's
    own confirmation (3-D Secure); `blocked_on` is the day on which the fraud team stopped all business.
    """

    __tablename__ = "customer"
    __table_args__ = (CheckConstraint("card_funds >= 0"), COMPACT)
    id_prefix = "CUS"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    email: Mapped[str]
    blocked_on: Mapped[str | None]
    card_brand: Mapped[str | None]
    card_last4: Mapped[str | None]
    card_expires: Mapped[str | None]  # YYYY-MM, good through that month
    card_code: Mapped[str | None]
    card_funds: Mapped[int]
    card_confirms: Mapped[bool]


class Invoice(Base):
    """A bill sent to a customer; `paid` is what its charges brought in."""

    __tablename__ = "invoice"
    __table_args__ = (
        CheckConstraint("paid BETWEEN 0 AND amount"),
        CheckConstraint("(status = 'paid') = (paid = amount)"),
        CheckConstraint("(status = 'void') = (voided_on IS NOT NULL)"),
        COMPACT,
    )
    id_prefix = "INV"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customer.id"), index=True)
    amount: Mapped[int]
    paid: Mapped[int]
    status: Mapped[str]  # open, paid, void, uncollectible
    description: Mapped[str]
    issued_on: Mapped[str]
    issued_at: Mapped[str] = mapped_column(info={"audit": True})  # times of day order what happens on one day
    due_on: Mapped[str]
    voided_on: Mapped[str | None]
    voided_at: Mapped[str | None] = mapped_column(info={"audit": True})


class PaymentLink(Base):
    """A page on which a customer pays what is left of an invoice; good through `expires_on`."""

    __tablename__ = "payment_link"
    __table_args__ = (COMPACT,)
    id_prefix = "PLK"
    id: Mapped[str] = mapped_column(primary_key=True)
    invoice_id: Mapped[str] = mapped_column(ForeignKey("invoice.id"), index=True)
    status: Mapped[str]  # active, used, deactivated; an active one whose day is past has expired
    expires_on: Mapped[str]
    created_on: Mapped[str]
    created_at: Mapped[str] = mapped_column(info={"audit": True})


class Charge(Base):
    """A card payment for an invoice, by the saved card or through a payment link."""

    __tablename__ = "charge"
    __table_args__ = (CheckConstraint("amount > 0"), COMPACT)
    id_prefix = "CHG"
    id: Mapped[str] = mapped_column(primary_key=True)
    invoice_id: Mapped[str] = mapped_column(ForeignKey("invoice.id"), index=True)
    payment_link_id: Mapped[str | None] = mapped_column(ForeignKey("payment_link.id"))
    amount: Mapped[int]
    fee: Mapped[int]
    status: Mapped[str]  # succeeded, failed, disputed (the issuer took the money back)
    charged_on: Mapped[str]
    charged_at: Mapped[str] = mapped_column(info={"audit": True})


class Refund(Base):
    """Money of a charge given back; the provider keeps its fee."""

    __tablename__ = "refund"
    __table_args__ = (CheckConstraint("amount > 0"), COMPACT)
    id_prefix = "RFD"
    id: Mapped[str] = mapped_column(primary_key=True)
    charge_id: Mapped[str] = mapped_column(ForeignKey("charge.id"), index=True)
    amount: Mapped[int]
    reason: Mapped[str]  # requested_by_customer, duplicate, product_unacceptable, fraudulent
    refunded_on: Mapped[str]
    refunded_at: Mapped[str] = mapped_column(info={"audit": True})


class Payout(Base):
    """Money that went from the merchant's balance to its bank."""

    __tablename__ = "payout"
    __table_args__ = (CheckConstraint("amount > 0"), COMPACT)
    id_prefix = "PYO"
    id: Mapped[str] = mapped_column(primary_key=True)
    amount: Mapped[int]
    paid_on: Mapped[str]


class Webhook(Base):
    """An address that is told of one kind of event; `managed_by` names the app that set it up and may remove it."""

    __tablename__ = "webhook"
    __table_args__ = (UniqueConstraint("event", "url"), COMPACT)
    id_prefix = "WHK"
    id: Mapped[str] = mapped_column(primary_key=True)
    url: Mapped[str]
    event: Mapped[str]
    managed_by: Mapped[str | None]
    disabled_on: Mapped[str | None]  # the provider gave up after days of failed deliveries
    created_on: Mapped[str]
    created_at: Mapped[str] = mapped_column(info={"audit": True})
