"""Order and surroundings of the whole suite."""

import os
import sys
from pathlib import Path

import pytest

# two torch threads on a loaded machine are slower than one, by far
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))  # `experiments` is run from the checkout, not installed


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run what starts Ray and verl last: a fast failure shows first, and those tests share one Ray."""
    items.sort(key=lambda item: item.get_closest_marker("verl") is not None)
