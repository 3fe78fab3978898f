"""All that reaches into verl: its version is checked, plug-ins are registered, and the few wraps stand here.

This module is named in VERL_USE_EXTERNAL_MODULES, so every process that imports verl runs it at the end of that import.
"""

import os
import socket
from contextlib import ExitStack
from importlib.metadata import version
from typing import Any

VERL_VERSION = "0.9.1"
_AGENT_PORTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")
_found = version("verl")
if _found != VERL_VERSION:
    raise ImportError(
        f"proverl.trainer works with verl {VERL_VERSION}, but verl {_found} is installed; install {VERL_VERSION}"
    )


def light_ray() -> None:
    """Have a private Ray start its agents as in its minimal installation, and on ports chosen beforehand.

    The full agents import for so long that on a busy machine Ray gives up waiting (15 s) for the ports they choose.
    """
    import ray._private.parameter
    import ray._private.utils

    missing = ImportError("the dashboard is not used")
    ray._private.utils.get_dashboard_dependency_error = lambda: missing
    parameters = ray._private.parameter.RayParams

    def with_ports(*args: Any, **kwargs: Any) -> Any:
        found = parameters(*args, **kwargs)
        for name, port in zip(_AGENT_PORTS, _free_ports(len(_AGENT_PORTS)), strict=True):
            setattr(found, name, port)
        return found

    ray._private.parameter.RayParams = with_ports


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("", 0))
        return [each.getsockname()[1] for each in sockets]


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
    """On a CPU start no process for balancing requests: the client talks to the workers."""
    if config.trainer.device == "cpu":
        from verl.workers.rollout import router

        router.get_router_handle = lambda **_: None


if os.environ.get("VERL_PLATFORM") == "cpu":
    _skip_sklearn()
    _register_cpu()
