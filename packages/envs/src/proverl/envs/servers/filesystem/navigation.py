"""Where am I, what is there: the working directory, listings, trees, searches by name or tag, sizes and quotas."""

from fnmatch import fnmatchcase
from typing import Annotated, Literal, NotRequired

from proverl.envs import Context, Count
from proverl.envs.servers.filesystem.app import server
from proverl.envs.servers.filesystem.parameters import (
    AnyPath,
    ArchivePath,
    DirectoryPath,
    FilePath,
    Kind,
    NamePattern,
    TagLabel,
    UserName,
)
from proverl.envs.servers.filesystem.paths import caller, check_enter, expect, is_within, locate, name_of
from proverl.envs.servers.filesystem.rules import check_readable, total, volume_of, within
from proverl.envs.servers.filesystem.tables import Node, Shell, Tag, User
from proverl.envs.servers.filesystem.tree import visible
from proverl.envs.state import Row
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

_children = select(Node.__table__).where(Node.parent == bindparam("parent"))
_labels = select(Tag.label).where(Tag.path == bindparam("path")).order_by(Tag.label)
_tagged = select(Tag.path, Node.kind).join(Node).where(Tag.label == bindparam("label")).order_by(Tag.path)


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


class Found(TypedDict):
    """A path that was looked for."""

    path: AnyPath
    kind: Kind


class Findings(TypedDict):
    """The first matches, and how many there are in all."""

    matches: list[Found]
    total: int


class PathInfo(TypedDict):
    """What is known of one path; `target` for links only."""

    path: AnyPath
    kind: Kind
    bytes: int
    mode: str
    owner: UserName
    group: str
    modified: str
    tags: list[str]
    target: NotRequired[str]


class Usage(TypedDict):
    """How much lies below a directory; `free_bytes` on volumes of limited size."""

    path: DirectoryPath
    bytes: int
    files: int
    directories: int
    volume: str
    free_bytes: NotRequired[int]


class Quota(TypedDict):
    """What the caller owns and may own, on all volumes together."""

    user: UserName
    used_bytes: int
    limit_bytes: int
    used_entries: int
    limit_entries: int


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
    phrases=["go to {path}", "change into {path}", "make {path} the working directory", "switch over to {path}"],
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


@server.tool(
    read_only=True,
    phrases=[
        "find everything named {pattern}[ below {directory}]",
        "look for {pattern} on the disk[, only of kind {kind}][, starting at {directory}]",
        "search by name for {pattern}[ and show at most {limit}]",
        "locate whatever matches {pattern}[ in {directory} and below]",
    ],
)
def find_paths(
    ctx: Context,
    pattern: Annotated[NamePattern, "Name with * and ? as wildcards; upper and lower case are the same"],
    directory: Annotated[DirectoryPath, "Where to start; by default the working directory"] = ".",
    kind: Annotated[Literal["any", "file", "directory", "link", "archive"], "What to look for"] = "any",
    limit: Annotated[Count, "Matches shown at most"] = 5,
) -> Findings:
    """Find files, directories, links and archives by name, in a directory and all below it. Leaves the trash out."""
    who = caller(ctx)
    top = check_readable(who, expect(locate(ctx, who, directory), "directory"))
    rows = [
        row
        for row in visible(ctx, who, top)
        if kind in ("any", row["kind"]) and fnmatchcase(name_of(row["path"]).lower(), pattern.lower())
    ]
    return {"matches": [{"path": row["path"], "kind": row["kind"]} for row in rows[:limit]], "total": len(rows)}


@server.tool(
    read_only=True,
    phrases=[
        "find everything tagged {tag}",
        "show what carries the tag {tag}[ (at most {limit})]",
        "collect whatever I marked as {tag}[, {limit} at most]",
    ],
)
def find_paths_by_tag(
    ctx: Context,
    tag: Annotated[TagLabel, "Tag to look for"],
    limit: Annotated[Count, "Matches shown at most"] = 5,
) -> Findings:
    """Find everything that carries a tag, wherever it lies. Leaves the trash out."""
    trash = caller(ctx).trash
    rows = [row for row in ctx.rows(_tagged, label=tag) if not is_within(row["path"], trash)]
    return {"matches": [{"path": row["path"], "kind": row["kind"]} for row in rows[:limit]], "total": len(rows)}


@server.tool(
    read_only=True,
    phrases=[
        "tell me about {path}: size, owner and permissions",
        "show the details of {path}",
        "check who owns {path} and when it was changed",
        "look up the properties of {path}",
    ],
)
def get_path_info(
    ctx: Context, path: Annotated[AnyPath, "File, directory, link or archive; a link itself is described"]
) -> PathInfo:
    """Return kind, size, octal mode, owner, group, time of change and tags of one path."""
    row = locate(ctx, caller(ctx), path, follow=False)
    info: PathInfo = {
        "path": row["path"],
        "kind": row["kind"],
        "bytes": row["bytes"],
        "mode": f"{row['mode']:03o}",
        "owner": row["owner"],
        "group": row["group"],
        "modified": row["modified"],
        "tags": [tag["label"] for tag in ctx.rows(_labels, path=row["path"])],
    }
    if row["kind"] == "link":
        info["target"] = row["content"]
    return info


@server.tool(
    read_only=True,
    phrases=[
        "work out how much space {path} takes up",
        "measure the disk usage of {path}",
        "add up the size of everything in {path}",
    ],
)
def get_disk_usage(ctx: Context, path: Annotated[DirectoryPath, "Directory to measure"]) -> Usage:
    """Add up the size of everything in a directory and below it, and say what its volume has left."""
    who = caller(ctx)
    top = check_readable(who, expect(locate(ctx, who, path), "directory"))
    size, nodes = total(ctx, within(top["path"]))
    _, directories = total(ctx, within(top["path"]) & (Node.kind == "directory"))
    volume = volume_of(ctx, top["path"])
    usage: Usage = {
        "path": top["path"],
        "bytes": size,
        "files": nodes - directories,
        "directories": directories - 1,
        "volume": volume["label"] if volume else "SYSTEM",
    }
    if volume:
        usage["free_bytes"] = volume["capacity_bytes"] - total(ctx, within(volume["path"]))[0]
    return usage


@server.tool(
    read_only=True,
    phrases=[
        "check my disk quota",
        "tell me how much storage I have left",
        "see how close I am to my storage limit",
    ],
)
def get_disk_quota(ctx: Context) -> Quota:
    """Return how many bytes and entries you own, and how many you may own."""
    user = ctx.get(User, caller(ctx).name)
    size, entries = total(ctx, Node.owner == user["name"])
    return {
        "user": user["name"],
        "used_bytes": size,
        "limit_bytes": user["quota_bytes"],
        "used_entries": entries,
        "limit_entries": user["quota_entries"],
    }
