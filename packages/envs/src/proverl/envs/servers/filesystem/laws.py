"""What always holds, whatever was called."""

from sqlalchemy import func, select

from proverl.envs import Context
from proverl.envs.servers.filesystem.app import server
from proverl.envs.servers.filesystem.archives import members_of
from proverl.envs.servers.filesystem.paths import caller, is_within, name_of
from proverl.envs.servers.filesystem.tables import (
    FILE_LIMIT,
    NAME_LIMIT,
    PATH_LIMIT,
    ROOT,
    TAG_LIMIT,
    Node,
    Tag,
    TrashedItem,
    User,
    Volume,
)
from proverl.envs.state import Row


def _nodes(ctx: Context) -> dict[str, Row]:
    return {row["path"]: row for row in ctx.rows(select(Node.__table__).order_by(Node.path))}


@server.invariant
def every_node_hangs_on_the_root(ctx: Context) -> None:
    """The root exists, and every other node's parent is an existing directory; so there are no cycles."""
    nodes = _nodes(ctx)
    assert nodes[ROOT]["kind"] == "directory", "the root is no directory"
    for path, node in nodes.items():
        if path != ROOT:
            parent = path.rpartition("/")[0] or ROOT
            assert node["parent"] == parent, f"{path} is filed under {node['parent']}"
            assert nodes[parent]["kind"] == "directory", f"{parent}, the parent of {path}, is no directory"
            assert name_of(path) not in (".", ".."), f"{path} is no plain path"
            assert len(path) <= PATH_LIMIT and len(name_of(path)) <= NAME_LIMIT, f"{path} is too long"


@server.invariant
def sizes_are_those_of_the_contents(ctx: Context) -> None:
    """Sizes equal the length of contents in UTF-8; directories have none; text files keep their limit."""
    for path, node in _nodes(ctx).items():
        assert node["bytes"] == len(node["content"].encode()), f"{path} has a wrong size"
        assert node["kind"] != "directory" or node["content"] == "", f"the directory {path} has content"
        assert node["kind"] != "file" or node["bytes"] <= FILE_LIMIT, f"{path} is too large"
        if node["kind"] == "archive":
            assert members_of(node["content"]), f"{path} is an archive of nothing"


@server.invariant
def nobody_owns_more_than_the_quota(ctx: Context) -> None:
    """No user is over the quota of bytes or of entries."""
    nodes = _nodes(ctx).values()
    for user in ctx.rows(select(User.__table__).order_by(User.name)):
        sizes = [node["bytes"] for node in nodes if node["owner"] == user["name"]]
        assert sum(sizes) <= user["quota_bytes"], f"{user['name']} owns too many bytes"
        assert len(sizes) <= user["quota_entries"], f"{user['name']} owns too many entries"


@server.invariant
def volumes_hold_what_they_can(ctx: Context) -> None:
    """Every mount point is a directory, and no volume is over its capacity."""
    nodes = _nodes(ctx)
    for volume in ctx.rows(select(Volume.__table__).order_by(Volume.path)):
        assert nodes[volume["path"]]["kind"] == "directory", f"{volume['path']} is no directory"
        used = sum(node["bytes"] for path, node in nodes.items() if is_within(path, volume["path"]))
        assert used <= volume["capacity_bytes"], f"{volume['label']} is over its capacity"


@server.invariant
def the_caller_stands_in_a_directory(ctx: Context) -> None:
    """The working directory and the caller's home are directories."""
    nodes, who = _nodes(ctx), caller(ctx)
    for path in (who.working_directory, who.home):
        assert nodes[path]["kind"] == "directory", f"{path} is no directory"


@server.invariant
def the_trash_knows_what_it_holds(ctx: Context) -> None:
    """What lies at the top of the trash has a record, and nothing else has."""
    trash = caller(ctx).trash
    lying = {path for path, node in _nodes(ctx).items() if node["parent"] == trash}
    recorded = {row["path"] for row in ctx.rows(select(TrashedItem.path).order_by(TrashedItem.path))}
    assert lying == recorded, f"the trash and its records differ: {sorted(lying ^ recorded)}"


@server.invariant
def tags_are_few(ctx: Context) -> None:
    """No path has more tags than allowed."""
    counts = select(Tag.path, func.count().label("tags")).group_by(Tag.path).order_by(Tag.path)
    for row in ctx.rows(counts):
        assert row["tags"] <= TAG_LIMIT, f"{row['path']} has too many tags"
