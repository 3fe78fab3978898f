"""`.ci/gpu_extra` runs these tests: they want the `gpu` extra and, in place of a GPU, what lies in `site`."""

from importlib.metadata import entry_points

if not entry_points(group="vllm.platform_plugins", name="h100"):
    collect_ignore = ["test_gpu_extra.py"]
