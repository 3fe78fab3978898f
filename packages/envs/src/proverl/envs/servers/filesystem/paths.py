"""From what a caller writes to a node: `~`, relative paths, `.` and `..`, links, and who may pass on the way.

`..` is taken by name before links are followed, as a shell's `cd` does; above the root it stays at the root.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from sqlalchemy import bindparam, select

from proverl.envs import Context, NotFound, Rejected
from proverl.envs.servers.filesystem.tables import ROOT, TRASH, Node, Shell, User
from proverl.envs.state import Row

READ, WRITE, ENTER = 4, 2, 1
LINK_HOPS = 8  # links followed for one path before it counts as a loop

_node: Any = Node.__table__
_caller = select(Shell.user, Shell.working_directory, User.groups).join(User, User.name == Shell.user)
_start = select(_node).where(_node.c.path == bindparam("path")).cte("lineage", recursive=True)
_lineage = select(_start.union_all(select(_node).join(_start, _node.c.path == _start.c.parent)))
_names = select(Node.path).where(Node.parent == bindparam("parent")).order_by(Node.path)


@dataclass(frozen=True)
class Caller:
    """The user of the session and where they stand."""

    name: str
    groups: tuple[str, ...]
    working_directory: str

    @property
    def home(self) -> str:
        """The user's home directory."""
        return f"/home/{self.name}"

    @property
    def trash(self) -> str:
        """The directory that keeps what the user moved to the trash."""
        return f"{self.home}/{TRASH}"

    def may(self, node: Row, bits: int) -> bool:
        """Whether the mode of a node grants all of these bits to the user."""
        shift = 6 if node["owner"] == self.name else 3 if node["group"] in self.groups else 0
        return (node["mode"] >> shift) & bits == bits


def caller(ctx: Context) -> Caller:
    """Who calls."""
    (row,) = ctx.rows(_caller)
    return Caller(row["user"], tuple(row["groups"]), row["working_directory"])


def join(directory: str, name: str) -> str:
    """The path of a name in a directory."""
    return f"/{name}" if directory == ROOT else f"{directory}/{name}"


def name_of(path: str) -> str:
    """The last part of an absolute path; the root's name is `/`."""
    return path.rpartition("/")[2] or ROOT


def is_within(path: str, directory: str) -> bool:
    """Whether a path is a directory's own or lies below it."""
    return directory == ROOT or path == directory or path.startswith(f"{directory}/")


def absolute(who: Caller, text: str) -> str:
    """The absolute path that a text means for its caller, links not followed."""
    if any(ord(char) < 32 for char in text):
        raise Rejected(f"path {text!r} has control characters; a path is plain text such as '~/notes'")
    if text == "~" or text.startswith("~/"):
        text = who.home + text[1:]
    elif not text.startswith("/"):
        text = f"{who.working_directory}/{text}"
    parts: list[str] = []
    for part in text.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return ROOT + "/".join(parts)


def locate(ctx: Context, who: Caller, text: str, follow: bool = True) -> Row:
    """The node that a text means; a link at its end is followed unless `follow` is false.

    Raises NotFound when there is none; Rejected when a directory on the way may not be entered, or links run in a loop.
    """
    path = absolute(who, text)
    lineage = _rows(ctx, path)
    if not lineage or (follow and lineage[0]["kind"] == "link"):
        path = _follow(ctx, who, path, follow)
        lineage = _rows(ctx, path)
    for directory in lineage[1:]:
        check_enter(who, directory)
    return lineage[0]


def check_enter(who: Caller, directory: Row) -> None:
    """Refuse to pass through a directory without the execute bit."""
    if not who.may(directory, ENTER):
        raise denied(who, directory, "enter")


def denied(who: Caller, node: Row, verb: str) -> Rejected:
    """The refusal for a missing permission bit."""
    owner = "you, its owner, can set that with change_path_permissions" if node["owner"] == who.name else ""
    mode = f"owner {node['owner']}, group {node['group']}, mode {node['mode']:03o}"
    advice = owner or f"ask {node['owner']}, or use a path that you own"
    return Rejected(f"permission denied: {who.name} may not {verb} {node['path']!r} ({mode}); {advice}")


def expect(node: Row, kind: str) -> Row:
    """Return the node when it is of this kind. Raises Rejected that says what it is and which tool takes that."""
    if node["kind"] == kind:
        return node
    advice = {
        "directory": "list_directory shows what is in it",
        "archive": "extract_archive unpacks it",
        "file": f"the directory it lies in is {node['parent']!r}"
        if kind == "directory"
        else "create_archive makes one",
        "link": "it is a link",
    }[node["kind"]]
    raise Rejected(f"{node['path']!r} is {_article(node['kind'])}, not {_article(kind)}; {advice}")


def _article(kind: str) -> str:
    return f"an {kind}" if kind == "archive" else f"a {kind}"


def _rows(ctx: Context, path: str) -> list[Row]:
    """The node at a path, then its ancestors upwards; empty when there is no such node."""
    return sorted(ctx.rows(_lineage, path=path), key=lambda row: -len(row["path"]))


def _follow(ctx: Context, who: Caller, path: str, last: bool) -> str:
    """Walk a path name by name through the links in it and return where it leads."""
    here, hops = ctx.get(Node, ROOT), 0
    waiting = [part for part in reversed(path.split("/")) if part]
    while waiting:
        name = waiting.pop()
        check_enter(who, expect(here, "directory"))
        node = ctx.find(Node, join(here["path"], name))
        if node is None:
            raise _missing(ctx, who, path, here, name)
        if node["kind"] == "link" and (waiting or last):
            hops += 1
            if hops > LINK_HOPS:
                raise Rejected(f"too many links at {path!r}: {node['path']!r} links in a loop; delete one of the links")
            waiting.extend(part for part in reversed(node["content"].split("/")) if part)
            node = ctx.get(Node, ROOT)
        here = node
    return str(here["path"])


def _missing(ctx: Context, who: Caller, path: str, directory: Row, name: str) -> NotFound:
    where = directory["path"]
    near: list[str] = []
    if who.may(directory, READ):
        names = [name_of(row["path"]) for row in ctx.rows(_names, parent=where)]
        near = get_close_matches(name, names, n=1)
    at = join(where, name)
    broken = "" if is_within(path, at) else f" ({path!r} goes through a link)"
    advice = f"did you mean {join(where, near[0])!r}?" if near else f"list_directory shows what {where!r} has"
    return NotFound(f"no such file or directory: {at!r}{broken}; {advice}")
