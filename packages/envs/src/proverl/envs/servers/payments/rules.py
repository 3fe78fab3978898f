"""What the provider refuses. Every refusal says what would be right."""

from datetime import date, timedelta

from sqlalchemy import bindparam, case, func, select

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.payments.tables import Charge, Customer, Invoice, PaymentLink, Payout, Refund
from proverl.envs.state import Row

LARGEST_INVOICE = 50_000_00
SMALLEST_CHARGE = 50
SETTLEMENT_DAYS = 2  # until a charge's money is on the balance
_CHARGE, _REFUND, _LINK = Charge.__table__.c, Refund.__table__.c, PaymentLink.__table__.c

_SETTLED = select(
    func.coalesce(func.sum(case((_CHARGE.status == "disputed", 0), else_=_CHARGE.amount) - _CHARGE.fee), 0)
).where(_CHARGE.status != "failed", _CHARGE.charged_on <= bindparam("settled"))
_BALANCE = select(
    _SETTLED.scalar_subquery()
    - select(func.coalesce(func.sum(_REFUND.amount), 0)).scalar_subquery()
    - select(func.coalesce(func.sum(Payout.__table__.c.amount), 0)).scalar_subquery()
)
_REFUNDED = select(func.coalesce(func.sum(_REFUND.amount), 0)).where(_REFUND.charge_id == bindparam("charge"))
_ACTIVE_LINKS = (
    select(_LINK.id, _LINK.expires_on)
    .where(_LINK.invoice_id == bindparam("invoice"), _LINK.status == "active", _LINK.expires_on >= bindparam("today"))
    .order_by(_LINK.id)
)


def fee(amount: int) -> int:
    """What the provider keeps of a charge: 1.4% and 0.25 EUR."""
    return amount * 14 // 1000 + 25


def balance(ctx: Context) -> int:
    """Cents that can be refunded now: settled charges less fees, refunds and payouts."""
    settled = (ctx.now.date() - timedelta(days=SETTLEMENT_DAYS)).isoformat()
    return int(ctx.scalar(_BALANCE, settled=settled))


def invoice(ctx: Context, invoice_id: str) -> Row:
    """The invoice. Raises NotFound."""
    return ctx.get(Invoice, invoice_id, "list_invoices names the invoices")


def unpaid_invoice(ctx: Context, invoice_id: str) -> Row:
    """The invoice, which still can be paid. Raises NotFound, or Rejected when it is paid, void or written off."""
    row = invoice(ctx, invoice_id)
    if row["status"] != "open":
        raise Rejected(f"invoice {invoice_id} is {row['status']}; only open and overdue invoices can be paid")
    return row


def customer_in_good_standing(ctx: Context, customer_id: str) -> Row:
    """The customer. Raises NotFound, or Rejected when the fraud team blocked them."""
    row = ctx.get(Customer, customer_id, "list_invoices names the customers")
    if row["blocked_on"]:
        raise Rejected(
            f"customer {customer_id} has been blocked for suspected fraud since {row['blocked_on']}; "
            "nothing can be billed or charged, choose another customer"
        )
    return row


def working_card(ctx: Context, row: Row) -> None:
    """Raises Rejected unless the customer's saved card can be charged without the holder's confirmation."""
    if row["card_brand"] is None:
        raise Rejected(f"customer {row['id']} has no saved card; create_payment_link lets them pay themselves")
    if row["card_expires"] < ctx.today[:7]:
        raise Rejected(
            f"the {row['card_brand']} card ending in {row['card_last4']} expired in {row['card_expires']}; "
            "create_payment_link lets the customer pay with another one"
        )
    if row["card_confirms"]:
        raise Rejected(
            f"the issuer of the {row['card_brand']} card ending in {row['card_last4']} wants the holder to confirm "
            "each charge (3-D Secure); create_payment_link lets the customer do so"
        )


def right_code(row: Row, code: str) -> None:
    """Raises Rejected when the security code is not the one printed on the saved card."""
    if row["card_code"] != code:
        raise Rejected(
            f"wrong security code for the {row['card_brand']} card ending in {row['card_last4']}; "
            "ask the customer for the code printed on it"
        )


def amount_due(row: Row, amount: int | None) -> int:
    """What to charge for an invoice: `amount`, or all that is left. Raises Rejected when it does not fit."""
    left = int(row["amount"] - row["paid"])
    if amount is not None and amount > left:
        raise Rejected(f"invoice {row['id']} has {money(left):.2f} left to pay; charge at most that")
    asked = left if amount is None else amount
    if asked < SMALLEST_CHARGE:
        raise Rejected(f"a charge of {money(asked):.2f} is too small; at least {money(SMALLEST_CHARGE):.2f}")
    return asked


def approved(row: Row, amount: int) -> None:
    """Raises Rejected when the card's issuer declines."""
    if amount > row["card_funds"]:
        raise Rejected(
            f"card declined: insufficient funds for {money(amount):.2f} on the card ending in {row['card_last4']}; "
            "charge a smaller part or create a payment link"
        )


def refunded(ctx: Context, charge_id: str) -> int:
    """Cents of a charge given back so far."""
    return int(ctx.scalar(_REFUNDED, charge=charge_id))


def active_link(ctx: Context, invoice_id: str) -> Row | None:
    """The invoice's payment link that works now."""
    rows = ctx.rows(_ACTIVE_LINKS, invoice=invoice_id, today=ctx.today)
    return rows[0] if rows else None


def within_days(ctx: Context, name: str, day: str, most: int) -> None:
    """Raises Rejected unless the date is today or at most `most` days later."""
    last = (ctx.now.date() + timedelta(days=most)).isoformat()
    if not ctx.today <= day <= last:
        raise Rejected(f"{name} {day} must be from today ({ctx.today}) to {last}")


def days_before(ctx: Context, days: int) -> str:
    """The ISO date this many days ago."""
    return (date.fromisoformat(ctx.today) - timedelta(days=days)).isoformat()
