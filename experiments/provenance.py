"""What else decides a run's figures: the code and what was changed in it, locked packages, model and machine."""

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from experiments.cache import code_digest, digest, file_digest
from experiments.config import Config
from experiments.requirements import ALL_CODE
from proverl.core import Json
from proverl.trainer import model_path
from proverl.trainer.machine import config_file, gpus_and_driver

ROOT = Path(__file__).parents[1]
FILE = "provenance.json"  # in a job's folder
_WEIGHTS = ("*.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
_HASHES = "model_hashes.json"  # in the runs folder: of files, by path, size and time of their last change
_LONGEST_DIFF = 1 << 20  # bytes
_MOST_NAMES = 1000


def provenance() -> dict[str, str]:
    """Commit, whether files differ from it and how, hashes of code and lock, and the machine; "unknown" if it is so."""
    changed = _git("status", "--porcelain")
    diff = _git("diff", "HEAD", "--binary")
    return {
        "git.commit": _git("rev-parse", "HEAD") or "unknown",
        "git.dirty": "unknown" if changed is None else str(bool(changed)).lower(),
        "git.diff.sha256": "unknown" if diff is None else hashlib.sha256(diff.encode()).hexdigest(),
        "code.hash": code_digest((*ALL_CODE, "experiments")),
        "lock.sha256": file_digest(ROOT / "uv.lock") if (ROOT / "uv.lock").exists() else "unknown",
        "python": platform.python_version(),
        **hardware(),
    }


def hardware() -> dict[str, str]:
    """This machine: CPU, cores that this process may use, memory, GPUs and their driver."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    gpus, driver = gpus_and_driver()
    return {
        "hardware.cpu": f"{_cpu()}, {platform.machine()}",
        "hardware.cores": str(cores),
        "hardware.memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "hardware.gpus": ", ".join(gpu.name for gpu in gpus) or "none",
        "hardware.driver": driver or "none",
    }


def write_changes(folder: Path) -> Iterator[Path]:
    """Write what differs from the commit: the diff, cut at a megabyte, and names of files that git does not know."""
    diff, untracked = _git("diff", "HEAD", "--binary"), _git("ls-files", "--others", "--exclude-standard")
    if diff:
        path = folder / "dirty.diff"
        cut = "" if len(diff) <= _LONGEST_DIFF else f"\n... cut: {len(diff):,} characters in all\n"
        path.write_text(diff[:_LONGEST_DIFF] + "\n" + cut)
        yield path
    if untracked:
        names = untracked.splitlines()
        path = folder / "untracked.txt"
        more = [f"... and {len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
        path.write_text("\n".join([*names[:_MOST_NAMES], *more]) + "\n")
        yield path


def model_hash(config: Config) -> dict[str, str]:
    """The hash of the start model's weights, tokenizer and settings; nothing when they are not on this machine."""
    try:
        folder = model_folder(model_path(config.model))
    except FileNotFoundError:
        return {}
    files = sorted(file for pattern in _WEIGHTS for file in folder.glob(pattern)) if folder else []
    if not any(file.suffix == ".safetensors" for file in files):
        return {}
    found: dict[str, Json] = {file.name: hash_once(file, Path(config.runs_dir) / _HASHES) for file in files}
    return {"model.hash": digest(found)}


def model_folder(path: str | Path) -> Path | None:
    """Where a model's files are: the folder itself, or that of a Hugging Face id in the cache."""
    if Path(path).is_dir():
        return Path(path)
    file = config_file(str(path))
    return file.parent if file else None


def hash_once(file: Path, kept: Path) -> str:
    """The SHA-256 of a file, which `kept` remembers until the file's size or time of change is another."""
    known: dict[str, str] = {}
    with suppress(OSError, ValueError):
        known = json.loads(kept.read_text())
    status = file.stat()
    key = f"{file.resolve()} {status.st_size} {status.st_mtime_ns}"
    if key not in known:
        known[key] = file_digest(file)
        partial = kept.with_name(f"{kept.name}.{os.getpid()}.partial")
        partial.write_text(json.dumps(known, indent=1))
        partial.replace(kept)
    return known[key]


def _cpu() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip()
