"""What a machine offers a run, found out in a second on the machine itself; `preflight` says what is wrong with it.

Ray runs `look` on every node of a cluster, so nothing here imports torch or verl.
"""

import json
import os
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_RAY_SOCKET = "session_2026-01-01_00-00-00_000000_0000000/sockets/plasma_store"  # below Ray's folder, at its longest
_VLLM_SOCKET = "00000000-0000-0000-0000-000000000000"  # below VLLM_RPC_BASE_PATH
_SECONDS = 5.0  # for a connection, and for nvidia-smi


@dataclass(frozen=True)
class Gpu:
    """One GPU: its place in nvidia-smi's list, bytes of its memory, and its name."""

    index: int
    total: int
    free: int
    name: str = ""


@dataclass(frozen=True)
class Needs:
    """What a run asks of every machine that trains.

    gpus: of one machine, 0 on a CPU. gpu_memory: share of each that vLLM takes. weights: folder or Hugging Face id of
    the start model. folder: where the run writes. mark: a file in it that every machine must see, or "". disk: bytes
    that the run will write. starts_ray: whether it starts Ray itself. listener: host and port where the machine that
    trains listens.
    """

    gpus: int
    gpu_memory: float
    weights: str
    folder: str
    mark: str
    disk: int
    starts_ray: bool
    listener: tuple[str, int]


@dataclass(frozen=True)
class Machine:
    """What `look` found. Sizes are in bytes.

    gpus: those that the run may use. driver: of NVIDIA, "" when there is none. absent: what can't be had of the
    weights, names of files or all. sees_mark: whether the run's folder is the one that the machine that trains sees.
    free: on its disk. full: used share of the disk of temporary files. shared_memory: size of /dev/shm. sockets: the
    longest paths of Unix sockets. unreachable: why the listener can't be connected to, or "".
    """

    name: str
    gpus: tuple[Gpu, ...] = ()
    driver: str = ""
    absent: tuple[str, ...] = ()
    sees_mark: bool = True
    free: int = 0
    full: float = 0.0
    shared_memory: int = 0
    sockets: tuple[str, ...] = ()
    unreachable: str = ""


def look(needs: Needs) -> Machine:
    """Find out what this machine offers."""
    gpus, driver = gpus_and_driver() if needs.gpus else ((), "")
    temporary = tempfile.gettempdir()
    return Machine(
        name=socket.gethostname(),
        gpus=_visible(gpus) if needs.starts_ray else gpus,  # Ray hides all from a task that asks for none
        driver=driver,
        absent=absent_weights(needs.weights),
        sees_mark=not needs.mark or Path(needs.mark).exists(),
        free=shutil.disk_usage(_existing(needs.folder)).free,
        full=_used_share(temporary),
        shared_memory=shutil.disk_usage("/dev/shm").total if Path("/dev/shm").is_dir() else 0,
        sockets=_sockets(needs, temporary),
        unreachable=_unreachable(needs.listener),
    )


def gpus_and_driver() -> tuple[tuple[Gpu, ...], str]:
    """All GPUs and the driver's version, as nvidia-smi tells them; none where it is not or fails.

    One that shows no memory of its own has the machine's.
    """
    wanted = "index,memory.total,memory.free,driver_version,name"
    query = ["nvidia-smi", f"--query-gpu={wanted}", "--format=csv,noheader,nounits"]
    try:
        said = subprocess.run(query, capture_output=True, check=True, timeout=_SECONDS).stdout.decode(errors="replace")
    except (OSError, subprocess.SubprocessError):
        return (), ""
    lines = [[part.strip() for part in line.split(",", 4)] for line in said.splitlines()]
    rows = [line for line in lines if len(line) == 5 and line[0].isdecimal()]  # others are warnings
    whole, left = (os.sysconf("SC_PAGE_SIZE") * os.sysconf(f"SC_{kind}_PAGES") for kind in ("PHYS", "AVPHYS"))
    gpus = tuple(Gpu(int(row[0]), _bytes(row[1], whole), _bytes(row[2], left), row[4]) for row in rows)
    return gpus, rows[0][3] if rows else ""


def _bytes(mebibytes: str, otherwise: int) -> int:
    return int(mebibytes) << 20 if mebibytes.isdecimal() else otherwise


def _visible(gpus: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """Those that CUDA_VISIBLE_DEVICES leaves; which of them a UUID means is not known, so the first ones are taken."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return gpus
    parts = [part.strip() for part in chosen.split(",") if part.strip()]
    if all(part.isdigit() for part in parts):
        return tuple(gpu for gpu in gpus if str(gpu.index) in parts)
    return gpus[: len(parts)]


def absent_weights(weights: str) -> tuple[str, ...]:
    """Files that a model's folder lacks, or all of a Hugging Face id that is neither cached nor to be had here."""
    folder = Path(weights)
    if not folder.is_dir():
        return () if config_file(weights) or _reachable(weights) else (weights,)
    index = folder / "model.safetensors.index.json"
    wanted = set(json.loads(index.read_text())["weight_map"].values()) if index.exists() else {"model.safetensors"}
    return tuple(sorted(name for name in {"config.json", *wanted} if not (folder / name).exists()))


def parameters(weights: str) -> int:
    """How many numbers a model folder's weights hold; 0 when the folder is not here."""
    folder = Path(weights)
    size = sum(path.stat().st_size for path in folder.glob("*.safetensors")) if folder.is_dir() else 0
    if not size or not (folder / "config.json").exists():
        return 0
    config = json.loads((folder / "config.json").read_text())
    dtype = config.get("dtype") or config.get("torch_dtype") or "float32"
    return size // (2 if dtype in ("bfloat16", "float16") else 4)


def config_file(weights: str) -> Path | None:
    """The config.json of a model's folder, or of a Hugging Face id in the cache; None when it is not here."""
    if not weights:
        return None
    if (file := Path(weights) / "config.json").exists():
        return file
    from huggingface_hub import try_to_load_from_cache

    try:
        found = try_to_load_from_cache(weights, "config.json")
    except ValueError:  # not of the form OWNER/NAME
        return None
    return Path(found) if isinstance(found, str) else None


def _reachable(name: str) -> bool:
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(name, timeout=_SECONDS)
    except Exception:  # offline, no such model, no permission: the same to the user
        return False
    return True


def _existing(path: str) -> Path:
    """The nearest folder above that exists: the disk that a new folder will be on."""
    return next(folder for folder in (Path(path).resolve(), *Path(path).resolve().parents) if folder.is_dir())


def _used_share(folder: str) -> float:
    usage = shutil.disk_usage(folder)
    return 1 - usage.free / usage.total


def _sockets(needs: Needs, temporary: str) -> tuple[str, ...]:
    """The longest socket paths of the run's processes: Ray's, unless it runs already, and vLLM's."""
    if not needs.gpus:
        return ()  # a private Ray has a short folder of its own
    ray = (f"{os.environ.get('RAY_TMPDIR') or os.environ.get('TMPDIR') or '/tmp'}/ray/{_RAY_SOCKET}",)
    vllm = f"{os.environ.get('VLLM_RPC_BASE_PATH') or temporary}/{_VLLM_SOCKET}"
    return (*(ray if needs.starts_ray else ()), vllm)


def _unreachable(listener: tuple[str, int]) -> str:
    try:
        socket.create_connection(listener, _SECONDS).close()
    except OSError as error:
        return str(error)
    return ""
