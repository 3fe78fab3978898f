"""Issues: search, read, create, update."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from sqlalchemy import String, bindparam, func, or_, select
from sqlalchemy.sql.elements import ColumnElement
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected, Text
from proverl.envs.servers.issue_tracker import rules, words
from proverl.envs.servers.issue_tracker.app import server
from proverl.envs.servers.issue_tracker.rules import ISSUE, PRIORITIES, PROJECT, Priority
from proverl.envs.servers.issue_tracker.tables import (
    Issue,
    IssueId,
    Label,
    Project,
    ProjectId,
    Sprint,
    SprintId,
    User,
    UserId,
    Watcher,
    Worklog,
)
from proverl.envs.state import Row

IssueType = Literal["epic", "story", "task", "bug", "subtask"]
Status = Literal["to_do", "in_progress", "in_review", "done"]
Resolution = Literal["fixed", "wont_do", "duplicate", "cannot_reproduce"]
StoryPoints = Literal[1, 2, 3, 5, 8, 13]
Summary = Annotated[Text, Field(max_length=120, examples=list(words.NEW_SUMMARIES))]
Description = Annotated[Text, Field(max_length=1000, examples=list(words.DESCRIPTIONS))]

_LABELS = select(Label.label).where(Label.issue_id == bindparam("issue")).order_by(Label.label)
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
_FIRST_FOUND = _FOUND.limit(bindparam("limit"))
_LABELLED = select(Label.issue_id).where(Label.label == bindparam("label"))


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
        "search the issues[ in {project_id}][ of {sprint_id}][ assigned to {assignee_id}][ that are {status}]"
        "[ for {text}][, {limit} at most]",
        "find issues[ about {text}][ in {project_id}][ whose status is {status}][, up to {limit}]",
        "list the newest[ {limit}] issues[ in {project_id}][ with status {status}][ assigned to {assignee_id}]",
        "show me the issues[ planned for {sprint_id}][ that mention {text}][ and that {assignee_id} works on]",
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
    if text is None:
        found = ctx.rows(_FIRST_FOUND, **wanted, limit=limit)
    else:
        part = text.casefold()
        labelled = {row["issue_id"] for row in ctx.rows(_LABELLED, label=part)}
        rows = ctx.rows(_FOUND, **wanted)
        found = [row for row in rows if part in row["summary"].casefold() or row["id"] in labelled][:limit]
    return {
        "issues": [
            {
                "issue_id": row["id"],
                "summary": row["summary"],
                "status": row["status"],
                "priority": PRIORITIES[row["priority"] - 1],
            }
            for row in found
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
        "labels": [label["label"] for label in ctx.rows(_LABELS, issue=issue_id)],
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


class CreatedIssue(TypedDict):
    """A new issue, with status to_do."""

    issue_id: IssueId
    type: IssueType
    status: Literal["to_do"]
    priority: Priority


@server.tool(
    phrases=[
        "create a new {type} in {project_id} with the summary {summary}[ under {parent_id}][ and priority {priority}]"
        "[, described as {description}]",
        "file another {type} in {project_id}: {summary}[, priority {priority}][, as a child of {parent_id}]",
        "add one more {type} to {project_id} titled {summary}[, below {parent_id}][, described as {description}]",
        "open a fresh {type} called {summary} in {project_id}[ and make its priority {priority}]",
    ],
)
def create_issue(
    ctx: Context,
    project_id: Annotated[ProjectId, "Project it belongs to"],
    type: Annotated[IssueType, "A subtask needs a parent_id"],
    summary: Annotated[Summary, "One line that says what it is about"],
    parent_id: Annotated[IssueId | None, "Epic of a story, task or bug; or story, task or bug of a subtask"] = None,
    priority: Annotated[Priority, "How urgent it is"] = "medium",
    description: Annotated[Description | None, "What else there is to know"] = None,
) -> CreatedIssue:
    """Create an issue with status to_do and no assignee."""
    rules.project(ctx, project_id)
    _check_parent(ctx, project_id, type, parent_id)
    row = ctx.insert(
        Issue,
        project_id=project_id,
        type=type,
        summary=summary,
        description=description,
        status="to_do",
        resolution=None,
        priority=PRIORITIES.index(priority) + 1,
        assignee_id=None,
        sprint_id=None,
        parent_id=parent_id,
        points=None,
        due_on=None,
        created_on=ctx.today,
    )
    return {"issue_id": row["id"], "type": type, "status": "to_do", "priority": priority}


def _check_parent(ctx: Context, project_id: str, kind: IssueType, parent_id: str | None) -> None:
    if parent_id is None:
        if kind == "subtask":
            raise Rejected("a subtask needs a parent_id: the story, task or bug that it is part of")
        return
    parent = ctx.get(Issue, parent_id, "search_issues finds issues")
    if parent["project_id"] != project_id:
        raise Rejected(f"{parent_id} is in project {parent['project_id']}; a parent must be in the same project")
    if kind == "epic":
        raise Rejected("an epic has no parent; leave parent_id out")
    if (kind == "subtask") != (parent["type"] in ("story", "task", "bug")):
        fitting = "a story, task or bug" if kind == "subtask" else "an epic"
        raise Rejected(f"{parent_id} is of type {parent['type']}; the parent of a {kind} is {fitting}")
    rules.still_open(parent)


class UpdatedIssue(TypedDict):
    """What an issue has now."""

    issue_id: IssueId
    priority: Priority
    story_points: int | None
    due_date: str | None


@server.tool(
    idempotent=True,
    phrases=[
        "update {issue_id}[: priority {priority}][, {story_points} story points][, due on {due_date}]",
        "change {issue_id}[ to priority {priority}][ with {due_date} as its due date][ and {story_points} points]",
        "edit {issue_id}[ so that it is estimated at {story_points} story points][ and is due by {due_date}]",
        "set {issue_id}[ to {priority} priority][ and to an estimate of {story_points} points]",
    ],
)
def update_issue(
    ctx: Context,
    issue_id: Annotated[IssueId, "Open issue"],
    priority: Annotated[Priority | None, "New priority"] = None,
    story_points: Annotated[StoryPoints | None, "New estimate of a story, task or bug"] = None,
    due_date: Annotated[IsoDate | None, "New due date, today or later"] = None,
) -> UpdatedIssue:
    """Change priority, estimate or due date of an open issue; what is left out stays. At least one must be given."""
    row = rules.issue(ctx, issue_id)
    rules.still_open(row)
    changes: Row = {}
    if priority is not None:
        changes["priority"] = PRIORITIES.index(priority) + 1
    if story_points is not None:
        _check_estimate(ctx, row, story_points)
        changes["points"] = story_points
    if due_date is not None:
        if due_date < ctx.today:
            raise Rejected(f"due_date {due_date} is past; it must be today ({ctx.today}) or later")
        changes["due_on"] = due_date
    if not changes:
        raise Rejected("nothing to change; give a priority, story_points or a due_date")
    ctx.update(Issue, issue_id, **changes)
    now = row | changes
    return {
        "issue_id": issue_id,
        "priority": PRIORITIES[now["priority"] - 1],
        "story_points": now["points"],
        "due_date": now["due_on"],
    }


def _check_estimate(ctx: Context, row: Row, points: int) -> None:
    if row["type"] in ("epic", "subtask"):
        raise Rejected(f"{row['id']} is of type {row['type']}; only stories, tasks and bugs have story points")
    if row["sprint_id"]:
        rules.room_for(ctx, row["sprint_id"], points - (row["points"] or 0))
