"""Laying out the nodes of a start state."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from random import Random

from proverl.core import canonical_json
from proverl.envs.servers.filesystem.tables import ROOT
from proverl.envs.state import Row


class Disk:
    """Nodes being laid out; a parent must be there before its children."""

    def __init__(self, rng: Random, now: datetime) -> None:
        self.rng = rng
        self.now = now
        self.rows: dict[str, Row] = {}

    def add(self, path: str, kind: str, text: str, owner: str, group: str, mode: int) -> str:
        """Add a node, last changed within two years before now, and return its path."""
        parent = path.rpartition("/")[0] or ROOT
        if path != ROOT and self.rows[parent]["kind"] != "directory":
            raise ValueError(f"{parent!r} is no directory")
        age = timedelta(days=self.rng.randint(1, 700), minutes=self.rng.randrange(600))
        self.rows[path] = {
            "path": path,
            "kind": kind,
            "owner": owner,
            "group": group,
            "mode": mode,
            "content": text,
            "modified": (self.now - age).isoformat(timespec="minutes"),
        }
        return path

    def directory(self, path: str, owner: str = "root", group: str = "root", mode: int = 0o755) -> str:
        """Add a directory and return its path."""
        return self.add(path, "directory", "", owner, group, mode)

    def file(self, path: str, text: str, owner: str = "root", group: str = "root", mode: int = 0o644) -> str:
        """Add a text file and return its path."""
        return self.add(path, "file", text, owner, group, mode)


class Home:
    """The home directory of one user; what is added belongs to that user."""

    def __init__(self, disk: Disk, user: str, mode: int = 0o755) -> None:
        self.disk = disk
        self.user = user
        self.path = disk.directory(f"/home/{user}", user, "staff", mode)

    def directory(self, name: str, mode: int = 0o755) -> str:
        """Add a directory below the home and return its name there."""
        self.disk.directory(f"{self.path}/{name}", self.user, "staff", mode)
        return name

    def file(self, name: str, text: str, mode: int = 0o644) -> str:
        """Add a text file and return its path."""
        return self.disk.file(f"{self.path}/{name}", text, self.user, "staff", mode)

    def link(self, name: str, target: str) -> str:
        """Add a link, to whatever its target may be, and return its path."""
        return self.disk.add(f"{self.path}/{name}", "link", target, self.user, "staff", 0o777)

    def archive(self, name: str, members: Iterable[tuple[str, str, int, str]]) -> str:
        """Add an archive of members (path, kind, mode, content) and return its path."""
        text = canonical_json([list(member) for member in members])
        return self.disk.add(f"{self.path}/{name}", "archive", text, self.user, "staff", 0o644)
