"""Whole subtrees: list, copy, move, remove; and single nodes: make and rewrite."""

from dataclasses import dataclass
from typing import Any

from proverl.envs import Context
from proverl.envs.servers.filesystem.paths import ENTER, READ, Caller
from proverl.envs.servers.filesystem.rules import check_fits, check_readable, check_text, within
from proverl.envs.servers.filesystem.tables import Node
from proverl.envs.state import Row
from sqlalchemy import delete, func, insert, literal, select, update

DEFAULT_MODE = {"directory": 0o755, "file": 0o644, "archive": 0o644, "link": 0o777}
_node: Any = Node.__table__


@dataclass(frozen=True)
class Member:
    """A node of a copied or archived subtree; `path` is below the top, whose own is empty."""

    path: str
    kind: str
    mode: int
    content: str


def subtree(ctx: Context, path: str) -> list[Row]:
    """The node at a path and all below it, parents before children, siblings by name."""
    return sorted(ctx.rows(select(_node).where(within(path))), key=lambda row: row["path"].rstrip("/").split("/"))


def visible(ctx: Context, who: Caller, top: Row) -> list[Row]:
    """What a caller can see below a directory; closed directories are listed, their contents and the trash are not."""
    closed: set[str] = set()
    seen = []
    for row in subtree(ctx, top["path"])[1:]:
        trash = row["path"] == who.trash
        if row["parent"] not in closed and not trash:
            seen.append(row)
        if row["parent"] in closed or trash or (row["kind"] == "directory" and not who.may(row, READ | ENTER)):
            closed.add(row["path"])
    return seen


def make(ctx: Context, who: Caller, directory: Row, path: str, kind: str, content: str = "") -> Row:
    """Add a node of the caller's; it takes its directory's group when the caller is in it."""
    group = directory["group"] if directory["group"] in who.groups else who.groups[0]
    row = _new(ctx, who, path, group, Member("", kind, DEFAULT_MODE[kind], content))
    ctx.db.execute(insert(_node), [row])
    check_fits(ctx, who.name, path)
    return {**row, "parent": directory["path"], "bytes": len(content.encode())}


def rewrite(ctx: Context, file: Row, content: str) -> int:
    """Replace a file's content and return its new size in bytes."""
    ctx.update(Node, file["path"], content=check_text(content), modified=ctx.timestamp)
    check_fits(ctx, file["owner"], file["path"])
    return len(content.encode())


def pack(ctx: Context, who: Caller, top: Row) -> list[Member]:
    """Take a subtree as members. Raises Rejected when the caller may not read all of it."""
    rows = subtree(ctx, top["path"])
    cut = len(top["path"])
    for row in rows:
        if row["kind"] != "link":
            check_readable(who, row)
    return [Member(row["path"][cut:], row["kind"], row["mode"], row["content"]) for row in rows]


def plant(ctx: Context, who: Caller, directory: Row, path: str, members: list[Member]) -> None:
    """Add members as the caller's own nodes, the top at a path."""
    group = directory["group"] if directory["group"] in who.groups else who.groups[0]
    ctx.db.execute(insert(_node), [_new(ctx, who, path + member.path, group, member) for member in members])
    check_fits(ctx, who.name, path)


def move(ctx: Context, node: Row, path: str) -> None:
    """Give a subtree a new path; tags, trash records and the working directory follow."""
    old = node["path"]
    below = func.substr(Node.path, len(old) + 1)
    ctx.db.execute(update(_node).where(within(old)).values(path=literal(path).concat(below)))
    check_fits(ctx, node["owner"], path)


def remove(ctx: Context, path: str) -> None:
    """Delete a subtree for good."""
    ctx.db.execute(delete(_node).where(within(path)))


def _new(ctx: Context, who: Caller, path: str, group: str, member: Member) -> Row:
    return {
        "path": path,
        "kind": member.kind,
        "owner": who.name,
        "group": group,
        "mode": member.mode,
        "content": member.content,
        "modified": ctx.timestamp,
    }
