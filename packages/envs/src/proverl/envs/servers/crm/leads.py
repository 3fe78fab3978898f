"""Leads: find, create, assign, qualify."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import String, bindparam, func, or_, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.names import folded
from proverl.envs.servers.crm import rules, words
from proverl.envs.servers.crm.app import server
from proverl.envs.servers.crm.rules import Limit
from proverl.envs.servers.crm.tables import Lead, LeadId, LeadStatus, Owner, OwnerId, Source, Task, Unfit

PersonName = Annotated[Text, Field(max_length=80, examples=list(words.PEOPLE))]
CompanyName = Annotated[Text, Field(max_length=80, examples=list(words.NEWCOMERS))]
Email = Annotated[
    str,
    Field(
        max_length=120,
        pattern=r"^[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$",
        examples=list(words.EMAILS),
    ),
]

_LEADS = (
    select(Lead.id, Lead.name, Lead.company_name, Lead.status, Lead.owner_id)
    .where(
        func.instr(Lead.search, bindparam("part")) > 0,
        or_(bindparam("status", type_=String).is_(None), Lead.status == bindparam("status")),
        or_(bindparam("owner", type_=String).is_(None), Lead.owner_id == bindparam("owner")),
    )
    .order_by(Lead.created_on.desc(), Lead.id)
    .limit(bindparam("limit"))
)
_REACHED = select(Task.id).where(Task.lead_id == bindparam("lead"), Task.outcome == "successful").limit(1)
_CANCEL_TASKS = update(Task).where(Task.lead_id == bindparam("lead"), Task.status == "open").values(status="cancelled")


class LeadItem(TypedDict):
    """A lead in a list."""

    lead_id: LeadId
    name: str
    company_name: str
    status: LeadStatus
    owner_id: OwnerId | None


class LeadList(TypedDict):
    """Leads that fit, the newest first."""

    leads: list[LeadItem]


@server.tool(
    read_only=True,
    phrases=[
        "look through the leads[ for {name}][ with status {status}][ owned by {owner_id}][, {limit} at most]",
        "find leads[ marked as {status}][ called {name}]",
        "list the newest[ {limit}] leads[ with the status {status}][ of {owner_id}]",
        "show me which leads[ of {owner_id}] we have[ whose status is {status}]",
        "pull up the[ first {limit}] leads[ with {name} in the person's or company's name][ that belong to {owner_id}]",
    ],
)
def search_leads(
    ctx: Context,
    name: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.NAME_SEARCHES))] | None,
        "Part of the person's or company's name; case and accents make no difference",
    ] = None,
    status: Annotated[LeadStatus | None, "Only leads with this status"] = None,
    owner_id: Annotated[OwnerId | None, "Only leads of this rep"] = None,
    limit: Annotated[Limit, "Most leads listed"] = 5,
) -> LeadList:
    """Search leads, the newest first. All given conditions must hold."""
    if owner_id:
        ctx.get(Owner, owner_id, "list_owners names the sales reps")
    rows = ctx.rows(_LEADS, part=folded(name or ""), status=status, owner=owner_id, limit=limit)
    return {
        "leads": [
            {
                "lead_id": row["id"],
                "name": row["name"],
                "company_name": row["company_name"],
                "status": row["status"],
                "owner_id": row["owner_id"],
            }
            for row in rows
        ]
    }


class CreatedLead(TypedDict):
    """A new lead, without owner."""

    lead_id: LeadId
    name: str
    status: Literal["new"]


@server.tool(
    phrases=[
        "create a lead for {name} of {company_name}, email {email}, source {source}",
        "add {name} from {company_name} as a new lead with the email {email}; the source is {source}",
        "enter a {source} lead: {name}, {company_name}, {email}",
        "register {name} at {company_name} as a lead, reachable at {email}, source {source}",
        "note {name}, who works at {company_name}, as a lead that we got through a {source}; the address is {email}",
    ],
    brief=[
        "create a new lead",
        "add {name} from {company_name} as a new lead with the email {email}",
        "enter a {source} lead: {name} from {company_name}",
    ],
)
def create_lead(
    ctx: Context,
    name: Annotated[PersonName, "The person's full name"],
    company_name: Annotated[CompanyName, "Where the person works"],
    email: Annotated[Email, "Address that no lead or contact has"],
    source: Annotated[Source, "How the lead came about"],
) -> CreatedLead:
    """Create a lead with status new and no owner. It becomes contacted with the first successful task."""
    address = email.lower()
    rules.fresh_email(ctx, address)
    row = ctx.insert(
        Lead,
        name=name,
        company_name=company_name,
        search=folded(f"{name} {company_name}"),
        email=address,
        source=source,
        status="new",
        unfit=None,
        owner_id=None,
        deal_id=None,
        created_on=ctx.today,
    )
    return {"lead_id": row["id"], "name": name, "status": "new"}


class AssignedLead(TypedDict):
    """A lead and its rep."""

    lead_id: LeadId
    owner: str


@server.tool(
    phrases=[
        "assign {lead_id} to {owner_id}",
        "give {lead_id} to {owner_id}",
        "make {owner_id} the owner of {lead_id}",
        "route {lead_id} to {owner_id}",
        "let {owner_id} take over {lead_id}",
    ],
    brief=[
        "assign a lead to somebody",
        "give {lead_id} to another sales rep",
        "assign one of the leads to {owner_id}",
    ],
)
def assign_lead(
    ctx: Context,
    lead_id: Annotated[LeadId, "Lead that is not converted"],
    owner_id: Annotated[OwnerId, "Active rep with fewer than 8 open leads"],
) -> AssignedLead:
    """Give a lead to a sales rep, instead of whoever had it."""
    lead, owner = rules.unconverted_lead(ctx, lead_id), rules.active_owner(ctx, owner_id)
    if lead["owner_id"] == owner_id:
        raise Rejected(f"lead {lead_id} belongs to {owner['name']} ({owner_id}) already; name another rep")
    if lead["status"] in rules.OPEN_LEAD:
        rules.has_room(ctx, owner)
    ctx.update(Lead, lead_id, owner_id=owner_id)
    return {"lead_id": lead_id, "owner": owner["name"]}


class LeadState(TypedDict):
    """A lead after a change."""

    lead_id: LeadId
    status: LeadStatus


@server.tool(
    phrases=[
        "set the status of {lead_id} to {status}[ with the reason {reason}]",
        "mark {lead_id} as {status}[ (reason: {reason})]",
        "change {lead_id} to {status}",
        "move {lead_id} to {status} in the lead list[ and note {reason} as the reason]",
        "note that {lead_id} is {status} now[; the reason is {reason}]",
    ],
    brief=[
        "change the status of a lead",
        "update the status of {lead_id}",
        "mark one of the leads as {status}",
    ],
)
def update_lead_status(
    ctx: Context,
    lead_id: Annotated[LeadId, "Lead that is not converted"],
    status: Annotated[
        Literal["nurturing", "qualified", "unqualified"], "qualified needs an owner and a successful task on the lead"
    ],
    reason: Annotated[Unfit | None, "Why it is unqualified; needed then, and only then"] = None,
) -> LeadState:
    """Judge a lead: qualified (can be converted), nurturing (later) or unqualified (its open tasks are cancelled)."""
    lead = rules.unconverted_lead(ctx, lead_id)
    if lead["status"] == status:
        raise Rejected(f"lead {lead_id} is {status} already; choose another status")
    if (status == "unqualified") != (reason is not None):
        raise Rejected(
            "unqualified needs a reason: no_budget, no_need, bad_timing, competitor or unreachable"
            if reason is None
            else f"a reason goes with unqualified only; leave it out to make the lead {status}"
        )
    if status == "qualified":
        _may_qualify(ctx, lead_id, lead["owner_id"])
    if lead["status"] == "unqualified" and lead["owner_id"]:
        rules.has_room(ctx, rules.active_owner(ctx, lead["owner_id"]))
    if status == "unqualified":
        ctx.execute(_CANCEL_TASKS, lead=lead_id)
    ctx.update(Lead, lead_id, status=status, unfit=reason)
    return {"lead_id": lead_id, "status": status}


def _may_qualify(ctx: Context, lead_id: str, owner_id: str | None) -> None:
    if owner_id is None:
        raise Rejected(f"lead {lead_id} has no owner; assign_lead gives it to a rep before it is qualified")
    if ctx.scalar(_REACHED, lead=lead_id) is None:
        raise Rejected(
            f"nobody has reached lead {lead_id} yet; complete a task on it as successful before it is qualified"
        )
