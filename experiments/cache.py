"""Stage outputs, kept under the hash of what they depend on (design rule 9).

`runs/stages/<stage>-<key>/` is complete or absent: a stage works in `<stage>-<key>.partial/`, which a killed run leaves
behind for the next one to go on with, and the finished folder gets its name in one rename. A file lock beside it lets
two jobs of a sweep that want the same output compute it once; the lock goes with the process, however that ends.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from experiments.config import RunError
from experiments.meter import Meter, Taken, read_taken
from proverl.core import Json, canonical_json

MANIFEST = "DONE.json"
_TRIES = "TRIES.json"  # in a stage's folder while it works: what its tries took so far


def digest(value: Json) -> str:
    """The first 16 hex digits of the SHA-256 of a JSON value's canonical text."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:16]


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_or_none(path: Path) -> str | None:
    return file_digest(path) if path.is_file() else None


def code_digest(packages: Iterable[str]) -> str:
    """The hash of every source and data file of the named packages and modules, as this process first saw them."""
    lines: list[Json] = [f"{name} {_package_digest(name)}" for name in sorted(set(packages))]
    return digest(lines)


@cache
def _package_digest(name: str) -> str:
    spec = find_spec(name)  # found, not imported
    roots = [Path(root) for root in spec.submodule_search_locations or ()] if spec else []
    files = [(root, path) for root in roots for path in root.rglob("*") if path.is_file()]
    if spec and spec.has_location and not roots and spec.origin:  # a module of one file
        files = [(Path(spec.origin).parent, Path(spec.origin))]
    lines: list[Json] = [
        f"{path.relative_to(root).as_posix()} {file_digest(path)}"
        for root, path in sorted(files)
        if "__pycache__" not in path.parts
    ]
    return digest(lines)


@dataclass(frozen=True)
class Entry:
    """One output: its stage, the key it lies under, and its folder once it is complete."""

    stage: str
    key: str
    directory: Path

    @property
    def partial(self) -> Path:
        """Where the stage works until it is done."""
        return self.directory.with_name(self.directory.name + ".partial")

    @property
    def done(self) -> bool:
        """Whether the output is complete."""
        return (self.directory / MANIFEST).is_file()

    def check(self) -> None:
        """Raise RunError for a folder whose files are not those that its stage wrote."""
        if not self.directory.exists():
            return
        try:
            files: Any = self.manifest()["files"]
            wrong = [name for name, seen in files.items() if _digest_or_none(self.directory / name) != seen]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # the manifest itself
            wrong = [MANIFEST]
        if wrong:
            names = f"{', '.join(wrong[:3])}{f' and {len(wrong) - 3} more' if len(wrong) > 3 else ''}"
            raise RunError(
                f"{self.directory} is damaged ({names} not as the stage {self.stage} wrote): delete that folder, "
                "and the same command makes it anew."
            )

    def manifest(self) -> dict[str, Json]:
        """What the stage depended on, what it took, and the hash of each file."""
        manifest: dict[str, Json] = json.loads((self.directory / MANIFEST).read_text())
        return manifest

    def data_hash(self) -> str:
        """The hash of all of the output's files."""
        return digest(self.manifest()["files"])


class StageCache:
    """The folder of stage outputs."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def entry(self, stage: str, depends: Json) -> Entry:
        """Return where the output that depends on `depends` lies, computed or not."""
        key = digest(depends)
        return Entry(stage, key, self.root / f"{stage}-{key}")

    def compute(
        self,
        entry: Entry,
        work: Callable[[Path], None],
        *,
        depends: Json = None,
        about: Json = None,
        resumes: bool = False,
        waiting: Callable[[], None] = lambda: None,
    ) -> bool:
        """Make sure that the output is there; return whether `work` had to be called for it.

        `work` fills the folder that it is given. With `resumes` it finds what a killed call of it left there and goes
        on; without, the folder is empty. `waiting` is called once if another process is computing the same output.
        The manifest keeps `depends`, `about`, and what all tries together took.
        """
        if entry.done:
            return False
        self.root.mkdir(parents=True, exist_ok=True)
        with _locked(self.root / f"{entry.directory.name}.lock", waiting):
            if entry.done:
                return False
            tries = entry.partial / _TRIES
            earlier = read_taken(tries)
            if not resumes and entry.partial.exists():
                shutil.rmtree(entry.partial)
            entry.partial.mkdir(exist_ok=True)
            with Meter(tries, earlier) as meter:
                work(entry.partial)
            _write_manifest(entry, depends, about, meter.taken())
            entry.partial.rename(entry.directory)
            (entry.directory / _TRIES).unlink(missing_ok=True)
        return True


@contextmanager
def _locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0.1)
    except Timeout:
        waiting()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _write_manifest(entry: Entry, depends: Json, about: Json, taken: Taken) -> None:
    files: dict[str, Json] = {
        path.relative_to(entry.partial).as_posix(): file_digest(path)
        for path in sorted(entry.partial.rglob("*"))
        if path.is_file() and path.name not in (MANIFEST, _TRIES)
    }
    manifest: dict[str, Json] = {
        "stage": entry.stage,
        "key": entry.key,
        **asdict(taken),
        "about": about,
        "depends": depends,
        "files": files,
    }
    with (entry.partial / MANIFEST).open("w") as file:
        json.dump(manifest, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
