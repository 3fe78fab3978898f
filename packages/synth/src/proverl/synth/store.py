"""Keeping on disk what is costly to find out, under a hash of what it follows from."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile

from platformdirs import user_cache_path

from proverl.core import Json, canonical_json


def default_folder() -> Path:
    """The user's cache folder for this, e.g. ~/.cache/proverl."""
    return user_cache_path("proverl")


def kept(folder: Path | None, key: Json, make: Callable[[], Json]) -> Json:
    """What `make` returned for this key, in this process or an earlier one; `folder` None keeps nothing.

    A file that cannot be read is made again; two processes that write it at once leave one whole file.
    """
    if folder is None:
        return make()
    path = folder / f"{hashlib.sha256(canonical_json(key).encode()).hexdigest()}.json"
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        value = make()
    folder.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=folder, suffix=".part", delete=False) as file:
        file.write(canonical_json(value))
    os.replace(file.name, path)  # noqa: PTH105
    return value
