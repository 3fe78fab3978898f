"""What is in files: whole, first or last lines, counts, matches, differences, checksums."""

import hashlib
import zlib
from difflib import unified_diff
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from proverl.envs import Context, Count
from proverl.envs.servers.filesystem.app import server
from proverl.envs.servers.filesystem.parameters import AnyPath, FilePath, SearchText
from proverl.envs.servers.filesystem.paths import READ, Caller, caller, expect, locate
from proverl.envs.servers.filesystem.rules import check_readable
from proverl.envs.servers.filesystem.tree import visible
from proverl.envs.state import Row

_SHOWN = 120  # characters of a matching line
_DIFF_LINES = 12

LineCount = Annotated[int, Field(ge=1, le=100, examples=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20])]


class FileText(TypedDict):
    """A file and text from it."""

    path: FilePath
    content: str


class WordCount(TypedDict):
    """How long a text is."""

    path: FilePath
    lines: int
    words: int
    characters: int


class Match(TypedDict):
    """A line that holds the text searched for; lines count from 1."""

    path: FilePath
    line: int
    text: str


class Matches(TypedDict):
    """The first matching lines, and how many there are in all."""

    matches: list[Match]
    total: int


class Comparison(TypedDict):
    """How two files differ; each difference begins with - (first file only) or + (second file only)."""

    identical: bool
    removed: int
    added: int
    differences: list[str]


class Checksum(TypedDict):
    """A checksum as hexadecimal digits."""

    path: FilePath
    algorithm: str
    checksum: str


def open_file(ctx: Context, who: Caller, path: str) -> Row:
    """The text file at a path, which the caller may read."""
    return check_readable(who, expect(locate(ctx, who, path), "file"))


@server.tool(
    read_only=True,
    phrases=[
        "read {path}",
        "show me what {path} says",
        "open {path} and give me its text",
        "print all of {path}",
    ],
    brief=[
        "read a file to me",
        "show me everything a file says",
    ],
)
def read_file(ctx: Context, path: Annotated[FilePath, "Text file to read"]) -> FileText:
    """Return the whole content of a text file."""
    file = open_file(ctx, caller(ctx), path)
    return {"path": file["path"], "content": file["content"]}


@server.tool(
    read_only=True,
    phrases=[
        "show the beginning of {path}[, {lines} lines of it]",
        "print the first lines of {path}[ ({lines} of them)]",
        "look at the top[ {lines} lines] of {path}",
    ],
    brief=[
        "show the beginning of a file",
        "print the first lines of a file",
    ],
)
def show_file_head(
    ctx: Context,
    path: Annotated[FilePath, "Text file to read"],
    lines: Annotated[LineCount, "Number of lines"] = 5,
) -> FileText:
    """Return the first lines of a text file."""
    file = open_file(ctx, caller(ctx), path)
    return {"path": file["path"], "content": "".join(file["content"].splitlines(keepends=True)[:lines])}


@server.tool(
    read_only=True,
    phrases=[
        "show the end of {path}[, {lines} lines of it]",
        "print the last lines of {path}[ ({lines} of them)]",
        "see how {path} ends[, last {lines} lines]",
    ],
    brief=[
        "show the end of a file",
        "print the last lines of a file",
    ],
)
def show_file_tail(
    ctx: Context,
    path: Annotated[FilePath, "Text file to read"],
    lines: Annotated[LineCount, "Number of lines"] = 5,
) -> FileText:
    """Return the last lines of a text file."""
    file = open_file(ctx, caller(ctx), path)
    return {"path": file["path"], "content": "".join(file["content"].splitlines(keepends=True)[-lines:])}


@server.tool(
    read_only=True,
    phrases=[
        "count the lines and words of {path}",
        "tell me how long the text in {path} is",
        "get the word count for {path}",
    ],
    brief=[
        "count the words of a file",
        "tell me how long a text is",
    ],
)
def count_file_words(ctx: Context, path: Annotated[FilePath, "Text file to measure"]) -> WordCount:
    """Count lines, words and characters of a text file."""
    file = open_file(ctx, caller(ctx), path)
    text = file["content"]
    return {
        "path": file["path"],
        "lines": len(text.splitlines()),
        "words": len(text.split()),
        "characters": len(text),
    }


@server.tool(
    read_only=True,
    phrases=[
        "search {path} for {text}[, showing at most {limit} lines]",
        "find where {text} is written in {path}",
        "look for the words {text} inside {path}[ (first {limit} hits)]",
        "check {path} for lines with {text}",
    ],
    brief=[
        "search for some text in my files",
        "search inside {path} for some text",
        "look for the words {text} inside my files",
    ],
)
def search_in_files(
    ctx: Context,
    text: Annotated[SearchText, "Text to look for; upper and lower case are the same"],
    path: Annotated[AnyPath, "A file, or a directory to search with all below it"],
    limit: Annotated[Count, "Lines shown at most"] = 5,
) -> Matches:
    """Find lines that contain a text, in one file or in all readable files of a directory. Leaves the trash out."""
    who = caller(ctx)
    top = locate(ctx, who, path)
    rows = [row for row in visible(ctx, who, top) if who.may(row, READ)] if top["kind"] == "directory" else []
    check_readable(who, top if top["kind"] == "directory" else expect(top, "file"))
    matches: list[Match] = [
        {"path": row["path"], "line": number, "text": line[:_SHOWN]}
        for row in rows or [top]
        if row["kind"] == "file"
        for number, line in enumerate(row["content"].splitlines(), start=1)
        if text.lower() in line.lower()
    ]
    return {"matches": matches[:limit], "total": len(matches)}


@server.tool(
    read_only=True,
    phrases=[
        "compare {path} with {other_path}",
        "show the differences between {path} and {other_path}",
        "check whether {other_path} is the same as {path}",
    ],
    brief=[
        "compare two files",
        "compare {path} with another file",
    ],
)
def compare_files(
    ctx: Context,
    path: Annotated[FilePath, "First text file"],
    other_path: Annotated[FilePath, "Second text file"],
) -> Comparison:
    """Compare two text files line by line."""
    who = caller(ctx)
    first, second = open_file(ctx, who, path)["content"], open_file(ctx, who, other_path)["content"]
    lines = list(unified_diff(first.splitlines(), second.splitlines(), n=0, lineterm=""))[2:]
    lines = [line for line in lines if not line.startswith("@@")]
    return {
        "identical": first == second,
        "removed": sum(line.startswith("-") for line in lines),
        "added": sum(line.startswith("+") for line in lines),
        "differences": [line[:_SHOWN] for line in lines[:_DIFF_LINES]],
    }


@server.tool(
    read_only=True,
    phrases=[
        "compute the checksum of {path}[ with {algorithm}]",
        "get the[ {algorithm}] hash of {path}",
        "give me a checksum for {path}[, {algorithm} please]",
    ],
    brief=[
        "compute a checksum",
        "get the hash of a file",
    ],
)
def checksum_file(
    ctx: Context,
    path: Annotated[FilePath, "File to sum up"],
    algorithm: Annotated[Literal["crc32", "md5", "sha256"], "Kind of checksum"] = "md5",
) -> Checksum:
    """Return the checksum of a file's content, to see whether two copies are equal."""
    file = open_file(ctx, caller(ctx), path)
    data = file["content"].encode()
    digits = f"{zlib.crc32(data):08x}" if algorithm == "crc32" else hashlib.new(algorithm, data).hexdigest()
    return {"path": file["path"], "algorithm": algorithm, "checksum": digits}
