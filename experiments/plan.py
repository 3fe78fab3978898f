"""What `plan=true` says: the stages, what is cached, what the rest should cost, and how right that was in the past.

Seconds come from the profile. Tokens, calls and memory are those of finished stages in the runs folder that had the
same model, servers and policy, per item that they worked through; where there is none, tokens are reckoned from the
limits.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table

from experiments import cost
from experiments.cache import MANIFEST, Entry, StageCache
from experiments.config import Config
from experiments.cost import Cost
from experiments.pipeline import Stage, dependencies, entries, wanted
from proverl.trainer.estimate import FILLED

_ALIKE = ("model", "envs", "policy", "teacher")  # what tokens and calls of an item depend on most
_PER_ITEM = ("generated_tokens", "trained_tokens", "tool_calls")
_ENDPOINT = ("endpoint_prompt_tokens", "endpoint_completion_tokens", "endpoint_dollars")


@dataclass(frozen=True)
class Past:
    """A finished stage that kept its prediction: its config, where it ran, what was predicted and what it took."""

    output: str
    profile: str
    config: Mapping[str, Any]
    items: int
    predicted: float
    seconds: float
    cost: Cost


def past(config: Config, cache: StageCache) -> list[Past]:
    """The finished stages of the runs folder that kept their prediction."""
    return list(_past(config, cache))


def _past(config: Config, cache: StageCache) -> Iterator[Past]:
    for file in sorted(cache.root.glob(f"*/{MANIFEST}")):
        try:
            manifest = json.loads(file.read_text())
            about, stage = manifest["about"], manifest["stage"]
            predicted, seconds = about["predicted"], manifest["seconds"]
            found = cost.stage_cost(Entry(stage, manifest["key"], file.parent), config.profile)
            name, depends = about["profile"]["name"], manifest["depends"]["config"]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # made before predictions were kept, or damaged, which is said when it is used
        if seconds > 0:
            yield Past(stage, name, depends, predicted["items"], predicted["seconds"], seconds, found)


def plan(config: Config, stages: Sequence[Stage], cache: StageCache) -> Group:
    """The stages, what is cached, what the rest is expected to cost, and the error of past predictions."""
    shown = Table(title=f"Plan: {config.experiment}, {config.model.name}, seed {config.seed}", title_justify="left")
    for heading in ("stage", "output", "state", "expected time"):
        shown.add_column(heading, justify="right" if heading == "expected time" else "left", no_wrap=True)
    found, before = entries(config, stages, cache), past(config, cache)
    expected: dict[str, Cost] = {}
    errors, absent = [], False
    for stage in wanted(config, stages, found):
        entry = found[stage.output]
        state = "cached" if entry.done else "goes on" if stage.resumes and entry.partial.exists() else "to compute"
        if not entry.done and _impossible(config, stage):
            absent = True
            shown.add_row(stage.name, entry.directory.name, state, "not here")
            continue
        hours = 0.0
        if not entry.done:
            depends = dependencies(config, stage, found)["config"]
            expected[stage.output] = predicted(config, stage, depends, before)
            hours = expected[stage.output].hours or 0.0
            errors.append(error_of(config, stage.output, hours, before))
        shown.add_row(stage.name, entry.directory.name, state, cost.duration(hours))
    shown.add_section()
    everything = cost.total(expected.values())
    known = cost.duration(everything.hours or 0.0)
    shown.add_row("all", "", "", f"{known}, the rest not here" if absent else known)
    costs = cost.table("Expected cost", expected | {"all": everything}, cost.CAPTION)
    return Group(shown, *errors, *([costs] if expected else []))


def sweep_plan(jobs: Sequence[tuple[str, Config, Sequence[Stage]]], cache: StageCache) -> Table:
    """What each job of a sweep (how it is called, its config and stages) adds to what those above it compute."""
    before, seen = past(jobs[0][1], cache), set[Path]()
    added: dict[str, Cost] = {}
    for name, config, stages in jobs:
        found = entries(config, stages, cache)
        costs = []
        for stage in wanted(config, stages, found):
            entry = found[stage.output]
            if entry.done or entry.directory in seen or _impossible(config, stage):
                continue
            seen.add(entry.directory)
            costs.append(predicted(config, stage, dependencies(config, stage, found)["config"], before))
        added[name] = cost.total(costs)
    caption = f"Each stage counts once, in the first job that needs it; one after the other. {cost.CAPTION}"
    return cost.table(f"All {len(jobs)} jobs", added | {"all": cost.total(added.values())}, caption)


def _impossible(config: Config, stage: Stage) -> bool:
    """Whether a stage runs a model that the profile has no GPU for."""
    model = config.policy.kind == "model" and "model" in stage.depends
    return model and config.model.gpu and not config.profile.gpus_per_node


def predicted(config: Config, stage: Stage, depends: Any, before: Sequence[Past]) -> Cost:
    """What a stage should cost. `depends` is the part of the config that its key is made of."""
    told: Any = stage.predicted(config)
    alike = [
        one
        for one in before
        if one.output == stage.output and all(one.config.get(name) == depends.get(name) for name in _ALIKE)
    ]
    machine = cost.machine_cost(told["seconds"], config.profile)
    peaks = cost.total(
        Cost(peak_memory_gib=one.cost.peak_memory_gib, peak_gpu_memory_gib=one.cost.peak_gpu_memory_gib)
        for one in alike
        if one.profile == config.profile.name
    )
    counted = _reckoned(config, stage, told["items"]) | _scaled(alike, told["items"])
    return cost.total([machine, peaks, Cost(**counted)])


def _scaled(alike: Sequence[Past], items: int) -> dict[str, float]:
    """The figures of stages like it, per item, times its items."""
    found = {}
    for name in (*_PER_ITEM, *_ENDPOINT):
        known = [(value, one.items) for one in alike if (value := getattr(one.cost, name)) is not None]
        if done := sum(number for _, number in known):
            found[name] = items * sum(value for value, _ in known) / done
    return found


def _reckoned(config: Config, stage: Stage, items: int) -> dict[str, float]:
    """Tokens of rollouts of tasks of ours: an average episode fills a share of its limits."""
    if stage.output not in ("grpo", "probe", "before-heldout", "after-heldout") or config.policy.kind != "model":
        return {}
    limits = config.envs.limits
    generated = items * FILLED * limits.response_tokens
    trained = items * FILLED * (limits.prompt_tokens + limits.response_tokens)
    return {"generated_tokens": generated} | ({"trained_tokens": trained} if stage.output == "grpo" else {})


def error_of(config: Config, output: str, hours: float, before: Sequence[Past]) -> str:
    """How far past predictions of a stage on this profile were from the truth, as a sentence."""
    ratios = [
        one.predicted / one.seconds for one in before if one.output == output and one.profile == config.profile.name
    ]
    told = f"{output}: predicted {cost.duration(hours)}; "
    if not ratios:
        return told + f"no past prediction for profile {config.profile.name} to judge it by."
    spread = " to ".join(dict.fromkeys(f"{ratio:.2g}" for ratio in (min(ratios), max(ratios))))
    return told + f"past predictions here were {spread} times the time it took (n={len(ratios)})."
