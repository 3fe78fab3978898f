"""What a failure means for the user: one sentence that names it and what would be right, or nothing for a bug."""

import errno
import shutil
from collections.abc import Iterator
from pathlib import Path

from experiments.config import RunError

_FULL = (errno.ENOSPC, errno.EDQUOT)
_NO_FOLDER = (errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP)
_FULL_TEXTS = ("No space left on device", "database or disk is full", "Disk quota exceeded")


def sentence(error: BaseException) -> str | None:
    """Return what to tell the user, or None when the error is ours and deserves a traceback."""
    for one in _chain(error):
        if getattr(one, "errno", None) in _FULL or any(text in str(one) for text in _FULL_TEXTS):
            place = getattr(one, "filename", None)
            free = shutil.disk_usage(Path.cwd()).free // 2**20
            where = f"The disk of {place}" if place else "The disk"
            return f"{where} is full ({free} MB free here): free some space, or set runs_dir to another disk."
    if isinstance(error, RunError):
        return str(error)
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{error.filename} is not there: check the path, or leave the key out to use what is shipped."
    if isinstance(error, OSError) and error.filename and error.errno in _NO_FOLDER:
        return f"{error.filename} can't be made ({error.strerror}): set runs_dir to a folder that can be written."
    if isinstance(error, PermissionError) and error.filename:
        return f"{error.filename} may not be used by this user: change its permissions, or set runs_dir elsewhere."
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
