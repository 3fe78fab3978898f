"""Companies and their contacts."""

from typing import Annotated

from pydantic import Field
from sqlalchemy import String, bindparam, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Text
from proverl.envs.names import folded
from proverl.envs.servers.crm import rules, words
from proverl.envs.servers.crm.app import server
from proverl.envs.servers.crm.leads import Email, PersonName
from proverl.envs.servers.crm.rules import Limit
from proverl.envs.servers.crm.tables import Company, CompanyId, CompanyStatus, Contact, ContactId, Industry, OwnerId

_COMPANIES = (
    select(Company.id, Company.name, Company.city, Company.status, Company.owner_id)
    .where(
        func.instr(Company.search, bindparam("part")) > 0,
        or_(bindparam("industry", type_=String).is_(None), Company.industry == bindparam("industry")),
        or_(bindparam("status", type_=String).is_(None), Company.status == bindparam("status")),
    )
    .order_by(Company.search, Company.id)
    .limit(bindparam("limit"))
)
_CONTACTS = (
    select(Contact.id, Contact.name, Contact.job_title, Contact.email, Contact.left, Contact.company_id)
    .where(
        func.instr(Contact.search, bindparam("part")) > 0,
        or_(bindparam("company", type_=String).is_(None), Contact.company_id == bindparam("company")),
    )
    .order_by(Contact.search, Contact.id)
    .limit(bindparam("limit"))
)


class CompanyItem(TypedDict):
    """A company in a list; one on hold can't buy for now."""

    company_id: CompanyId
    name: str
    city: str | None
    status: CompanyStatus
    owner_id: OwnerId


class CompanyList(TypedDict):
    """Companies that fit, by name."""

    companies: list[CompanyItem]


@server.tool(
    read_only=True,
    phrases=[
        "go through the companies[ for {name}][ in the {industry} industry][ with status {status}][, {limit} at most]",
        "find companies[ named {name}][ with the status {status}][ from the {industry} industry]",
        "list[ up to {limit}] companies[ of the industry {industry}][ whose status is {status}]",
        "look up which companies[ called {name}] we know[ in {industry}]",
        "show me the[ first {limit}] companies[ with {name} in their name][, only those with the status {status}]",
    ],
)
def search_companies(
    ctx: Context,
    name: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.COMPANY_SEARCHES))] | None,
        "Part of the name; case and accents make no difference",
    ] = None,
    industry: Annotated[Industry | None, "Only companies of this industry"] = None,
    status: Annotated[CompanyStatus | None, "Only companies with this status"] = None,
    limit: Annotated[Limit, "Most companies listed"] = 5,
) -> CompanyList:
    """Search companies by name, industry and status. All given conditions must hold."""
    rows = ctx.rows(_COMPANIES, part=folded(name or ""), industry=industry, status=status, limit=limit)
    return {
        "companies": [
            {
                "company_id": row["id"],
                "name": row["name"],
                "city": row["city"],
                "status": row["status"],
                "owner_id": row["owner_id"],
            }
            for row in rows
        ]
    }


class ContactItem(TypedDict):
    """A contact in a list; `left` says that the person no longer works there."""

    contact_id: ContactId
    name: str
    job_title: str | None
    email: str
    company_id: CompanyId
    left: bool


class ContactList(TypedDict):
    """Contacts that fit, by name."""

    contacts: list[ContactItem]


@server.tool(
    read_only=True,
    phrases=[
        "look through the contacts[ for {name}][ at {company_id}][, {limit} at most]",
        "find contacts[ of {company_id}][ called {name}]",
        "list[ up to {limit}] people we know[ at {company_id}][ with {name} in their name]",
        "look up whom we know[ at {company_id}][ by the name of {name}]",
        "show me the contacts[ who work at {company_id}][, only those named {name}]",
    ],
)
def search_contacts(
    ctx: Context,
    company_id: Annotated[CompanyId | None, "Only contacts at this company"] = None,
    name: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.NAME_SEARCHES))] | None,
        "Part of the person's name; case and accents make no difference",
    ] = None,
    limit: Annotated[Limit, "Most contacts listed"] = 5,
) -> ContactList:
    """Search contacts by company and name, those who left included."""
    if company_id:
        rules.company(ctx, company_id)
    return {
        "contacts": [
            {
                "contact_id": row["id"],
                "name": row["name"],
                "job_title": row["job_title"],
                "email": row["email"],
                "company_id": row["company_id"],
                "left": row["left"],
            }
            for row in ctx.rows(_CONTACTS, part=folded(name or ""), company=company_id, limit=limit)
        ]
    }


class CreatedContact(TypedDict):
    """A new contact."""

    contact_id: ContactId
    company_id: CompanyId
    name: str


@server.tool(
    phrases=[
        "add {name} with the email {email} as a contact at {company_id}[, job title {job_title}]",
        "create a contact for {company_id}: {name}, {email}[, {job_title}]",
        "register {name}[, {job_title},] as a contact at {company_id}, reachable at {email}",
        "put {name} down as somebody we know at {company_id}[, working as {job_title}], with the address {email}",
        "enter {name}, {email}, among the contacts of {company_id}[ with the job title {job_title}]",
    ],
    brief=[
        "add a new contact",
        "add {name} as a contact at {company_id}",
        "put {name} with the address {email} among the contacts of a company",
    ],
)
def create_contact(
    ctx: Context,
    company_id: Annotated[CompanyId, "Company where the person works"],
    name: Annotated[PersonName, "The person's full name"],
    email: Annotated[Email, "Address that no lead or contact has"],
    job_title: Annotated[
        Annotated[Text, Field(max_length=60, examples=list(words.JOB_TITLES))] | None, "What the person does there"
    ] = None,
) -> CreatedContact:
    """Add a person to the contacts of a company."""
    rules.company(ctx, company_id)
    address = email.lower()
    rules.fresh_email(ctx, address)
    row = ctx.insert(
        Contact, company_id=company_id, name=name, search=folded(name), email=address, job_title=job_title, left=False
    )
    return {"contact_id": row["id"], "company_id": company_id, "name": name}
