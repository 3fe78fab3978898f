"""Projects and their members."""

from typing import Annotated, Literal

from sqlalchemy import bindparam, func, select
from typing_extensions import TypedDict

from proverl.envs import Context
from proverl.envs.servers.issue_tracker import rules
from proverl.envs.servers.issue_tracker.app import server
from proverl.envs.servers.issue_tracker.rules import MEMBER, PROJECT
from proverl.envs.servers.issue_tracker.tables import SELF, Member, Project, ProjectId, User, UserId

Role = Literal["admin", "developer", "viewer"]

_PROJECTS = (
    select(
        PROJECT.id, PROJECT.name, PROJECT.board, PROJECT.archived, func.coalesce(MEMBER.role, "viewer").label("role")
    )
    .outerjoin_from(Project.__table__, Member.__table__, (MEMBER.project_id == PROJECT.id) & (MEMBER.user_id == SELF))
    .order_by(PROJECT.archived, PROJECT.name)
)
_MEMBERS = (
    select(User.id, User.name, User.active, MEMBER.role)
    .join_from(Member.__table__, User.__table__, User.id == MEMBER.user_id)
    .where(MEMBER.project_id == bindparam("project"))
    .order_by(User.name, User.id)
)


class ProjectItem(TypedDict):
    """A project in a list."""

    project_id: ProjectId
    name: str
    board: Literal["scrum", "kanban"]
    your_role: Role
    archived: bool


class ProjectList(TypedDict):
    """All projects."""

    projects: list[ProjectItem]


class MemberItem(TypedDict):
    """A member of a project; who is not active has left the company."""

    user_id: UserId
    name: str
    role: Role
    active: bool


class MemberList(TypedDict):
    """A project's members."""

    members: list[MemberItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the projects in the tracker",
        "show me all projects and my role in each",
        "look up which projects there are",
        "check which projects I can work in",
        "tell me what projects the tracker has and how their boards work",
    ],
)
def list_projects(ctx: Context) -> ProjectList:
    """List all projects with their board and your role. Viewers read and comment, only admins manage sprints."""
    return {
        "projects": [
            {
                "project_id": row["id"],
                "name": row["name"],
                "board": row["board"],
                "your_role": row["role"],
                "archived": row["archived"],
            }
            for row in ctx.rows(_PROJECTS)
        ]
    }


@server.tool(
    read_only=True,
    phrases=[
        "list the members of {project_id}",
        "show me who works on {project_id}",
        "find out whom I can assign issues to in {project_id}",
        "look up the team of {project_id}",
        "tell me who has which role in {project_id}",
    ],
    brief=[
        "list the members of a project",
        "show me who works on one of the projects",
    ],
)
def list_project_members(ctx: Context, project_id: Annotated[ProjectId, "Project to read"]) -> MemberList:
    """List the members of a project with their roles. USR-00001 is you."""
    rules.project(ctx, project_id, to_change=False)
    return {
        "members": [
            {"user_id": row["id"], "name": row["name"], "role": row["role"], "active": row["active"]}
            for row in ctx.rows(_MEMBERS, project=project_id)
        ]
    }
