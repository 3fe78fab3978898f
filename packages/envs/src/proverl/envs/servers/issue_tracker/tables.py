"""The tracker's tables. Dates are ISO text, work is in minutes, priorities are numbers with 1 the highest."""

from typing import Literal

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

ProjectId = Ref("Project")
UserId = Ref("User")
SprintId = Ref("Sprint")
IssueId = Ref("Issue")
CommentId = Ref("Comment")
WorklogId = Ref("Worklog")

IssueType = Literal["epic", "story", "task", "bug", "subtask"]
Status = Literal["to_do", "in_progress", "in_review", "done"]
Resolution = Literal["fixed", "wont_do", "duplicate", "cannot_reproduce"]
Priority = Literal["highest", "high", "medium", "low", "lowest"]
PRIORITIES: tuple[Priority, ...] = ("highest", "high", "medium", "low", "lowest")

SELF = "USR-00001"  # the user whom the caller acts as, in every world


class Base(DeclarativeBase):
    """Tables of the issue tracker."""


class User(Base):
    """Somebody with an account; who left the company is inactive but stays where they once worked."""

    __tablename__ = "user"
    __table_args__ = (COMPACT,)
    id_prefix = "USR"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    active: Mapped[bool]


class Project(Base):
    """A project. Scrum boards have sprints; kanban boards cap what is in progress; archived ones are read-only."""

    __tablename__ = "project"
    __table_args__ = (CheckConstraint("(board = 'kanban') = (wip_limit IS NOT NULL)"), COMPACT)
    id_prefix = "PRJ"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    board: Mapped[str]  # scrum, kanban
    wip_limit: Mapped[int | None]
    time_tracking: Mapped[bool]  # work must be logged before a review
    archived: Mapped[bool]


class Member(Base):
    """What a user may do in a project."""

    __tablename__ = "member"
    __table_args__ = (COMPACT,)
    project_id: Mapped[str] = mapped_column(ForeignKey("project.id"), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("user.id"), primary_key=True)
    role: Mapped[str]  # admin (also manages sprints), developer, viewer (reads and comments)


class Sprint(Base):
    """A sprint of a scrum project; `capacity` caps the story points of its issues. It has dates once started."""

    __tablename__ = "sprint"
    __table_args__ = (CheckConstraint("(state = 'future') = (starts_on IS NULL)"), COMPACT)
    id_prefix = "SPR"
    id: Mapped[str] = mapped_column(primary_key=True)
    project_id: Mapped[str] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str]
    state: Mapped[str]  # future, active, closed
    capacity: Mapped[int]
    starts_on: Mapped[str | None]
    ends_on: Mapped[str | None]


class Issue(Base):
    """An issue. Epics hold stories, tasks and bugs; those hold sub-tasks, which follow their parent's sprint."""

    __tablename__ = "issue"
    __table_args__ = (
        CheckConstraint("(status = 'done') = (resolution IS NOT NULL)"),
        CheckConstraint("status NOT IN ('in_progress', 'in_review') OR assignee_id IS NOT NULL"),
        CheckConstraint("type NOT IN ('epic', 'subtask') OR (sprint_id IS NULL AND points IS NULL)"),
        CheckConstraint("type != 'subtask' OR parent_id IS NOT NULL"),
        COMPACT,
    )
    id_prefix = "ISS"
    id: Mapped[str] = mapped_column(primary_key=True)
    project_id: Mapped[str] = mapped_column(ForeignKey("project.id"))
    type: Mapped[str]  # IssueType
    summary: Mapped[str]
    search: Mapped[str]  # the summary in one case
    description: Mapped[str | None]
    status: Mapped[str]  # Status
    resolution: Mapped[str | None]  # Resolution
    priority: Mapped[int]  # place in PRIORITIES, from 1
    assignee_id: Mapped[str | None] = mapped_column(ForeignKey("user.id"))
    sprint_id: Mapped[str | None] = mapped_column(ForeignKey("sprint.id"))
    parent_id: Mapped[str | None] = mapped_column(ForeignKey("issue.id"))
    points: Mapped[int | None]
    due_on: Mapped[str | None]
    created_on: Mapped[str]


class Label(Base):
    """A word that an issue is filed under."""

    __tablename__ = "label"
    __table_args__ = (COMPACT,)
    issue_id: Mapped[str] = mapped_column(ForeignKey("issue.id"), primary_key=True)
    label: Mapped[str] = mapped_column(primary_key=True)


class Watcher(Base):
    """A user who is told of an issue's changes."""

    __tablename__ = "watcher"
    __table_args__ = (COMPACT,)
    issue_id: Mapped[str] = mapped_column(ForeignKey("issue.id"), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("user.id"), primary_key=True)


class Link(Base):
    """`issue_id` blocks, duplicates or relates to `other_id`; a relation without direction has the lower id first."""

    __tablename__ = "link"
    __table_args__ = (CheckConstraint("issue_id != other_id"), COMPACT)
    issue_id: Mapped[str] = mapped_column(ForeignKey("issue.id"), primary_key=True)
    other_id: Mapped[str] = mapped_column(ForeignKey("issue.id"), primary_key=True, index=True)
    relation: Mapped[str] = mapped_column(primary_key=True)  # blocks, duplicates, relates_to


class Comment(Base):
    """What somebody wrote under an issue."""

    __tablename__ = "comment"
    __table_args__ = (COMPACT,)
    id_prefix = "CMT"
    id: Mapped[str] = mapped_column(primary_key=True)
    issue_id: Mapped[str] = mapped_column(ForeignKey("issue.id"), index=True)
    author_id: Mapped[str] = mapped_column(ForeignKey("user.id"))
    body: Mapped[str]
    written_on: Mapped[str]
    written_at: Mapped[str] = mapped_column(info={"audit": True})  # time of day, orders the comments of a day


class Worklog(Base):
    """Time that a user spent on an issue on a day."""

    __tablename__ = "worklog"
    __table_args__ = (CheckConstraint("minutes > 0"), COMPACT)
    id_prefix = "WKL"
    id: Mapped[str] = mapped_column(primary_key=True)
    issue_id: Mapped[str] = mapped_column(ForeignKey("issue.id"), index=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("user.id"))
    minutes: Mapped[int]
    worked_on: Mapped[str]
