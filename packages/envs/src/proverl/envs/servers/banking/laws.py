"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import func, select

from proverl.envs import Context
from proverl.envs.servers.banking.app import server
from proverl.envs.servers.banking.tables import Account, Dispute, Payee, StandingOrder, Transaction

_ACCOUNT, _ENTRY = Account.__table__.c, Transaction.__table__.c
_PAYEE, _ORDER = Payee.__table__.c, StandingOrder.__table__.c


@server.invariant
def balance_is_sum_of_entries(ctx: Context) -> None:
    """Every balance equals the sum of its account's ledger."""
    sums = select(_ENTRY.account_id, func.sum(_ENTRY.amount).label("total")).group_by(_ENTRY.account_id)
    totals = {row["account_id"]: row["total"] for row in ctx.rows(sums)}
    for row in ctx.rows(select(Account.__table__)):
        assert row["balance"] == totals.get(row["id"], 0), (
            f"{row['id']}: {row['balance']} is not {totals.get(row['id'])}"
        )


@server.invariant
def money_is_conserved(ctx: Context) -> None:
    """Money enters and leaves the bank only by entries that are no transfers: transfers add up to nothing."""
    transfers = select(_ENTRY.account_id, _ENTRY.peer_id, _ENTRY.amount).where(_ENTRY.kind == "transfer")
    flows: dict[frozenset[str], int] = {}
    for row in ctx.rows(transfers):
        pair = frozenset((row["account_id"], row["peer_id"]))
        assert len(pair) == 2, f"transfer inside {row['account_id']}"
        flows[pair] = flows.get(pair, 0) + row["amount"]
    assert not any(flows.values()), f"one-sided transfers between {[sorted(pair) for pair in flows if flows[pair]]}"


@server.invariant
def nothing_below_overdraft(ctx: Context) -> None:
    """No account is below its overdraft, and closed accounts are empty."""
    broken = select(_ACCOUNT.id).where(
        (_ACCOUNT.balance < -_ACCOUNT.overdraft) | ((_ACCOUNT.status == "closed") & (_ACCOUNT.balance != 0))
    )
    assert not ctx.rows(broken), f"overdrawn or closed with money: {ctx.rows(broken)}"


@server.invariant
def payees_belong_to_the_payer(ctx: Context) -> None:
    """Payments and standing orders go only to payees of the account's own customer, from checking accounts."""
    for table, payee_id, account_id in (
        (Transaction.__table__, _ENTRY.payee_id, _ENTRY.account_id),
        (StandingOrder.__table__, _ORDER.payee_id, _ORDER.account_id),
    ):
        joined = table.join(Payee.__table__, _PAYEE.id == payee_id).join(Account.__table__, _ACCOUNT.id == account_id)
        strange = select(table.c.id).select_from(joined)
        strange = strange.where((_PAYEE.customer_id != _ACCOUNT.customer_id) | (_ACCOUNT.type != "checking"))
        assert not ctx.rows(strange), f"to someone else's payee or from savings: {ctx.rows(strange)}"


@server.invariant
def only_card_payments_are_disputed(ctx: Context) -> None:
    """A dispute is about money that left by card."""
    joined = Dispute.__table__.join(Transaction.__table__, _ENTRY.id == Dispute.__table__.c.transaction_id)
    strange = select(_ENTRY.id).select_from(joined).where((_ENTRY.kind != "card") | (_ENTRY.amount >= 0))
    assert not ctx.rows(strange), f"disputed, but no card payment: {ctx.rows(strange)}"
