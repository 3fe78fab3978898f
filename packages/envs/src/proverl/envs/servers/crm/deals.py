"""Deals: find, read, create, move through the stages."""

from datetime import timedelta
from typing import Annotated, NotRequired

from sqlalchemy import String, bindparam, case, func, or_, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected, cents, money, one_of
from proverl.envs.servers.crm import rules
from proverl.envs.servers.crm.app import server
from proverl.envs.servers.crm.conversion import Amount, DealName
from proverl.envs.servers.crm.rules import BIG_DEAL, Limit
from proverl.envs.servers.crm.tables import (
    Company,
    CompanyId,
    Contact,
    ContactId,
    Deal,
    DealId,
    LostReason,
    Owner,
    OwnerId,
    Stage,
    Task,
)
from proverl.envs.state import Row

NEXT = {
    "qualification": ("proposal", "lost"),
    "proposal": ("negotiation", "qualification", "lost"),
    "negotiation": ("won", "proposal", "lost"),
    "lost": ("qualification",),
}
_LEAST_SHARE = 70  # percent of the amount so far that a discount must leave
_REOPENED_DAYS = 30

_DEALS = (
    select(Deal.id, Deal.name, Deal.stage, Deal.amount, Deal.close_on)
    .where(
        or_(bindparam("company", type_=String).is_(None), Deal.company_id == bindparam("company")),
        or_(bindparam("owner", type_=String).is_(None), Deal.owner_id == bindparam("owner")),
        or_(bindparam("stage", type_=String).is_(None), Deal.stage == bindparam("stage")),
    )
    .order_by(case((Deal.stage.in_(rules.OPEN_DEAL), 0), else_=1), Deal.close_on, Deal.id)
    .limit(bindparam("limit"))
)
_OPEN_TASKS = select(Task.id).where(Task.deal_id == bindparam("deal"), Task.status == "open").order_by(Task.id)
_SUCCESSES = select(Task.type).where(Task.deal_id == bindparam("deal"), Task.outcome == "successful")
_SAME_NAME = select(Deal.id).where(
    Deal.company_id == bindparam("company"),
    func.lower(Deal.name) == func.lower(bindparam("name")),
    Deal.stage.in_(rules.OPEN_DEAL),
)
_CANCEL_TASKS = update(Task).where(Task.deal_id == bindparam("deal"), Task.status == "open").values(status="cancelled")


class DealItem(TypedDict):
    """A deal in a list; amount in EUR."""

    deal_id: DealId
    name: str
    stage: Stage
    amount: float
    close_date: str


class DealList(TypedDict):
    """Deals that fit: open ones first, the next to close first."""

    deals: list[DealItem]


@server.tool(
    read_only=True,
    phrases=[
        "search the deals[ with {company_id}][ owned by {owner_id}][ in the stage {stage}][, {limit} at most]",
        "find deals[ in {stage}][ of {owner_id}][ with {company_id}]",
        "list the next[ {limit}] deals to close[ in the stage {stage}][ of {owner_id}]",
        "show me which deals[ with {company_id}] we have[ in {stage}]",
    ],
)
def search_deals(
    ctx: Context,
    company_id: Annotated[CompanyId | None, "Only deals with this company"] = None,
    owner_id: Annotated[OwnerId | None, "Only deals of this rep"] = None,
    stage: Annotated[Stage | None, "Only deals in this stage"] = None,
    limit: Annotated[Limit, "Most deals listed"] = 5,
) -> DealList:
    """Search deals: open ones first, the next to close first. All given conditions must hold."""
    if company_id:
        rules.company(ctx, company_id)
    if owner_id:
        ctx.get(Owner, owner_id, "list_owners names the sales reps")
    return {
        "deals": [
            {
                "deal_id": row["id"],
                "name": row["name"],
                "stage": row["stage"],
                "amount": money(row["amount"]),
                "close_date": row["close_on"],
            }
            for row in ctx.rows(_DEALS, company=company_id, owner=owner_id, stage=stage, limit=limit)
        ]
    }


class DealView(TypedDict):
    """A deal in full; amount in EUR."""

    deal_id: DealId
    name: str
    company_id: CompanyId
    contact_id: ContactId
    owner_id: OwnerId
    stage: Stage
    lost_reason: NotRequired[LostReason]
    amount: float
    close_date: str
    open_tasks: int


@server.tool(
    read_only=True,
    phrases=[
        "show me {deal_id}",
        "get the details of {deal_id}",
        "open {deal_id} and tell me its stage and amount",
        "pull up {deal_id}",
    ],
)
def get_deal(ctx: Context, deal_id: Annotated[DealId, "Deal to read"]) -> DealView:
    """Get a deal with its company, contact, owner, stage, amount, close date and number of open tasks."""
    row = ctx.get(Deal, deal_id, "search_deals finds deals")
    view: DealView = {
        "deal_id": deal_id,
        "name": row["name"],
        "company_id": row["company_id"],
        "contact_id": row["contact_id"],
        "owner_id": row["owner_id"],
        "stage": row["stage"],
        "amount": money(row["amount"]),
        "close_date": row["close_on"],
        "open_tasks": len(ctx.rows(_OPEN_TASKS, deal=deal_id)),
    }
    if row["lost_reason"] is not None:
        view["lost_reason"] = row["lost_reason"]
    return view


class CreatedDeal(TypedDict):
    """A new deal, in qualification."""

    deal_id: DealId
    company_id: CompanyId
    owner_id: OwnerId


@server.tool(
    phrases=[
        "create a deal with {contact_id} called {deal_name} over {amount}, closing {close_date}[, owned by {owner_id}]",
        "open the deal {deal_name} worth {amount} for {contact_id} with the close date {close_date}",
        "start a new deal for {contact_id}: {deal_name}, {amount}, to close by {close_date}[, owner {owner_id}]",
        "add {deal_name} over {amount} as a deal with {contact_id}, expected to close on {close_date}",
    ],
)
def create_deal(
    ctx: Context,
    contact_id: Annotated[ContactId, "Whom it is made with; the deal belongs to this contact's company"],
    deal_name: Annotated[DealName, "What is to be sold"],
    amount: Annotated[Amount, "Expected amount in EUR"],
    close_date: Annotated[IsoDate, "When it should close, after today"],
    owner_id: Annotated[OwnerId | None, "Active rep who works on it; the company's owner if left out"] = None,
) -> CreatedDeal:
    """Create a deal in qualification with a contact of a company that may buy."""
    contact = rules.present_contact(ctx, contact_id)
    company = ctx.get(Company, contact["company_id"])
    rules.may_buy(company)
    rules.closes_in_time(ctx, close_date)
    owner = rules.active_owner(ctx, owner_id or company["owner_id"])
    same = ctx.scalar(_SAME_NAME, company=company["id"], name=deal_name)
    if same is not None:
        raise Rejected(f"company {company['id']} has an open deal of that name already, {same}; choose another name")
    row = ctx.insert(
        Deal,
        name=deal_name,
        company_id=company["id"],
        contact_id=contact_id,
        owner_id=owner["id"],
        stage="qualification",
        lost_reason=None,
        amount=cents(amount),
        close_on=close_date,
        created_on=ctx.today,
    )
    return {"deal_id": row["id"], "company_id": company["id"], "owner_id": owner["id"]}


class MovedDeal(TypedDict):
    """A deal after a move; amount in EUR."""

    deal_id: DealId
    stage: Stage
    amount: float
    close_date: str


@server.tool(
    phrases=[
        "move {deal_id} to {stage}[ with the new amount {amount}]",
        "advance {deal_id} to the stage {stage}",
        "change the stage of {deal_id} to {stage}[ because of {lost_reason}]",
        "put {deal_id} into {stage}[ and set its amount to {amount}]",
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
        ctx.db.execute(_CANCEL_TASKS, {"deal": deal_id})
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
