"""Where am I, what is there: the working directory, listings and trees."""

from typing import Annotated, Literal, NotRequired

from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Count
from proverl.envs.servers.filesystem.app import server
from proverl.envs.servers.filesystem.parameters import (
    AnyPath,
    ArchivePath,
    DirectoryPath,
    FilePath,
)
from proverl.envs.servers.filesystem.paths import caller, check_enter, expect, locate, name_of
from proverl.envs.servers.filesystem.rules import check_readable
from proverl.envs.servers.filesystem.tables import Node, Shell
from proverl.envs.servers.filesystem.tree import visible
from proverl.envs.state import Row

_children = select(Node.__table__).where(Node.parent == bindparam("parent"))


class WorkingDirectory(TypedDict):
    """Where the caller stands."""

    path: DirectoryPath


class DirectoryEntry(TypedDict):
    """A directory in a listing."""

    path: DirectoryPath


class FileEntry(TypedDict):
    """A file in a listing."""

    path: FilePath
    bytes: int


class ArchiveEntry(TypedDict):
    """An archive in a listing."""

    path: ArchivePath
    bytes: int


class LinkEntry(TypedDict):
    """A symbolic link in a listing."""

    path: AnyPath
    target: str


class Listing(TypedDict):
    """What lies in a directory; `entries` counts all of it, also what the limit leaves out."""

    path: DirectoryPath
    entries: int
    directories: list[DirectoryEntry]
    files: list[FileEntry]
    archives: NotRequired[list[ArchiveEntry]]
    links: NotRequired[list[LinkEntry]]


class Tree(TypedDict):
    """An indented drawing of a subtree; directories end in a slash."""

    path: DirectoryPath
    tree: str
    omitted: NotRequired[int]


@server.tool(
    read_only=True,
    phrases=[
        "tell me which folder we are in",
        "show the current working directory",
        "print the path I am in right now",
        "check where I am on the disk",
    ],
)
def get_working_directory(ctx: Context) -> WorkingDirectory:
    """Return the working directory, against which relative paths are read."""
    return {"path": caller(ctx).working_directory}


@server.tool(
    idempotent=True,
    phrases=[
        "go to {path}",
        "change into {path}",
        "make {path} the working directory",
        "switch over to {path}",
    ],
    brief=[
        "go to another folder",
        "change the working directory",
    ],
)
def change_directory(
    ctx: Context, path: Annotated[DirectoryPath, "Directory to go to; absolute, relative, or starting with ~"]
) -> WorkingDirectory:
    """Change the working directory."""
    who = caller(ctx)
    directory = expect(locate(ctx, who, path), "directory")
    check_enter(who, directory)
    ctx.update(Shell, who.name, working_directory=directory["path"])
    return {"path": directory["path"]}


@server.tool(
    read_only=True,
    phrases=[
        "list what is in {path}[, hidden entries included: {show_hidden}]",
        "show me the contents of {path}[ sorted by {sort_by}]",
        "see which files {path} has[ (at most {limit})]",
        "look into {path}[ and sort by {sort_by}]",
    ],
    brief=[
        "list what is in a folder",
        "show me the contents of a folder",
    ],
)
def list_directory(
    ctx: Context,
    path: Annotated[DirectoryPath, "Directory to list; '.' is the working directory"],
    sort_by: Annotated[Literal["name", "size", "newest"], "Order; size is largest first"] = "name",
    show_hidden: Annotated[bool, "Also show names that begin with a dot"] = False,
    limit: Annotated[Count, "Entries shown at most"] = 8,
) -> Listing:
    """List the entries of one directory."""
    who = caller(ctx)
    directory = check_readable(who, expect(locate(ctx, who, path), "directory"))
    rows = ctx.rows(_children, parent=directory["path"])
    rows = [row for row in rows if show_hidden or not name_of(row["path"]).startswith(".")]
    rows.sort(key=lambda row: row["path"])
    if sort_by == "size":
        rows.sort(key=lambda row: -row["bytes"])
    if sort_by == "newest":
        rows.sort(key=lambda row: row["modified"], reverse=True)
    return _listing(directory["path"], rows, limit)


def _listing(path: str, rows: list[Row], limit: int) -> Listing:
    shown = rows[:limit]
    listing: Listing = {
        "path": path,
        "entries": len(rows),
        "directories": [{"path": row["path"]} for row in shown if row["kind"] == "directory"],
        "files": [{"path": row["path"], "bytes": row["bytes"]} for row in shown if row["kind"] == "file"],
    }
    if archives := [row for row in shown if row["kind"] == "archive"]:
        listing["archives"] = [{"path": row["path"], "bytes": row["bytes"]} for row in archives]
    if links := [row for row in shown if row["kind"] == "link"]:
        listing["links"] = [{"path": row["path"], "target": row["content"]} for row in links]
    return listing


@server.tool(
    read_only=True,
    phrases=[
        "draw the folder tree of {path}[, {depth} levels deep]",
        "show how {path} is organised below[ down to level {depth}]",
        "give me a tree view of {path}[ with at most {limit} lines]",
    ],
    brief=[
        "draw a folder tree",
        "give me a tree view of a folder",
    ],
)
def show_directory_tree(
    ctx: Context,
    path: Annotated[DirectoryPath, "Directory at the top of the tree"],
    depth: Annotated[Literal[1, 2, 3, 4], "Levels to go down"] = 2,
    limit: Annotated[Count, "Lines shown at most"] = 20,
) -> Tree:
    """Draw a directory and what lies below it as an indented tree. Hidden entries are left out."""
    who = caller(ctx)
    top = check_readable(who, expect(locate(ctx, who, path), "directory"))
    base = "" if top["path"] == "/" else top["path"]
    lines = []
    for row in visible(ctx, who, top):
        names = row["path"][len(base) + 1 :].split("/")
        if len(names) <= depth and not any(name.startswith(".") for name in names):
            lines.append("  " * (len(names) - 1) + names[-1] + ("/" if row["kind"] == "directory" else ""))
    tree: Tree = {"path": top["path"], "tree": "\n".join(lines[:limit])}
    if len(lines) > limit:
        tree["omitted"] = len(lines) - limit
    return tree
