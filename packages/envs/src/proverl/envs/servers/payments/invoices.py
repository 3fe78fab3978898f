"""Invoices: list, read."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import and_, bindparam, case, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Text, money
from proverl.envs.servers.payments import rules, words
from proverl.envs.servers.payments.app import server
from proverl.envs.servers.payments.tables import (
    Charge,
    ChargeId,
    Customer,
    CustomerId,
    Invoice,
    InvoiceId,
    PaymentLinkId,
    Refund,
)

InvoiceStatus = Literal["open", "overdue", "paid", "void", "uncollectible"]
ChargeStatus = Literal["succeeded", "failed", "disputed"]

_NO_LIMIT = -1  # to SQLite
_INVOICE, _CHARGE, _REFUND = Invoice.__table__.c, Charge.__table__.c, Refund.__table__.c
_STATUS = case(
    (and_(_INVOICE.status == "open", _INVOICE.due_on < bindparam("today")), "overdue"), else_=_INVOICE.status
)
_INVOICES = (
    select(_INVOICE.id, _INVOICE.customer_id, _INVOICE.amount, _STATUS.label("status"), Customer.name)
    .join_from(Invoice.__table__, Customer.__table__, _INVOICE.customer_id == Customer.id)
    .where(or_(bindparam("status") == "", bindparam("status") == _STATUS))
    .order_by(_INVOICE.issued_on.desc(), _INVOICE.issued_at.desc(), _INVOICE.id)
    .limit(bindparam("limit"))
)
_INVOICE_WITH_CARD = (
    select(Invoice.__table__, Customer.card_brand, Customer.card_last4, Customer.card_expires)
    .join_from(Invoice.__table__, Customer.__table__, _INVOICE.customer_id == Customer.id)
    .where(_INVOICE.id == bindparam("invoice"))
)
_CHARGES = (
    select(_CHARGE.id, _CHARGE.amount, _CHARGE.status, func.coalesce(func.sum(_REFUND.amount), 0).label("refunded"))
    .outerjoin_from(Charge.__table__, Refund.__table__, _REFUND.charge_id == _CHARGE.id)
    .where(_CHARGE.invoice_id == bindparam("invoice"))
    .group_by(_CHARGE.id)
    .order_by(_CHARGE.charged_on, _CHARGE.charged_at, _CHARGE.id)
)


class InvoiceItem(TypedDict):
    """An invoice in a list; `amount` in EUR."""

    invoice_id: InvoiceId
    customer_id: CustomerId
    customer: str
    amount: float
    status: InvoiceStatus


class InvoiceList(TypedDict):
    """Invoices that fit, newest first."""

    invoices: list[InvoiceItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the[ {status}] invoices[ to {customer}][, {limit} at most]",
        "show me which[ {status}] invoices there are[ for {customer}]",
        "look up the latest[ {limit}][ {status}] invoices",
        "find invoices[ with the status {status}][ sent to {customer}]",
        "go through our[ {status}] invoices[ for customers named {customer}][, the newest {limit} only]",
    ],
)
def list_invoices(
    ctx: Context,
    status: Annotated[InvoiceStatus | None, "Only invoices with this status; overdue ones are not open"] = None,
    customer: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.NAMES))] | None,
        "Part of the customer's name; upper and lower case make no difference",
    ] = None,
    limit: Annotated[int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20]), "Most invoices listed"] = 5,
) -> InvoiceList:
    """List invoices, newest first."""
    wanted = (customer or "").casefold()
    rows = ctx.rows(_INVOICES, status=status or "", today=ctx.today, limit=_NO_LIMIT if wanted else limit)
    fitting = [row for row in rows if wanted in row["name"].casefold()]
    return {
        "invoices": [
            {
                "invoice_id": row["id"],
                "customer_id": row["customer_id"],
                "customer": row["name"],
                "amount": money(row["amount"]),
                "status": row["status"],
            }
            for row in fitting[:limit]
        ]
    }


class ChargeItem(TypedDict):
    """A charge for an invoice; amounts in EUR."""

    charge_id: ChargeId
    amount: float
    refunded: float
    status: ChargeStatus


class InvoiceView(TypedDict):
    """An invoice in full; amounts in EUR, `payment_link_id` names the link that works now, `card` the saved card."""

    invoice_id: InvoiceId
    customer_id: CustomerId
    description: str
    amount: float
    amount_paid: float
    status: InvoiceStatus
    due_date: str
    card: str | None
    payment_link_id: PaymentLinkId | None
    charges: list[ChargeItem]


@server.tool(
    read_only=True,
    phrases=[
        "show me {invoice_id} with its charges",
        "check what has been paid on {invoice_id}",
        "pull up the details of {invoice_id}",
        "tell me which charges and which payment link {invoice_id} has",
        "see how much of {invoice_id} has been charged and refunded",
    ],
    brief=[
        "check what has been paid on an invoice",
        "pull up the details of one of our invoices",
    ],
)
def get_invoice(ctx: Context, invoice_id: Annotated[InvoiceId, "Invoice to read"]) -> InvoiceView:
    """Get an invoice with what was charged and refunded, the customer's saved card and the active payment link."""
    found = ctx.rows(_INVOICE_WITH_CARD, invoice=invoice_id)
    row = found[0] if found else rules.invoice(ctx, invoice_id)
    link = rules.active_link(ctx, invoice_id)
    card = f"{row['card_brand']} ending in {row['card_last4']}, expires {row['card_expires']}"
    return {
        "invoice_id": invoice_id,
        "customer_id": row["customer_id"],
        "description": row["description"],
        "amount": money(row["amount"]),
        "amount_paid": money(row["paid"]),
        "status": "overdue" if row["status"] == "open" and row["due_on"] < ctx.today else row["status"],
        "due_date": row["due_on"],
        "card": card if row["card_brand"] else None,
        "payment_link_id": link["id"] if link else None,
        "charges": [
            {
                "charge_id": item["id"],
                "amount": money(item["amount"]),
                "refunded": money(item["refunded"]),
                "status": item["status"],
            }
            for item in ctx.rows(_CHARGES, invoice=invoice_id)
        ],
    }
