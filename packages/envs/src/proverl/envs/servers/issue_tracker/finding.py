"""Finding and reading issues."""

from typing import Annotated, NotRequired

from pydantic import Field
from sqlalchemy import String, bindparam, func, or_, select
from sqlalchemy.sql.elements import ColumnElement
from typing_extensions import TypedDict

from proverl.envs import Context, Text
from proverl.envs.servers.issue_tracker import rules, words
from proverl.envs.servers.issue_tracker.app import server
from proverl.envs.servers.issue_tracker.rules import ISSUE, PROJECT
from proverl.envs.servers.issue_tracker.tables import (
    PRIORITIES,
    Issue,
    IssueId,
    IssueType,
    Label,
    Priority,
    Project,
    ProjectId,
    Resolution,
    Sprint,
    SprintId,
    Status,
    User,
    UserId,
    Watcher,
    Worklog,
)

_WATCHERS = select(func.count()).where(Watcher.issue_id == bindparam("issue"))
_MINUTES = select(func.coalesce(func.sum(Worklog.minutes), 0)).where(Worklog.issue_id == bindparam("issue"))
_DETAIL = select(
    Issue.__table__, _WATCHERS.scalar_subquery().label("watchers"), _MINUTES.scalar_subquery().label("minutes")
).where(ISSUE.id == bindparam("issue"))


def _any_or(name: str, column: ColumnElement[str]) -> ColumnElement[bool]:
    return or_(bindparam(name, type_=String).is_(None), column == bindparam(name))


_ARCHIVED = select(PROJECT.id).where(PROJECT.archived)
_FOUND = (
    select(ISSUE.id, ISSUE.summary, ISSUE.status, ISSUE.priority)
    .where(
        _any_or("project", ISSUE.project_id),
        _any_or("sprint", ISSUE.sprint_id),
        _any_or("assignee", ISSUE.assignee_id),
        _any_or("status", ISSUE.status),
        or_(ISSUE.project_id.not_in(_ARCHIVED), ISSUE.project_id == bindparam("project")),
    )
    .order_by(ISSUE.created_on.desc(), ISSUE.id)
)
_NEWEST = _FOUND.limit(bindparam("limit"))
_LABELLED = select(Label.issue_id).where(Label.label == bindparam("part"))
_MATCHING = _NEWEST.where(or_(func.instr(Issue.search, bindparam("part")) > 0, ISSUE.id.in_(_LABELLED)))


class IssueItem(TypedDict):
    """An issue in a list."""

    issue_id: IssueId
    summary: str
    status: Status
    priority: Priority


class IssueList(TypedDict):
    """Issues that fit, the newest first."""

    issues: list[IssueItem]


@server.tool(
    read_only=True,
    phrases=[
        "look through the issues[ in {project_id}][ of {sprint_id}][ assigned to {assignee_id}]"
        "[ with the status {status}][ for {text}][, {limit} at most]",
        "find issues[ about {text}][ in {project_id}][ whose status is {status}][, up to {limit}]",
        "list the newest[ {limit}] issues[ in {project_id}][ with status {status}][ assigned to {assignee_id}]",
        "show me the issues[ planned for {sprint_id}][ that mention {text}][, only those of {assignee_id}]",
        "look for issues[ with the status {status}][ concerning {text}][ in {sprint_id}][, no more than {limit}]",
    ],
)
def search_issues(
    ctx: Context,
    project_id: Annotated[ProjectId | None, "Only issues of this project"] = None,
    sprint_id: Annotated[SprintId | None, "Only issues of this sprint"] = None,
    assignee_id: Annotated[UserId | None, "Only issues assigned to this user"] = None,
    status: Annotated[Status | None, "Only issues with this status"] = None,
    text: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.SEARCHES))] | None,
        "Part of the summary in any case, or a whole label",
    ] = None,
    limit: Annotated[int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20]), "Most issues listed"] = 5,
) -> IssueList:
    """Search issues, the newest first. All given conditions must hold; archived projects count only when named."""
    _refuse_unknown(ctx, project_id, sprint_id, assignee_id)
    wanted = {"project": project_id, "sprint": sprint_id, "assignee": assignee_id, "status": status}
    statement, part = (_NEWEST, {}) if text is None else (_MATCHING, {"part": text.casefold()})
    return {
        "issues": [
            {
                "issue_id": row["id"],
                "summary": row["summary"],
                "status": row["status"],
                "priority": PRIORITIES[row["priority"] - 1],
            }
            for row in ctx.rows(statement, **wanted, **part, limit=limit)
        ]
    }


def _refuse_unknown(ctx: Context, project_id: str | None, sprint_id: str | None, assignee_id: str | None) -> None:
    if project_id:
        ctx.get(Project, project_id, "list_projects names them")
    if sprint_id:
        ctx.get(Sprint, sprint_id, "list_sprints names those of a project")
    if assignee_id:
        ctx.get(User, assignee_id, "list_project_members names the users of a project")


class IssueView(TypedDict):
    """An issue; what is not set is null or left out."""

    issue_id: IssueId
    project_id: ProjectId
    type: IssueType
    summary: str
    description: NotRequired[str]
    status: Status
    resolution: NotRequired[Resolution]
    priority: Priority
    assignee_id: UserId | None
    sprint_id: SprintId | None
    story_points: int | None
    due_date: NotRequired[str]
    labels: list[str]
    minutes_logged: int
    watchers: int


@server.tool(
    read_only=True,
    phrases=[
        "show me {issue_id}",
        "open {issue_id} and tell me its status and assignee",
        "get the details of {issue_id}",
        "pull up {issue_id}",
        "check how {issue_id} stands and who works on it",
    ],
    brief=[
        "show me the details of an issue",
        "pull up one of the issues",
    ],
)
def get_issue(ctx: Context, issue_id: Annotated[IssueId, "Issue to read"]) -> IssueView:
    """Get an issue with its status, assignee, sprint, labels, logged minutes and number of watchers."""
    rows = ctx.rows(_DETAIL, issue=issue_id)
    row = rows[0] if rows else ctx.get(Issue, issue_id, "search_issues finds issues")
    view: IssueView = {
        "issue_id": issue_id,
        "project_id": row["project_id"],
        "type": row["type"],
        "summary": row["summary"],
        "status": row["status"],
        "priority": PRIORITIES[row["priority"] - 1],
        "assignee_id": row["assignee_id"],
        "sprint_id": row["sprint_id"],
        "story_points": row["points"],
        "labels": rules.labels(ctx, issue_id),
        "minutes_logged": row["minutes"],
        "watchers": row["watchers"],
    }
    if row["description"] is not None:
        view["description"] = row["description"]
    if row["resolution"] is not None:
        view["resolution"] = row["resolution"]
    if row["due_on"] is not None:
        view["due_date"] = row["due_on"]
    return view
