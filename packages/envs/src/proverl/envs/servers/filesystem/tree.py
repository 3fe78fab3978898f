"""Whole subtrees: list, copy, move, remove; and single nodes: make and rewrite."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import String, bindparam, delete, func, insert, select, update

from proverl.envs import Context
from proverl.envs.servers.filesystem.paths import ENTER, READ, Caller
from proverl.envs.servers.filesystem.rules import WITHIN, check_lengths, check_readable, check_space, check_text, span
from proverl.envs.servers.filesystem.tables import Node
from proverl.envs.state import Row

DEFAULT_MODE = {"directory": 0o755, "file": 0o644, "archive": 0o644, "link": 0o777}
_node: Any = Node.__table__
_subtree = select(_node).where(WITHIN)
_insert = insert(_node)
_moved = bindparam("to", type_=String) + func.substr(Node.path, bindparam("cut"))
_move = update(_node).where(WITHIN).values(path=_moved)
_remove = delete(_node).where(WITHIN)


@dataclass(frozen=True)
class Member:
    """A node of a copied or archived subtree; `path` is below the top, whose own is empty."""

    path: str
    kind: str
    mode: int
    content: str


def subtree(ctx: Context, path: str) -> list[Row]:
    """The node at a path and all below it, parents before children, siblings by name."""
    return sorted(ctx.rows(_subtree, **span(path)), key=lambda row: row["path"].rstrip("/").split("/"))


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
    row = ctx.insert(Node, **_new(ctx, who, path, group, Member("", kind, DEFAULT_MODE[kind], content)))
    check_space(ctx, who.name, path)
    return {**row, "parent": directory["path"], "bytes": len(content.encode())}


def rewrite(ctx: Context, file: Row, content: str) -> int:
    """Replace a file's content and return its new size in bytes."""
    ctx.update(Node, file["path"], content=check_text(content), modified=ctx.timestamp)
    check_space(ctx, file["owner"], file["path"])
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
    ctx.db.execute(_insert, [_new(ctx, who, path + member.path, group, member) for member in members])
    check_lengths(ctx, path)
    check_space(ctx, who.name, path)


def move(ctx: Context, node: Row, path: str) -> None:
    """Give a subtree a new path; tags, trash records and the working directory follow."""
    ctx.execute(_move, **span(node["path"]), to=path, cut=len(node["path"]) + 1)
    check_lengths(ctx, path)
    check_space(ctx, node["owner"], path)


def remove(ctx: Context, path: str) -> None:
    """Delete a subtree for good."""
    ctx.db.execute(_remove, span(path))


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
