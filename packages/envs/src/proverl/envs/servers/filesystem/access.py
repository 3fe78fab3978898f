"""Who may do what, and labels: users, permissions, ownership, tags."""

from typing import Annotated

from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Count, Rejected
from proverl.envs.servers.filesystem.app import server
from proverl.envs.servers.filesystem.parameters import AnyPath, Group, Mode, TagLabel, UserName
from proverl.envs.servers.filesystem.paths import WRITE, Caller, caller, denied, locate
from proverl.envs.servers.filesystem.rules import check_changeable, check_owned, check_space
from proverl.envs.servers.filesystem.tables import TAG_LIMIT, Node, Tag, User
from proverl.envs.state import Row

_people = select(User.__table__).where(User.name != "root").order_by(User.name)
_labels = select(Tag.label).where(Tag.path == bindparam("path")).order_by(Tag.label)


class UserEntry(TypedDict):
    """An account; two people may have the same full name."""

    user: UserName
    full_name: str
    groups: list[str]


class UserList(TypedDict):
    """The first accounts, and how many there are in all."""

    users: list[UserEntry]
    total: int


class Permissions(TypedDict):
    """A path and its octal mode."""

    path: AnyPath
    mode: str


class Ownership(TypedDict):
    """A path and whose it is."""

    path: AnyPath
    owner: UserName


class Tags(TypedDict):
    """A path and all its tags."""

    path: AnyPath
    tags: list[str]


@server.tool(
    read_only=True,
    phrases=[
        "list the users of this machine[ in the group {group}]",
        "show who has an account here[, only group {group}]",
        "see which people use this system[ ({limit} at most)]",
    ],
)
def list_system_users(
    ctx: Context,
    group: Annotated[Group | None, "Only members of this group"] = None,
    limit: Annotated[Count, "Users shown at most"] = 5,
) -> UserList:
    """List the accounts on this machine with their groups."""
    rows = [row for row in ctx.rows(_people) if group is None or group in row["groups"]]
    users: list[UserEntry] = [
        {"user": row["name"], "full_name": row["full_name"], "groups": row["groups"]} for row in rows
    ]
    return {"users": users[:limit], "total": len(users)}


@server.tool(
    idempotent=True,
    phrases=[
        "set the permissions of {path} to {mode}",
        "change the mode of {path} to {mode}",
        "give {path} the permissions {mode}",
        "chmod {path} to {mode}",
    ],
    brief=[
        "change the permissions of a file or folder",
        "change the permissions of {path}",
        "set the permissions of something to {mode}",
    ],
)
def change_path_permissions(
    ctx: Context,
    path: Annotated[AnyPath, "File or directory that you own"],
    mode: Annotated[Mode, "Octal mode for owner, group and others, e.g. 640: owner writes, group reads"],
) -> Permissions:
    """Set the permission bits of a file or directory. Only its owner may."""
    who = caller(ctx)
    node = locate(ctx, who, path)
    check_owned(ctx, who, node)
    ctx.update(Node, node["path"], mode=int(mode, 8))
    return {"path": node["path"], "mode": mode}


@server.tool(
    phrases=[
        "hand {path} over to {owner}",
        "make {owner} the owner of {path}",
        "change the ownership of {path} to {owner}",
    ],
    brief=[
        "change the owner of a file or folder",
        "hand {path} over to somebody else",
        "make {owner} the owner of something of mine",
    ],
)
def change_path_owner(
    ctx: Context,
    path: Annotated[AnyPath, "File or directory that you own"],
    owner: Annotated[UserName, "User who gets it; a member of the path's group"],
) -> Ownership:
    """Give a file or directory (not what is in it) to another user of its group. It then counts for their quota."""
    who = caller(ctx)
    node = locate(ctx, who, path)
    check_owned(ctx, who, node)
    receiver = ctx.get(User, owner, "list_system_users shows who there is")
    if owner == who.name:
        raise Rejected(f"{node['path']!r} already belongs to {owner}; name another user")
    if node["path"] == who.home:
        raise Rejected(f"{node['path']!r} is your home directory; give away something in it instead")
    if node["group"] not in receiver["groups"]:
        raise Rejected(f"{owner} is not in the group {node['group']} of {node['path']!r}; name one of its members")
    ctx.update(Node, node["path"], owner=owner)
    check_space(ctx, owner, node["path"])
    return {"path": node["path"], "owner": owner}


@server.tool(
    phrases=[
        "tag {path} as {tag}",
        "mark {path} with the tag {tag}",
        "put the label {tag} on {path}",
    ],
    brief=[
        "tag something",
        "put a label on {path}",
        "tag something as {tag}",
    ],
)
def tag_path(
    ctx: Context,
    path: Annotated[AnyPath, "File or directory to tag"],
    tag: Annotated[TagLabel, "Tag to add"],
) -> Tags:
    """Add a tag to something you may write to."""
    node, tags = _taggable(ctx, caller(ctx), path)
    if tag in tags:
        raise Rejected(f"{node['path']!r} is already tagged {tag!r}; it has {', '.join(tags)}")
    if len(tags) >= TAG_LIMIT:
        raise Rejected(f"{node['path']!r} has {TAG_LIMIT} tags, the most allowed; untag_path takes one off")
    ctx.insert(Tag, path=node["path"], label=tag)
    return {"path": node["path"], "tags": sorted([*tags, tag])}


@server.tool(
    phrases=[
        "remove the tag {tag} from {path}",
        "take the label {tag} off {path}",
        "untag {path}, it is no longer {tag}",
    ],
    brief=[
        "remove a tag from something",
        "take a tag off {path}",
        "take the label {tag} off something",
    ],
)
def untag_path(
    ctx: Context,
    path: Annotated[AnyPath, "Tagged file or directory"],
    tag: Annotated[TagLabel, "Tag to take off"],
) -> Tags:
    """Take a tag off something you may write to."""
    node, tags = _taggable(ctx, caller(ctx), path)
    if tag not in tags:
        raise Rejected(f"{node['path']!r} is not tagged {tag!r}; its tags: {', '.join(tags) or 'none'}")
    ctx.delete(Tag, Tag.path == node["path"], Tag.label == tag)
    return {"path": node["path"], "tags": [label for label in tags if label != tag]}


def _taggable(ctx: Context, who: Caller, path: str) -> tuple[Row, list[str]]:
    """A node that the caller may tag, and its tags."""
    node = locate(ctx, who, path, follow=False)
    check_changeable(ctx, who, node["path"])
    if not who.may(node, WRITE):
        raise denied(who, node, "tag")
    return node, [row["label"] for row in ctx.rows(_labels, path=node["path"])]
