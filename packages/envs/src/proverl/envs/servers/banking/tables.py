"""The bank's tables. Amounts are integer cents of one currency (EUR); dates are ISO text."""

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

CustomerId = Ref("Customer")
AccountId = Ref("Account")
PayeeId = Ref("Payee")
CardId = Ref("Card")
TransactionId = Ref("Transaction")
StandingOrderId = Ref("StandingOrder")
DisputeId = Ref("Dispute")


class Base(DeclarativeBase):
    """Tables of the banking server."""


class Customer(Base):
    """A person who holds accounts; `passcode` authorises payments, `identity_until` ends the last identity check."""

    __tablename__ = "customer"
    __table_args__ = (COMPACT,)
    id_prefix = "CUS"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    city: Mapped[str]
    passcode: Mapped[str]
    identity_until: Mapped[str]


class Account(Base):
    """A checking or savings account. Its transactions add up to `balance`; `daily_limit` caps what others get a day."""

    __tablename__ = "account"
    __table_args__ = (
        CheckConstraint("balance >= -overdraft"),
        CheckConstraint("status != 'closed' OR balance = 0"),
        CheckConstraint("type = 'checking' OR overdraft = 0"),
        COMPACT,
    )
    id_prefix = "ACC"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customer.id"))
    type: Mapped[str]  # checking, savings
    name: Mapped[str]
    status: Mapped[str]  # active, blocked, closed
    opened_on: Mapped[str]
    balance: Mapped[int]
    overdraft: Mapped[int]
    daily_limit: Mapped[int]


class Payee(Base):
    """A saved beneficiary of a customer, at another bank."""

    __tablename__ = "payee"
    __table_args__ = (UniqueConstraint("customer_id", "iban"), COMPACT)
    id_prefix = "PAY"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customer.id"))
    name: Mapped[str]
    iban: Mapped[str]
    added_on: Mapped[str]


class Card(Base):
    """A debit card of an account."""

    __tablename__ = "card"
    __table_args__ = (CheckConstraint("length(pin) = 4"), COMPACT)
    id_prefix = "CRD"
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id"))
    kind: Mapped[str]  # physical, virtual
    last4: Mapped[str]
    status: Mapped[str]  # active, frozen, blocked (lost or stolen, for good), expired
    expires: Mapped[str]  # YYYY-MM, good through that month
    pin: Mapped[str]


class Transaction(Base):
    """A ledger entry of an account, positive for money in. A transfer is two entries, each naming the other account."""

    __tablename__ = "entry"
    __table_args__ = (
        CheckConstraint("amount != 0"),
        CheckConstraint("(kind = 'card') = (card_id IS NOT NULL)"),
        CheckConstraint("(kind = 'payment') = (payee_id IS NOT NULL)"),
        CheckConstraint("(kind = 'transfer') = (peer_id IS NOT NULL)"),
        COMPACT,
    )
    id_prefix = "TXN"
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id"), index=True)
    kind: Mapped[str]  # opening, deposit, interest, card, payment, transfer, fee
    amount: Mapped[int]
    description: Mapped[str]
    booked_on: Mapped[str]
    booked_at: Mapped[str] = mapped_column(info={"audit": True})  # time of day, orders the entries of a day
    card_id: Mapped[str | None] = mapped_column(ForeignKey("card.id"))
    payee_id: Mapped[str | None] = mapped_column(ForeignKey("payee.id"))
    peer_id: Mapped[str | None] = mapped_column(ForeignKey("account.id"))


class StandingOrder(Base):
    """A regular payment to a payee; the first or next one is due on `next_on`."""

    __tablename__ = "standing_order"
    __table_args__ = (CheckConstraint("amount > 0"), COMPACT)
    id_prefix = "STO"
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id"))
    payee_id: Mapped[str] = mapped_column(ForeignKey("payee.id"))
    amount: Mapped[int]
    frequency: Mapped[str]  # weekly, monthly, quarterly
    next_on: Mapped[str]
    status: Mapped[str]  # active, cancelled


class Dispute(Base):
    """A customer's claim that a card payment was wrong; one for each transaction."""

    __tablename__ = "dispute"
    __table_args__ = (COMPACT,)
    id_prefix = "DSP"
    id: Mapped[str] = mapped_column(primary_key=True)
    transaction_id: Mapped[str] = mapped_column(ForeignKey("entry.id"), unique=True)
    reason: Mapped[str]  # fraud, duplicate, overcharged, undelivered, cancelled
    status: Mapped[str]  # open, upheld, declined
    opened_on: Mapped[str]
