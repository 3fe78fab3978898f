"""What is refused: permissions, read-only volumes, the trash, names, quotas and space."""

from typing import Any

from sqlalchemy import and_, bindparam, func, or_, select

from proverl.envs import Context, Rejected
from proverl.envs.servers.filesystem.paths import (
    ENTER,
    READ,
    WRITE,
    Caller,
    denied,
    is_within,
    join,
    name_of,
)
from proverl.envs.servers.filesystem.tables import FILE_LIMIT, NAME_LIMIT, PATH_LIMIT, ROOT, Node, User, Volume
from proverl.envs.state import Row

_STICKY = 0o1000

# a node at a path or below it, by ranges of the key; see `span`
WITHIN = or_(Node.path == bindparam("top"), and_(Node.path > bindparam("low"), Node.path < bindparam("high")))
_size: Any = func.coalesce(func.sum(Node.bytes), 0)
_held = select(_size.label("bytes"), func.count().label("entries")).where(WITHIN)
_directories = select(Node.__table__).where(WITHIN, Node.kind == "directory").order_by(Node.path)
_longest = select(func.max(func.length(Node.path))).where(WITHIN)
_owned = select(_size.label("bytes"), func.count().label("entries")).where(Node.owner == bindparam("owner"))
_volumes = select(Volume.__table__).order_by(Volume.path)


def span(path: str) -> dict[str, str]:
    """The parameters of `WITHIN` for a path; `0` is the character after `/`."""
    base = "" if path == ROOT else path
    return {"top": path, "low": f"{base}/", "high": f"{base}0"}


def volume_of(ctx: Context, path: str) -> Row | None:
    """The mounted volume that a path is stored on, or None for the root's."""
    held = [volume for volume in ctx.rows(_volumes) if is_within(path, volume["path"])]
    return held[-1] if held else None


def check_readable(who: Caller, node: Row) -> Row:
    """Refuse to read a node without the read bit (for a directory also the bit to enter)."""
    if not who.may(node, READ | ENTER if node["kind"] == "directory" else READ):
        raise denied(who, node, "read")
    return node


def check_changeable(ctx: Context, who: Caller, path: str) -> None:
    """Refuse changes in the trash and on read-only volumes."""
    if is_within(path, who.trash):
        raise Rejected(
            f"{path!r} is in the trash; restore_trashed_path brings an item back, empty_trash_bin empties it"
        )
    volume = volume_of(ctx, path)
    if volume is not None and volume["read_only"]:
        raise Rejected(
            f"{path!r} is on the read-only volume {volume['label']!r}; copy it elsewhere and change the copy"
        )


def check_writable(ctx: Context, who: Caller, file: Row) -> None:
    """Refuse to change the content of a file."""
    check_changeable(ctx, who, file["path"])
    if not who.may(file, WRITE):
        raise denied(who, file, "write")


def check_owned(ctx: Context, who: Caller, node: Row) -> None:
    """Refuse what only the owner of a node may do."""
    check_changeable(ctx, who, node["path"])
    if node["owner"] != who.name:
        raise Rejected(f"{node['path']!r} belongs to {node['owner']}; only its owner may do this, so ask them")


def check_name(name: str) -> None:
    """Refuse what is no name of a single file or directory."""
    if "/" in name:
        raise Rejected(f"the name {name!r} contains '/'; give only the last part here and the directory on its own")
    if name in (".", "..") or any(ord(char) < 32 for char in name):
        raise Rejected(f"{name!r} is no valid name; use a plain one such as 'notes.txt'")
    if len(name) > NAME_LIMIT:
        raise Rejected(f"the name is too long: {len(name)} characters, and at most {NAME_LIMIT} are allowed")


def free_path(ctx: Context, who: Caller, directory: Row, name: str) -> str:
    """The path of a new name in a directory, once it is sure that the caller may add it there and that it is free."""
    check_name(name)
    check_changeable(ctx, who, directory["path"])
    if not who.may(directory, WRITE | ENTER):
        raise denied(who, directory, "add anything to")
    path = join(directory["path"], name)
    _check_length(path)
    if ctx.find(Node, path) is not None:
        raise Rejected(f"{path!r} already exists; choose another name, or move or delete that one first")
    return path


def check_detachable(ctx: Context, who: Caller, node: Row) -> None:
    """Refuse to take a node out of its directory: mount points, homes, other people's things."""
    path = node["path"]
    volumes = [volume["path"] for volume in ctx.rows(_volumes)]
    if path == ROOT or any(is_within(mount, path) for mount in volumes):
        raise Rejected(f"{path!r} is or holds a mount point and can't be moved or removed; choose something below it")
    if is_within(who.home, path):
        raise Rejected(
            f"{path!r} is or holds your home directory and can't be moved or removed; choose something in it"
        )
    check_changeable(ctx, who, path)
    parent = ctx.get(Node, node["parent"])
    if not who.may(parent, WRITE | ENTER):
        raise denied(who, parent, f"take {name_of(path)!r} out of")
    if parent["mode"] & _STICKY and who.name not in (node["owner"], parent["owner"]):
        raise Rejected(f"{parent['path']!r} is sticky: only {node['owner']}, its owner, may move or remove {path!r}")


def check_removable(ctx: Context, who: Caller, node: Row) -> None:
    """Refuse to remove a node with all that is in it."""
    check_detachable(ctx, who, node)
    path = node["path"]
    if is_within(who.working_directory, path):
        raise Rejected(f"{path!r} is or holds the working directory; change_directory out of it first")
    for directory in ctx.rows(_directories, **span(path)) if node["kind"] == "directory" else []:
        if not who.may(directory, READ | WRITE | ENTER):
            raise denied(who, directory, "remove what is in")


def check_text(text: str) -> str:
    """Return a text that a file can hold. Raises Rejected when it is larger than a file may be."""
    size = len(text.encode())
    if size > FILE_LIMIT:
        raise Rejected(
            f"file too large: {size} bytes, and at most {FILE_LIMIT} are allowed; split it into several files"
        )
    return text


def check_lengths(ctx: Context, path: str) -> None:
    """Refuse a subtree just placed at a path when a path in it is too long; the refusal undoes the call."""
    longest = ctx.scalar(_longest, **span(path))
    if longest > PATH_LIMIT:
        raise Rejected(f"path too long: {longest} characters below {path!r}, at most {PATH_LIMIT}; use shorter names")


def check_space(ctx: Context, owner: str, path: str) -> None:
    """Refuse what was just written at or below a path when it breaks a limit; the refusal undoes the call."""
    volume = volume_of(ctx, path)
    if volume is not None and (over := held(ctx, volume["path"])["bytes"] - volume["capacity_bytes"]) > 0:
        raise Rejected(f"no space left on volume {volume['label']!r}: {over} bytes too many; free some there first")
    user, used = ctx.get(User, owner), owned(ctx, owner)
    advice = "delete_path or empty_trash_bin frees space"
    if (over := used["bytes"] - user["quota_bytes"]) > 0:
        raise Rejected(f"disk quota of {owner} exceeded by {over} of {user['quota_bytes']} bytes; {advice}")
    if (over := used["entries"] - user["quota_entries"]) > 0:
        raise Rejected(f"disk quota of {owner} exceeded by {over} of {user['quota_entries']} entries; {advice}")


def held(ctx: Context, path: str) -> Row:
    """`bytes` and `entries` of all nodes at a path and below it."""
    return ctx.rows(_held, **span(path))[0]


def owned(ctx: Context, user: str) -> Row:
    """`bytes` and `entries` of all nodes that a user owns."""
    return ctx.rows(_owned, owner=user)[0]


def _check_length(path: str) -> None:
    if len(path) > PATH_LIMIT:
        raise Rejected(f"path too long: {len(path)} characters, at most {PATH_LIMIT}; use shorter names")
