"""Changing the tree: make directories and links, copy, move, rename, delete."""

from typing import Annotated

from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.filesystem.app import server
from proverl.envs.servers.filesystem.parameters import AnyPath, DirectoryName, DirectoryPath, NewName
from proverl.envs.servers.filesystem.paths import caller, expect, is_within, locate, name_of
from proverl.envs.servers.filesystem.rules import check_detachable, check_removable, free_path
from proverl.envs.servers.filesystem.tree import make, move, pack, plant, remove, subtree


class Made(TypedDict):
    """A new directory."""

    path: DirectoryPath


class Copied(TypedDict):
    """A copy, and how many files, directories and links it has in all."""

    path: AnyPath
    entries: int


class Moved(TypedDict):
    """Where something is now, and where it was."""

    path: AnyPath
    old_path: str


class Linked(TypedDict):
    """A new link and what it leads to."""

    path: AnyPath
    target: str


class Deleted(TypedDict):
    """What is gone, with the entries and bytes that it had."""

    deleted: str
    entries: int
    freed_bytes: int


@server.tool(
    phrases=[
        "create a folder {name}[ in {directory}]",
        "make a new directory called {name}[ under {directory}]",
        "set up a subfolder named {name}[ inside {directory}]",
    ],
    brief=[
        "create a new folder",
        "make a new directory[ under {directory}]",
    ],
)
def create_directory(
    ctx: Context,
    name: Annotated[DirectoryName, "Name of the new directory"],
    directory: Annotated[DirectoryPath, "Where to put it; by default the working directory"] = ".",
) -> Made:
    """Create an empty directory. Refused when the name is taken."""
    who = caller(ctx)
    place = expect(locate(ctx, who, directory), "directory")
    return {"path": make(ctx, who, place, free_path(ctx, who, place, name), "directory")["path"]}


@server.tool(
    phrases=[
        "copy {source} into {destination}[ as {new_name}]",
        "put a copy of {source} in {destination}[ and call it {new_name}]",
        "duplicate {source} to {destination}[ under the name {new_name}]",
    ],
    brief=[
        "copy something",
        "make a copy of {source}",
        "put a copy of something in {destination}",
    ],
)
def copy_path(
    ctx: Context,
    source: Annotated[AnyPath, "File or directory to copy, with all that is in it"],
    destination: Annotated[DirectoryPath, "Existing directory that gets the copy"],
    new_name: Annotated[NewName | None, "Name of the copy; by default the same name"] = None,
) -> Copied:
    """Copy a file or a whole directory into another directory. The copy is yours; nothing is overwritten."""
    who = caller(ctx)
    node = locate(ctx, who, source)
    place = expect(locate(ctx, who, destination), "directory")
    if is_within(place["path"], node["path"]):
        raise Rejected(f"can't copy {node['path']!r} into itself; choose a destination outside it")
    path = free_path(ctx, who, place, new_name or name_of(node["path"]))
    members = pack(ctx, who, node)
    plant(ctx, who, place, path, members)
    return {"path": path, "entries": len(members)}


@server.tool(
    phrases=[
        "move {source} to {destination}",
        "put {source} into {destination} instead",
        "take {source} and relocate it to {destination}",
    ],
    brief=[
        "move something to another folder",
        "move {source} to another folder",
        "move something into {destination}",
    ],
)
def move_path(
    ctx: Context,
    source: Annotated[AnyPath, "File, directory, link or archive to move; a link itself is moved"],
    destination: Annotated[DirectoryPath, "Existing directory to move it into"],
) -> Moved:
    """Move something into another directory; rename_path changes its name. Nothing is overwritten."""
    who = caller(ctx)
    node = locate(ctx, who, source, follow=False)
    place = expect(locate(ctx, who, destination), "directory")
    if is_within(place["path"], node["path"]):
        raise Rejected(f"can't move {node['path']!r} into itself; choose a destination outside it")
    if place["path"] == node["parent"]:
        raise Rejected(f"{node['path']!r} already lies in {place['path']!r}; rename_path changes its name")
    check_detachable(ctx, who, node)
    path = free_path(ctx, who, place, name_of(node["path"]))
    move(ctx, node, path)
    return {"path": path, "old_path": node["path"]}


@server.tool(
    phrases=[
        "rename {path} to {new_name}",
        "give {path} the new name {new_name}",
        "change the name of {path} to {new_name}",
    ],
    brief=[
        "rename something",
        "give {path} a new name",
        "rename something to {new_name}",
    ],
)
def rename_path(
    ctx: Context,
    path: Annotated[AnyPath, "File, directory, link or archive to rename"],
    new_name: Annotated[NewName, "New name, without directory"],
) -> Moved:
    """Rename something where it lies; move_path brings it to another directory."""
    who = caller(ctx)
    node = locate(ctx, who, path, follow=False)
    check_detachable(ctx, who, node)
    new_path = free_path(ctx, who, locate(ctx, who, node["parent"]), new_name)
    move(ctx, node, new_path)
    return {"path": new_path, "old_path": node["path"]}


@server.tool(
    destructive=True,
    phrases=[
        "delete {path} for good[, with everything in it: {recursive}]",
        "permanently remove {path}[ (contents too: {recursive})]",
        "erase {path} without keeping it in the trash[, recursively: {recursive}]",
    ],
    brief=[
        "delete something for good",
        "permanently remove a file or folder",
    ],
)
def delete_path(
    ctx: Context,
    path: Annotated[AnyPath, "File, directory, link or archive to delete; a link's target stays"],
    recursive: Annotated[bool, "Needed for a directory that is not empty"] = False,
) -> Deleted:
    """Delete something for good; trash_path keeps it restorable."""
    who = caller(ctx)
    node = locate(ctx, who, path, follow=False)
    check_removable(ctx, who, node)
    rows = subtree(ctx, node["path"])
    if len(rows) > 1 and not recursive:
        raise Rejected(f"directory not empty: {node['path']!r} has {len(rows) - 1} entries; set recursive to delete it")
    remove(ctx, node["path"])
    return {"deleted": node["path"], "entries": len(rows), "freed_bytes": sum(row["bytes"] for row in rows)}


@server.tool(
    phrases=[
        "create a link named {name} that leads to {target}[, placed in {directory}]",
        "link to {target} under the name {name}[ from {directory}]",
        "make a shortcut {name} for {target}[ in {directory}]",
    ],
    brief=[
        "create a symbolic link",
        "make a shortcut for {target}",
        "create a link named {name}",
    ],
)
def create_link(
    ctx: Context,
    target: Annotated[AnyPath, "What the link leads to"],
    name: Annotated[NewName, "Name of the link"],
    directory: Annotated[DirectoryPath, "Where to put it; by default the working directory"] = ".",
) -> Linked:
    """Create a symbolic link to a file or directory."""
    who = caller(ctx)
    node = locate(ctx, who, target, follow=False)
    place = expect(locate(ctx, who, directory), "directory")
    row = make(ctx, who, place, free_path(ctx, who, place, name), "link", node["path"])
    return {"path": row["path"], "target": node["path"]}
