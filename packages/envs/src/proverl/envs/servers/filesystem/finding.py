"""Finding and measuring: by name, by tag, the details of a path, sizes and quotas."""

from fnmatch import fnmatchcase
from typing import Annotated, Literal, NotRequired

from sqlalchemy import bindparam, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, Count
from proverl.envs.servers.filesystem.app import server
from proverl.envs.servers.filesystem.parameters import (
    AnyPath,
    DirectoryPath,
    Kind,
    NamePattern,
    TagLabel,
    UserName,
)
from proverl.envs.servers.filesystem.paths import caller, expect, is_within, locate, name_of
from proverl.envs.servers.filesystem.rules import WITHIN, check_readable, held, owned, span, volume_of
from proverl.envs.servers.filesystem.tables import Node, Tag, User
from proverl.envs.servers.filesystem.tree import visible

_directories = select(func.count()).where(WITHIN, Node.kind == "directory")
_labels = select(Tag.label).where(Tag.path == bindparam("path")).order_by(Tag.label)
_tagged = select(Tag.path, Node.kind).join(Node).where(Tag.label == bindparam("label")).order_by(Tag.path)


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
        "find everything named {pattern}[ below {directory}]",
        "look for {pattern} on the disk[, only of kind {kind}][, starting at {directory}]",
        "search by name for {pattern}[ and show at most {limit}]",
        "locate whatever matches {pattern}[ in {directory} and below]",
    ],
    brief=[
        "find something by its name",
        "search by name for some files[ in {directory}]",
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
    brief=[
        "find everything with a certain tag",
        "show what carries one of my tags",
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
    brief=[
        "show the details of a file or folder",
        "look up the size, owner and permissions of something",
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
    brief=[
        "work out how much space a folder takes up",
        "measure the disk usage of a folder",
    ],
)
def get_disk_usage(ctx: Context, path: Annotated[DirectoryPath, "Directory to measure"]) -> Usage:
    """Add up the size of everything in a directory and below it, and say what its volume has left."""
    who = caller(ctx)
    top = check_readable(who, expect(locate(ctx, who, path), "directory"))
    inside = held(ctx, top["path"])
    directories = ctx.scalar(_directories, **span(top["path"]))
    volume = volume_of(ctx, top["path"])
    usage: Usage = {
        "path": top["path"],
        "bytes": inside["bytes"],
        "files": inside["entries"] - directories,
        "directories": directories - 1,
        "volume": volume["label"] if volume else "SYSTEM",
    }
    if volume:
        usage["free_bytes"] = volume["capacity_bytes"] - held(ctx, volume["path"])["bytes"]
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
    used = owned(ctx, user["name"])
    return {
        "user": user["name"],
        "used_bytes": used["bytes"],
        "limit_bytes": user["quota_bytes"],
        "used_entries": used["entries"],
        "limit_entries": user["quota_entries"],
    }
