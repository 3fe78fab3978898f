"""Money that moves now: transfers inside the bank, payees, payments to them."""

from typing import Annotated

from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Money, Rejected, Text, cents, money
from proverl.envs.servers.banking import rules, words
from proverl.envs.servers.banking.app import server
from proverl.envs.servers.banking.iban import is_iban
from proverl.envs.servers.banking.tables import AccountId, Customer, CustomerId, Payee, PayeeId, TransactionId

_NEW_PAYEE_LIMIT = 50_000  # for a payment on the day the payee was saved: a scam's first payment stays small
_PAYEES = select(Payee.__table__).where(Payee.customer_id == bindparam("customer")).order_by(Payee.id)

Memo = Annotated[Text, Field(max_length=80, examples=list(words.MEMOS))]
Passcode = Annotated[
    str, Field(pattern="^[0-9]{6}$", json_schema_extra={"x-sensitive": True, "x-source": "reveal_passcode.passcode"})
]
Iban = Annotated[str, Field(min_length=15, max_length=42, examples=list(words.IBANS))]


class SentMoney(TypedDict):
    """The ledger entry of the paying account, and its balance after it (EUR)."""

    transaction_id: TransactionId
    amount: float
    balance: float


@server.tool(
    phrases=[
        "move {amount} from {from_account_id} to {to_account_id}[ with the memo {memo}]",
        "transfer {amount} to {to_account_id} out of {from_account_id}[, memo {memo}]",
        "take {amount} from {from_account_id} and put it on {to_account_id}[, noting {memo}]",
        "top up {to_account_id} with {amount} from {from_account_id}[ and write {memo} on it]",
    ],
    brief=[
        "move some money between two accounts",
        "move {amount} from {from_account_id} to another account",
        "transfer some money from {from_account_id} to {to_account_id}",
    ],
)
def transfer_funds(
    ctx: Context,
    from_account_id: Annotated[AccountId, "Account to take the money from"],
    to_account_id: Annotated[AccountId, "Account at this bank that receives it"],
    amount: Annotated[Money, "Amount in EUR"],
    memo: Annotated[Memo | None, "Text that both sides see"] = None,
) -> SentMoney:
    """Transfer money at once between two accounts at this bank. To other banks: pay_payee."""
    source, target = rules.paying_account(ctx, from_account_id), rules.open_account_row(ctx, to_account_id)
    if from_account_id == to_account_id:
        raise Rejected(f"{from_account_id} is both sides of the transfer; name two different accounts")
    sum_cents = cents(amount)
    rules.affordable(source, sum_cents)
    if source["customer_id"] != target["customer_id"]:
        rules.checking(source, "transfers to another customer")
        rules.within_daily_limit(ctx, source, sum_cents)
    entry, balance = rules.book(
        ctx, source, "transfer", -sum_cents, memo or f"Transfer to {to_account_id}", peer_id=to_account_id
    )
    rules.book(ctx, target, "transfer", sum_cents, memo or f"Transfer from {from_account_id}", peer_id=from_account_id)
    return {"transaction_id": entry, "amount": amount, "balance": money(balance)}


class PayeeItem(TypedDict):
    """A saved payee; of the IBAN only the end is shown."""

    payee_id: PayeeId
    name: str
    iban_end: str


class PayeeList(TypedDict):
    """A customer's payees."""

    payees: list[PayeeItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the payees of {customer_id}",
        "show me whom {customer_id} has saved as payees",
        "look up the saved payees of {customer_id}",
        "check which payees {customer_id} can pay",
    ],
    brief=[
        "list the payees of a customer",
        "show me whom somebody has saved as payees",
    ],
)
def list_payees(ctx: Context, customer_id: Annotated[CustomerId, "Customer who saved the payees"]) -> PayeeList:
    """List the payees that a customer has saved."""
    ctx.get(Customer, customer_id, "find_customers names the customers")
    rows = ctx.rows(_PAYEES, customer=customer_id)
    return {"payees": [{"payee_id": row["id"], "name": row["name"], "iban_end": row["iban"][-4:]} for row in rows]}


class SavedPayee(TypedDict):
    """A payee just saved."""

    payee_id: PayeeId
    name: str


@server.tool(
    phrases=[
        "save {name} with IBAN {iban} as a payee of {customer_id}",
        "add a payee for {customer_id}: {name}, IBAN {iban}",
        "put {name}, whose IBAN is {iban}, on the payee list of {customer_id}",
        "register {iban} under the name {name} among the payees of {customer_id}",
    ],
    brief=[
        "save a new payee",
        "add {name} to the payees of {customer_id}",
        "save {name} with IBAN {iban} as a payee",
    ],
)
def add_payee(
    ctx: Context,
    customer_id: Annotated[CustomerId, "Customer who will pay"],
    name: Annotated[
        Annotated[Text, Field(max_length=70, examples=list(words.PAYEE_NAMES))], "Name of the person or company to pay"
    ],
    iban: Annotated[Iban, "IBAN at another bank, e.g. BE10431726300604"],
) -> SavedPayee:
    """Save a payee for a customer. On the day it is saved, a payee can be paid at most 500.00 at a time."""
    ctx.get(Customer, customer_id, "find_customers names the customers")
    compact = iban.replace(" ", "").upper()
    if not is_iban(compact):
        raise Rejected(f"{iban!r} is no valid IBAN: country, length and check digits must fit; ask for it again")
    for row in ctx.rows(_PAYEES, customer=customer_id):
        if row["iban"] == compact:
            raise Rejected(f"customer {customer_id} has saved this IBAN already, as {row['id']} ({row['name']})")
    row = ctx.insert(Payee, customer_id=customer_id, name=name, iban=compact, added_on=ctx.today)
    return {"payee_id": row["id"], "name": name}


@server.tool(
    phrases=[
        "pay {amount} to {payee_id} from {account_id} with passcode {passcode}[ and the memo {memo}]",
        "send {payee_id} {amount} out of {account_id}[, memo {memo}], authorised by passcode {passcode}",
        "use passcode {passcode} to pay {payee_id} {amount} from {account_id}[, noting {memo}]",
        "make a payment of {amount} from {account_id} to {payee_id}[ about {memo}]; the passcode is {passcode}",
    ],
    brief=[
        "pay one of the saved payees",
        "pay {amount} to {payee_id} from {account_id}",
        "make a payment from {account_id} to {payee_id} with passcode {passcode}",
    ],
)
def pay_payee(
    ctx: Context,
    account_id: Annotated[AccountId, "Checking account to pay from"],
    payee_id: Annotated[PayeeId, "Payee of the account holder"],
    amount: Annotated[Money, "Amount in EUR"],
    passcode: Annotated[Passcode, "The account holder's six-digit passcode, as the holder gave it"],
    memo: Annotated[Memo | None, "Text that the payee sees"] = None,
) -> SentMoney:
    """Pay a saved payee at another bank at once. The account holder's passcode authorises it."""
    source = rules.paying_account(ctx, account_id)
    rules.checking(source, "payments to payees")
    payee = rules.payee_of(ctx, payee_id, source["customer_id"])
    rules.authorised(ctx, source["customer_id"], passcode)
    sum_cents = cents(amount)
    if payee["added_on"] == ctx.today and sum_cents > _NEW_PAYEE_LIMIT:
        limit = money(_NEW_PAYEE_LIMIT)
        raise Rejected(f"payee {payee_id} was added today; until tomorrow a payment to it is at most {limit:.2f}")
    rules.affordable(source, sum_cents)
    rules.within_daily_limit(ctx, source, sum_cents)
    entry, balance = rules.book(ctx, source, "payment", -sum_cents, memo or payee["name"], payee_id=payee_id)
    return {"transaction_id": entry, "amount": amount, "balance": money(balance)}


class HolderPasscode(TypedDict):
    """What the holder of an account knows by heart."""

    passcode: str


@server.tool(read_only=True, hidden=True, phrases=[])
def reveal_passcode(ctx: Context, account_id: Annotated[AccountId, "Account of the holder"]) -> HolderPasscode:
    """The passcode of an account's holder, for writing what that person would say."""
    holder = rules.account(ctx, account_id)["customer_id"]
    return {"passcode": ctx.get(Customer, holder)["passcode"]}
