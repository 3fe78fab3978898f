"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from collections import Counter
from graphlib import CycleError, TopologicalSorter

from sqlalchemy import func, or_, select

from proverl.envs import Context
from proverl.envs.servers.issue_tracker.app import server
from proverl.envs.servers.issue_tracker.rules import ISSUE, MEMBER, PROJECT, SPRINT
from proverl.envs.servers.issue_tracker.tables import Issue, Link, Member, Project, Sprint, Watcher, Worklog

_PARENT = Issue.__table__.alias("parent")


@server.invariant
def sprints_fit_their_capacity(ctx: Context) -> None:
    """No sprint holds more story points than its capacity, and all its issues are of its project."""
    held = select(SPRINT.id, SPRINT.capacity, SPRINT.project_id, ISSUE.points, ISSUE.project_id.label("of"))
    points: Counter[str] = Counter()
    for row in ctx.rows(held.join_from(Sprint.__table__, Issue.__table__, ISSUE.sprint_id == SPRINT.id)):
        points[row["id"]] += row["points"] or 0
        assert row["of"] == row["project_id"], f"{row['id']} holds an issue of another project"
        assert points[row["id"]] <= row["capacity"], (
            f"{row['id']} holds {points[row['id']]} of {row['capacity']} points"
        )


@server.invariant
def one_sprint_is_active(ctx: Context) -> None:
    """A project has at most one active sprint, and its closed ones hold nothing unfinished."""
    active = select(SPRINT.project_id).where(SPRINT.state == "active").group_by(SPRINT.project_id)
    assert not ctx.rows(active.having(func.count() > 1)), "two active sprints in one project"
    late = select(ISSUE.id).join_from(Issue.__table__, Sprint.__table__, SPRINT.id == ISSUE.sprint_id)
    late = late.where(SPRINT.state == "closed", ISSUE.status != "done")
    assert not ctx.rows(late), f"unfinished in closed sprints: {ctx.rows(late)}"


@server.invariant
def done_parents_have_done_children(ctx: Context) -> None:
    """Nothing is open below an issue that is done; children are of the parent's project and of a fitting type."""
    pairs = select(ISSUE.id, ISSUE.type, ISSUE.status, ISSUE.project_id, _PARENT.c.type.label("above"))
    pairs = pairs.add_columns(_PARENT.c.status.label("parent_status"), _PARENT.c.project_id.label("parent_project"))
    for row in ctx.rows(pairs.join_from(Issue.__table__, _PARENT, _PARENT.c.id == ISSUE.parent_id)):
        assert row["parent_status"] != "done" or row["status"] == "done", f"{row['id']} is open under a done parent"
        assert row["project_id"] == row["parent_project"], f"{row['id']} is in another project than its parent"
        above = ("story", "task", "bug") if row["type"] == "subtask" else ("epic",)
        assert row["above"] in above, f"{row['id']} ({row['type']}) is below a {row['above']}"


@server.invariant
def blocks_form_no_circle(ctx: Context) -> None:
    """Some issue can always be started: no circle of blocks."""
    links = select(Link.issue_id, Link.other_id).where(Link.relation == "blocks")
    order = TopologicalSorter[str]()
    for row in ctx.rows(links):
        order.add(row["other_id"], row["issue_id"])
    try:
        order.prepare()
    except CycleError as error:
        raise AssertionError(f"issues block each other in a circle: {error.args[1]}") from None


@server.invariant
def duplicates_name_their_original(ctx: Context) -> None:
    """An issue done as duplicate is linked to what it duplicates."""
    linked = select(Link.issue_id).where(Link.relation == "duplicates")
    lost = select(ISSUE.id).where(ISSUE.resolution == "duplicate", ISSUE.id.not_in(linked))
    assert not ctx.rows(lost), f"duplicates of nothing: {ctx.rows(lost)}"


@server.invariant
def boards_keep_their_limit(ctx: Context) -> None:
    """No kanban board has more in progress than its limit."""
    counted = (
        select(PROJECT.id, PROJECT.wip_limit, func.count().label("running"))
        .join_from(Project.__table__, Issue.__table__, ISSUE.project_id == PROJECT.id)
        .where(ISSUE.status == "in_progress", ISSUE.type.in_(("story", "task", "bug")))
        .group_by(PROJECT.id)
        .having(func.count() > PROJECT.wip_limit)
    )
    assert not ctx.rows(counted), f"too much in progress: {ctx.rows(counted)}"


@server.invariant
def only_members_take_part(ctx: Context) -> None:
    """Assignees may work in the project, watchers belong to it, and nobody logs more than ten hours for a day."""
    at = (MEMBER.project_id == ISSUE.project_id) & (MEMBER.user_id == ISSUE.assignee_id)
    assigned = select(ISSUE.id).outerjoin_from(Issue.__table__, Member.__table__, at)
    strangers = assigned.where(ISSUE.assignee_id.is_not(None), or_(MEMBER.role.is_(None), MEMBER.role == "viewer"))
    assert not ctx.rows(strangers), f"assigned to strangers: {ctx.rows(strangers)}"
    watching = select(Watcher.issue_id).join_from(Watcher.__table__, Issue.__table__, ISSUE.id == Watcher.issue_id)
    watching = watching.outerjoin(
        Member.__table__, (MEMBER.project_id == ISSUE.project_id) & (MEMBER.user_id == Watcher.user_id)
    )
    assert not ctx.rows(watching.where(MEMBER.role.is_(None))), "watched by strangers"
    days = select(Worklog.user_id).group_by(Worklog.user_id, Worklog.worked_on).having(func.sum(Worklog.minutes) > 600)
    assert not ctx.rows(days), "more than ten hours logged for a day"
