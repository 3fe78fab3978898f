"""Money in and back: charge a saved card for an invoice, refund a charge."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from proverl.envs import Context, Money, Rejected, cents, money
from proverl.envs.servers.payments import rules
from proverl.envs.servers.payments.app import server
from proverl.envs.servers.payments.billing import deactivate_links
from proverl.envs.servers.payments.tables import Charge, ChargeId, Customer, Invoice, InvoiceId, Refund, RefundId
from proverl.envs.state import Row

Reason = Literal["requested_by_customer", "duplicate", "product_unacceptable", "fraudulent"]
SecurityCode = Annotated[
    str,
    Field(
        pattern="^[0-9]{3,4}$",
        json_schema_extra={"x-sensitive": True, "x-source": "reveal_security_code.security_code"},
    ),
]

_REFUND_DAYS = 180  # the card schemes' usual time limit


class CreatedCharge(TypedDict):
    """A charge just made; amounts in EUR, `amount_left` is what the invoice still lacks."""

    charge_id: ChargeId
    amount: float
    amount_left: float
    invoice_status: Literal["open", "paid"]


@server.tool(
    phrases=[
        "charge the saved card[ {amount} euros] for {invoice_id}, using security code {security_code}",
        "collect[ {amount} euros of] {invoice_id} from the customer's card with security code {security_code}",
        "use security code {security_code} to take a card payment[ of {amount} euros] for {invoice_id}",
        "debit the card on file[ by {amount} euros] to pay {invoice_id}, security code {security_code}",
        "have {invoice_id} paid by the saved card[, only €{amount} of it], with {security_code} as the security code",
    ],
    brief=[
        "charge a customer's saved card",
        "debit the card on file[ by {amount} euros] to pay {invoice_id}",
        "take a card payment with security code {security_code}",
    ],
)
def create_charge(
    ctx: Context,
    invoice_id: Annotated[InvoiceId, "Open or overdue invoice"],
    security_code: Annotated[SecurityCode, "Code printed on the customer's saved card, as the customer gave it"],
    amount: Annotated[Money | None, "Amount in EUR if only a part is paid; all that is left if left out"] = None,
) -> CreatedCharge:
    """Charge a customer's saved card for an invoice. A declined charge changes nothing."""
    row = rules.unpaid_invoice(ctx, invoice_id)
    customer = rules.customer_in_good_standing(ctx, row["customer_id"])
    asked = rules.amount_due(row, None if amount is None else cents(amount))
    rules.working_card(ctx, customer)
    rules.right_code(customer, security_code)
    rules.approved(customer, asked)
    charge = ctx.insert(
        Charge,
        invoice_id=invoice_id,
        payment_link_id=None,
        amount=asked,
        fee=rules.fee(asked),
        status="succeeded",
        charged_on=ctx.today,
        charged_at=ctx.timestamp[11:],
    )
    ctx.update(Customer, customer["id"], card_funds=customer["card_funds"] - asked)
    left = row["amount"] - row["paid"] - asked
    if left:
        ctx.update(Invoice, invoice_id, paid=row["paid"] + asked)
    else:
        ctx.update(Invoice, invoice_id, paid=row["amount"], status="paid")
        deactivate_links(ctx, invoice_id)
    return {
        "charge_id": charge["id"],
        "amount": money(asked),
        "amount_left": money(left),
        "invoice_status": "open" if left else "paid",
    }


class CreatedRefund(TypedDict):
    """A refund just made; amounts in EUR, `available_balance` is what the merchant can still refund today."""

    refund_id: RefundId
    amount: float
    available_balance: float


@server.tool(
    phrases=[
        "refund[ {amount} euros of] {charge_id} with the reason {reason}",
        "return the money of {charge_id}[, only €{amount} of it], with {reason} as the reason",
        "reverse {charge_id}[ by {amount} euros] as {reason}",
        "pay[ {amount} euros of] {charge_id} back to the customer (reason: {reason})",
        "issue a refund[ of {amount} EUR] for {charge_id} and note {reason} as the reason",
    ],
    brief=[
        "give a customer some money back",
        "refund[ {amount} euros of] {charge_id}",
        "issue a refund with the reason {reason}",
    ],
)
def create_refund(
    ctx: Context,
    charge_id: Annotated[ChargeId, "Charge that succeeded in the last 180 days"],
    reason: Annotated[Reason, "Why the money goes back"],
    amount: Annotated[Money | None, "Amount in EUR if only a part is refunded; all that is left if left out"] = None,
) -> CreatedRefund:
    """Refund a charge, in full or in part, out of the merchant's available balance. The provider keeps its fee."""
    charge = ctx.get(Charge, charge_id, "get_invoice names the charges of an invoice")
    left = _refundable(ctx, charge)
    asked = left if amount is None else cents(amount)
    if asked > left:
        raise Rejected(f"{money(left):.2f} of charge {charge_id} can still be refunded; refund at most that")
    available = rules.balance(ctx)
    if asked > available:
        raise Rejected(
            f"insufficient balance: {money(available):.2f} is available, {money(asked):.2f} asked; refund a smaller "
            f"part or wait: charges reach the balance after {rules.SETTLEMENT_DAYS} days"
        )
    row = ctx.insert(
        Refund,
        charge_id=charge_id,
        amount=asked,
        reason=reason,
        refunded_on=ctx.today,
        refunded_at=ctx.timestamp[11:],
    )
    return {"refund_id": row["id"], "amount": money(asked), "available_balance": money(available - asked)}


def _refundable(ctx: Context, charge: Row) -> int:
    """Cents of a charge that may go back. Raises Rejected when the charge cannot be refunded at all."""
    name = charge["id"]
    if charge["status"] == "failed":
        raise Rejected(f"charge {name} failed, so no money moved; only charges that succeeded can be refunded")
    if charge["status"] == "disputed":
        raise Rejected(f"charge {name} is disputed: the issuer has taken the money back already; refund another charge")
    left = int(charge["amount"] - rules.refunded(ctx, name))
    if not left:
        raise Rejected(f"charge {name} is refunded in full already; nothing is left to give back")
    first_day = rules.days_before(ctx, _REFUND_DAYS)
    if charge["charged_on"] < first_day:
        raise Rejected(f"charge {name} is of {charge['charged_on']}; charges from {first_day} on can be refunded")
    return left


class CardCode(TypedDict):
    """What the holder of a saved card can read on it."""

    security_code: str


@server.tool(read_only=True, hidden=True, phrases=[])
def reveal_security_code(ctx: Context, invoice_id: Annotated[InvoiceId, "Invoice of the card's holder"]) -> CardCode:
    """The code printed on the saved card of an invoice's customer, for writing what that person would say."""
    customer = ctx.get(Customer, rules.invoice(ctx, invoice_id)["customer_id"])
    return {"security_code": customer["card_code"] or "000"}
