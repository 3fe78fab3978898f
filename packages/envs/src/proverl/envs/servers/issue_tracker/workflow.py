"""The workflow: which status follows which, and the guards of each step."""

from sqlalchemy import bindparam, func, select

from proverl.envs import Context, Rejected, one_of
from proverl.envs.servers.issue_tracker.rules import ISSUE
from proverl.envs.servers.issue_tracker.tables import Issue, Link, User, Worklog
from proverl.envs.state import Row

NEXT = {
    "to_do": ("in_progress", "done"),
    "in_progress": ("to_do", "in_review", "done"),
    "in_review": ("in_progress", "done"),
    "done": ("to_do",),
}
_BLOCKERS = (
    select(ISSUE.id, ISSUE.status)
    .join_from(Link.__table__, Issue.__table__, Link.issue_id == ISSUE.id)
    .where(Link.other_id == bindparam("issue"), Link.relation == "blocks", ISSUE.status != "done")
    .order_by(ISSUE.id)
)
_OPEN_PARTS = select(ISSUE.id).where(ISSUE.parent_id == bindparam("issue"), ISSUE.status != "done").order_by(ISSUE.id)
_ON_BOARD = select(func.count()).where(
    ISSUE.project_id == bindparam("project"),
    ISSUE.status == "in_progress",
    ISSUE.type.in_(("story", "task", "bug")),
)
_LOGGED = select(func.coalesce(func.sum(Worklog.minutes), 0)).where(Worklog.issue_id == bindparam("issue"))
_DUPLICATES = select(Link.other_id).where(Link.issue_id == bindparam("issue"), Link.relation == "duplicates")


def check(ctx: Context, row: Row, to_status: str, resolution: str | None) -> None:
    """Raises Rejected unless the issue may take this step now."""
    if to_status == row["status"]:
        raise Rejected(f"{row['id']} is {to_status} already; from there it can move to {one_of(NEXT[to_status])}")
    if to_status not in NEXT[row["status"]]:
        ways = one_of(NEXT[row["status"]])
        raise Rejected(f"{row['id']} is {row['status']}; from there it can only move to {ways}, not to {to_status}")
    if to_status == "in_progress" and row["status"] == "to_do":
        _may_start(ctx, row)
    if to_status == "in_progress":
        _fits_board(ctx, row)
    if to_status == "in_review":
        _may_review(ctx, row)
    if to_status == "done":
        _may_resolve(ctx, row, resolution)
    if row["status"] == "done":
        _may_reopen(ctx, row)


def _may_start(ctx: Context, row: Row) -> None:
    if row["assignee_id"] is None:
        raise Rejected(f"{row['id']} has no assignee; assign_issue somebody before work starts")
    if not ctx.get(User, row["assignee_id"])["active"]:
        raise Rejected(
            f"the assignee {row['assignee_id']} of {row['id']} is deactivated; assign_issue somebody else first"
        )
    blockers = ctx.rows(_BLOCKERS, issue=row["id"])
    if blockers:
        named = " and ".join(f"{blocker['id']} ({blocker['status']})" for blocker in blockers[:3])
        raise Rejected(f"{row['id']} is blocked by {named}; that must be done before work on it starts")


def _fits_board(ctx: Context, row: Row) -> None:
    if row["wip_limit"] is None or row["type"] in ("epic", "subtask"):
        return
    running = ctx.scalar(_ON_BOARD, project=row["project_id"])
    if running >= row["wip_limit"]:
        raise Rejected(
            f"project {row['project_id']} has {running} issues in progress, its limit is {row['wip_limit']}; "
            "move one of them on first"
        )


def _may_review(ctx: Context, row: Row) -> None:
    if row["time_tracking"] and row["type"] != "epic" and not ctx.scalar(_LOGGED, issue=row["id"]):
        raise Rejected(f"no work is logged on {row['id']} and project {row['project_id']} tracks time; log_work first")


def _may_resolve(ctx: Context, row: Row, resolution: str | None) -> None:
    if resolution == "fixed" and row["status"] != "in_review" and row["type"] not in ("epic", "subtask"):
        raise Rejected(f"{row['id']} is {row['status']}; a {row['type']} is done as fixed only from in_review")
    if resolution == "cannot_reproduce" and row["type"] != "bug":
        raise Rejected(f"{row['id']} is a {row['type']}; only bugs are done as cannot_reproduce, else use wont_do")
    if resolution == "duplicate" and ctx.scalar(_DUPLICATES, issue=row["id"]) is None:
        raise Rejected(f"{row['id']} duplicates no issue yet; record which one with link_issues first")
    parts = ctx.rows(_OPEN_PARTS, issue=row["id"])
    if parts:
        named = ", ".join(part["id"] for part in parts[:3])
        raise Rejected(f"{row['id']} has open child issues ({named}); they must be done first")


def _may_reopen(ctx: Context, row: Row) -> None:
    if row["parent_id"] and ctx.get(Issue, row["parent_id"])["status"] == "done":
        raise Rejected(f"the parent {row['parent_id']} of {row['id']} is done; reopen the parent first")
