"""Deals on their way through the stages."""

from datetime import timedelta
from typing import Annotated

from sqlalchemy import bindparam, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, cents, money, one_of
from proverl.envs.servers.crm import rules
from proverl.envs.servers.crm.app import server
from proverl.envs.servers.crm.conversion import Amount
from proverl.envs.servers.crm.rules import BIG_DEAL
from proverl.envs.servers.crm.tables import Company, Contact, Deal, DealId, LostReason, Stage, Task
from proverl.envs.state import Row

NEXT = {
    "qualification": ("proposal", "lost"),
    "proposal": ("negotiation", "qualification", "lost"),
    "negotiation": ("won", "proposal", "lost"),
    "lost": ("qualification",),
}
_LEAST_SHARE = 70  # percent of the amount so far that a discount must leave
_REOPENED_DAYS = 30

_OPEN_TASKS = select(Task.id).where(Task.deal_id == bindparam("deal"), Task.status == "open").order_by(Task.id)
_SUCCESSES = select(Task.type).where(Task.deal_id == bindparam("deal"), Task.outcome == "successful")
_CANCEL_TASKS = update(Task).where(Task.deal_id == bindparam("deal"), Task.status == "open").values(status="cancelled")


class MovedDeal(TypedDict):
    """A deal after a move; amount in EUR."""

    deal_id: DealId
    stage: Stage
    amount: float
    close_date: str


@server.tool(
    phrases=[
        "move {deal_id} to {stage}[ with the new amount {amount}]",
        "bring {deal_id} to the stage {stage}",
        "change the stage of {deal_id} to {stage}[ because of {lost_reason}]",
        "put {deal_id} into the {stage} stage[ and set its amount to {amount}]",
        "set {deal_id} to {stage}[, giving {lost_reason} as the reason]",
    ],
    brief=[
        "move a deal to another stage",
        "change the stage of {deal_id}",
        "put one of the deals into the {stage} stage",
    ],
)
def move_deal_stage(
    ctx: Context,
    deal_id: Annotated[DealId, "Deal that is not won"],
    stage: Annotated[Stage, "The next stage, the one before, or lost; a lost deal is reopened by qualification"],
    amount: Annotated[Amount | None, "New amount in EUR, at least 70% of the amount so far"] = None,
    lost_reason: Annotated[LostReason | None, "Why it was lost; needed then, and only then"] = None,
) -> MovedDeal:
    """Move a deal along qualification, proposal, negotiation, won; one step at a time, or to lost.

    Won and lost deals close today; a lost deal's open tasks are cancelled. A reopened deal closes in 30 days.
    """
    deal = ctx.get(Deal, deal_id, "search_deals finds deals")
    _check_step(deal, stage)
    _check_extras(deal, stage, amount, lost_reason)
    price = deal["amount"] if amount is None else cents(amount)
    close_on = deal["close_on"]
    if stage in ("won", "lost"):
        close_on = ctx.today
    elif deal["stage"] == "lost":
        rules.may_buy(ctx.get(Company, deal["company_id"]))
        close_on = (ctx.now.date() + timedelta(days=_REOPENED_DAYS)).isoformat()
    if stage == "proposal" and deal["stage"] == "qualification":
        _may_propose(ctx, deal)
    elif stage == "won":
        _win(ctx, deal, price)
    elif stage == "lost":
        ctx.execute(_CANCEL_TASKS, deal=deal_id)
    ctx.update(Deal, deal_id, stage=stage, amount=price, close_on=close_on, lost_reason=lost_reason)
    return {"deal_id": deal_id, "stage": stage, "amount": money(price), "close_date": close_on}


def _check_step(deal: Row, stage: Stage) -> None:
    if deal["stage"] == "won":
        raise Rejected(f"deal {deal['id']} was won on {deal['close_on']} and is final; create_deal starts another")
    if stage not in NEXT[deal["stage"]]:
        ways = one_of(NEXT[deal["stage"]])
        raise Rejected(f"deal {deal['id']} is in {deal['stage']}; it can move from there to {ways}, not to {stage}")


def _check_extras(deal: Row, stage: Stage, amount: float | None, lost_reason: LostReason | None) -> None:
    if stage == "lost" and lost_reason is None:
        raise Rejected("lost needs a lost_reason: price, competitor, no_decision, missing_features or budget_cut")
    if stage != "lost" and lost_reason is not None:
        raise Rejected(f"a lost_reason goes with lost only; leave it out to move the deal to {stage}")
    if amount is None:
        return
    if stage == "lost":
        raise Rejected("a lost deal keeps its amount; leave amount out")
    least = -(-deal["amount"] * _LEAST_SHARE // 100)
    if cents(amount) < least:
        raise Rejected(
            f"{amount:.2f} is more than 30% below the {money(deal['amount']):.2f} of deal {deal['id']}; "
            f"the least is {money(least):.2f}"
        )


def _may_propose(ctx: Context, deal: Row) -> None:
    if not {"meeting", "demo"} & {row["type"] for row in ctx.rows(_SUCCESSES, deal=deal["id"])}:
        raise Rejected(f"deal {deal['id']} had no successful meeting or demo yet; complete one before the proposal")
    contact = ctx.get(Contact, deal["contact_id"])
    if contact["left"]:
        raise Rejected(
            f"{contact['name']} ({contact['id']}) has left the company, so there is nobody to propose to; "
            "create_deal starts again with another contact"
        )


def _win(ctx: Context, deal: Row, price: int) -> None:
    """Check that a deal may be won; its company becomes a customer."""
    company = ctx.get(Company, deal["company_id"])
    rules.may_buy(company)
    waiting = [row["id"] for row in ctx.rows(_OPEN_TASKS, deal=deal["id"])]
    if waiting:
        raise Rejected(
            f"deal {deal['id']} has open tasks ({', '.join(waiting[:3])}); complete_crm_task ends them first"
        )
    reviewed = "contract_review" in {row["type"] for row in ctx.rows(_SUCCESSES, deal=deal["id"])}
    if price >= BIG_DEAL and not reviewed:
        raise Rejected(
            f"{money(price):.2f} needs a successful contract_review task before it is won; "
            f"deals below {money(BIG_DEAL):.2f} do not"
        )
    ctx.update(Company, company["id"], status="customer")
