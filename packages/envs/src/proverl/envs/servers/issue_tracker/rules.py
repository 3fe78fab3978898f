"""What the tracker refuses wherever an issue, a sprint or a user is named. Every refusal says what would be right."""

from sqlalchemy import bindparam, func, select

from proverl.envs import Context, NotFound, Rejected
from proverl.envs.servers.issue_tracker.tables import SELF, Issue, Label, Member, Project, Sprint, User
from proverl.envs.state import Row

ISSUE, PROJECT, MEMBER, SPRINT = (model.__table__.c for model in (Issue, Project, Member, Sprint))

_RIGHTS = (PROJECT.name.label("project"), PROJECT.board, PROJECT.wip_limit, PROJECT.time_tracking, PROJECT.archived)
_OWN = Member.__table__.alias("own")
_PROJECT = (
    select(PROJECT.id, *_RIGHTS, _OWN.c.role)
    .outerjoin_from(Project.__table__, _OWN, (_OWN.c.project_id == PROJECT.id) & (_OWN.c.user_id == SELF))
    .where(PROJECT.id == bindparam("project"))
)
_ISSUE = (
    select(Issue.__table__, *_RIGHTS, _OWN.c.role)
    .join_from(Issue.__table__, Project.__table__, PROJECT.id == ISSUE.project_id)
    .outerjoin(_OWN, (_OWN.c.project_id == PROJECT.id) & (_OWN.c.user_id == SELF))
    .where(ISSUE.id == bindparam("issue"))
)
_SPRINT = (
    select(Sprint.__table__, *_RIGHTS, _OWN.c.role)
    .join_from(Sprint.__table__, Project.__table__, PROJECT.id == SPRINT.project_id)
    .outerjoin(_OWN, (_OWN.c.project_id == PROJECT.id) & (_OWN.c.user_id == SELF))
    .where(SPRINT.id == bindparam("sprint"))
)
_MEMBER = (
    select(User.id, User.name, User.active, MEMBER.role)
    .outerjoin_from(
        User.__table__, Member.__table__, (MEMBER.user_id == User.id) & (MEMBER.project_id == bindparam("project"))
    )
    .where(User.id == bindparam("user"))
)
_LABELS = select(Label.label).where(Label.issue_id == bindparam("issue")).order_by(Label.label)
_COMMITTED = select(func.coalesce(func.sum(ISSUE.points), 0)).where(ISSUE.sprint_id == bindparam("sprint"))


def project(ctx: Context, project_id: str, to_change: bool = True, as_admin: bool = False) -> Row:
    """The project with the caller's role. Raises NotFound, or Rejected when the caller may not change it."""
    rows = ctx.rows(_PROJECT, project=project_id)
    if not rows:
        raise NotFound(f"no project {project_id!r}; list_projects names them")
    if to_change:
        _may_change(rows[0], project_id, as_admin)
    return rows[0]


def issue(ctx: Context, issue_id: str, to_change: bool = True, as_viewer: bool = False) -> Row:
    """The issue with its project's settings. Raises NotFound, or Rejected when the caller may not change it."""
    rows = ctx.rows(_ISSUE, issue=issue_id)
    if not rows:
        raise NotFound(f"no issue {issue_id!r}; search_issues finds issues")
    if to_change:
        _may_change(rows[0], rows[0]["project_id"], as_admin=False, as_viewer=as_viewer)
    return rows[0]


def sprint(ctx: Context, sprint_id: str, as_admin: bool) -> Row:
    """The sprint with its project's settings. Raises NotFound, or Rejected when the caller may not change it."""
    rows = ctx.rows(_SPRINT, sprint=sprint_id)
    if not rows:
        raise NotFound(f"no sprint {sprint_id!r}; list_sprints names those of a project")
    _may_change(rows[0], rows[0]["project_id"], as_admin)
    return rows[0]


def _may_change(row: Row, project_id: str, as_admin: bool, as_viewer: bool = False) -> None:
    if row["archived"]:
        raise Rejected(f"project {project_id} ({row['project']}) is archived and read-only; use an active project")
    if row["role"] not in ("admin", "developer") and not as_viewer:
        raise Rejected(
            f"you are a viewer in project {project_id} ({row['project']}) and may read and comment; "
            "only its developers and admins change issues"
        )
    if as_admin and row["role"] != "admin":
        raise Rejected(
            f"you are a developer in project {project_id}; only its admins create, start and complete sprints"
        )


def still_open(row: Row) -> None:
    """Raises Rejected when the issue is done."""
    if row["status"] == "done":
        raise Rejected(
            f"{row['id']} is done ({row['resolution']}) and locked; reopen it with transition_issue to to_do first"
        )


def member(ctx: Context, user_id: str, project_id: str) -> Row:
    """The user with a role in the project. Raises NotFound, or Rejected for strangers and people who left."""
    rows = ctx.rows(_MEMBER, user=user_id, project=project_id)
    if not rows:
        raise NotFound(f"no user {user_id!r}; list_project_members names the users of a project")
    row = rows[0]
    if not row["active"]:
        raise Rejected(f"user {user_id} ({row['name']}) is deactivated; choose an active user of list_project_members")
    if row["role"] is None:
        raise Rejected(
            f"user {user_id} ({row['name']}) is not a member of project {project_id}; "
            "choose one of its list_project_members"
        )
    return row


def room_for(ctx: Context, sprint_id: str, points: int) -> None:
    """Raises Rejected when `points` more would pass the sprint's capacity."""
    capacity, committed = ctx.get(Sprint, sprint_id)["capacity"], ctx.scalar(_COMMITTED, sprint=sprint_id)
    if committed + points > capacity:
        raise Rejected(
            f"{sprint_id} holds {committed} of {capacity} story points; {points} more do not fit, at most "
            f"{max(capacity - committed, 0)} do"
        )


def labels(ctx: Context, issue_id: str) -> list[str]:
    """The labels of an issue in order."""
    return [row["label"] for row in ctx.rows(_LABELS, issue=issue_id)]
