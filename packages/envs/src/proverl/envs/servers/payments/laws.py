"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import func, select

from proverl.envs import Context
from proverl.envs.servers.payments import rules
from proverl.envs.servers.payments.app import server
from proverl.envs.servers.payments.tables import Charge, Invoice, PaymentLink, Refund

_INVOICE, _CHARGE, _REFUND = Invoice.__table__.c, Charge.__table__.c, Refund.__table__.c
_LINK = PaymentLink.__table__.c


@server.invariant
def invoices_are_paid_by_charges(ctx: Context) -> None:
    """What counts as paid on an invoice is what its charges brought in."""
    sums = select(_CHARGE.invoice_id, func.sum(_CHARGE.amount).label("total")).where(_CHARGE.status != "failed")
    totals = {row["invoice_id"]: row["total"] for row in ctx.rows(sums.group_by(_CHARGE.invoice_id))}
    for row in ctx.rows(select(_INVOICE.id, _INVOICE.paid)):
        assert row["paid"] == totals.get(row["id"], 0), f"{row['id']}: {row['paid']} is not {totals.get(row['id'])}"


@server.invariant
def nothing_is_refunded_twice(ctx: Context) -> None:
    """Refunds of a charge never exceed it, and only money that came in goes back."""
    joined = Refund.__table__.join(Charge.__table__, _CHARGE.id == _REFUND.charge_id)
    sums = select(_CHARGE.id, _CHARGE.amount, _CHARGE.status, func.sum(_REFUND.amount).label("back"))
    for row in ctx.rows(sums.select_from(joined).group_by(_CHARGE.id)):
        assert row["back"] <= row["amount"], f"{row['id']} gave back more than it took"
        assert row["status"] == "succeeded", f"{row['id']} is {row['status']} and refunded"


@server.invariant
def the_balance_is_never_negative(ctx: Context) -> None:
    """The merchant never refunds or pays out more than has been settled."""
    assert rules.balance(ctx) >= 0, f"the balance is {rules.balance(ctx)}"


@server.invariant
def links_work_for_unpaid_invoices_only(ctx: Context) -> None:
    """Nobody can pay a paid or void invoice, and an unpaid one has at most one link that works."""
    joined = PaymentLink.__table__.join(Invoice.__table__, _INVOICE.id == _LINK.invoice_id)
    working = (_LINK.status == "active") & (_LINK.expires_on >= ctx.today)
    seen: set[str] = set()
    for row in ctx.rows(select(_LINK.invoice_id, _INVOICE.status).select_from(joined).where(working)):
        assert row["status"] == "open", f"{row['invoice_id']} is {row['status']} and has a link"
        assert row["invoice_id"] not in seen, f"{row['invoice_id']} has two links"
        seen.add(row["invoice_id"])


@server.invariant
def nothing_is_charged_before_it_is_billed(ctx: Context) -> None:
    """Charges follow their invoice, and refunds their charge."""
    early = select(_CHARGE.id).join_from(Charge.__table__, Invoice.__table__, _INVOICE.id == _CHARGE.invoice_id)
    assert not ctx.rows(early.where(_CHARGE.charged_on < _INVOICE.issued_on)), "charged before it was billed"
    refunds = select(_REFUND.id).join_from(Refund.__table__, Charge.__table__, _CHARGE.id == _REFUND.charge_id)
    assert not ctx.rows(refunds.where(_REFUND.refunded_on < _CHARGE.charged_on)), "refunded before it was charged"
