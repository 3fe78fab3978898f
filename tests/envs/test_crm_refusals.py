"""Every refusal of the CRM, with what would be right."""

from datetime import timedelta
from typing import Any

import pytest
from sales_desk import Crm


@pytest.fixture
def crm() -> Crm:
    return Crm()


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
    assert any("has left; assign_lead gives it to an active rep" in message for message in messages)


def test_nothing_is_sold_to_companies_on_hold_or_people_who_left(crm):
    held = crm.contact(status="on_hold")
    assert "is on credit hold" in crm.refusal("create_deal", **crm.new_deal(held))
    company = crm.read("search_companies", status="on_hold", limit=1)["companies"][0]
    assert "is on credit hold" in crm.convert(crm.qualified(company=company["name"])).message
    gone = crm.contact(left=True)
    assert "has left company" in crm.refusal("create_deal", **crm.new_deal(gone))


def test_a_deal_needs_an_active_owner_a_name_of_its_own_and_time(crm):
    contact = crm.contact()
    new = crm.new_deal(contact)
    created = crm.read("create_deal", **new)["deal_id"]
    message = crm.refusal("create_deal", **new, owner_id=crm.owner())
    assert f"has an open deal of that name already, {created}" in message
    with_names = {row["company_id"]: row["name"] for row in crm.read("search_companies", limit=50)["companies"]}
    lead = crm.qualified(company=with_names[crm.read("get_deal", deal_id=created)["company_id"]])
    assert f"has an open deal of that name already, {created}" in crm.convert(lead, deal_name=new["deal_name"]).message
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
