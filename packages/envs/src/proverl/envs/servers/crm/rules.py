"""What the CRM refuses wherever a lead, deal, contact or rep is named. Every refusal says what would be right."""

from datetime import date
from typing import Annotated

from pydantic import Field
from sqlalchemy import bindparam, func, select

from proverl.envs import Context, NotFound, Rejected
from proverl.envs.servers.crm.tables import Company, Contact, Deal, Lead, Owner
from proverl.envs.state import Row

MOST_LEADS = 8  # open leads of one rep
MOST_TASKS = 5  # open tasks of one lead or deal
BIG_DEAL = 5_000_000  # cents from which on a contract review is needed
OPEN_LEAD = ("new", "contacted", "nurturing", "qualified")
OPEN_DEAL = ("qualification", "proposal", "negotiation")
_HORIZON = 730  # days ahead that a deal may close

Limit = Annotated[int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20])]

_OPEN_LEADS = select(func.count()).where(Lead.owner_id == bindparam("owner"), Lead.status.in_(OPEN_LEAD))
_LEAD_BY_EMAIL = select(Lead.id, Lead.status).where(Lead.email == bindparam("email"))
_OPEN_NAMESAKE = select(Deal.id).where(
    Deal.company_id == bindparam("company"),
    func.lower(Deal.name) == func.lower(bindparam("name")),
    Deal.stage.in_(OPEN_DEAL),
)
_CONTACT_BY_EMAIL = select(Contact.id, Contact.company_id).where(Contact.email == bindparam("email"))


def active_owner(ctx: Context, owner_id: str) -> Row:
    """The rep, who still works here. Raises NotFound, or Rejected when the rep has left."""
    row = ctx.get(Owner, owner_id, "list_owners names the sales reps")
    if not row["active"]:
        raise Rejected(f"sales rep {owner_id} ({row['name']}) has left; choose an active one of list_owners")
    return row


def has_room(ctx: Context, owner: Row) -> None:
    """Raises Rejected when the rep has as many open leads as allowed."""
    held = ctx.scalar(_OPEN_LEADS, owner=owner["id"])
    if held >= MOST_LEADS:
        raise Rejected(f"{owner['name']} ({owner['id']}) has {held} open leads, the most there may be; choose another")


def unconverted_lead(ctx: Context, lead_id: str) -> Row:
    """The lead, which is no deal yet. Raises NotFound, or Rejected when it is converted."""
    row = ctx.get(Lead, lead_id, "search_leads finds leads")
    if row["status"] == "converted":
        raise Rejected(f"lead {lead_id} was converted and is closed; go on with its deal {row['deal_id']}")
    return row


def open_deal(ctx: Context, deal_id: str) -> Row:
    """The deal, which is neither won nor lost. Raises NotFound or Rejected."""
    row = ctx.get(Deal, deal_id, "search_deals finds deals")
    if row["stage"] not in OPEN_DEAL:
        raise Rejected(f"deal {deal_id} is {row['stage']}; choose one in qualification, proposal or negotiation")
    return row


def record(ctx: Context, record_id: str) -> tuple[Row | None, Row | None]:
    """The lead or the deal of this id, the other one None. Raises NotFound."""
    lead = ctx.find(Lead, record_id)
    deal = None if lead else ctx.find(Deal, record_id)
    if lead is None and deal is None:
        raise NotFound(f"no lead or deal {record_id!r}; search_leads and search_deals find them")
    return lead, deal


def present_contact(ctx: Context, contact_id: str) -> Row:
    """The contact, who still works there. Raises NotFound, or Rejected when the person has left."""
    row = ctx.get(Contact, contact_id, "search_contacts finds contacts")
    if row["left"]:
        raise Rejected(
            f"{row['name']} ({contact_id}) has left company {row['company_id']}; choose another of its contacts"
        )
    return row


def may_buy(company: Row) -> None:
    """Raises Rejected when nothing is sold to the company for now."""
    if company["status"] == "on_hold":
        raise Rejected(
            f"company {company['id']} ({company['name']}) is on credit hold; finance must release it before it can buy"
        )


def company(ctx: Context, company_id: str) -> Row:
    """The company. Raises NotFound."""
    return ctx.get(Company, company_id, "search_companies finds companies")


def fresh_email(ctx: Context, email: str) -> None:
    """Raises Rejected when a contact or a lead has this address."""
    contacts = ctx.rows(_CONTACT_BY_EMAIL, email=email)
    if contacts:
        known = contacts[0]
        raise Rejected(f"{email} belongs to contact {known['id']} of company {known['company_id']}; use that contact")
    leads = ctx.rows(_LEAD_BY_EMAIL, email=email)
    if leads:
        raise Rejected(f"{email} belongs to lead {leads[0]['id']} ({leads[0]['status']}); go on with that lead")


def fresh_deal_name(ctx: Context, company_id: str, name: str) -> None:
    """Raises Rejected when the company has an open deal of that name."""
    same = ctx.scalar(_OPEN_NAMESAKE, company=company_id, name=name)
    if same is not None:
        raise Rejected(f"company {company_id} has an open deal of that name already, {same}; choose another name")


def closes_in_time(ctx: Context, close_date: str) -> None:
    """Raises Rejected unless the date lies after today and within two years."""
    days = (date.fromisoformat(close_date) - ctx.now.date()).days
    if days < 1:
        raise Rejected(f"close_date {close_date} must be after today ({ctx.today})")
    if days > _HORIZON:
        raise Rejected(f"close_date {close_date} is {days} days away; a deal must close within {_HORIZON} days")
