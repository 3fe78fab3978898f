"""The CRM's tables. Amounts are integer cents of EUR; dates are ISO text; `search` columns hold folded names."""

from typing import Literal

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

OwnerId = Ref("Owner")
LeadId = Ref("Lead")
CompanyId = Ref("Company")
ContactId = Ref("Contact")
DealId = Ref("Deal")
TaskId = Ref("Task")

Team = Literal["inside_sales", "field_sales", "key_accounts"]
LeadStatus = Literal["new", "contacted", "nurturing", "qualified", "unqualified", "converted"]
Source = Literal["website", "referral", "trade_show", "cold_call", "partner"]
Unfit = Literal["no_budget", "no_need", "bad_timing", "competitor", "unreachable"]
Industry = Literal["energy", "finance", "health", "logistics", "manufacturing", "public_sector", "retail"]
CompanyStatus = Literal["prospect", "customer", "on_hold"]
Stage = Literal["qualification", "proposal", "negotiation", "won", "lost"]
LostReason = Literal["price", "competitor", "no_decision", "missing_features", "budget_cut"]
TaskType = Literal["call", "email", "meeting", "demo", "contract_review"]
TaskStatus = Literal["open", "done", "cancelled"]
Outcome = Literal["successful", "unsuccessful"]


class Base(DeclarativeBase):
    """Tables of the CRM server."""


class Owner(Base):
    """A sales rep, who owns leads, companies and deals; who left is inactive."""

    __tablename__ = "owner"
    __table_args__ = (COMPACT,)
    id_prefix = "OWN"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    team: Mapped[str]  # Team
    active: Mapped[bool]


class Company(Base):
    """A company that buys or may buy; nothing is sold to one on hold."""

    __tablename__ = "company"
    __table_args__ = (COMPACT,)
    id_prefix = "COM"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    search: Mapped[str]
    industry: Mapped[str | None]  # Industry; unknown after a conversion
    city: Mapped[str | None]
    status: Mapped[str]  # CompanyStatus
    owner_id: Mapped[str] = mapped_column(ForeignKey("owner.id"))


class Contact(Base):
    """A person at a company; who left it stays for the record."""

    __tablename__ = "contact"
    __table_args__ = (COMPACT,)
    id_prefix = "CON"
    id: Mapped[str] = mapped_column(primary_key=True)
    company_id: Mapped[str] = mapped_column(ForeignKey("company.id"), index=True)
    name: Mapped[str]
    search: Mapped[str]
    email: Mapped[str] = mapped_column(unique=True)
    job_title: Mapped[str | None]
    left: Mapped[bool]


class Deal(Base):
    """A sale in a stage. `close_on` is when it should close, or did."""

    __tablename__ = "deal"
    __table_args__ = (
        CheckConstraint("amount > 0"),
        CheckConstraint("(stage = 'lost') = (lost_reason IS NOT NULL)"),
        COMPACT,
    )
    id_prefix = "DEA"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    company_id: Mapped[str] = mapped_column(ForeignKey("company.id"))
    contact_id: Mapped[str] = mapped_column(ForeignKey("contact.id"))
    owner_id: Mapped[str] = mapped_column(ForeignKey("owner.id"))
    stage: Mapped[str]  # Stage
    lost_reason: Mapped[str | None]  # LostReason
    amount: Mapped[int]
    close_on: Mapped[str]
    created_on: Mapped[str]


class Lead(Base):
    """Somebody who may buy one day. A converted one lives on as the contact of the deal that it became."""

    __tablename__ = "lead"
    __table_args__ = (
        CheckConstraint("(status = 'unqualified') = (unfit IS NOT NULL)"),
        CheckConstraint("(status = 'converted') = (deal_id IS NOT NULL)"),
        CheckConstraint("status NOT IN ('qualified', 'converted') OR owner_id IS NOT NULL"),
        COMPACT,
    )
    id_prefix = "LED"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    company_name: Mapped[str]
    search: Mapped[str]
    email: Mapped[str] = mapped_column(unique=True)
    source: Mapped[str]  # Source
    status: Mapped[str]  # LeadStatus
    unfit: Mapped[str | None]  # Unfit
    owner_id: Mapped[str | None] = mapped_column(ForeignKey("owner.id"))
    deal_id: Mapped[str | None] = mapped_column(ForeignKey("deal.id"))
    created_on: Mapped[str]


class Task(Base):
    """Something to do about a lead or a deal, and how it went."""

    __tablename__ = "task"
    __table_args__ = (
        CheckConstraint("(lead_id IS NULL) != (deal_id IS NULL)"),
        CheckConstraint("(status = 'done') = (outcome IS NOT NULL)"),
        CheckConstraint("(status = 'done') = (done_on IS NOT NULL)"),
        COMPACT,
    )
    id_prefix = "TSK"
    id: Mapped[str] = mapped_column(primary_key=True)
    lead_id: Mapped[str | None] = mapped_column(ForeignKey("lead.id"), index=True)
    deal_id: Mapped[str | None] = mapped_column(ForeignKey("deal.id"), index=True)
    type: Mapped[str]  # TaskType
    subject: Mapped[str]
    due_on: Mapped[str]
    status: Mapped[str]  # TaskStatus
    outcome: Mapped[str | None]  # Outcome
    done_on: Mapped[str | None]
