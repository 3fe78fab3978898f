"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import func, or_, select

from proverl.envs import Context
from proverl.envs.servers.crm.app import server
from proverl.envs.servers.crm.rules import BIG_DEAL, MOST_LEADS, MOST_TASKS, OPEN_LEAD
from proverl.envs.servers.crm.tables import Company, Contact, Deal, Lead, Task

_RECORD = func.coalesce(Task.lead_id, Task.deal_id).label("record")


@server.invariant
def converted_leads_live_on_as_contacts(ctx: Context) -> None:
    """A converted lead's deal is with a contact of its address; no other lead shares an address with a contact."""
    met = select(Lead.id, Contact.id.label("contact"))
    met = met.join_from(Lead.__table__, Contact.__table__, Contact.email == Lead.email)
    known = {row["id"]: row["contact"] for row in ctx.rows(met)}
    deals = {row["id"]: row["contact_id"] for row in ctx.rows(select(Deal.id, Deal.contact_id))}
    for row in ctx.rows(select(Lead.id, Lead.status, Lead.deal_id)):
        assert (row["status"] == "converted") == (row["id"] in known), f"{row['id']} is {row['status']}"
        if row["id"] in known:
            assert deals[row["deal_id"]] == known[row["id"]], f"{row['deal_id']} is with somebody else"


@server.invariant
def deals_are_with_people_of_the_company(ctx: Context) -> None:
    """A deal's contact belongs to its company."""
    strange = select(Deal.id).join_from(Deal.__table__, Contact.__table__, Contact.id == Deal.contact_id)
    strange = strange.where(Contact.company_id != Deal.company_id)
    assert not ctx.rows(strange), f"with people of other companies: {ctx.rows(strange)}"


@server.invariant
def advanced_deals_were_presented(ctx: Context) -> None:
    """Beyond qualification there was a successful meeting or demo; big deals were won after a contract review."""
    good = select(Task.deal_id).where(Task.outcome == "successful", Task.deal_id.is_not(None))
    shown, reviewed = good.where(Task.type.in_(("meeting", "demo"))), good.where(Task.type == "contract_review")
    early = select(Deal.id).where(Deal.stage.in_(("proposal", "negotiation", "won")), Deal.id.not_in(shown))
    assert not ctx.rows(early), f"advanced without a meeting: {ctx.rows(early)}"
    rash = select(Deal.id).where(Deal.stage == "won", Deal.amount >= BIG_DEAL, Deal.id.not_in(reviewed))
    assert not ctx.rows(rash), f"won without review: {ctx.rows(rash)}"


@server.invariant
def closed_records_have_nothing_to_do(ctx: Context) -> None:
    """Open tasks belong to open leads and deals, at most five to each."""
    waiting = (
        select(
            func.coalesce(Task.lead_id, Task.deal_id).label("record"), Lead.status, Deal.stage, func.count().label("n")
        )
        .outerjoin_from(Task.__table__, Lead.__table__, Lead.id == Task.lead_id)
        .outerjoin(Deal.__table__, Deal.id == Task.deal_id)
        .where(Task.status == "open")
        .group_by("record")
    )
    for row in ctx.rows(waiting):
        assert row["status"] not in ("converted", "unqualified"), f"open tasks on {row['record']}"
        assert row["stage"] not in ("won", "lost"), f"open tasks on {row['record']}"
        assert row["n"] <= MOST_TASKS, f"{row['n']} open tasks on {row['record']}"


@server.invariant
def buyers_are_customers(ctx: Context) -> None:
    """Whoever bought is no prospect, and customers have bought."""
    bought = select(Deal.company_id).where(Deal.stage == "won")
    wrong = select(Company.id).where(
        or_(
            (Company.status == "prospect") & Company.id.in_(bought),
            (Company.status == "customer") & Company.id.not_in(bought),
        )
    )
    assert not ctx.rows(wrong), f"wrong status: {ctx.rows(wrong)}"


@server.invariant
def qualified_leads_were_reached(ctx: Context) -> None:
    """Qualified leads had a successful task, and no rep has more than eight open leads."""
    reached = select(Task.lead_id).where(Task.outcome == "successful", Task.lead_id.is_not(None))
    unheard = select(Lead.id).where(Lead.status.in_(("contacted", "qualified", "converted")), Lead.id.not_in(reached))
    assert not ctx.rows(unheard), f"never reached: {ctx.rows(unheard)}"
    held = select(Lead.owner_id).where(Lead.status.in_(OPEN_LEAD), Lead.owner_id.is_not(None))
    held = held.group_by(Lead.owner_id).having(func.count() > MOST_LEADS)
    assert not ctx.rows(held), f"too many leads: {ctx.rows(held)}"
