"""The trash in the caller's home: what is moved there can be restored to where it was."""

from difflib import get_close_matches
from typing import Annotated

from sqlalchemy import select
from typing_extensions import TypedDict

from proverl.envs import Context, Count, NotFound, Rejected
from proverl.envs.servers.filesystem.app import server
from proverl.envs.servers.filesystem.parameters import AnyPath, Kind, TrashedName
from proverl.envs.servers.filesystem.paths import Caller, caller, expect, join, locate, name_of
from proverl.envs.servers.filesystem.rules import check_removable, free_path
from proverl.envs.servers.filesystem.tables import NAME_LIMIT, Node, TrashedItem
from proverl.envs.servers.filesystem.tree import move, remove, subtree
from proverl.envs.state import Row

_items = (
    select(TrashedItem.path, TrashedItem.original_path, Node.kind)
    .join(Node, Node.path == TrashedItem.path)
    .order_by(TrashedItem.path)
)


class Trashed(TypedDict):
    """What was moved to the trash, and its name there."""

    name: TrashedName
    original_path: str


class TrashedEntry(TypedDict):
    """An item in the trash."""

    name: TrashedName
    original_path: str
    kind: Kind


class TrashList(TypedDict):
    """The first items in the trash, and how many there are in all."""

    items: list[TrashedEntry]
    total: int


class Restored(TypedDict):
    """Where the restored item is again."""

    path: AnyPath


class Emptied(TypedDict):
    """What emptying the trash removed; `entries` counts what lay in directories too."""

    items: int
    entries: int
    freed_bytes: int


def _free_name(ctx: Context, who: Caller, name: str) -> str:
    """The name under which an item lies in the trash: `name`, or `name.2` and so on when that is taken."""
    number, candidate = 1, name
    while ctx.find(Node, join(who.trash, candidate)) is not None:
        number += 1
        candidate = f"{name[: NAME_LIMIT - 4]}.{number}"
    return candidate


@server.tool(
    phrases=[
        "move {path} to the trash",
        "throw {path} away but keep it restorable",
        "put {path} in the bin",
    ],
    brief=[
        "move something to the trash",
        "put something in the bin",
    ],
)
def trash_path(ctx: Context, path: Annotated[AnyPath, "File, directory, link or archive to throw away"]) -> Trashed:
    """Move something to the trash, from where restore_trashed_path brings it back. It still counts for the quota."""
    who = caller(ctx)
    node = locate(ctx, who, path, follow=False)
    check_removable(ctx, who, node)
    name = _free_name(ctx, who, name_of(node["path"]))
    move(ctx, node, join(who.trash, name))
    ctx.insert(TrashedItem, path=join(who.trash, name), original_path=node["path"])
    return {"name": name, "original_path": node["path"]}


@server.tool(
    read_only=True,
    phrases=[
        "list what is in the trash[ ({limit} at most)]",
        "show me the things I threw away[, up to {limit}]",
        "check the trash for deleted items[ and show {limit} of them]",
    ],
)
def list_trashed_paths(ctx: Context, limit: Annotated[Count, "Items shown at most"] = 5) -> TrashList:
    """List what is in the trash and where it lay before."""
    rows = ctx.rows(_items)
    items: list[TrashedEntry] = [
        {"name": name_of(row["path"]), "original_path": row["original_path"], "kind": row["kind"]} for row in rows
    ]
    return {"items": items[:limit], "total": len(items)}


@server.tool(
    phrases=[
        "restore {name} from the trash",
        "bring back {name}, which I threw away",
        "undelete {name}",
    ],
    brief=[
        "restore something from the trash",
        "bring back something that I threw away",
    ],
)
def restore_trashed_path(
    ctx: Context, name: Annotated[TrashedName, "Name of the item in the trash, as list_trashed_paths shows it"]
) -> Restored:
    """Put an item of the trash back where it was. Refused when that place is taken or its directory is gone."""
    who = caller(ctx)
    item = _item(ctx, who, name)
    original = item["original_path"]
    parent = original.rpartition("/")[0] or "/"
    if ctx.find(Node, parent) is None:
        raise Rejected(f"can't restore {name!r}: its directory {parent!r} is gone; create that directory first")
    path = free_path(ctx, who, expect(locate(ctx, who, parent), "directory"), name_of(original))
    ctx.delete(TrashedItem, TrashedItem.path == item["path"])
    move(ctx, ctx.get(Node, item["path"]), path)
    return {"path": path}


@server.tool(
    destructive=True,
    phrases=[
        "empty the trash",
        "clear out the trash bin for good",
        "permanently get rid of everything I threw away",
    ],
)
def empty_trash_bin(ctx: Context) -> Emptied:
    """Delete everything in the trash for good. Refused when the trash is empty."""
    items = ctx.rows(_items)
    if not items:
        raise Rejected("the trash is empty already; trash_path moves something there")
    rows = [row for item in items for row in subtree(ctx, item["path"])]
    for item in items:
        remove(ctx, item["path"])
    return {"items": len(items), "entries": len(rows), "freed_bytes": sum(row["bytes"] for row in rows)}


def _item(ctx: Context, who: Caller, name: str) -> Row:
    row = ctx.find(TrashedItem, join(who.trash, name))
    if row is None:
        near = get_close_matches(name, [name_of(item["path"]) for item in ctx.rows(_items)], n=1)
        advice = f"did you mean {near[0]!r}?" if near else "list_trashed_paths shows what there is"
        raise NotFound(f"nothing named {name!r} is in the trash; {advice}")
    return row
