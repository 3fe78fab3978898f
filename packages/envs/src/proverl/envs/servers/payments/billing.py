"""Invoices that go out and are taken back: create, void."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Money, Rejected, Text, cents, money
from proverl.envs.servers.payments import rules, words
from proverl.envs.servers.payments.app import server
from proverl.envs.servers.payments.tables import Base, CustomerId, Invoice, InvoiceId, PaymentLink

_LONGEST_TERM = 365  # days until an invoice is due
_MOST_OVERDUE = 2  # invoices; a customer who owes more gets no new one
_INVOICE = Invoice.__table__.c
_OVERDUE = (
    select(_INVOICE.id)
    .where(
        _INVOICE.customer_id == bindparam("customer"), _INVOICE.status == "open", _INVOICE.due_on < bindparam("today")
    )
    .order_by(_INVOICE.id)
)
_DEACTIVATE = (
    update(Base.metadata.tables["payment_link"])
    .where(PaymentLink.invoice_id == bindparam("invoice"), PaymentLink.status == "active")
    .values(status="deactivated")
)


def deactivate_links(ctx: Context, invoice_id: str) -> None:
    """Nobody can pay an invoice through its links any more."""
    ctx.execute(_DEACTIVATE, invoice=invoice_id)


class CreatedInvoice(TypedDict):
    """An invoice just sent."""

    invoice_id: InvoiceId
    status: Literal["open"]
    due_date: str


@server.tool(
    phrases=[
        "send {customer_id} an invoice of {amount} euros due on {due_date}[ for {description}]",
        "bill {customer_id} {amount} euros[ for {description}], payable by {due_date}",
        "create an invoice of €{amount} to {customer_id}[ about {description}] with the due date {due_date}",
        "invoice {customer_id} for {amount} EUR, due {due_date}[, with the description {description}]",
        "write {customer_id} a bill[ for {description}] that comes to {amount} euros and has to be paid by {due_date}",
    ],
    brief=[
        "send out an invoice",
        "bill {customer_id} {amount} euros",
        "write {customer_id} an invoice due on {due_date}",
    ],
)
def create_invoice(
    ctx: Context,
    customer_id: Annotated[CustomerId, "Customer who pays"],
    amount: Annotated[Money, "Amount in EUR, at most 50,000.00"],
    due_date: Annotated[IsoDate, "Last day to pay, today or later"],
    description: Annotated[
        Annotated[Text, Field(max_length=120, examples=[name for name, _, _ in words.SERVICES])] | None,
        "What is billed",
    ] = None,
) -> CreatedInvoice:
    """Create an invoice and send it to the customer. It is open until it is paid or voided."""
    rules.customer_in_good_standing(ctx, customer_id)
    rules.within_days(ctx, "due_date", due_date, _LONGEST_TERM)
    total = cents(amount)
    if total > rules.LARGEST_INVOICE:
        raise Rejected(
            f"an invoice of {amount:.2f} is above the limit of {money(rules.LARGEST_INVOICE):.2f}; split it up"
        )
    if total < rules.SMALLEST_CHARGE:
        raise Rejected(
            f"an invoice of {amount:.2f} is too small to be charged; at least {money(rules.SMALLEST_CHARGE):.2f}"
        )
    overdue = [row["id"] for row in ctx.rows(_OVERDUE, customer=customer_id, today=ctx.today)]
    if len(overdue) >= _MOST_OVERDUE:
        raise Rejected(
            f"customer {customer_id} has {len(overdue)} overdue invoices ({', '.join(overdue)}); "
            "collect or void one of them before a new one is sent"
        )
    row = ctx.insert(
        Invoice,
        customer_id=customer_id,
        amount=total,
        paid=0,
        status="open",
        description=description or "Services",
        issued_on=ctx.today,
        issued_at=ctx.timestamp[11:],
        due_on=due_date,
        voided_on=None,
        voided_at=None,
    )
    return {"invoice_id": row["id"], "status": "open", "due_date": due_date}


class VoidedInvoice(TypedDict):
    """An invoice that nobody has to pay any more."""

    invoice_id: InvoiceId
    status: Literal["void"]


@server.tool(
    destructive=True,
    phrases=[
        "void {invoice_id}",
        "cancel {invoice_id} so that nobody has to pay it",
        "annul {invoice_id} for good",
        "take back {invoice_id} because it was sent by mistake",
        "declare {invoice_id} void",
        "withdraw {invoice_id} before anybody pays it",
    ],
    brief=[
        "void an invoice",
        "take back an invoice that was sent by mistake",
    ],
)
def void_invoice(ctx: Context, invoice_id: Annotated[InvoiceId, "Invoice on which nothing was paid"]) -> VoidedInvoice:
    """Void an invoice on which nothing has been paid, for good. Its payment link stops working."""
    row = rules.invoice(ctx, invoice_id)
    if row["status"] == "void":
        raise Rejected(f"invoice {invoice_id} was voided already, on {row['voided_on']}; nothing is left to do")
    if row["paid"]:
        raise Rejected(
            f"{money(row['paid']):.2f} was paid on invoice {invoice_id}; only invoices without any payment can be "
            "voided, create_refund gives money back"
        )
    ctx.update(Invoice, invoice_id, status="void", voided_on=ctx.today, voided_at=ctx.timestamp[11:])
    deactivate_links(ctx, invoice_id)
    return {"invoice_id": invoice_id, "status": "void"}
