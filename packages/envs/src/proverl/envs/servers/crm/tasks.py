"""Tasks on leads and deals: list, create, complete."""

from datetime import date, timedelta
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from sqlalchemy import String, bindparam, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected, Text
from proverl.envs.servers.crm import rules, words
from proverl.envs.servers.crm.app import server
from proverl.envs.servers.crm.rules import MOST_TASKS, Limit
from proverl.envs.servers.crm.tables import (
    Deal,
    DealId,
    Lead,
    LeadId,
    Outcome,
    Owner,
    OwnerId,
    Task,
    TaskId,
    TaskStatus,
    TaskType,
)
from proverl.envs.state import Row

_FARTHEST = 365  # days ahead that a task may be due

RecordId = Annotated[
    str, Field(min_length=1, max_length=200, json_schema_extra={"x-entity": "Lead", "x-accepts": ["crm.Deal"]})
]

_TASKS = (
    select(Task.id, Task.type, Task.subject, Task.due_on, Task.lead_id, Task.deal_id)
    .outerjoin_from(Task.__table__, Lead.__table__, Lead.id == Task.lead_id)
    .outerjoin(Deal.__table__, Deal.id == Task.deal_id)
    .where(
        Task.status == bindparam("status"),
        or_(
            bindparam("record", type_=String).is_(None),
            Task.lead_id == bindparam("record"),
            Task.deal_id == bindparam("record"),
        ),
        or_(
            bindparam("owner", type_=String).is_(None),
            func.coalesce(Lead.owner_id, Deal.owner_id) == bindparam("owner"),
        ),
    )
    .order_by(Task.due_on, Task.id)
    .limit(bindparam("limit"))
)
_OPEN_OF = (
    select(Task.id, Task.subject)
    .where(or_(Task.lead_id == bindparam("record"), Task.deal_id == bindparam("record")), Task.status == "open")
    .order_by(Task.id)
)


class TaskItem(TypedDict):
    """A task in a list, on a lead or on a deal."""

    task_id: TaskId
    type: TaskType
    subject: str
    due_date: str
    lead_id: NotRequired[LeadId]
    deal_id: NotRequired[DealId]


class TaskList(TypedDict):
    """Tasks that fit, the next due first."""

    tasks: list[TaskItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the[ {status}] tasks[ on {record_id}][ of {owner_id}][, {limit} at most]",
        "show me what is to do[ about {record_id}][ for {owner_id}]",
        "look up the next[ {limit}] tasks[ on {record_id}][ with status {status}]",
        "check the[ {status}] tasks in the CRM[ that concern {record_id}][, only those of {owner_id}]",
        "go through the[ first {limit}] tasks[ that {owner_id} has][, those that are {status}]",
    ],
)
def list_crm_tasks(
    ctx: Context,
    record_id: Annotated[RecordId | None, "Only tasks on this lead or deal"] = None,
    owner_id: Annotated[OwnerId | None, "Only tasks on this rep's leads and deals"] = None,
    status: Annotated[TaskStatus, "Only tasks with this status"] = "open",
    limit: Annotated[Limit, "Most tasks listed"] = 5,
) -> TaskList:
    """List tasks on leads and deals, the next due first; open ones unless another status is asked for."""
    if record_id:
        rules.record(ctx, record_id)
    if owner_id:
        ctx.get(Owner, owner_id, "list_owners names the sales reps")
    rows = ctx.rows(_TASKS, record=record_id, owner=owner_id, status=status, limit=limit)
    return {"tasks": [_item(row) for row in rows]}


def _item(row: Row) -> TaskItem:
    item: TaskItem = {
        "task_id": row["id"],
        "type": row["type"],
        "subject": row["subject"],
        "due_date": row["due_on"],
    }
    if row["lead_id"] is None:
        item["deal_id"] = row["deal_id"]
    else:
        item["lead_id"] = row["lead_id"]
    return item


class CreatedTask(TypedDict):
    """A new open task."""

    task_id: TaskId
    type: TaskType
    due_date: str


@server.tool(
    phrases=[
        "create one more {type} task on {record_id} due {due_date}: {subject}",
        "plan the next {type} for {record_id} on {due_date} with the subject {subject}",
        "add {subject} to {record_id} as a task of the type {type}, due on {due_date}",
        "schedule another {type} about {subject} for {record_id} on {due_date}",
        "put {subject} on the task list of {record_id} for {due_date}, type {type}",
    ],
    brief=[
        "create a new task",
        "plan the next {type} for {record_id} on {due_date}",
        "add {subject} as a task of the type {type}, due on {due_date}",
    ],
)
def create_crm_task(
    ctx: Context,
    record_id: Annotated[RecordId, "Lead or deal that is open"],
    type: Annotated[TaskType, "Kind of task; contract_review only on deals in negotiation"],
    subject: Annotated[Annotated[Text, Field(max_length=100, examples=list(words.NEW_SUBJECTS))], "What is to do"],
    due_date: Annotated[IsoDate, "Working day when it is due, today or later"],
) -> CreatedTask:
    """Create a task on an open lead or deal. Each has at most 5 open tasks."""
    lead, deal = rules.record(ctx, record_id)
    if lead:
        _check_lead(lead, type)
    if deal:
        rules.open_deal(ctx, record_id)
        if type == "contract_review" and deal["stage"] != "negotiation":
            raise Rejected(f"deal {record_id} is in {deal['stage']}; contracts are reviewed in negotiation")
    _check_day(ctx, due_date)
    waiting = ctx.rows(_OPEN_OF, record=record_id)
    for task in waiting:
        if task["subject"].casefold() == subject.casefold():
            raise Rejected(f"{record_id} has an open task of that subject already, {task['id']}; complete it or reword")
    if len(waiting) >= MOST_TASKS:
        raise Rejected(f"{record_id} has {len(waiting)} open tasks, the most there may be; complete one of them first")
    row = ctx.insert(
        Task,
        lead_id=record_id if lead else None,
        deal_id=record_id if deal else None,
        type=type,
        subject=subject,
        due_on=due_date,
        status="open",
        outcome=None,
        done_on=None,
    )
    return {"task_id": row["id"], "type": type, "due_date": due_date}


def _check_lead(lead: Row, kind: TaskType) -> None:
    if lead["status"] == "converted":
        raise Rejected(f"lead {lead['id']} was converted; put the task on its deal {lead['deal_id']}")
    if lead["status"] == "unqualified":
        raise Rejected(f"lead {lead['id']} is unqualified; set it to nurturing before there is more to do about it")
    if kind == "contract_review":
        raise Rejected(f"{lead['id']} is a lead and has no contract; contract_review goes with deals in negotiation")


def _check_day(ctx: Context, due_date: str) -> None:
    due = date.fromisoformat(due_date)
    days = (due - ctx.now.date()).days
    if days < 0:
        raise Rejected(f"due_date {due_date} is past; it must be today ({ctx.today}) or later")
    if days > _FARTHEST:
        raise Rejected(f"due_date {due_date} is {days} days away; a task is due within {_FARTHEST} days")
    if due.weekday() > 4:
        monday = due + timedelta(days=7 - due.weekday())
        raise Rejected(f"{due_date} is a {due:%A}; choose a working day, e.g. {monday.isoformat()}")


class CompletedTask(TypedDict):
    """A task that is done."""

    task_id: TaskId
    status: Literal["done"]
    outcome: Outcome


@server.tool(
    phrases=[
        "complete {task_id} as {outcome}",
        "mark {task_id} as done with the outcome {outcome}",
        "close {task_id}; it was {outcome}",
        "tick off {task_id} and note that it was {outcome}",
        "record that {task_id} is done and was {outcome}",
    ],
    brief=[
        "complete a task",
        "tick off {task_id}",
        "mark one of the tasks as done with the outcome {outcome}",
    ],
)
def complete_crm_task(
    ctx: Context,
    task_id: Annotated[TaskId, "Open task"],
    outcome: Annotated[Outcome, "How it went"],
) -> CompletedTask:
    """Complete an open task. The first successful task on a new lead makes it contacted."""
    row = ctx.get(Task, task_id, "list_crm_tasks lists tasks")
    if row["status"] == "done":
        raise Rejected(
            f"task {task_id} was completed on {row['done_on']} ({row['outcome']}); only open tasks can be completed"
        )
    if row["status"] == "cancelled":
        raise Rejected(f"task {task_id} was cancelled with its lead or deal; only open tasks can be completed")
    ctx.update(Task, task_id, status="done", outcome=outcome, done_on=ctx.today)
    if outcome == "successful" and row["lead_id"] and ctx.get(Lead, row["lead_id"])["status"] == "new":
        ctx.update(Lead, row["lead_id"], status="contacted")
    return {"task_id": task_id, "status": "done", "outcome": outcome}
