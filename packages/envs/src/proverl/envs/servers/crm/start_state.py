"""The CRM on the morning of a session: 20 sales reps, about 36 companies, 80 contacts, 70 deals and 70 leads.

Awkward on purpose: reps who left and still own things, companies on hold or without contacts, contacts who left, people
of one name, a lead's company that is spelled like a known one, deals past their date, late tasks, a rep with all the
leads one may have.
"""

from datetime import datetime
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import folded, full_names
from proverl.envs.servers.crm import words
from proverl.envs.servers.crm.pipeline import draw_deals, draw_leads
from proverl.envs.servers.crm.spelling import mailbox
from proverl.envs.servers.crm.tables import Company, Contact, Owner
from proverl.envs.state import Row

_OWNERS, _COMPANIES, _CONTACTS, _LEADS = 20, 36, 76, 58
_TEAMS = ("inside_sales", "field_sales", "field_sales", "key_accounts")


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    names = full_names(rng, _OWNERS + _CONTACTS + _LEADS, namesakes=3)
    owners = _owners(draft, names[-_OWNERS:])
    companies = _companies(draft, owners)
    contacts = _contacts(draft, companies, names[:_CONTACTS])
    draw_deals(draft, companies, contacts, [owner["id"] for owner in owners if owner["active"]])
    draw_leads(draft, companies, owners, names[_CONTACTS:-_OWNERS])
    return draft.rows


def _owners(draft: Draft, names: list[str]) -> list[Row]:
    left = draft.rng.sample(range(len(names)), 2)
    return [
        draft.add(Owner, name=name, team=draft.rng.choice(_TEAMS), active=number not in left)
        for number, name in enumerate(names)
    ]


def _companies(draft: Draft, owners: list[Row]) -> list[Row]:
    rng = draft.rng
    return [
        draft.add(
            Company,
            name=name,
            search=folded(name),
            industry=industry,
            city=city,
            status="on_hold" if number % 12 == 5 else "prospect",
            owner_id=rng.choice(owners)["id"],
        )
        for number, (name, industry, city) in enumerate(rng.sample(words.COMPANIES, _COMPANIES))
    ]


def _contacts(draft: Draft, companies: list[Row], names: list[str]) -> list[Row]:
    """Every company but two has contacts; one in ten has left."""
    rng, staffed = draft.rng, companies[:-2]
    rows, taken = [], set[str]()
    for number, name in enumerate(names):
        company = staffed[number] if number < len(staffed) else rng.choice(staffed)
        address = email(name, company["name"])
        if address in taken:
            continue
        taken.add(address)
        title = rng.choice(words.JOB_TITLES) if rng.random() < 0.85 else None
        rows.append(
            draft.add(
                Contact,
                company_id=company["id"],
                name=name,
                search=folded(name),
                email=address,
                job_title=title,
                left=number >= len(staffed) and rng.random() < 0.2,
            )
        )
    return rows


def email(name: str, company: str) -> str:
    """The address of a person at a company."""
    return f"{mailbox(name, '.')}@{mailbox(company, '')}.example"
