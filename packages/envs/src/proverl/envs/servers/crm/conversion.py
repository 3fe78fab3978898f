"""Converting a lead: it becomes a contact at a company, with a deal."""

from typing import Annotated

from pydantic import Field
from sqlalchemy import bindparam, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Money, Rejected, Text, cents
from proverl.envs.names import folded
from proverl.envs.servers.crm import rules, words
from proverl.envs.servers.crm.app import server
from proverl.envs.servers.crm.tables import (
    Company,
    CompanyId,
    Contact,
    ContactId,
    Deal,
    DealId,
    Lead,
    LeadId,
    Owner,
    Task,
)
from proverl.envs.state import Row

DealName = Annotated[Text, Field(max_length=80, examples=list(words.DEAL_NAMES))]
Amount = Annotated[Money, Field(json_schema_extra={"examples": list(words.AMOUNTS)})]

_NAMESAKE = select(Company.__table__).where(Company.search == bindparam("search")).order_by(Company.id).limit(1)
_HAND_OVER = (
    update(Task)
    .where(Task.lead_id == bindparam("lead"), Task.status == "open")
    .values(lead_id=None, deal_id=bindparam("deal"))
)


class ConvertedLead(TypedDict):
    """What a lead became; the company may have been there before."""

    contact_id: ContactId
    company_id: CompanyId
    deal_id: DealId


@server.tool(
    phrases=[
        "convert {lead_id} into the deal {deal_name} worth {amount}, to close by {close_date}",
        "turn {lead_id} into a deal called {deal_name} worth {amount} that closes on {close_date}",
        "make a deal out of {lead_id}: {deal_name}, {amount}, closing on {close_date}",
        "promote {lead_id} to an opportunity named {deal_name}, worth {amount}, with the close date {close_date}",
        "let {lead_id} become a deal of {amount} named {deal_name}, expected to close on {close_date}",
    ],
    brief=[
        "convert a lead into a deal",
        "turn {lead_id} into a deal called {deal_name} worth {amount}",
        "convert {lead_id} into a deal worth {amount}, to close by {close_date}",
    ],
)
def convert_lead(
    ctx: Context,
    lead_id: Annotated[LeadId, "Qualified lead"],
    deal_name: Annotated[DealName, "What is to be sold"],
    amount: Annotated[Amount, "Expected amount in EUR"],
    close_date: Annotated[IsoDate, "When it should close, after today"],
) -> ConvertedLead:
    """Convert a qualified lead into a contact and a deal in qualification, at the company of that name or a new one.

    Open tasks of the lead go over to the deal; its owner becomes the deal's owner.
    """
    lead = rules.unconverted_lead(ctx, lead_id)
    if lead["status"] != "qualified":
        raise Rejected(f"lead {lead_id} is {lead['status']}; update_lead_status must make it qualified first")
    owner = ctx.get(Owner, lead["owner_id"])
    if not owner["active"]:
        raise Rejected(f"{owner['name']}, the owner of lead {lead_id}, has left; assign_lead gives it to an active rep")
    rules.closes_in_time(ctx, close_date)
    company_id = _company(ctx, lead)
    rules.fresh_deal_name(ctx, company_id, deal_name)
    contact = ctx.insert(
        Contact,
        company_id=company_id,
        name=lead["name"],
        search=folded(lead["name"]),
        email=lead["email"],
        job_title=None,
        left=False,
    )
    deal = ctx.insert(
        Deal,
        name=deal_name,
        company_id=company_id,
        contact_id=contact["id"],
        owner_id=lead["owner_id"],
        stage="qualification",
        lost_reason=None,
        amount=cents(amount),
        close_on=close_date,
        created_on=ctx.today,
    )
    ctx.execute(_HAND_OVER, lead=lead_id, deal=deal["id"])
    ctx.update(Lead, lead_id, status="converted", deal_id=deal["id"])
    return {"contact_id": contact["id"], "company_id": company_id, "deal_id": deal["id"]}


def _company(ctx: Context, lead: Row) -> str:
    """The id of the company that the lead names; a new prospect when there is none of that name."""
    search = folded(lead["company_name"])
    found = ctx.rows(_NAMESAKE, search=search)
    if found:
        rules.may_buy(found[0])
        return str(found[0]["id"])
    row = ctx.insert(
        Company,
        name=lead["company_name"],
        search=search,
        industry=None,
        city=None,
        status="prospect",
        owner_id=lead["owner_id"],
    )
    return str(row["id"])
