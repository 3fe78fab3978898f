"""Regular payments: create, list, cancel. The session's clock never reaches their next date."""

from datetime import timedelta
from typing import Annotated, Literal

from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Money, Rejected, cents, money
from proverl.envs.servers.banking import rules
from proverl.envs.servers.banking.app import server
from proverl.envs.servers.banking.tables import AccountId, Payee, PayeeId, StandingOrder, StandingOrderId

Frequency = Literal["weekly", "monthly", "quarterly"]

_ORDERS = (
    select(StandingOrder.__table__, Payee.name.label("payee"))
    .join_from(StandingOrder.__table__, Payee.__table__, Payee.id == StandingOrder.payee_id)
    .where(StandingOrder.account_id == bindparam("account"), StandingOrder.status == "active")
    .order_by(StandingOrder.next_on, StandingOrder.id)
)


class CreatedOrder(TypedDict):
    """A standing order just set up."""

    standing_order_id: StandingOrderId
    payee: str
    next_date: str


@server.tool(
    phrases=[
        "set up a[ {frequency}] standing order of {amount} from {account_id} to {payee_id} starting on {start_date}",
        "pay {payee_id} {amount} regularly from {account_id}, first on {start_date}[, then {frequency}]",
        "schedule a repeating payment of {amount} out of {account_id} to {payee_id} as of {start_date}[, {frequency}]",
        "arrange for {account_id} to send {payee_id} {amount}[ {frequency}] by standing order from {start_date} on",
    ],
    brief=[
        "set up a standing order",
        "set up a standing order of {amount} from {account_id} to {payee_id}",
        "arrange a standing order from {account_id} to {payee_id}, starting on {start_date}",
    ],
)
def create_standing_order(
    ctx: Context,
    account_id: Annotated[AccountId, "Checking account to pay from"],
    payee_id: Annotated[PayeeId, "Payee of the account holder"],
    amount: Annotated[Money, "Amount of each payment in EUR"],
    start_date: Annotated[IsoDate, "Date of the first payment, after today"],
    frequency: Annotated[Frequency, "How often it is paid"] = "monthly",
) -> CreatedOrder:
    """Set up a regular payment to a saved payee."""
    source = rules.paying_account(ctx, account_id)
    rules.checking(source, "standing orders")
    payee = rules.payee_of(ctx, payee_id, source["customer_id"])
    if start_date <= ctx.today:
        raise Rejected(f"start_date {start_date} must be after today ({ctx.today}); pay_payee pays today")
    for row in ctx.rows(_ORDERS, account=account_id):
        if (row["payee_id"], row["frequency"], row["amount"]) == (payee_id, frequency, cents(amount)):
            raise Rejected(f"{row['id']} pays {payee_id} the same amount {frequency} already; cancel it first")
    row = ctx.insert(
        StandingOrder,
        account_id=account_id,
        payee_id=payee_id,
        amount=cents(amount),
        frequency=frequency,
        next_on=start_date,
        status="active",
    )
    return {"standing_order_id": row["id"], "payee": payee["name"], "next_date": start_date}


class OrderItem(TypedDict):
    """An active standing order in a list."""

    standing_order_id: StandingOrderId
    payee: str
    amount: float
    frequency: Frequency
    next_date: str


class OrderList(TypedDict):
    """An account's active standing orders, the next due first."""

    standing_orders: list[OrderItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the standing orders on {account_id}",
        "show me what {account_id} pays regularly",
        "look up the scheduled payments of {account_id}",
        "check which standing orders run from {account_id}",
    ],
    brief=[
        "list the standing orders of an account",
        "show me what one of the accounts pays regularly",
    ],
)
def list_standing_orders(ctx: Context, account_id: Annotated[AccountId, "Account that pays"]) -> OrderList:
    """List the active standing orders of an account, the next due first."""
    rules.account(ctx, account_id)
    return {
        "standing_orders": [
            {
                "standing_order_id": row["id"],
                "payee": row["payee"],
                "amount": money(row["amount"]),
                "frequency": row["frequency"],
                "next_date": row["next_on"],
            }
            for row in ctx.rows(_ORDERS, account=account_id)
        ]
    }


class CancelledOrder(TypedDict):
    """A standing order that pays no more."""

    standing_order_id: StandingOrderId
    status: Literal["cancelled"]


@server.tool(
    destructive=True,
    phrases=[
        "cancel {standing_order_id}",
        "stop {standing_order_id} from being paid any more",
        "put an end to {standing_order_id}",
        "call off {standing_order_id}",
    ],
    brief=[
        "cancel a standing order",
        "stop one of the standing orders",
    ],
)
def cancel_standing_order(
    ctx: Context, standing_order_id: Annotated[StandingOrderId, "Standing order to stop"]
) -> CancelledOrder:
    """Cancel a standing order for good. The last chance is two days before its next payment."""
    row = ctx.get(StandingOrder, standing_order_id, "list_standing_orders names those of an account")
    if row["status"] == "cancelled":
        raise Rejected(f"{standing_order_id} is cancelled already; list_standing_orders shows the active ones")
    if row["next_on"] <= (ctx.now.date() + timedelta(days=1)).isoformat():
        raise Rejected(
            f"{standing_order_id} is paid on {row['next_on']}, too soon to stop it; cancel it after that date"
        )
    ctx.update(StandingOrder, standing_order_id, status="cancelled")
    return {"standing_order_id": standing_order_id, "status": "cancelled"}
