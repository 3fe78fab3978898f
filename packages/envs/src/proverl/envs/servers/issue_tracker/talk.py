"""What people say about issues: comments, labels, watchers."""

from typing import Annotated

from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.servers.issue_tracker import rules, words
from proverl.envs.servers.issue_tracker.app import server
from proverl.envs.servers.issue_tracker.tables import (
    SELF,
    Comment,
    CommentId,
    Issue,
    IssueId,
    Label,
    User,
    UserId,
    Watcher,
)

_MOST_LABELS = 5

_COMMENTS = (
    select(Comment.id, Comment.body, Comment.written_on, User.name)
    .join_from(Comment.__table__, User.__table__, User.id == Comment.author_id)
    .where(Comment.issue_id == bindparam("issue"))
    .order_by(Comment.written_on.desc(), Comment.written_at.desc(), Comment.id)
    .limit(bindparam("limit"))
)
_WATCHERS = select(Watcher.user_id).where(Watcher.issue_id == bindparam("issue"))


class CommentItem(TypedDict):
    """A comment."""

    comment_id: CommentId
    author: str
    date: str
    body: str


class CommentList(TypedDict):
    """An issue's comments, newest first."""

    comments: list[CommentItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the comments on {issue_id}[, {limit} at most]",
        "show me the[ last {limit}] comments under {issue_id}",
        "read me what people wrote on {issue_id}[, up to {limit} comments]",
        "check the discussion of {issue_id}",
        "go through the[ newest {limit}] comments of {issue_id}",
    ],
    brief=[
        "read me the comments on an issue",
        "check the discussion of one of the issues",
    ],
)
def list_issue_comments(
    ctx: Context,
    issue_id: Annotated[IssueId, "Issue to read"],
    limit: Annotated[int, Field(ge=1, le=50, examples=[2, 3, 4, 6, 7, 8, 9, 10, 12, 15]), "Most comments listed"] = 5,
) -> CommentList:
    """List the comments on an issue, newest first."""
    ctx.get(Issue, issue_id, "search_issues finds issues")
    return {
        "comments": [
            {"comment_id": row["id"], "author": row["name"], "date": row["written_on"], "body": row["body"]}
            for row in ctx.rows(_COMMENTS, issue=issue_id, limit=limit)
        ]
    }


class AddedComment(TypedDict):
    """A new comment of yours."""

    comment_id: CommentId
    issue_id: IssueId


@server.tool(
    phrases=[
        "comment {body} on {issue_id}",
        "add the comment {body} to {issue_id}",
        "write {body} under {issue_id}",
        "leave a comment on {issue_id} that says {body}",
        "post {body} as a comment on {issue_id}",
    ],
    brief=[
        "comment on an issue",
        "leave a comment on {issue_id}",
        "post the comment {body}",
    ],
)
def add_issue_comment(
    ctx: Context,
    issue_id: Annotated[IssueId, "Issue to comment on"],
    body: Annotated[Annotated[Text, Field(max_length=2000, examples=list(words.COMMENTS))], "What the comment says"],
) -> AddedComment:
    """Write a comment on an issue, open or done, in your own name; viewers may, too."""
    rules.issue(ctx, issue_id, as_viewer=True)
    row = ctx.insert(
        Comment,
        issue_id=issue_id,
        author_id=SELF,
        body=body,
        written_on=ctx.today,
        written_at=ctx.timestamp[11:],
    )
    return {"comment_id": row["id"], "issue_id": issue_id}


class LabelledIssue(TypedDict):
    """An issue and all its labels."""

    issue_id: IssueId
    labels: list[str]


@server.tool(
    phrases=[
        "label {issue_id} as {label}",
        "add the label {label} to {issue_id}",
        "tag {issue_id} with {label}",
        "put the label {label} on {issue_id}",
        "give {issue_id} a label that reads {label}",
    ],
    brief=[
        "label an issue",
        "put a label on {issue_id}",
        "tag one of the issues with {label}",
    ],
)
def add_issue_label(
    ctx: Context,
    issue_id: Annotated[IssueId, "Issue to label"],
    label: Annotated[
        Annotated[str, Field(pattern="^[a-z0-9][a-z0-9-]{1,29}$", examples=list(words.LABELS))],
        "Lower-case letters, digits and hyphens, e.g. tech-debt",
    ],
) -> LabelledIssue:
    """Add a label to an issue, which has at most 5."""
    rules.issue(ctx, issue_id)
    labels = rules.labels(ctx, issue_id)
    if label in labels:
        raise Rejected(f"{issue_id} has the label {label!r} already; its labels are {', '.join(labels)}")
    if len(labels) >= _MOST_LABELS:
        raise Rejected(f"{issue_id} has {len(labels)} labels ({', '.join(labels)}), the most there may be")
    ctx.insert(Label, issue_id=issue_id, label=label)
    return {"issue_id": issue_id, "labels": sorted([*labels, label])}


class WatchedIssue(TypedDict):
    """An issue and how many watch it."""

    issue_id: IssueId
    watchers: int


@server.tool(
    phrases=[
        "add {user_id} as a watcher of {issue_id}",
        "let {user_id} watch {issue_id}",
        "keep {user_id} informed about {issue_id} as a watcher",
        "put {user_id} on the watch list of {issue_id}",
        "have {user_id} told of every change to {issue_id}",
    ],
    brief=[
        "add a watcher to an issue",
        "let {user_id} watch one of the issues",
        "put somebody on the watch list of {issue_id}",
    ],
)
def add_issue_watcher(
    ctx: Context,
    issue_id: Annotated[IssueId, "Issue to watch"],
    user_id: Annotated[UserId, "Active member of the issue's project"],
) -> WatchedIssue:
    """Have a project member told of every change of an issue."""
    row = rules.issue(ctx, issue_id)
    user = rules.member(ctx, user_id, row["project_id"])
    watching = [found["user_id"] for found in ctx.rows(_WATCHERS, issue=issue_id)]
    if user_id in watching:
        raise Rejected(f"user {user_id} ({user['name']}) watches {issue_id} already; name another user")
    ctx.insert(Watcher, issue_id=issue_id, user_id=user_id)
    return {"issue_id": issue_id, "watchers": len(watching) + 1}
