"""A verl platform for machines without GPUs. Ray's "GPU" slots stand for ranks."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch
from verl.plugin.platform.platform_base import PlatformBase
from verl.plugin.platform.platform_manager import PlatformRegistry


class _Device(ModuleType):
    """`torch.cpu` with the memory calls of `torch.cuda` that verl makes; there is nothing to free or to count."""

    def __init__(self) -> None:
        super().__init__("proverl_cpu_device")
        self.is_available = lambda: False  # verl then skips its cache clearing
        self.synchronize = self.empty_cache = self.ipc_collect = self.set_device = lambda *_: None
        self.device_count, self.get_device_name = (lambda: 1), (lambda *_: "CPU")
        self.current_device = lambda: "cpu"
        self.max_memory_allocated = self.max_memory_reserved = lambda *_: 0
        self.memory_allocated = self.memory_reserved = lambda *_: 0
        self.mem_get_info = lambda *_: (0, 0)
        self.manual_seed = self.manual_seed_all = torch.manual_seed
        self.get_rng_state, self.set_rng_state = torch.get_rng_state, torch.set_rng_state


@PlatformRegistry.register(platform="cpu")
class CpuPlatform(PlatformBase):
    """Everything on the CPU, collectives over gloo."""

    _device = _Device()

    @property
    def device_name(self) -> str:
        """The torch device type."""
        return "cpu"

    @property
    def vendor_name(self) -> str:
        """No vendor matters on a CPU."""
        return "cpu"

    @property
    def device_module(self) -> ModuleType:
        """What verl calls in place of `torch.cuda`."""
        return self._device

    def is_available(self) -> bool:
        """A CPU is always there."""
        return True

    def is_platform_available(self, use_smi_check: bool = False) -> bool:
        """False: this platform is chosen by VERL_PLATFORM only, never detected in place of a GPU."""
        return False

    def current_device(self) -> Any:
        """The name, since a CPU has no index; verl hands it to `Tensor.to`."""
        return "cpu"

    def device_count(self) -> int:
        """One."""
        return 1

    def set_device(self, device_index: int) -> None:
        """Nothing to select."""

    def synchronize(self, device_index: int | None = None) -> None:
        """Nothing runs asynchronously."""

    def manual_seed(self, seed: int) -> None:
        """Seed torch."""
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        """Seed torch."""
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None:
        """No allocator to set."""

    def empty_cache(self) -> None:
        """No cache to empty."""

    def get_device_capability(self, device_index: int = 0) -> tuple[int | None, int | None]:
        """None."""
        return None, None

    def communication_backend_name(self) -> str:
        """Gloo."""
        return "gloo"

    def visible_devices_envvar(self) -> str:
        """The variable that Ray sets for its "GPU" slots."""
        return "CUDA_VISIBLE_DEVICES"

    @contextmanager
    def nvtx_range(self, msg: str) -> Iterator[None]:
        """No profiler."""
        yield

    def profiler_start(self) -> None:
        """No profiler."""

    def profiler_stop(self) -> None:
        """No profiler."""

    def ray_resource_name(self) -> str:
        """The Ray resource whose slots are ranks."""
        return "GPU"

    def ray_noset_envvars(self) -> list[str]:
        """None."""
        return []

    def is_ipc_supported(self) -> bool:
        """No device memory to share."""
        return False

    def cudart(self) -> Any:
        """None."""
        return None
