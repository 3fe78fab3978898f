"""A session of the CRM, used through its visible tools."""

from datetime import timedelta
from typing import Any

from proverl.core import ErrorCode, Result
from proverl.envs import Session, load_server

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
