"""Deals: find, read, create."""

from typing import Annotated, NotRequired

from sqlalchemy import String, bindparam, case, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, cents, money
from proverl.envs.servers.crm import rules
from proverl.envs.servers.crm.app import server
from proverl.envs.servers.crm.conversion import Amount, DealName
from proverl.envs.servers.crm.rules import Limit
from proverl.envs.servers.crm.tables import (
    Company,
    CompanyId,
    ContactId,
    Deal,
    DealId,
    LostReason,
    Owner,
    OwnerId,
    Stage,
    Task,
)

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
_OPEN_TASKS = select(func.count()).where(Task.deal_id == bindparam("deal"), Task.status == "open")


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
        "look through the deals[ with {company_id}][ owned by {owner_id}][ in the stage {stage}][, {limit} at most]",
        "find deals[ in the {stage} stage][ of {owner_id}][ with {company_id}]",
        "list the next[ {limit}] deals to close[ in the stage {stage}][ of {owner_id}]",
        "show me which deals[ with {company_id}] we have[ in the {stage} stage]",
        "look up the[ first {limit}] deals[ that {owner_id} works on][ with {company_id}]",
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
        "check where {deal_id} stands and whom it is with",
    ],
    brief=[
        "show me one of the deals",
        "get the details of a deal",
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
        "open_tasks": ctx.scalar(_OPEN_TASKS, deal=deal_id),
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
        "create a deal with {contact_id} called {deal_name} worth {amount}, closing on {close_date}",
        "open a new deal {deal_name} worth {amount} for {contact_id} with the close date {close_date}",
        "start a new deal for {contact_id}: {deal_name}, {amount}, to close by {close_date}[, owner {owner_id}]",
        "add {deal_name}, worth {amount}, as a deal with {contact_id}, expected to close on {close_date}",
        "enter a deal named {deal_name} of {amount} with {contact_id}, to close on {close_date}[; {owner_id} owns it]",
    ],
    brief=[
        "create a new deal with a contact",
        "create a new deal with {contact_id} called {deal_name} worth {amount}",
        "start the new deal {deal_name} with {contact_id}, closing on {close_date}",
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
    rules.fresh_deal_name(ctx, company["id"], deal_name)
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
