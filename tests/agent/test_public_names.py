"""What the package offers, and what importing it costs."""

import subprocess
import sys

import proverl.agent


def test_every_public_name_exists_and_says_what_it_is():
    for name in proverl.agent.__all__:
        offered = getattr(proverl.agent, name)
        assert name in ("Message", "Generate") or offered.__doc__, name


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, proverl.agent; print([m for m in ('torch', 'transformers', 'verl', 'openai') if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
