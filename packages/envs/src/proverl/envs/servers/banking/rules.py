"""What the bank refuses, and the booking of money. Every refusal says what would be right."""

from sqlalchemy import bindparam, func, select

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.banking.tables import Account, Card, Customer, Payee, Transaction
from proverl.envs.state import Row

ENTRY = Transaction.__table__.c
_SENT_TODAY = (
    select(func.coalesce(func.sum(-ENTRY.amount), 0))
    .outerjoin_from(Transaction.__table__, Account.__table__, Account.__table__.c.id == ENTRY.peer_id)
    .where(
        ENTRY.account_id == bindparam("account"),
        ENTRY.booked_on == bindparam("today"),
        ENTRY.amount < 0,
        ENTRY.kind.in_(("payment", "transfer")),
        func.coalesce(Account.__table__.c.customer_id, "") != bindparam("owner"),
    )
)


def account(ctx: Context, account_id: str) -> Row:
    """The account. Raises NotFound."""
    return ctx.get(Account, account_id, "list_accounts names the accounts of a customer")


def open_account_row(ctx: Context, account_id: str) -> Row:
    """The account, which can receive money. Raises NotFound, or Rejected when it is closed."""
    row = account(ctx, account_id)
    if row["status"] == "closed":
        raise Rejected(f"account {account_id} is closed; use an open account")
    return row


def paying_account(ctx: Context, account_id: str) -> Row:
    """The account, which may send money. Raises NotFound, or Rejected when it is closed or blocked."""
    row = open_account_row(ctx, account_id)
    if row["status"] == "blocked":
        raise Rejected(f"account {account_id} is blocked: it can receive money but not send any; use an active account")
    return row


def checking(row: Row, purpose: str) -> None:
    """Raises Rejected unless the account is a checking account."""
    if row["type"] != "checking":
        raise Rejected(f"account {row['id']} is a savings account; {purpose} need a checking account")


def payee_of(ctx: Context, payee_id: str, customer_id: str) -> Row:
    """The payee, saved by this customer. Raises NotFound, or Rejected when another customer saved it."""
    row = ctx.get(Payee, payee_id, "list_payees names the payees of a customer")
    if row["customer_id"] != customer_id:
        raise Rejected(f"payee {payee_id} is not one of customer {customer_id}'s payees; use one of list_payees")
    return row


def authorised(ctx: Context, customer_id: str, passcode: str) -> None:
    """Raises Rejected when the passcode is not the customer's."""
    if ctx.get(Customer, customer_id)["passcode"] != passcode:
        raise Rejected("wrong passcode; ask the account holder for the six-digit passcode")


def affordable(row: Row, amount: int) -> None:
    """Raises Rejected when the account has less than `amount` cents, its overdraft included."""
    available = row["balance"] + row["overdraft"]
    if amount > available:
        raise Rejected(
            f"insufficient funds: {money(available):.2f} available on {row['id']}, {money(amount):.2f} asked"
        )


def within_daily_limit(ctx: Context, row: Row, amount: int) -> None:
    """Raises Rejected when `amount` cents more to others today would pass the account's daily limit."""
    sent = ctx.scalar(_SENT_TODAY, account=row["id"], today=ctx.today, owner=row["customer_id"])
    left = row["daily_limit"] - sent
    if amount > left:
        limit = money(row["daily_limit"])
        raise Rejected(f"daily limit of {limit:.2f} on {row['id']}: {money(left):.2f} left for today")


def card(ctx: Context, card_id: str) -> Row:
    """The card, which may still be used one day. Raises NotFound, or Rejected when it is blocked or expired."""
    row = ctx.get(Card, card_id, "list_cards names the cards of an account")
    if row["status"] == "blocked":
        raise Rejected(f"card {card_id} was reported lost or stolen and is blocked for good; use another card")
    if row["status"] == "expired":
        raise Rejected(f"card {card_id} expired in {row['expires']}; use another card")
    return row


def right_pin(row: Row, pin: str) -> None:
    """Raises Rejected when the PIN is not the card's."""
    if row["pin"] != pin:
        raise Rejected(f"wrong PIN for card {row['id']}; ask the card holder for it")


def book(ctx: Context, row: Row, kind: str, amount: int, description: str, **links: str) -> tuple[str, int]:
    """Add a ledger entry of `amount` cents and move the balance. Returns the entry's id and the new balance."""
    places = {"card_id": None, "payee_id": None, "peer_id": None, **links}
    entry = ctx.insert(
        Transaction,
        account_id=row["id"],
        kind=kind,
        amount=amount,
        description=description,
        booked_on=ctx.today,
        booked_at=ctx.timestamp[11:],
        **places,
    )
    balance = row["balance"] + amount
    ctx.update(Account, row["id"], balance=balance)
    return entry["id"], balance
