"""Which checkpoints count: those whose saving ended. verl's own marker is written in place and can be torn."""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from proverl.trainer import validation
from proverl.trainer.verl_config import RunPaths

_MARK = "COMPLETE"  # holds the prints of all files, or nothing when they found no room
_EDGE = 2**20  # bytes at either end of a file that its print is of: weights are too large to be read once more


def latest(folder: Path) -> int:
    """Step of the last complete checkpoint, 0 when there is none."""
    return max(steps(folder), default=0)


def best(folder: Path) -> int:
    """Step of the complete checkpoint that was best on the dev split, or else of the last one."""
    return validation.best_step(RunPaths(folder.parent).metrics, steps(folder)) or latest(folder)


def steps(folder: Path) -> list[int]:
    """The steps of all complete checkpoints, in order."""
    return sorted(_step(path) for path in folder.glob("global_step_*") if complete(path))


def complete(checkpoint: Path) -> bool:
    """Whether all of it was written."""
    return (checkpoint / _MARK).exists()


def check(checkpoint: Path) -> None:
    """Raise ValueError for a complete checkpoint whose files are not those that were saved."""
    kept = (checkpoint / _MARK).read_text()
    try:
        files = json.loads(kept) if kept else {}  # empty: they found no room, or an earlier version wrote it
        wrong = [name for name, seen in files.items() if _print(checkpoint / name) != seen]
    except (ValueError, AttributeError):
        wrong = [_MARK]
    if wrong:
        raise ValueError(
            f"the checkpoint {checkpoint} is damaged: {', '.join(wrong[:3])}{' and more' * (len(wrong) > 3)} "
            f"{'is' if len(wrong) == 1 else 'are'} not what was saved; delete that folder to go on from an earlier one"
        )


def _print(path: Path) -> str:
    """Size and hash of a file's ends, "" for one that is not there."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        ends = hashlib.sha256(file.read(_EDGE))
        file.seek(max(0, size - _EDGE))
        ends.update(file.read(_EDGE))
    return f"{size} {ends.hexdigest()}"


def _mark(checkpoint: Path) -> None:
    files = {str(path.relative_to(checkpoint)): _print(path) for path in checkpoint.rglob("*") if path.is_file()}
    partial = checkpoint / f"{_MARK}.partial"
    try:
        partial.write_text(json.dumps(files))
        partial.replace(checkpoint / _MARK)
    except OSError:  # a full disk holds the checkpoint but no prints: it counts all the same
        (checkpoint / _MARK).touch()


def remove_incomplete(folder: Path) -> None:
    """Delete what a killed run left half-written."""
    for path in folder.glob("global_step_*"):
        if not complete(path):
            shutil.rmtree(path)


def has_room(folder: Path) -> bool:
    """Whether the disk holds another checkpoint as large as the last complete one; without one, True.

    Asked before saving: all ranks write at once, and when the write of one fails the others wait for it in vain.
    """
    last = folder / f"global_step_{latest(folder)}"
    needed = sum(path.stat().st_size for path in last.rglob("*") if path.is_file())
    return shutil.disk_usage(folder).free >= needed


def _step(path: Path) -> int:
    return int(path.name.removeprefix("global_step_"))


class MarkComplete:
    """verl's checkpoint callback: marks a checkpoint once all of it is written, then drops the oldest ones.

    The last `keep_checkpoints` stay, and the one that was best on the dev split.
    """

    def __init__(self, config: Any) -> None:
        self.keep = config.trainer.get("keep_checkpoints", 2)

    def on_save(self, trainer: Any, global_step: int, checkpoint_dir: str, async_save: bool = False, **_: Any) -> None:
        """Called by verl after each save, on the driver."""
        folder = Path(checkpoint_dir)
        _mark(folder)
        stays = best(folder.parent)
        kept = sorted((path for path in folder.parent.glob("global_step_*") if complete(path)), key=_step)
        for path in kept[: -self.keep]:
            if _step(path) != stays:
                (path / _MARK).unlink()  # first, so that a torn deletion never counts as a checkpoint
                shutil.rmtree(path)


class MarkAfterStep(MarkComplete):
    """The same, once the step has ended: verl saves before it validates and before the step's metrics are written."""

    saved: tuple[Any, int, str] | None = None

    def on_save(self, trainer: Any, global_step: int, checkpoint_dir: str, async_save: bool = False, **_: Any) -> None:
        """Called by verl after each save, on the driver."""
        self.saved = trainer, global_step, checkpoint_dir

    def step_ended(self) -> None:
        """Mark what this step saved, if anything."""
        if self.saved:
            super().on_save(*self.saved)
            self.saved = None
