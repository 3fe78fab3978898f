"""The CRM: what its tools do together, every refusal, its laws, its start state."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time

CRM = load_server("crm")


class Crm:
    """A session with helpers that go through visible tools only."""

    def __init__(self, seed: int = 3) -> None:
        self.session = Session([CRM], seed)

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def refusal(self, name: str, /, **arguments: Any) -> str:
        result = self.call(name, **arguments)
        assert result.code is ErrorCode.REJECTED, result
        return result.message

    def workday(self, days: int = 0) -> str:
        day = self.session.now.date() + timedelta(days=days)
        return (day + timedelta(days=max(0, 7 - day.weekday()) if day.weekday() > 4 else 0)).isoformat()

    def listed(self, tool: str, key: str, **arguments: Any) -> list[Any]:
        (rows,) = self.read(tool, limit=50, **arguments).values()
        return [row[key] for row in rows]

    def owner(self, active: bool = True, most_leads: int = 4) -> str:
        rows = self.read("list_owners", limit=50)["owners"]
        return next(row["owner_id"] for row in rows if row["active"] is active and row["open_leads"] <= most_leads)

    def lead(self, email: str = "ada@quarrystone.example", company: str = "Quarry Stone Works") -> str:
        return self.read("create_lead", name="Ada Stein", company_name=company, email=email, source="referral")[
            "lead_id"
        ]

    def qualified(self, **more: Any) -> str:
        lead = self.lead(**more)
        self.read("assign_lead", lead_id=lead, owner_id=self.owner())
        self.success(lead, "call")
        self.read("update_lead_status", lead_id=lead, status="qualified")
        return lead

    def task(self, record: str, type: str = "call", subject: str = "Talk") -> str:
        return self.read("create_crm_task", record_id=record, type=type, subject=subject, due_date=self.workday())[
            "task_id"
        ]

    def success(self, record: str, type: str) -> None:
        self.read("complete_crm_task", task_id=self.task(record, type), outcome="successful")

    def convert(self, lead: str, **more: Any) -> Result:
        usual = {"deal_name": "Forecasting module", "amount": 9_000, "close_date": self.workday(40)}
        return self.call("convert_lead", lead_id=lead, **{**usual, **more})

    def deal(self, stage: str = "qualification", amount: float = 9_000) -> str:
        """A new deal, moved to a stage."""
        deal = self.convert(self.qualified(), amount=amount).content["deal_id"]
        stages = ["qualification", "proposal", "negotiation"]
        self.success(deal, "demo")
        for step in stages[1 : stages.index(stage) + 1]:
            self.read("move_deal_stage", deal_id=deal, stage=step)
        return deal

    def contact(self, **wanted: Any) -> str:
        """A contact by field, or by `status` and `staffed` of the company."""
        status = wanted.pop("status", None)
        companies = {row["company_id"]: row for row in self.read("search_companies", limit=50)["companies"]}
        active = {row["owner_id"] for row in self.read("list_owners", limit=50)["owners"] if row["active"]}
        served = wanted.pop("served", True)
        return next(
            row["contact_id"]
            for company_id, company in companies.items()
            if (company["status"] == status or (status is None and company["status"] != "on_hold"))
            and (company["owner_id"] in active) is served
            for row in self.read("search_contacts", company_id=company_id)["contacts"]
            if {"left": False, **wanted}.items() <= row.items()
        )

    def new_deal(self, contact: str, **more: Any) -> dict[str, Any]:
        usual = {"deal_name": "Brand-new licence", "amount": 500, "close_date": self.workday(9)}
        return {"contact_id": contact, **usual, **more}


@pytest.fixture
def crm() -> Crm:
    return Crm()


# What the tools do


def test_a_lead_is_reached_qualified_and_converted(crm):
    lead, owner = crm.lead(), crm.owner()
    crm.read("assign_lead", lead_id=lead, owner_id=owner)
    crm.success(lead, "email")
    assert lead in crm.listed("search_leads", "lead_id", status="contacted", owner_id=owner)
    crm.read("update_lead_status", lead_id=lead, status="qualified")
    waiting = crm.task(lead, subject="Agree on next steps")
    made = crm.convert(lead).content
    deal = crm.read("get_deal", deal_id=made["deal_id"])
    assert (deal["stage"], deal["owner_id"], deal["amount"], deal["open_tasks"]) == ("qualification", owner, 9_000, 1)
    assert (deal["company_id"], deal["contact_id"]) == (made["company_id"], made["contact_id"])
    assert waiting in crm.listed("list_crm_tasks", "task_id", record_id=made["deal_id"])
    assert crm.listed("search_contacts", "email", company_id=made["company_id"]) == ["ada@quarrystone.example"]


def test_conversion_finds_the_company_however_it_is_spelled(crm):
    company = next(row for row in crm.read("search_companies", status="prospect", limit=50)["companies"])
    lead = crm.qualified(company=company["name"].upper())
    assert crm.convert(lead).content["company_id"] == company["company_id"]


def test_a_deal_goes_through_the_stages_and_makes_a_customer(crm):
    deal = crm.deal("negotiation")
    won = crm.read("move_deal_stage", deal_id=deal, stage="won", amount=8_000)
    assert (won["amount"], won["close_date"]) == (8_000, crm.session.now.date().isoformat())
    company = crm.read("get_deal", deal_id=deal)["company_id"]
    assert company in crm.listed("search_companies", "company_id", status="customer")


def test_a_lost_deal_cancels_its_tasks_and_can_be_reopened(crm):
    deal = crm.deal("proposal")
    waiting = crm.task(deal)
    crm.read("move_deal_stage", deal_id=deal, stage="lost", lost_reason="price")
    assert crm.read("get_deal", deal_id=deal)["lost_reason"] == "price"
    assert waiting in crm.listed("list_crm_tasks", "task_id", record_id=deal, status="cancelled")
    assert "was cancelled" in crm.refusal("complete_crm_task", task_id=waiting, outcome="successful")
    reopened = crm.read("move_deal_stage", deal_id=deal, stage="qualification")
    assert reopened["close_date"] == (crm.session.now.date() + timedelta(days=30)).isoformat()
    assert crm.call("move_deal_stage", deal_id=deal, stage="proposal").ok  # the demo still counts


def test_an_unqualified_lead_has_nothing_to_do_and_can_be_nurtured(crm):
    lead = crm.lead()
    crm.task(lead)
    crm.read("update_lead_status", lead_id=lead, status="unqualified", reason="no_budget")
    assert crm.listed("list_crm_tasks", "task_id", record_id=lead) == []
    assert crm.read("update_lead_status", lead_id=lead, status="nurturing")["status"] == "nurturing"
    assert crm.task(lead)


def test_a_failed_task_reaches_nobody(crm):
    lead = crm.lead()
    crm.read("complete_crm_task", task_id=crm.task(lead), outcome="unsuccessful")
    assert lead in crm.listed("search_leads", "lead_id", status="new")


def test_searches_ignore_case_and_accents_and_read_wildcards_literally(crm):
    crm.read("create_lead", name="Zoë Öztürk", company_name="Łódź Freight", email="Z@oz.example", source="partner")
    for part in ("zoe ozt", "LODZ"):
        assert "Zoë Öztürk" in crm.listed("search_leads", "name", name=part)
    assert crm.listed("search_leads", "name", name="%") == []
    contact = crm.read("search_contacts", limit=1)["contacts"][0]
    assert contact["contact_id"] in crm.listed("search_contacts", "contact_id", name=contact["name"].upper())


def test_tasks_are_listed_by_due_date_and_owner(crm):
    due = crm.listed("list_crm_tasks", "due_date")
    assert due == sorted(due)
    deal = crm.deal()
    task, owner = crm.task(deal), crm.read("get_deal", deal_id=deal)["owner_id"]
    assert task in crm.listed("list_crm_tasks", "task_id", owner_id=owner)


# Refusals


def test_an_email_belongs_to_one_lead_or_contact(crm):
    lead = crm.lead(email="Ada@Stone.example")
    new = {"name": "Ada Stein", "email": "ada@stone.EXAMPLE"}
    assert f"belongs to lead {lead} (new)" in crm.refusal("create_lead", company_name="Stone", source="website", **new)
    contact = crm.read("search_contacts", limit=1)["contacts"][0]
    message = crm.refusal("create_contact", company_id=contact["company_id"], **{**new, "email": contact["email"]})
    assert message == (
        f"{contact['email']} belongs to contact {contact['contact_id']} of company {contact['company_id']}; "
        "use that contact"
    )


def test_leads_go_to_active_reps_with_room(crm):
    lead, owner = crm.lead(), crm.owner()
    left, full = crm.owner(active=False, most_leads=9), None
    assert f"sales rep {left} (" in crm.refusal("assign_lead", lead_id=lead, owner_id=left)
    crm.read("assign_lead", lead_id=lead, owner_id=owner)
    assert "already; name another rep" in crm.refusal("assign_lead", lead_id=lead, owner_id=owner)
    while full is None:
        more = crm.lead(email=f"x{crm.session.now:%H%M}@stone.example")
        result = crm.call("assign_lead", lead_id=more, owner_id=owner)
        full = None if result.ok else result.message
    assert full.endswith(f"({owner}) has 8 open leads, the most there may be; choose another")


def test_leads_are_judged_with_reason_and_evidence(crm):
    lead = crm.lead()

    def refused(status: str, **more: Any) -> str:
        return crm.refusal("update_lead_status", lead_id=lead, status=status, **more)

    assert refused("qualified") == f"lead {lead} has no owner; assign_lead gives it to a rep before it is qualified"
    crm.read("assign_lead", lead_id=lead, owner_id=crm.owner())
    assert f"nobody has reached lead {lead} yet" in refused("qualified")
    assert "unqualified needs a reason: no_budget" in refused("unqualified")
    assert "a reason goes with unqualified only" in refused("nurturing", reason="no_need")
    crm.read("update_lead_status", lead_id=lead, status="nurturing")
    assert "is nurturing already" in refused("nurturing")


def test_only_qualified_leads_are_converted_and_only_once(crm):
    lead = crm.lead()
    assert crm.convert(lead).message == f"lead {lead} is new; update_lead_status must make it qualified first"
    lead = crm.qualified(email="other@stone.example")
    for date, message in ((crm.session.now.date().isoformat(), "must be after today"), ("9999-12-31", "within 730")):
        assert message in crm.convert(lead, close_date=date).message
    deal = crm.convert(lead).content["deal_id"]
    assert crm.convert(lead).message == f"lead {lead} was converted and is closed; go on with its deal {deal}"
    assert "was converted" in crm.refusal("assign_lead", lead_id=lead, owner_id=crm.owner())
    assert f"put the task on its deal {deal}" in crm.refusal(
        "create_crm_task", record_id=lead, type="call", subject="Talk", due_date=crm.workday()
    )


def test_a_lead_of_a_rep_who_left_is_not_converted(crm):
    left = crm.listed("list_owners", "owner_id")
    orphans = [
        row for row in crm.read("search_leads", status="qualified", limit=50)["leads"] if row["owner_id"] in left
    ]
    messages = [crm.convert(row["lead_id"]).message for row in orphans]
    assert any("has left; choose an active one of list_owners" in message for message in messages)


def test_nothing_is_sold_to_companies_on_hold_or_people_who_left(crm):
    held = crm.contact(status="on_hold")
    assert "is on hold over unpaid invoices" in crm.refusal("create_deal", **crm.new_deal(held))
    company = crm.read("search_companies", status="on_hold", limit=1)["companies"][0]
    assert "is on hold" in crm.convert(crm.qualified(company=company["name"])).message
    gone = crm.contact(left=True)
    assert "has left company" in crm.refusal("create_deal", **crm.new_deal(gone))


def test_a_deal_needs_an_active_owner_a_name_of_its_own_and_time(crm):
    contact = crm.contact()
    new = crm.new_deal(contact)
    created = crm.read("create_deal", **new)["deal_id"]
    message = crm.refusal("create_deal", **new, owner_id=crm.owner())
    assert f"has an open deal of that name already, {created}" in message
    late = crm.new_deal(contact, close_date="0001-01-01")
    assert "must be after today" in crm.refusal("create_deal", **late)
    left = crm.owner(active=False, most_leads=9)
    assert "has left; choose an active one" in crm.refusal("create_deal", **new, owner_id=left)


def test_stages_are_taken_one_at_a_time(crm):
    deal = crm.convert(crm.qualified()).content["deal_id"]

    def refused(stage: str, **more: Any) -> str:
        return crm.refusal("move_deal_stage", deal_id=deal, stage=stage, **more)

    assert "it can move from there to proposal or lost, not to won" in refused("won")
    assert "had no successful meeting or demo yet" in refused("proposal")
    assert "lost needs a lost_reason" in refused("lost")
    assert "a lost deal keeps its amount" in refused("lost", lost_reason="price", amount=8_000)
    crm.success(deal, "meeting")
    assert "a lost_reason goes with lost only" in refused("proposal", lost_reason="price")
    message = refused("proposal", amount=6_299.99)
    assert message == f"6299.99 is more than 30% below the 9000.00 of deal {deal}; the least is 6300.00"
    for stage in ("proposal", "negotiation"):
        crm.read("move_deal_stage", deal_id=deal, stage=stage)
    task = crm.task(deal)
    assert f"has open tasks ({task})" in refused("won")
    crm.read("complete_crm_task", task_id=task, outcome="successful")
    crm.read("move_deal_stage", deal_id=deal, stage="won")
    assert "is final; create_deal starts another" in refused("lost", lost_reason="price")
    assert "is won; choose one in qualification" in crm.refusal(
        "create_crm_task", record_id=deal, type="call", subject="Talk", due_date=crm.workday()
    )


def test_a_big_deal_needs_a_contract_review(crm):
    deal = crm.deal("negotiation", amount=52_000)
    message = crm.refusal("move_deal_stage", deal_id=deal, stage="won")
    assert message.startswith("52000.00 needs a successful contract_review task before it is won")
    crm.success(deal, "contract_review")
    assert crm.call("move_deal_stage", deal_id=deal, stage="won").ok


def test_nobody_is_left_to_propose_to():
    for seed in range(30):
        crm = Crm(seed)
        for deal in crm.listed("search_deals", "deal_id", stage="qualification"):
            if not crm.call("create_crm_task", record_id=deal, type="demo", subject="!", due_date=crm.workday()).ok:
                continue
            task = crm.listed("list_crm_tasks", "task_id", record_id=deal)
            for waiting in task:
                crm.read("complete_crm_task", task_id=waiting, outcome="successful")
            if "nobody to propose to" in crm.call("move_deal_stage", deal_id=deal, stage="proposal").message:
                return
    raise AssertionError("no such deal")


def test_tasks_are_planned_on_working_days_for_open_records(crm):
    lead, deal = crm.lead(), crm.convert(crm.qualified(email="other@stone.example")).content["deal_id"]
    new = {"record_id": lead, "type": "call", "subject": "Talk", "due_date": crm.workday()}

    def refused(**changes: Any) -> str:
        return crm.refusal("create_crm_task", **{**new, **changes})

    saturday = crm.session.now.date() + timedelta(days=5 - crm.session.now.weekday())
    monday = (saturday + timedelta(days=2)).isoformat()
    assert refused(due_date=saturday.isoformat()) == f"{saturday} is a Saturday; choose a working day, e.g. {monday}"
    assert "is past" in refused(due_date="0001-01-01")
    assert "within 365 days" in refused(due_date="9999-12-31")
    assert "is a lead and has no contract" in refused(type="contract_review")
    assert "contracts are reviewed in negotiation" in refused(record_id=deal, type="contract_review")
    task = crm.task(lead)
    assert f"an open task of that subject already, {task}" in refused(subject="TALK")
    for number in range(4):
        crm.task(lead, subject=f"Talk {number}")
    assert "has 5 open tasks, the most there may be" in refused(subject="Once more")
    crm.read("complete_crm_task", task_id=task, outcome="unsuccessful")
    assert "(unsuccessful); only open tasks can be" in crm.refusal(
        "complete_crm_task", task_id=task, outcome="successful"
    )
    crm.read("update_lead_status", lead_id=lead, status="unqualified", reason="unreachable")
    assert "is unqualified; set it to nurturing" in refused(subject="Once more")


# Laws and start state


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        crm = Crm(5)
        contact = crm.contact()
        one, two = crm.listed("list_crm_tasks", "task_id")[:2]
        calls = [
            ("complete_crm_task", {"task_id": one, "outcome": "successful"}),
            ("complete_crm_task", {"task_id": two, "outcome": "successful"}),
            ("create_deal", crm.new_deal(contact, owner_id=crm.owner())),
            ("create_deal", crm.new_deal(contact, owner_id=crm.owner(), deal_name="Another licence")),
            ("create_lead", {"name": "A", "company_name": "B", "email": "a@b.example", "source": "website"}),
        ]
        assert all(crm.call(name, **arguments).ok for name, arguments in calls[::turn])
        digests.add(crm.session.digest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("UPDATE contact SET email = 'x' || email", "converted_leads_live_on_as_contacts"),
        ("UPDATE deal SET company_id = (SELECT min(id) FROM company)", "deals_are_with_people_of_the_company"),
        ("UPDATE task SET outcome = 'unsuccessful' WHERE outcome IS NOT NULL", "advanced_deals_were_presented"),
        ("UPDATE deal SET stage = 'won' WHERE stage = 'qualification'", "closed_records_have_nothing_to_do"),
        ("UPDATE company SET status = 'customer'", "buyers_are_customers"),
        ("UPDATE lead SET status = 'contacted' WHERE status = 'new'", "qualified_leads_were_reached"),
    ],
)
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in CRM.invariants if check.__name__ == law)
    with CRM.storage.connect(CRM.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))


@pytest.mark.parametrize("seed", range(6))
def test_a_world_has_every_state_and_a_past_in_order(seed):
    crm = Crm(seed)
    statuses = ("new", "contacted", "nurturing", "qualified", "unqualified", "converted")
    assert all(crm.listed("search_leads", "lead_id", status=status) for status in statuses)
    stages = ("qualification", "proposal", "negotiation", "won", "lost")
    assert all(crm.listed("search_deals", "deal_id", stage=stage) for stage in stages)
    counts = {"owner": (20, 20), "company": (36, 36), "contact": (60, 80), "deal": (40, 110), "lead": (60, 80)}
    today = crm.session.now.date().isoformat()
    with CRM.storage.connect(CRM.image(seed, start_time(seed))) as connection:
        for table, (low, high) in counts.items():
            assert low <= connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() <= high
        for column in ("lead.created_on", "deal.created_on", "task.done_on"):
            table = column.split(".")[0]
            assert connection.execute(text(f"SELECT max({column}) FROM {table}")).scalar() < today
        early = (
            "SELECT count(*) FROM task LEFT JOIN lead l ON l.id = task.lead_id LEFT JOIN deal d ON d.id = task.deal_id "
            "WHERE done_on < coalesce(l.created_on, d.created_on)"
        )
        assert connection.execute(text(early)).scalar() == 0
