"""All that reaches into verl: its version is checked, plug-ins are registered, and the few wraps stand here.

This module is named in VERL_USE_EXTERNAL_MODULES, so every process that imports verl runs it at the end of that import.
"""

import os
from importlib.metadata import version
from typing import Any

VERL_VERSION = "0.9.1"
_found = version("verl")
if _found != VERL_VERSION:
    raise ImportError(
        f"proverl.trainer works with verl {VERL_VERSION}, but verl {_found} is installed; install {VERL_VERSION}"
    )


def _keep_one_thread() -> None:
    """Fix torch to one thread: TransferQueue raises the number around each transfer and, when two overlap, for good."""
    import torch

    torch.set_num_threads(1)
    torch.set_num_threads = lambda count: None


def _ignore_trl() -> None:
    """Keep verl from looking into an installed TRL for a class that newer ones no longer have; only critics need it."""
    from verl.utils import import_utils

    import_utils.is_trl_available = lambda: False


def _skip_sklearn() -> None:
    """Keep transformers from importing scikit-learn (4 s a process) for assisted decoding, which nothing here uses."""
    import transformers.utils
    import transformers.utils.import_utils

    transformers.utils.is_sklearn_available = transformers.utils.import_utils.is_sklearn_available = lambda: False


def _register_cpu() -> None:
    from verl.workers.rollout import base
    from verl.workers.rollout.replica import RolloutReplicaRegistry

    import proverl.trainer.cpu.platform  # noqa: F401  (registers itself; must come before verl asks for its device)

    base._ROLLOUT_REGISTRY["transformers", "async"] = "proverl.trainer.cpu.rollout.TransformersRollout"
    RolloutReplicaRegistry.register("transformers", _load_replica)


def _load_replica() -> Any:
    from proverl.trainer.cpu.rollout import WorkerReplica

    return WorkerReplica


def without_balancer(config: Any) -> None:
    """Where the training workers sample, start no process that balances requests: the client talks to the workers."""
    if config.actor_rollout_ref.rollout.name == "transformers":
        from verl.workers.rollout import router

        router.get_router_handle = lambda **_: None


_ignore_trl()
if os.environ.get("VERL_PLATFORM") == "cpu":
    _keep_one_thread()
    _skip_sklearn()
    _register_cpu()
