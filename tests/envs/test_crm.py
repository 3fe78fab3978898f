"""The CRM: what its tools do together, its laws, its start state."""

from datetime import timedelta

import pytest
from sales_desk import CRM, Crm
from sqlalchemy import text

from proverl.envs import Context, start_time


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
