"""Sprints of scrum projects: plan, start, complete."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, case, func, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected, Text
from proverl.envs.servers.issue_tracker import rules, words
from proverl.envs.servers.issue_tracker.app import server
from proverl.envs.servers.issue_tracker.rules import ISSUE, SPRINT
from proverl.envs.servers.issue_tracker.tables import Issue, IssueId, ProjectId, Sprint, SprintId
from proverl.envs.state import Row

State = Literal["future", "active", "closed"]

_MOST_FUTURE = 4
_SHORTEST, _LONGEST = 5, 28  # days of a sprint

_SPRINTS = (
    select(Sprint.__table__, func.coalesce(func.sum(ISSUE.points), 0).label("committed"))
    .outerjoin_from(Sprint.__table__, Issue.__table__, ISSUE.sprint_id == SPRINT.id)
    .where(SPRINT.project_id == bindparam("project"))
    .group_by(SPRINT.id)
    .order_by(
        case({"active": 0, "future": 1}, value=SPRINT.state, else_=2), SPRINT.starts_on.desc(), SPRINT.name, SPRINT.id
    )
)
_SIBLINGS = select(SPRINT.id, SPRINT.name, SPRINT.state).where(SPRINT.project_id == bindparam("project"))
_HELD = select(ISSUE.id, ISSUE.status, ISSUE.points).where(ISSUE.sprint_id == bindparam("sprint")).order_by(ISSUE.id)
_RELEASE = update(Issue).where(ISSUE.sprint_id == bindparam("sprint"), ISSUE.status != "done").values(sprint_id=None)


class SprintItem(TypedDict):
    """A sprint in a list; `points` are the story points of its issues."""

    sprint_id: SprintId
    name: str
    state: State
    points: int
    capacity: int
    end_date: str | None


class SprintList(TypedDict):
    """A project's sprints."""

    sprints: list[SprintItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the[ {state}] sprints of {project_id}",
        "show me which[ {state}] sprints {project_id} has",
        "look up the sprints of {project_id}[ that are {state}]",
        "check how full the[ {state}] sprints of {project_id} are",
        "go through the[ {state}] sprints in {project_id} and their points",
    ],
    brief=[
        "list the sprints of a project",
        "check how full the[ {state}] sprints of one of the projects are",
    ],
)
def list_sprints(
    ctx: Context,
    project_id: Annotated[ProjectId, "Scrum project"],
    state: Annotated[State | None, "Only sprints in this state; active and future ones if left out"] = None,
) -> SprintList:
    """List the sprints of a project with committed points and capacity, the active one first."""
    rules.project(ctx, project_id, to_change=False)
    return {
        "sprints": [
            {
                "sprint_id": row["id"],
                "name": row["name"],
                "state": row["state"],
                "points": row["committed"],
                "capacity": row["capacity"],
                "end_date": row["ends_on"],
            }
            for row in ctx.rows(_SPRINTS, project=project_id)
            if (row["state"] == state if state else row["state"] != "closed")
        ]
    }


class SprintState(TypedDict):
    """A sprint after a change."""

    sprint_id: SprintId
    name: str
    state: State


@server.tool(
    phrases=[
        "create a sprint called {name} in {project_id} with a capacity of {capacity} points",
        "plan a new sprint for {project_id}: {name}, capacity {capacity} story points",
        "set up {name} as a future sprint of {project_id} that holds {capacity} points",
        "add a sprint named {name} for {capacity} story points to {project_id}",
        "prepare the new sprint {name} in {project_id} with room for {capacity} points",
    ],
    brief=[
        "set up a new sprint",
        "create a sprint called {name} in {project_id}",
        "add a new sprint for {capacity} story points to {project_id}",
    ],
)
def create_sprint(
    ctx: Context,
    project_id: Annotated[ProjectId, "Scrum project that you administer"],
    name: Annotated[
        Annotated[Text, Field(max_length=30, examples=list(words.SPRINT_NAMES))], "Name, unique in the project"
    ],
    capacity: Annotated[
        int, Field(ge=5, le=200, examples=[8, 13, 18, 20, 21, 24, 25, 30, 34, 40, 45, 50]), "Most story points it takes"
    ],
) -> SprintState:
    """Create an empty future sprint. A project has at most 4 future sprints."""
    project = rules.project(ctx, project_id, as_admin=True)
    if project["board"] != "scrum":
        raise Rejected(f"project {project_id} has a kanban board; only scrum projects have sprints")
    siblings = ctx.rows(_SIBLINGS, project=project_id)
    for other in siblings:
        if other["name"].casefold() == name.casefold():
            raise Rejected(
                f"project {project_id} has a sprint {other['name']!r} already ({other['id']}); choose another name"
            )
    future = sum(other["state"] == "future" for other in siblings)
    if future >= _MOST_FUTURE:
        raise Rejected(
            f"project {project_id} has {future} future sprints, the most there may be; start one of them first"
        )
    row = ctx.insert(
        Sprint, project_id=project_id, name=name, state="future", capacity=capacity, starts_on=None, ends_on=None
    )
    return {"sprint_id": row["id"], "name": name, "state": "future"}


@server.tool(
    phrases=[
        "start {sprint_id} with {end_date} as its end date",
        "kick off {sprint_id} today with {end_date} as its last day",
        "begin {sprint_id}, to run until {end_date}",
        "launch {sprint_id} now so that it ends on {end_date}",
        "get {sprint_id} running through {end_date}",
    ],
    brief=[
        "start a sprint",
        "kick off {sprint_id}",
        "start a sprint that ends on {end_date}",
    ],
)
def start_sprint(
    ctx: Context,
    sprint_id: Annotated[SprintId, "Future sprint of a project that you administer"],
    end_date: Annotated[IsoDate, "Its last day, 5 to 28 days from today"],
) -> SprintState:
    """Start a future sprint today. It needs issues, all estimated, and no other sprint of the project may be active."""
    row = rules.sprint(ctx, sprint_id, as_admin=True)
    if row["state"] != "future":
        raise Rejected(f"{sprint_id} is {row['state']}; only future sprints can be started")
    for other in ctx.rows(_SIBLINGS, project=row["project_id"]):
        if other["state"] == "active":
            raise Rejected(f"sprint {other['id']} ({other['name']}) of the project is active; complete_sprint it first")
    _check_contents(ctx, sprint_id)
    days = (date.fromisoformat(end_date) - ctx.now.date()).days
    if not _SHORTEST <= days <= _LONGEST:
        raise Rejected(
            f"a sprint ends {_SHORTEST} to {_LONGEST} days from today ({ctx.today}); {end_date} is {days} days off"
        )
    ctx.update(Sprint, sprint_id, state="active", starts_on=ctx.today, ends_on=end_date)
    return {"sprint_id": sprint_id, "name": row["name"], "state": "active"}


def _check_contents(ctx: Context, sprint_id: str) -> None:
    held = ctx.rows(_HELD, sprint=sprint_id)
    if not held:
        raise Rejected(f"{sprint_id} has no issues; move_issue_to_sprint puts some in before it starts")
    unsized = [row["id"] for row in held if row["points"] is None]
    if unsized:
        raise Rejected(
            f"no story points on {' and '.join(unsized[:3])} in {sprint_id}; update_issue estimates them first"
        )


class CompletedSprint(TypedDict):
    """A closed sprint: how many issues were done, and how many went back to the backlog."""

    sprint_id: SprintId
    state: Literal["closed"]
    done_issues: int
    returned_issues: int


@server.tool(
    phrases=[
        "complete {sprint_id}",
        "close {sprint_id} and send what is unfinished to the backlog",
        "finish {sprint_id}",
        "wrap {sprint_id} up",
        "bring {sprint_id} to an end and clear out its open issues",
    ],
    brief=[
        "close a sprint",
        "wrap up one of the sprints",
    ],
)
def complete_sprint(
    ctx: Context, sprint_id: Annotated[SprintId, "Active sprint of a project that you administer"]
) -> CompletedSprint:
    """Close the active sprint; its unfinished issues go back to the backlog. This can't be undone."""
    row = rules.sprint(ctx, sprint_id, as_admin=True)
    if row["state"] != "active":
        raise Rejected(f"{sprint_id} is {row['state']}; only active sprints can be completed")
    held = ctx.rows(_HELD, sprint=sprint_id)
    done = sum(issue["status"] == "done" for issue in held)
    ctx.execute(_RELEASE, sprint=sprint_id)
    ctx.update(Sprint, sprint_id, state="closed", ends_on=ctx.today)
    return {"sprint_id": sprint_id, "state": "closed", "done_issues": done, "returned_issues": len(held) - done}


class PlannedIssue(TypedDict):
    """An issue and its sprint's story points with it."""

    issue_id: IssueId
    sprint_id: SprintId
    sprint_points: int


@server.tool(
    phrases=[
        "move {issue_id} to {sprint_id}",
        "put {issue_id} into {sprint_id}",
        "plan {issue_id} for {sprint_id}",
        "schedule {issue_id} in {sprint_id}",
        "take {issue_id} up in {sprint_id}",
    ],
    brief=[
        "put an issue into a sprint",
        "plan {issue_id} for a sprint",
        "move one more issue to {sprint_id}",
    ],
)
def move_issue_to_sprint(
    ctx: Context,
    issue_id: Annotated[IssueId, "Open story, task or bug; subtasks follow their parent"],
    sprint_id: Annotated[SprintId, "Active or future sprint of the same project"],
) -> PlannedIssue:
    """Put an issue into a sprint, out of the backlog or another sprint."""
    row, sprint = rules.issue(ctx, issue_id), rules.sprint(ctx, sprint_id, as_admin=False)
    if sprint["project_id"] != row["project_id"]:
        raise Rejected(
            f"{sprint_id} belongs to project {sprint['project_id']}, {issue_id} to {row['project_id']}; "
            "both must be in one project"
        )
    rules.still_open(row)
    _check_plan(row, sprint)
    rules.room_for(ctx, sprint_id, row["points"] or 0)
    ctx.update(Issue, issue_id, sprint_id=sprint_id)
    points = sum(issue["points"] or 0 for issue in ctx.rows(_HELD, sprint=sprint_id))
    return {"issue_id": issue_id, "sprint_id": sprint_id, "sprint_points": points}


def _check_plan(row: Row, sprint: Row) -> None:
    if row["type"] in ("epic", "subtask"):
        why = "an epic spans sprints" if row["type"] == "epic" else "a subtask follows its parent"
        raise Rejected(f"{row['id']} is of type {row['type']}: {why}; only stories, tasks and bugs are planned")
    if sprint["state"] == "closed":
        raise Rejected(f"{sprint['id']} is closed; choose an active or future sprint of list_sprints")
    if row["sprint_id"] == sprint["id"]:
        raise Rejected(f"{row['id']} is in {sprint['id']} already; name another sprint to move it")
