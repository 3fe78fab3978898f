"""How issues hang together: blocks, duplicates, relations, parents."""

from typing import Annotated, Literal

from sqlalchemy import and_, bindparam, case, literal, select, union_all
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.issue_tracker import rules
from proverl.envs.servers.issue_tracker.app import server
from proverl.envs.servers.issue_tracker.rules import ISSUE
from proverl.envs.servers.issue_tracker.tables import Issue, IssueId, Link, Status
from proverl.envs.state import Row

Relation = Literal["blocks", "duplicates", "relates_to"]
Seen = Literal["blocks", "is_blocked_by", "duplicates", "is_duplicated_by", "relates_to", "is_child_of", "is_parent_of"]

_LINK = Link.__table__.c
_COLUMNS = (ISSUE.id, ISSUE.summary, ISSUE.status)
_BACKWARD = case(
    {"blocks": "is_blocked_by", "duplicates": "is_duplicated_by"}, value=_LINK.relation, else_="relates_to"
)
_SELF = Issue.__table__.alias("self")
_ALL = union_all(
    select(_LINK.relation, *_COLUMNS)
    .join_from(Link.__table__, Issue.__table__, ISSUE.id == _LINK.other_id)
    .where(_LINK.issue_id == bindparam("issue")),
    select(_BACKWARD.label("relation"), *_COLUMNS)
    .join_from(Link.__table__, Issue.__table__, ISSUE.id == _LINK.issue_id)
    .where(_LINK.other_id == bindparam("issue")),
    select(literal("is_child_of").label("relation"), *_COLUMNS)
    .join_from(_SELF, Issue.__table__, ISSUE.id == _SELF.c.parent_id)
    .where(_SELF.c.id == bindparam("issue")),
    select(literal("is_parent_of").label("relation"), *_COLUMNS).where(ISSUE.parent_id == bindparam("issue")),
).subquery()
_LINKED = select(_ALL).order_by(_ALL.c.relation, _ALL.c.id)
_BETWEEN = select(_LINK.relation).where(
    and_(
        _LINK.issue_id == bindparam("one"),
        _LINK.other_id == bindparam("other"),
        _LINK.relation == bindparam("relation"),
    )
)
_DUPLICATE_OF = select(_LINK.other_id).where(_LINK.issue_id == bindparam("issue"), _LINK.relation == "duplicates")
_ALL_BLOCKS = select(_LINK.issue_id, _LINK.other_id).where(_LINK.relation == "blocks")


class LinkItem(TypedDict):
    """A linked issue; `relation` is what the issue asked for is to it."""

    relation: Seen
    issue_id: IssueId
    summary: str
    status: Status


class LinkList(TypedDict):
    """All issues that an issue is linked to."""

    links: list[LinkItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the links of {issue_id}",
        "show me what {issue_id} is linked to",
        "check which issues block {issue_id} or belong to it",
        "look up the related issues and children of {issue_id}",
        "find out which issues {issue_id} is connected with",
    ],
    brief=[
        "list the links of an issue",
        "show me what one of the issues is linked to",
    ],
)
def list_issue_links(ctx: Context, issue_id: Annotated[IssueId, "Issue to read"]) -> LinkList:
    """List the issues that an issue blocks, is blocked by, duplicates, relates to, and its parent and children."""
    ctx.get(Issue, issue_id, "search_issues finds issues")
    return {
        "links": [
            {"relation": row["relation"], "issue_id": row["id"], "summary": row["summary"], "status": row["status"]}
            for row in ctx.rows(_LINKED, issue=issue_id)
        ]
    }


class LinkedIssues(TypedDict):
    """A new link."""

    issue_id: IssueId
    relation: Relation
    other_issue_id: IssueId


@server.tool(
    phrases=[
        "add a link saying {issue_id} {relation} {other_issue_id}",
        "link the two issues: {issue_id} {relation} {other_issue_id}",
        "note in the tracker: {issue_id} {relation} {other_issue_id}",
        "mark {issue_id} as one that {relation} {other_issue_id}",
        "tie {issue_id} to {other_issue_id} as an issue that {relation} it",
    ],
    brief=[
        "link two issues",
        "link {issue_id} to {other_issue_id}",
        "mark {issue_id} as one that {relation} another issue",
    ],
)
def link_issues(
    ctx: Context,
    issue_id: Annotated[IssueId, "Issue that the link starts from; you need to be a developer of its project"],
    relation: Annotated[Relation, "What it does to the other issue"],
    other_issue_id: Annotated[IssueId, "The other issue, of any project"],
) -> LinkedIssues:
    """Link two issues. A blocked issue can't be started until its blockers are done."""
    row, other = rules.issue(ctx, issue_id), rules.issue(ctx, other_issue_id, to_change=False)
    if issue_id == other_issue_id:
        raise Rejected(f"{issue_id} can't be linked to itself; name two different issues")
    one, two = sorted((issue_id, other_issue_id)) if relation == "relates_to" else (issue_id, other_issue_id)
    if ctx.rows(_BETWEEN, one=one, other=two, relation=relation):
        raise Rejected(f"{issue_id} {relation} {other_issue_id} is recorded already; list_issue_links shows it")
    if relation == "blocks":
        _check_block(ctx, row, other)
    if relation == "duplicates":
        _check_duplicate(ctx, row, other)
    ctx.insert(Link, issue_id=one, other_id=two, relation=relation)
    return {"issue_id": issue_id, "relation": relation, "other_issue_id": other_issue_id}


def _check_block(ctx: Context, row: Row, other: Row) -> None:
    for end in (row, other):
        if end["status"] == "done":
            raise Rejected(f"{end['id']} is done; only open issues block each other")
    if row["parent_id"] == other["id"] or other["parent_id"] == row["id"]:
        raise Rejected(f"{row['id']} and {other['id']} are parent and child, which can't block each other")
    if row["id"] in _blocked_by(ctx, other["id"]):
        raise Rejected(
            f"{other['id']} blocks {row['id']}, directly or through others; a circle of blocks would never end"
        )


def _blocked_by(ctx: Context, issue_id: str) -> set[str]:
    """Every issue that waits for this one, directly or through others."""
    waiting: dict[str, list[str]] = {}
    for link in ctx.rows(_ALL_BLOCKS):
        waiting.setdefault(link["issue_id"], []).append(link["other_id"])
    reached, todo = set[str](), [issue_id]
    while todo:
        new = [other for other in waiting.get(todo.pop(), ()) if other not in reached]
        reached.update(new)
        todo += new
    return reached


def _check_duplicate(ctx: Context, row: Row, other: Row) -> None:
    known = ctx.scalar(_DUPLICATE_OF, issue=row["id"])
    if known is not None:
        raise Rejected(f"{row['id']} is recorded as a duplicate of {known} already; an issue duplicates one other only")
    original = ctx.scalar(_DUPLICATE_OF, issue=other["id"])
    if original is not None:
        raise Rejected(f"{other['id']} is itself a duplicate, of {original}; link to the original instead")
