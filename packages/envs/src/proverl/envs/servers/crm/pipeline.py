"""The past of deals and leads, and what is still to do: each no earlier than it could be."""

from datetime import date, timedelta

from proverl.envs import Draft
from proverl.envs.names import folded
from proverl.envs.servers.crm import words
from proverl.envs.servers.crm.rules import BIG_DEAL, MOST_LEADS, MOST_TASKS
from proverl.envs.servers.crm.spelling import mailbox
from proverl.envs.servers.crm.tables import Contact, Deal, Lead, Task
from proverl.envs.state import Row

_STAGES = ("qualification",) * 5 + ("proposal",) * 4 + ("negotiation",) * 4 + ("won",) * 4 + ("lost",) * 3
_LOST = ("price", "competitor", "no_decision", "missing_features", "budget_cut")
_LEAD_STATUSES = ("new",) * 5 + ("contacted",) * 4 + ("nurturing",) * 2 + ("qualified",) * 4 + ("unqualified",) * 2
_OUTCOMES = ("successful", "unsuccessful")
_UNFIT = ("no_budget", "no_need", "bad_timing", "competitor", "unreachable")
_SOURCES = ("website", "website", "referral", "trade_show", "cold_call", "partner")


def draw_deals(draft: Draft, companies: list[Row], contacts: list[Row], reps: list[str]) -> None:
    """Up to three deals for a company with contacts; whoever bought is a customer."""
    rng = draft.rng
    for number, company in enumerate(companies):
        people = [row for row in contacts if row["company_id"] == company["id"]]
        for name in rng.sample(words.DEAL_NAMES, rng.choice((1, 2, 2, 3)) if people else 0):
            owner = company["owner_id"] if rng.random() < 0.7 else rng.choice(reps)
            stage = rng.choice(_STAGES)
            deal = _deal(draft, name, company, rng.choice(people), owner, stage)
            _deal_tasks(draft, deal, crowded=number == 0)
            if stage == "won" and company["status"] == "prospect":
                company["status"] = "customer"


def _deal(draft: Draft, name: str, company: Row, contact: Row, owner: str, stage: str) -> Row:
    rng = draft.rng
    amount = rng.choice(words.AMOUNTS) if rng.random() < 0.6 else rng.randint(40, 1_200) * 50
    age = rng.randint(30, 150)
    open_until = rng.randint(-8, 90) if rng.random() < 0.2 else rng.randint(5, 90)
    return draft.add(
        Deal,
        name=name,
        company_id=company["id"],
        contact_id=contact["id"],
        owner_id=owner,
        stage=stage,
        lost_reason=rng.choice(_LOST) if stage == "lost" else None,
        amount=round(amount * 100),
        close_on=draft.day(-rng.randint(1, age - 20) if stage in ("won", "lost") else open_until),
        created_on=draft.day(-age),
    )


def _deal_tasks(draft: Draft, deal: Row, crowded: bool) -> None:
    rng = draft.rng
    closed = deal["stage"] in ("won", "lost")
    last = deal["close_on"] if closed else draft.day(-1)
    if deal["stage"] in ("proposal", "negotiation", "won"):
        _done(draft, deal, rng.choice(("meeting", "demo")), "successful", last, deal_id=deal["id"])
    if deal["stage"] == "won" and deal["amount"] >= BIG_DEAL or deal["stage"] == "negotiation" and rng.random() < 0.3:
        _done(draft, deal, "contract_review", "successful", last, deal_id=deal["id"])
    if rng.random() < 0.3:
        _done(
            draft,
            deal,
            rng.choice(("call", "email")),
            rng.choice(("successful", "unsuccessful")),
            last,
            deal_id=deal["id"],
        )
    if not closed:
        kinds = ["call", "email", "meeting", "demo", "call"]
        for kind in kinds[:MOST_TASKS] if crowded else rng.sample(kinds, rng.choice((0, 0, 1, 1, 2))):
            _open(draft, kind, deal_id=deal["id"])


def _done(draft: Draft, record: Row, kind: str, outcome: str, last: str, **link: str) -> None:
    """A task done on a working day between the record's first day and `last`, in the first weeks if there is time."""
    born = _days_ago(draft, record["created_on"])
    end = _days_ago(draft, last)
    days = draft.rng.randint(end, max(end, born - 1))
    days += max((draft.today - timedelta(days=days)).weekday() - 4, 0)
    if days > born:  # no Friday since then: the Monday after
        days = max(days - 3, end)
    late = draft.rng.choice((0, 0, 0, 1, 3))
    done = draft.day(-max(days - late, end))
    _task(draft, kind, draft.day(-days), status="done", outcome=outcome, done_on=done, **link)


def _open(draft: Draft, kind: str, **link: str) -> None:
    """A task still to do, on a working day; a few are late."""
    days = draft.rng.randint(-5, -1) if draft.rng.random() < 0.15 else draft.rng.randint(0, 20)
    weekday = (draft.today + timedelta(days=days)).weekday()
    _task(draft, kind, draft.day(days + (7 - weekday if weekday > 4 else 0)), status="open", **link)


def _task(draft: Draft, kind: str, due_on: str, status: str, **values: str) -> None:
    empty = {"lead_id": None, "deal_id": None, "outcome": None, "done_on": None}
    subject = draft.rng.choice(words.SUBJECTS[kind])
    draft.add(Task, type=kind, subject=subject, due_on=due_on, status=status, **(empty | values))


def _days_ago(draft: Draft, day: str) -> int:
    return (draft.today - date.fromisoformat(day)).days


def draw_leads(draft: Draft, companies: list[Row], owners: list[Row], names: list[str]) -> None:
    """Leads that are still worked on or given up, one rep with as many as allowed, and those that became deals."""
    rng = draft.rng
    active = [owner["id"] for owner in owners if owner["active"]]
    busy, load = active[0], dict.fromkeys(active, 0)
    for number, name in enumerate(names):
        status = rng.choice(_LEAD_STATUSES)
        owner: str | None = busy if number % 5 == 0 else rng.choice(active[1:])
        if status == "new" and rng.random() < 0.5 or (owner and load[owner] >= MOST_LEADS):
            owner = None
        if status == "qualified" and owner is None:
            status = "contacted"
        if owner and status != "unqualified":
            load[owner] += 1
        company = rng.choice(words.NEWCOMERS) if rng.random() < 0.7 else rng.choice(companies)["name"]
        host = mailbox(company, "") if rng.random() < 0.8 else "mail"
        lead = _lead(draft, name, company, f"{mailbox(name, '.')}@{host}.example", status, owner, rng.randint(2, 60))
        _lead_tasks(draft, lead)
    _orphan(draft, owners)
    _converted(draft, companies)


def _lead(draft: Draft, name: str, company: str, email: str, status: str, owner: str | None, age: int) -> Row:
    return draft.add(
        Lead,
        name=name,
        company_name=company,
        search=folded(f"{name} {company}"),
        email=email,
        source=draft.rng.choice(_SOURCES),
        status=status,
        unfit=draft.rng.choice(_UNFIT) if status == "unqualified" else None,
        owner_id=owner,
        deal_id=None,
        created_on=draft.day(-age),
    )


def _lead_tasks(draft: Draft, lead: Row) -> None:
    rng, last = draft.rng, draft.day(-1)
    kind = rng.choice(("call", "call", "email", "meeting"))
    if lead["status"] in ("contacted", "nurturing", "qualified"):
        _done(draft, lead, kind, "successful", last, lead_id=lead["id"])
    elif lead["status"] == "unqualified" or rng.random() < 0.2:
        _done(draft, lead, kind, "unsuccessful", last, lead_id=lead["id"])
    if lead["status"] != "unqualified" and rng.random() < 0.5:
        _open(draft, rng.choice(("call", "email", "meeting")), lead_id=lead["id"])


def _orphan(draft: Draft, owners: list[Row]) -> None:
    """One open lead still belongs to a rep who left."""
    left = next(owner["id"] for owner in owners if not owner["active"])
    next(lead for lead in reversed(draft.rows[Lead]) if lead["status"] == "qualified")["owner_id"] = left


def _converted(draft: Draft, companies: list[Row]) -> None:
    """Some deals began as leads, of whom the contacts came."""
    people = {row["id"]: row for row in draft.rows[Contact]}
    called = {row["id"]: row["name"] for row in companies}
    used = set[str]()
    for deal in draft.rng.sample(draft.rows[Deal], 16):
        contact = people[deal["contact_id"]]
        if contact["id"] in used:
            continue
        used.add(contact["id"])
        age = _days_ago(draft, deal["created_on"]) + draft.rng.randint(5, 30)
        lead = _lead(
            draft, contact["name"], called[deal["company_id"]], contact["email"], "converted", deal["owner_id"], age
        )
        lead["deal_id"] = deal["id"]
        _done(draft, lead, "call", "successful", deal["created_on"], lead_id=lead["id"])
