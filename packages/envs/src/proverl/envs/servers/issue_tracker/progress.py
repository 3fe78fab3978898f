"""Work on an issue: who does it, where it stands, how long it takes."""

from typing import Annotated

from pydantic import Field
from sqlalchemy import bindparam, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected
from proverl.envs.servers.issue_tracker import rules, workflow
from proverl.envs.servers.issue_tracker.app import server
from proverl.envs.servers.issue_tracker.tables import (
    SELF,
    Issue,
    IssueId,
    Resolution,
    Sprint,
    Status,
    UserId,
    Worklog,
    WorklogId,
)

_DAY = 600  # most minutes that one person logs for a day

_ON_DAY = select(func.coalesce(func.sum(Worklog.minutes), 0)).where(
    Worklog.user_id == SELF, Worklog.worked_on == bindparam("day")
)
_ON_ISSUE = select(func.sum(Worklog.minutes)).where(Worklog.issue_id == bindparam("issue"))


class AssignedIssue(TypedDict):
    """An issue and who works on it."""

    issue_id: IssueId
    assignee: str


@server.tool(
    phrases=[
        "assign {issue_id} to {user_id}",
        "give {issue_id} to {user_id}",
        "make {user_id} the assignee of {issue_id}",
        "hand {issue_id} over to {user_id}",
        "put {user_id} in charge of {issue_id}",
    ],
    brief=[
        "assign an issue to somebody",
        "hand {issue_id} over to somebody",
        "make {user_id} the assignee of an issue",
    ],
)
def assign_issue(
    ctx: Context,
    issue_id: Annotated[IssueId, "Open issue"],
    user_id: Annotated[UserId, "Active developer or admin of the issue's project"],
) -> AssignedIssue:
    """Assign an open issue to a member of its project, instead of whoever had it."""
    row = rules.issue(ctx, issue_id)
    rules.still_open(row)
    user = rules.member(ctx, user_id, row["project_id"])
    if user["role"] == "viewer":
        raise Rejected(f"user {user_id} is a viewer in project {row['project_id']}; assign a developer or an admin")
    if row["assignee_id"] == user_id:
        raise Rejected(
            f"{issue_id} is assigned to {user_id} ({user['name']}) already; name another user to change that"
        )
    ctx.update(Issue, issue_id, assignee_id=user_id)
    return {"issue_id": issue_id, "assignee": user["name"]}


class MovedIssue(TypedDict):
    """An issue and its status now."""

    issue_id: IssueId
    status: Status


@server.tool(
    phrases=[
        "mark {issue_id} as {status}[, giving {resolution} as its resolution]",
        "put {issue_id} in the {status} column[ with the resolution {resolution}]",
        "give {issue_id} the status {status}",
        "move {issue_id} through the workflow until it is {status}[, resolution {resolution}]",
        "choose {status} as the new status of {issue_id}",
    ],
    brief=[
        "change the status of an issue",
        "move {issue_id} along the workflow",
        "mark one of the issues as {status}",
    ],
)
def transition_issue(
    ctx: Context,
    issue_id: Annotated[IssueId, "Issue to move"],
    status: Annotated[Status, "Status to move it to; from done only to_do, which reopens it"],
    resolution: Annotated[Resolution | None, "How it ended, with done only; fixed if left out"] = None,
) -> MovedIssue:
    """Move an issue along the workflow: to_do, in_progress, in_review, done; also one step back. Steps have guards."""
    row = rules.issue(ctx, issue_id)
    if resolution and status != "done":
        raise Rejected(f"a resolution goes with done only; leave it out to move {issue_id} to {status}")
    ending: Resolution | None = resolution or ("fixed" if status == "done" else None)
    workflow.check(ctx, row, status, ending)
    if row["status"] == "done" and row["sprint_id"] and ctx.get(Sprint, row["sprint_id"])["state"] == "closed":
        ctx.update(Issue, issue_id, sprint_id=None)  # its sprint is history: the issue goes to the backlog
    ctx.update(Issue, issue_id, status=status, resolution=ending)
    return {"issue_id": issue_id, "status": status}


class LoggedWork(TypedDict):
    """Time just logged, and all the time logged on the issue."""

    worklog_id: WorklogId
    total_minutes: int


@server.tool(
    phrases=[
        "log {minutes} minutes of work on {issue_id}[ for {worked_on}]",
        "record that I spent {minutes} minutes on {issue_id}[ on {worked_on}]",
        "enter {minutes} minutes of work for {issue_id}[, done on {worked_on}]",
        "add a work log of {minutes} minutes to {issue_id}[ dated {worked_on}]",
        "book {minutes} minutes of my time to {issue_id}[ under the date {worked_on}]",
    ],
    brief=[
        "log some work",
        "log {minutes} minutes of work[ for {worked_on}]",
        "enter the time that I spent on {issue_id}",
    ],
)
def log_work(
    ctx: Context,
    issue_id: Annotated[IssueId, "Issue that is no epic; done ones too, for time logged late"],
    minutes: Annotated[
        int, Field(ge=5, le=480, examples=[15, 20, 25, 30, 40, 45, 50, 60, 75, 90, 105, 120, 150, 180]), "Time spent"
    ],
    worked_on: Annotated[
        Annotated[IsoDate, Field(json_schema_extra={"x-when": "past"})] | None,
        "Day of the work, since the issue was created; today if left out",
    ] = None,
) -> LoggedWork:
    """Log time that you worked on an issue; at most 600 minutes for a day over all issues."""
    row = rules.issue(ctx, issue_id)
    if row["type"] == "epic":
        raise Rejected(f"{issue_id} is an epic; log work on the stories, tasks and bugs in it")
    day = worked_on or ctx.today
    if day > ctx.today:
        raise Rejected(f"worked_on {day} is in the future; it must be today ({ctx.today}) or earlier")
    if day < row["created_on"]:
        raise Rejected(f"{issue_id} was created on {row['created_on']}; worked_on must be that day or later")
    logged = ctx.scalar(_ON_DAY, day=day)
    if logged + minutes > _DAY:
        raise Rejected(f"you logged {logged} minutes for {day}; at most {_DAY - logged} more fit that day")
    added = ctx.insert(Worklog, issue_id=issue_id, user_id=SELF, minutes=minutes, worked_on=day)
    return {"worklog_id": added["id"], "total_minutes": ctx.scalar(_ON_ISSUE, issue=issue_id)}
