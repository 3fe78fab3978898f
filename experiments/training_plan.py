"""What `plan=true` says of the training: the final verl config, and memory and time of a step on each GPU."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from rich.table import Table

from experiments.config import Config, dotted
from proverl.trainer import RunPaths, model_path, verl_config
from proverl.trainer.estimate import SYMBOLS, Estimate, Gpu, Part, architecture, estimate
from proverl.trainer.verl_config import grpo_defaults


def final_verl_config(config: Config, overrides: bool = True) -> DictConfig:
    """The config that verl would get, `trainer.verl_overrides` in it or not; its paths are those of a run in RUN.

    Raises ValueError for overrides that verl's config does not know.
    """
    trainer = config.trainer if overrides else replace(config.trainer, verl_overrides={})
    path = str(model_path(config.model))
    return verl_config(trainer, config.model, path, config.envs.limits, RunPaths(Path("RUN")), config.seed)


def changed_settings(config: Config, final: DictConfig) -> dict[str, Any]:
    """What differs from verl's own defaults, by dotted name; what only follows from another setting is left out."""
    before = dict(dotted(OmegaConf.to_container(grpo_defaults(config.trainer))))
    after = dict(dotted(OmegaConf.to_container(final)))
    absent = object()
    return {key: value for key, value in after.items() if before.get(key, absent) != value}


def estimated(config: Config) -> Estimate | None:
    """What a step needs of the profile's GPUs; None without GPUs, or for a model whose shape is not known."""
    shape = architecture(config.model)
    if not config.trainer.gpus_per_node or not shape.hidden_size:
        return None
    return estimate(config.trainer, shape, config.envs.limits, gpu(config))


def gpu(config: Config) -> Gpu:
    """The profile's GPU."""
    profile = config.profile
    return Gpu(profile.gpu_memory_gib, profile.gpu_tflops, profile.gpu_bandwidth)


def training_seconds(config: Config) -> float:
    """From the command to the last step: what the profile says of a step, or else the estimate."""
    found = None if config.profile.step_seconds else estimated(config)
    step = found.step_seconds if found else config.profile.step_seconds
    return config.profile.startup_seconds + config.trainer.steps * step


def tables(config: Config, found: Estimate) -> tuple[Table, Table, str]:
    """The estimate as two tables, and what their symbols and the rest of it mean."""
    name = f"{config.model.name} on {config.trainer.ranks} GPUs of {config.profile.name}"
    memory = _table(f"Memory of each GPU: {name}", "GiB", found.memory, 1)
    seconds = _table(f"Seconds of a step: {name}", "s", found.seconds, 0)
    symbols = (
        SYMBOLS + f". vLLM has room for {found.cache_tokens:,.0f} tokens on {config.trainer.tensor_parallel} GPUs."
    )
    return memory, seconds, symbols


def _table(title: str, unit: str, parts: Iterable[Part], digits: int) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in ("phase", "part", "formula", unit):
        table.add_column(heading, justify="right" if heading == unit else "left")
    sums: dict[str, float] = {}
    for part in parts:
        if sums and part.phase not in sums:
            _add_sums(table, sums, digits)
        sums[part.phase] = sums.get(part.phase, 0.0) + part.amount
        table.add_row(part.phase, part.name, part.formula, f"{part.amount:.{digits}f}")
    _add_sums(table, sums, digits)
    return table


def _add_sums(table: Table, sums: dict[str, float], digits: int) -> None:
    phase, amount = list(sums.items())[-1]
    table.add_row(phase, "all", "", f"{amount:.{digits}f}", style="bold", end_section=True)
