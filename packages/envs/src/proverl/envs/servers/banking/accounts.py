"""Customers and their accounts: find, list, read, open."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text, money
from proverl.envs.names import LAST_NAMES, folded
from proverl.envs.servers.banking import rules, words
from proverl.envs.servers.banking.app import server
from proverl.envs.servers.banking.tables import Account, AccountId, Customer, CustomerId

AccountType = Literal["checking", "savings"]
AccountStatus = Literal["active", "blocked", "closed"]

_MOST_ACCOUNTS = 4
_FIRST_DAILY_LIMIT = 100_000
_CUSTOMERS = select(Customer.__table__).order_by(Customer.id)
_ACCOUNTS = select(Account.__table__).where(Account.customer_id == bindparam("customer")).order_by(Account.id)


class CustomerItem(TypedDict):
    """A customer in a list."""

    customer_id: CustomerId
    name: str
    city: str


class CustomerList(TypedDict):
    """Customers that fit."""

    customers: list[CustomerItem]


class AccountItem(TypedDict):
    """An account in a list."""

    account_id: AccountId
    name: str
    type: AccountType
    status: AccountStatus


class AccountList(TypedDict):
    """A customer's accounts."""

    accounts: list[AccountItem]


class AccountView(TypedDict):
    """An account in full; amounts in EUR, `available` includes the overdraft."""

    account_id: AccountId
    customer_id: CustomerId
    holder: str
    name: str
    type: AccountType
    status: AccountStatus
    balance: float
    available: float
    daily_limit: float


@server.tool(
    read_only=True,
    phrases=[
        "find customers[ called {name}][, {limit} at most]",
        "look up the customers[ with {name} in their name]",
        "search the customer register[ for {name}]",
        "show me the[ first {limit}] customers[ whose name contains {name}]",
    ],
)
def find_customers(
    ctx: Context,
    name: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(LAST_NAMES))] | None,
        "Part of the name; upper and lower case and accents make no difference. All customers if left out",
    ] = None,
    limit: Annotated[int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20]), "Most customers listed"] = 5,
) -> CustomerList:
    """Find customers of the bank by name."""
    wanted = folded(name or "")
    fitting = [row for row in ctx.rows(_CUSTOMERS) if wanted in folded(row["name"])]
    return {
        "customers": [{"customer_id": row["id"], "name": row["name"], "city": row["city"]} for row in fitting[:limit]]
    }


@server.tool(
    read_only=True,
    phrases=[
        "list the accounts of {customer_id}",
        "show me which accounts {customer_id} has",
        "look up every account held by {customer_id}",
        "check what accounts belong to {customer_id}",
    ],
    brief=[
        "list the accounts of a customer",
        "show me which accounts somebody has",
    ],
)
def list_accounts(ctx: Context, customer_id: Annotated[CustomerId, "Customer who holds the accounts"]) -> AccountList:
    """List all accounts of a customer, blocked and closed ones included."""
    ctx.get(Customer, customer_id, "find_customers names the customers")
    return {
        "accounts": [
            {"account_id": row["id"], "name": row["name"], "type": row["type"], "status": row["status"]}
            for row in ctx.rows(_ACCOUNTS, customer=customer_id)
        ]
    }


@server.tool(
    read_only=True,
    phrases=[
        "check the balance of {account_id}",
        "show me {account_id} with its balance",
        "tell me how much money is on {account_id}",
        "pull up the details of {account_id}",
    ],
    brief=[
        "check the balance of an account",
        "tell me how much money is on one of the accounts",
    ],
)
def get_account(ctx: Context, account_id: Annotated[AccountId, "Account to read"]) -> AccountView:
    """Get an account with its balance, the amount available and the daily limit for money sent to others."""
    row = rules.account(ctx, account_id)
    return {
        "account_id": account_id,
        "customer_id": row["customer_id"],
        "holder": ctx.get(Customer, row["customer_id"])["name"],
        "name": row["name"],
        "type": row["type"],
        "status": row["status"],
        "balance": money(row["balance"]),
        "available": money(row["balance"] + row["overdraft"]) if row["status"] == "active" else 0.0,
        "daily_limit": money(row["daily_limit"]),
    }


class OpenedAccount(TypedDict):
    """A new, empty account."""

    account_id: AccountId
    name: str
    balance: float


@server.tool(
    phrases=[
        "open a new {type} account for {customer_id}[ and call it {name}]",
        "set {customer_id} up with another {type} account[ named {name}]",
        "give {customer_id} an extra {type} account[, with the name {name}]",
        "create a {type} account[ called {name}] in the name of {customer_id}",
    ],
    brief=[
        "open a new account",
        "open a new account for {customer_id}",
        "open another {type} account",
    ],
)
def open_account(
    ctx: Context,
    customer_id: Annotated[CustomerId, "Customer who will hold the account"],
    type: Annotated[AccountType, "Savings accounts can't pay payees or have cards"],
    name: Annotated[
        Annotated[Text, Field(max_length=40, examples=list(words.SAVINGS_NAMES))] | None,
        "What the customer calls the account",
    ] = None,
) -> OpenedAccount:
    """Open an empty account, without overdraft, for a customer whose identity check is valid."""
    customer = ctx.get(Customer, customer_id, "find_customers names the customers")
    if customer["identity_until"] < ctx.today:
        raise Rejected(
            f"the identity check of customer {customer_id} expired on {customer['identity_until']}; "
            "it must be renewed in a branch before an account can be opened"
        )
    held = [row for row in ctx.rows(_ACCOUNTS, customer=customer_id) if row["status"] != "closed"]
    if len(held) >= _MOST_ACCOUNTS:
        raise Rejected(f"customer {customer_id} has {len(held)} open accounts; at most {_MOST_ACCOUNTS} are allowed")
    row = ctx.insert(
        Account,
        customer_id=customer_id,
        type=type,
        name=name or type.capitalize(),
        status="active",
        opened_on=ctx.today,
        balance=0,
        overdraft=0,
        daily_limit=_FIRST_DAILY_LIMIT,
    )
    return {"account_id": row["id"], "name": row["name"], "balance": 0.0}
