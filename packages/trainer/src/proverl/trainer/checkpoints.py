"""Which checkpoints count: those whose saving ended. verl's own marker is written in place and can be torn."""

import shutil
from pathlib import Path
from typing import Any

_MARK = "COMPLETE"


def latest(folder: Path) -> int:
    """Step of the last complete checkpoint, 0 when there is none."""
    return max((_step(path) for path in folder.glob("global_step_*") if (path / _MARK).exists()), default=0)


def remove_incomplete(folder: Path) -> None:
    """Delete what a killed run left half-written."""
    for path in folder.glob("global_step_*"):
        if not (path / _MARK).exists():
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
    """verl's checkpoint callback: marks a checkpoint once all of it is written, then drops the oldest ones."""

    def __init__(self, config: Any) -> None:
        self.keep = config.trainer.get("keep_checkpoints", 2)

    def on_save(self, trainer: Any, global_step: int, checkpoint_dir: str, async_save: bool = False, **_: Any) -> None:
        """Called by verl after each save, on the driver."""
        folder = Path(checkpoint_dir)
        (folder / _MARK).touch()
        complete = sorted((p for p in folder.parent.glob("global_step_*") if (p / _MARK).exists()), key=_step)
        for path in complete[: -self.keep]:
            (path / _MARK).unlink()  # first, so that a torn deletion never counts as a checkpoint
            shutil.rmtree(path)
