"""Creating and updating issues."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected, Text
from proverl.envs.servers.issue_tracker import rules, words
from proverl.envs.servers.issue_tracker.app import server
from proverl.envs.servers.issue_tracker.tables import PRIORITIES, Issue, IssueId, IssueType, Priority, ProjectId
from proverl.envs.state import Row

StoryPoints = Literal[1, 2, 3, 5, 8, 13]
Summary = Annotated[Text, Field(max_length=120, examples=list(words.NEW_SUMMARIES))]
Description = Annotated[Text, Field(max_length=1000, examples=list(words.DESCRIPTIONS))]


class CreatedIssue(TypedDict):
    """A new issue, with status to_do."""

    issue_id: IssueId
    type: IssueType
    status: Literal["to_do"]
    priority: Priority


@server.tool(
    phrases=[
        "create a new {type} in {project_id} with the summary {summary}[ under {parent_id}]"
        "[ and priority {priority}][, described as {description}]",
        "file another {type} in {project_id}: {summary}[, priority {priority}][, as a child of {parent_id}]",
        "add one more {type} to {project_id} titled {summary}[, below {parent_id}][, described as {description}]",
        "open a fresh {type} called {summary} in {project_id}[ and make its priority {priority}]",
        "record {summary} as a new {type} of {project_id}[ with {priority} priority]"
        "[ and the description {description}]",
    ],
    brief=[
        "file a new issue",
        "create a new {type} in {project_id}[ under {parent_id}]",
        "open a fresh {type} called {summary}",
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
        search=summary.casefold(),
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
    if parent["type"] not in (("story", "task", "bug") if kind == "subtask" else ("epic",)):
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
        "set the priority of {issue_id} to {priority}[ and its due date to {due_date}]",
        "estimate {issue_id} at {story_points} story points[ with {priority} priority]",
        "give {issue_id} the due date {due_date}[ and an estimate of {story_points}]",
        "change {issue_id}[ to priority {priority}][, due date {due_date}][, {story_points} story points]",
    ],
    brief=[
        "edit one of the issues",
        "change the priority of an issue to {priority}",
        "set the due date of an issue to {due_date}",
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
