"""Archives: a subtree packed into one node, as JSON text of its members with their paths, kinds, modes and contents."""

import json
from dataclasses import astuple, replace
from typing import Annotated

from typing_extensions import TypedDict

from proverl.core import canonical_json
from proverl.envs import Context, Rejected
from proverl.envs.servers.filesystem.app import server
from proverl.envs.servers.filesystem.parameters import AnyPath, ArchiveName, ArchivePath, DirectoryPath
from proverl.envs.servers.filesystem.paths import caller, expect, locate, name_of
from proverl.envs.servers.filesystem.rules import check_readable, free_path
from proverl.envs.servers.filesystem.tree import Member, make, pack, plant


class Packed(TypedDict):
    """A new archive, the entries in it and its size."""

    path: ArchivePath
    entries: int
    bytes: int


class Unpacked(TypedDict):
    """What came out of an archive, and how many entries it has."""

    path: AnyPath
    entries: int


def members_of(content: str) -> list[Member]:
    """The members in an archive's content, the top first; paths begin with the top's name."""
    return [Member(*values) for values in json.loads(content)]


@server.tool(
    phrases=[
        "pack {source} into an archive called {name}[ in {directory}]",
        "archive {source} as {name}[, saved under {directory}]",
        "create the archive {name} from {source}[ and keep it in {directory}]",
    ],
    brief=[
        "pack something into an archive",
        "pack {source} into an archive",
        "create an archive called {name}",
    ],
)
def create_archive(
    ctx: Context,
    source: Annotated[AnyPath, "File or directory to pack; it stays as it is"],
    name: Annotated[ArchiveName, "Name of the archive, ending in .tar"],
    directory: Annotated[DirectoryPath, "Where to put it; by default the working directory"] = ".",
) -> Packed:
    """Pack a file or directory into a new .tar archive."""
    who = caller(ctx)
    if not name.endswith(".tar"):
        raise Rejected(f"the name of an archive ends in .tar, {name!r} does not; {name + '.tar'!r} would do")
    node = locate(ctx, who, source)
    top = name_of(node["path"]).strip("/") or "root"
    members = [replace(member, path=top + member.path) for member in pack(ctx, who, node)]
    content = canonical_json([list(astuple(member)) for member in members])
    place = expect(locate(ctx, who, directory), "directory")
    row = make(ctx, who, place, free_path(ctx, who, place, name), "archive", content)
    return {"path": row["path"], "entries": len(members), "bytes": row["bytes"]}


@server.tool(
    phrases=[
        "extract {path} into {destination}",
        "unpack {path} to {destination}",
        "open up {path} and put what is in it into {destination}",
    ],
    brief=[
        "unpack an archive",
        "extract {path}",
        "unpack an archive into {destination}",
    ],
)
def extract_archive(
    ctx: Context,
    path: Annotated[ArchivePath, "Archive to unpack; it stays as it is"],
    destination: Annotated[DirectoryPath, "Existing directory that gets the contents"],
) -> Unpacked:
    """Unpack an archive into a directory. Nothing is overwritten."""
    who = caller(ctx)
    archive = check_readable(who, expect(locate(ctx, who, path), "archive"))
    members = members_of(archive["content"])
    place = expect(locate(ctx, who, destination), "directory")
    top = members[0].path
    target = free_path(ctx, who, place, top)
    plant(ctx, who, place, target, [replace(member, path=member.path[len(top) :]) for member in members])
    return {"path": target, "entries": len(members)}
