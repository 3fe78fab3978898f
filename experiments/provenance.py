"""What else decides a run's figures: the code, the locked packages and the machine."""

import os
import platform
import subprocess
from pathlib import Path

from experiments.cache import file_digest

ROOT = Path(__file__).parents[1]


def provenance() -> dict[str, str]:
    """Return commit, whether files differ from it, the lock's hash, and the machine; "unknown" outside a checkout."""
    changed = _git("status", "--porcelain")
    return {
        "git.commit": _git("rev-parse", "HEAD") or "unknown",
        "git.dirty": "unknown" if changed is None else str(bool(changed)).lower(),
        "lock.sha256": file_digest(ROOT / "uv.lock") if (ROOT / "uv.lock").exists() else "unknown",
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs",
    }


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
