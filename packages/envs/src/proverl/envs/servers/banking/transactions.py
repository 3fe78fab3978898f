"""The ledger as customers see it, and disputes about card payments."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected, money
from proverl.envs.servers.banking import rules
from proverl.envs.servers.banking.app import server
from proverl.envs.servers.banking.tables import AccountId, Card, Dispute, DisputeId, Transaction, TransactionId

Kind = Literal["card", "payment", "transfer", "deposit", "interest", "fee"]
Reason = Literal["fraud", "duplicate", "overcharged", "undelivered", "cancelled"]

_DISPUTE_DAYS = 120  # the card schemes' usual time limit
_ENTRY = Transaction.__table__.c
_ENTRIES = (
    select(_ENTRY.id, _ENTRY.booked_on, _ENTRY.amount, _ENTRY.description)
    .where(
        _ENTRY.account_id == bindparam("account"),
        _ENTRY.booked_on >= bindparam("since"),
        or_(bindparam("kind") == "", _ENTRY.kind == bindparam("kind")),
    )
    .order_by(_ENTRY.booked_on.desc(), _ENTRY.booked_at.desc(), _ENTRY.id)
    .limit(bindparam("limit"))
)
_DISPUTE_OF = select(Dispute.__table__).where(Dispute.transaction_id == bindparam("transaction"))


class TransactionItem(TypedDict):
    """A ledger entry; `amount` in EUR, negative for money out."""

    transaction_id: TransactionId
    date: str
    amount: float
    description: str


class TransactionList(TypedDict):
    """Ledger entries of an account, newest first."""

    transactions: list[TransactionItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the latest transactions on {account_id}[ of kind {kind}][ since {since}][, {limit} at most]",
        "show me what happened on {account_id}[ since {since}][, {kind} entries only]",
        "pull up the statement of {account_id}[ as of {since}][, {limit} lines][, only {kind} entries]",
        "go through the recent bookings on {account_id}[, up to {limit} of them][, from {since} on]",
    ],
    brief=[
        "list the latest transactions of an account",
        "pull up the statement of one of the accounts",
    ],
)
def list_transactions(
    ctx: Context,
    account_id: Annotated[AccountId, "Account to read"],
    kind: Annotated[Kind | None, "Only transactions of this kind"] = None,
    since: Annotated[
        Annotated[IsoDate, Field(json_schema_extra={"x-when": "past"})] | None,
        "Only those booked on this date or later",
    ] = None,
    limit: Annotated[
        int, Field(ge=1, le=50, examples=[2, 3, 4, 6, 7, 8, 9, 10, 12, 15, 20]), "Most transactions listed"
    ] = 5,
) -> TransactionList:
    """List transactions of an account, newest first; amounts are negative for money out."""
    rules.account(ctx, account_id)
    rows = ctx.rows(_ENTRIES, account=account_id, since=since or "", kind=kind or "", limit=limit)
    return {
        "transactions": [
            {
                "transaction_id": row["id"],
                "date": row["booked_on"],
                "amount": money(row["amount"]),
                "description": row["description"],
            }
            for row in rows
        ]
    }


class OpenedDispute(TypedDict):
    """A dispute that the bank now looks into; `amount` in EUR."""

    dispute_id: DisputeId
    amount: float
    status: Literal["open"]


@server.tool(
    phrases=[
        "dispute {transaction_id} as {reason}",
        "open a dispute about {transaction_id} (reason: {reason})",
        "contest {transaction_id} and give {reason} as the reason",
        "file a chargeback with the reason {reason} for {transaction_id}",
    ],
    brief=[
        "dispute a card payment",
        "dispute {transaction_id}",
        "open a dispute with the reason {reason}",
    ],
)
def dispute_transaction(
    ctx: Context,
    transaction_id: Annotated[TransactionId, "Card payment that was wrong"],
    reason: Annotated[Reason, "What went wrong; fraud needs the card to be frozen first"],
) -> OpenedDispute:
    """Dispute a card payment of the last 120 days. After fraud, the card must be frozen first."""
    entry = ctx.get(Transaction, transaction_id, "list_transactions names those of an account")
    if entry["kind"] != "card":
        raise Rejected(f"{transaction_id} is no card payment but {entry['kind']}; only card payments can be disputed")
    earlier = ctx.rows(_DISPUTE_OF, transaction=transaction_id)
    if earlier:
        raise Rejected(
            f"{transaction_id} was disputed already; see dispute {earlier[0]['id']} ({earlier[0]['status']})"
        )
    first_day = (ctx.now.date() - timedelta(days=_DISPUTE_DAYS)).isoformat()
    if entry["booked_on"] < first_day:
        raise Rejected(f"{transaction_id} is of {entry['booked_on']}; payments from {first_day} on can be disputed")
    if reason == "fraud" and ctx.get(Card, entry["card_id"])["status"] == "active":
        raise Rejected(f"card {entry['card_id']} is still active; freeze it before a fraud is reported")
    row = ctx.insert(Dispute, transaction_id=transaction_id, reason=reason, status="open", opened_on=ctx.today)
    return {"dispute_id": row["id"], "amount": money(-entry["amount"]), "status": "open"}
