"""A platform for vLLM on a machine without a GPU: CUDA, with the answers that an H100's driver gives."""

from vllm.platforms.cuda import NonNvmlCudaPlatform
from vllm.platforms.interface import DeviceCapability


def platform() -> str:
    """Where vLLM finds the class (the entry point beside this file)."""
    return "h100.H100"


class H100(NonNvmlCudaPlatform):
    """What is read of the device before it is used; the first use is a call of CUDA, which finds no driver."""

    @classmethod
    def device_count(cls) -> int:
        return 8

    @classmethod
    def get_device_capability(cls, device_id: int = 0) -> DeviceCapability:
        return DeviceCapability(9, 0)

    @classmethod
    def get_device_name(cls, device_id: int = 0) -> str:
        return "NVIDIA H100 80GB HBM3"

    @classmethod
    def get_device_total_memory(cls, device_id: int = 0) -> int:
        return 80 * 2**30

    @classmethod
    def num_compute_units(cls, device_id: int = 0) -> int:
        return 132
