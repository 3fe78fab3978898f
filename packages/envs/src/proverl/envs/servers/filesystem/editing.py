"""Changing what is in files: create, overwrite, append, replace, sort, join, split."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.filesystem.app import server
from proverl.envs.servers.filesystem.parameters import (
    Content,
    DirectoryPath,
    FileName,
    FilePath,
    Replacement,
    SearchText,
)
from proverl.envs.servers.filesystem.paths import Caller, caller, expect, locate
from proverl.envs.servers.filesystem.reading import open_file
from proverl.envs.servers.filesystem.rules import check_text, check_writable, free_path
from proverl.envs.servers.filesystem.tree import make, rewrite
from proverl.envs.state import Row

_MAX_PARTS = 10


class FileSize(TypedDict):
    """A file and its size."""

    path: FilePath
    bytes: int


class Replaced(TypedDict):
    """A file and how often the text was replaced in it."""

    path: FilePath
    replacements: int


class LinesKept(TypedDict):
    """A file and the number of its lines."""

    path: FilePath
    lines: int


class Parts(TypedDict):
    """The parts of a file that was split, in order."""

    parts: list[LinesKept]


def _editable(ctx: Context, who: Caller, path: str) -> Row:
    """The text file at a path, which the caller may write."""
    file = expect(locate(ctx, who, path), "file")
    check_writable(ctx, who, file)
    return file


@server.tool(
    phrases=[
        "create a file named {name}[ in {directory}][ with the text {content}]",
        "make a new file {name}[ that says {content}][ under {directory}]",
        "start a file called {name}[ in {directory}]",
    ],
    brief=[
        "create a new file",
        "start a new file[ in {directory}]",
    ],
)
def create_file(
    ctx: Context,
    name: Annotated[FileName, "Name of the new file"],
    directory: Annotated[DirectoryPath, "Where to put it; by default the working directory"] = ".",
    content: Annotated[Content | None, "Text to put in it; empty by default"] = None,
) -> FileSize:
    """Create a text file. Refused when the name is taken."""
    who = caller(ctx)
    place = expect(locate(ctx, who, directory), "directory")
    row = make(ctx, who, place, free_path(ctx, who, place, name), "file", check_text(content or ""))
    return {"path": row["path"], "bytes": row["bytes"]}


@server.tool(
    destructive=True,
    idempotent=True,
    phrases=[
        "write {content} to {path}, replacing what is there",
        "overwrite {path} with {content}",
        "set the whole text of {path} to {content}",
    ],
    brief=[
        "overwrite a file with something else",
        "overwrite {path}",
        "write {content} to a file, replacing what is there",
    ],
)
def write_file(
    ctx: Context,
    path: Annotated[FilePath, "Existing text file"],
    content: Annotated[Content, "Its new content"],
) -> FileSize:
    """Replace the whole content of an existing text file; create_file makes a new one."""
    file = _editable(ctx, caller(ctx), path)
    return {"path": file["path"], "bytes": rewrite(ctx, file, content)}


@server.tool(
    phrases=[
        "add the line {text} to the end of {path}",
        "append {text} to {path}",
        "put {text} at the bottom of {path}",
    ],
    brief=[
        "add a line to the end of a file",
        "add a line to the end of {path}",
        "append {text} to a file",
    ],
)
def append_to_file(
    ctx: Context,
    path: Annotated[FilePath, "Existing text file"],
    text: Annotated[Content, "Text to add as a new last line"],
) -> FileSize:
    """Add a line to the end of an existing text file."""
    file = _editable(ctx, caller(ctx), path)
    old = file["content"]
    between = "" if old == "" or old.endswith("\n") else "\n"
    return {"path": file["path"], "bytes": rewrite(ctx, file, f"{old}{between}{text}\n")}


@server.tool(
    destructive=True,
    phrases=[
        "replace {old_text} by {new_text} in {path}",
        "change every {old_text} in {path} to {new_text}",
        "substitute {new_text} for {old_text} throughout {path}",
    ],
    brief=[
        "replace a word throughout a file",
        "change every {old_text} in {path}",
        "replace {old_text} by {new_text} in a file",
    ],
)
def replace_in_file(
    ctx: Context,
    path: Annotated[FilePath, "Existing text file"],
    old_text: Annotated[SearchText, "Text to replace, exactly as written"],
    new_text: Annotated[Replacement, "Text to put in its place"],
) -> Replaced:
    """Replace every occurrence of a text in a file. Refused when it does not occur."""
    file = _editable(ctx, caller(ctx), path)
    count = file["content"].count(old_text)
    if count == 0:
        raise Rejected(f"{old_text!r} does not occur in {file['path']!r}; read_file shows its text")
    rewrite(ctx, file, file["content"].replace(old_text, new_text))
    return {"path": file["path"], "replacements": count}


@server.tool(
    phrases=[
        "sort the lines of {path}[ in {order} order]",
        "put the lines of {path} into alphabetical order[, dropping duplicates: {unique}]",
        "order {path} line by line[, {order}][, without repeated lines: {unique}]",
    ],
    brief=[
        "sort the lines of a file",
        "put the lines of a file into order",
    ],
)
def sort_file_lines(
    ctx: Context,
    path: Annotated[FilePath, "Text file whose lines to sort"],
    order: Annotated[Literal["ascending", "descending"], "Direction"] = "ascending",
    unique: Annotated[bool, "Keep only one of equal lines"] = False,
) -> LinesKept:
    """Sort the lines of a text file in place."""
    file = _editable(ctx, caller(ctx), path)
    lines = file["content"].splitlines()
    kept = sorted(set(lines) if unique else lines, reverse=order == "descending")
    rewrite(ctx, file, "".join(f"{line}\n" for line in kept))
    return {"path": file["path"], "lines": len(kept)}


@server.tool(
    phrases=[
        "join {first} and {second} into a new file {name}[ in {directory}]",
        "merge {first} with {second} and save the result as {name}[ under {directory}]",
        "concatenate {first} and then {second} to a file called {name}",
    ],
    brief=[
        "join two files",
        "merge {first} with {second} in a new file",
        "join {first} and another file into a new file {name}",
    ],
)
def concatenate_files(
    ctx: Context,
    first: Annotated[FilePath, "File whose text comes first"],
    second: Annotated[FilePath, "File whose text follows"],
    name: Annotated[FileName, "Name of the new file"],
    directory: Annotated[DirectoryPath, "Where to put it; by default the working directory"] = ".",
) -> FileSize:
    """Write the texts of two files one after the other into a new file; both stay as they are."""
    who = caller(ctx)
    head, tail = open_file(ctx, who, first)["content"], open_file(ctx, who, second)["content"]
    between = "" if head == "" or head.endswith("\n") else "\n"
    place = expect(locate(ctx, who, directory), "directory")
    row = make(ctx, who, place, free_path(ctx, who, place, name), "file", check_text(head + between + tail))
    return {"path": row["path"], "bytes": row["bytes"]}


@server.tool(
    phrases=[
        "split {path} into parts of {lines_per_part} lines",
        "cut {path} into pieces, {lines_per_part} lines each",
        "break {path} up every {lines_per_part} lines",
    ],
    brief=[
        "split a file into parts",
        "split {path} into parts",
        "cut a file into pieces of {lines_per_part} lines",
    ],
)
def split_file(
    ctx: Context,
    path: Annotated[FilePath, "Text file to split; it stays as it is"],
    lines_per_part: Annotated[
        Annotated[int, Field(ge=1, le=100, examples=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10])], "Lines in each part"
    ],
) -> Parts:
    """Split a text file into numbered parts beside it: `name.part1`, `name.part2` and so on."""
    who = caller(ctx)
    file = open_file(ctx, who, path)
    lines = file["content"].splitlines(keepends=True)
    chunks = [lines[start : start + lines_per_part] for start in range(0, len(lines), lines_per_part)]
    if len(chunks) < 2:
        raise Rejected(f"{file['path']!r} has {len(lines)} lines, one part of {lines_per_part}; give fewer per part")
    if len(chunks) > _MAX_PARTS:
        raise Rejected(f"that makes {len(chunks)} parts, at most {_MAX_PARTS} are allowed; give more lines per part")
    place = locate(ctx, who, file["parent"])
    parts: list[LinesKept] = []
    for number, chunk in enumerate(chunks, start=1):
        name = f"{file['path'].rpartition('/')[2]}.part{number}"
        row = make(ctx, who, place, free_path(ctx, who, place, name), "file", "".join(chunk))
        parts.append({"path": row["path"], "lines": len(chunk)})
    return {"parts": parts}
