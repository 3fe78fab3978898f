"""The tiny model: what it is, how it is warmed up, and where the shipped checkpoint lies."""

from pathlib import Path


def checkpoint_path() -> Path:
    """The folder of the shipped checkpoint, for `from_pretrained`. Raises FileNotFoundError when there is none."""
    place = Path(__file__).parent / "checkpoint"
    if not (place / "config.json").exists():
        raise FileNotFoundError(f"no checkpoint of the tiny model at {place}; make one with experiment=tiny_warmstart")
    return place


__all__ = ["checkpoint_path"]
