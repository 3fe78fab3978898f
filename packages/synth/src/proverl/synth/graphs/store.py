"""Keeping on disk what is costly to find out, under a hash of what it follows from."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile

from platformdirs import user_cache_path

from proverl.core import Json, canonical_json


def default_folder() -> Path:
    """The user's cache folder for this, e.g. ~/.cache/proverl."""
    return user_cache_path("proverl")


def kept(folder: Path | None, key: Json, make: Callable[[], Json]) -> Json:
    """What `make` returned for this key, in this process or an earlier one; `folder` None keeps nothing."""
    value = read(folder, key)
    if value is None:
        value = make()
        write(folder, key, value)
    return value


def read(folder: Path | None, key: Json) -> Json:
    """What was written for this key; None when nothing was, or it cannot be read."""
    try:
        return None if folder is None else json.loads(_path(folder, key).read_text())
    except (OSError, ValueError):
        return None


def write(folder: Path | None, key: Json, value: Json) -> None:
    """Keep a value; of two processes that write it at once, one leaves a whole file."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=folder, suffix=".part", delete=False) as file:
        file.write(canonical_json(value))
    Path(file.name).replace(_path(folder, key))


def _path(folder: Path, key: Json) -> Path:
    return folder / f"{hashlib.sha256(canonical_json(key).encode()).hexdigest()}.json"
