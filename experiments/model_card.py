"""The card of a trained model, and the folder from which it can be published.

A stage's folder is never written to again, so the card stands beside it, in the job's folder: `models/grpo/` has the
card as README.md and a link to each file of the model. What copies it or uploads it follows the links.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.cache import Entry
from experiments.compose import composed
from experiments.config import Config, typed
from experiments.cost import duration
from experiments.options import groups
from experiments.pipeline import flat
from experiments.provenance import model_folder
from experiments.requirements import MODEL, last_trained
from proverl.trainer import model_path

FOLDER = "models"  # in a job's folder
CARD = "README.md"
_GROUPS = {"grpo": ("envs", "synth", "teacher", "reward", "trainer"), "sft": ("envs", "synth", "teacher", "sft")}
_MACHINE = ("gpus_per_node", "nodes", "ray", "tensor_parallel", "cpu_ranks")  # settings that say where, not how
_HOW = {
    "grpo": "reinforcement learning (GRPO, {steps} steps of {prompts} x {rollouts} rollouts on live sessions; the "
    "reward is a program, there is no judge model)",
    "sft": "supervised fine-tuning on demonstrations ({epochs} epochs)",
}


@dataclass(frozen=True)
class Published:
    """A trained model as it can be published: its stage, the folder with card and links, the card's text.

    name, tags: of the model and its version in MLflow's registry.
    """

    stage: str
    folder: Path
    card: str
    name: str
    tags: dict[str, str]


def publish(
    config: Config, outputs: Mapping[str, Entry], found: Mapping[str, Any], about: Mapping[str, str], folder: Path
) -> Iterator[Published]:
    """Write the card and the links of each model that the job's stages trained.

    `found` are the job's figures, `about` the tags that say what it was run with.
    """
    for stage in ("sft", "grpo"):
        weights = outputs[stage].directory / MODEL if stage in outputs else None
        if stage in config.stages and weights and weights.is_dir():
            target = folder / FOLDER / stage
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
            for file in sorted(weights.iterdir()):
                (target / file.name).symlink_to(os.path.relpath(file, target))
            text = card(config, stage, outputs, found, about)
            (target / CARD).unlink(missing_ok=True)  # of the start model
            (target / CARD).write_text(text)
            tags = {"experiment": config.experiment, "stage": stage, "seed": str(config.seed)}
            tags |= {"base_model": config.model.path or config.model.name, "data": outputs[stage].data_hash()}
            yield Published(stage, target, text, f"{config.tracking.experiment}-{config.model.name}", tags)


def card(
    config: Config, stage: str, outputs: Mapping[str, Entry], found: Mapping[str, Any], about: Mapping[str, str]
) -> str:
    """The text of the card: what the hub reads in front, then what people read."""
    from huggingface_hub import ModelCard, ModelCardData

    evaluated = found["benchmarks"] if (stage,) == last_trained(config) else []
    data = ModelCardData(
        base_model=config.model.path or config.model.name,
        license=_license(config),
        library_name="transformers",
        pipeline_tag="text-generation",
        tags=["tool-calling", "proverl", stage],
        metrics=sorted({row["metric"] for one in evaluated for row in _after(one)}) or None,
        model_name=_title(config, stage),
        eval_results=list(_results(evaluated)) or None,
        datasets=f"synth-{outputs['synth'].key}" if "synth" in outputs else None,
    )
    parts = [f"# {_title(config, stage)}", *_made(config, stage, outputs), *_figures(evaluated)]
    parts += [*_differences(config, stage), *_cost(found["cost"], stage), *_provenance(about, outputs)]
    parts += _limits(config)
    return str(ModelCard(f"---\n{data}\n---\n\n" + "\n\n".join(parts) + "\n"))


def _title(config: Config, stage: str) -> str:
    return f"{config.model.name} trained with {stage.upper()} ({config.experiment}, seed {config.seed})"


def _made(config: Config, stage: str, outputs: Mapping[str, Entry]) -> Iterator[str]:
    trainer = config.trainer
    how = _HOW[stage].format(
        steps=trainer.steps, prompts=trainer.prompts, rollouts=trainer.rollouts, epochs=config.sft.epochs
    )
    start = f"`{config.model.path}`" if config.model.path else "the tiny model that ships with `proverl`"
    before = ", after the supervised fine-tuning of the same run" if stage == "grpo" and "sft" in outputs else ""
    servers = config.envs.servers
    yield (
        f"Trained from {start}{before} to call tools, by {how}, with [proverl](https://arxiv.org/abs/2606.03892)'s "
        f"method. Tasks: {config.synth.train_tasks:,} conversations synthesised and proven by replay on "
        f"{len(servers)} simulated MCP servers ({', '.join(servers)}), teacher `{config.teacher.name}`."
    )


def _after(evaluated: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [row for row in evaluated["figures"] if row["by"] == "all" and "after" in row]


def _figures(evaluated: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "## Evaluation"
    rows = [(one, row) for one in evaluated for row in _after(one)]
    if not rows:
        yield "The run did not evaluate this model."
        return
    head = "| benchmark | figure | before | after | difference, 95% interval | items |\n|---|---|---|---|---|---|"
    lines = [
        f"| {one['benchmark']} | {row['metric']} | {row['before']:.3f} | {row['after']:.3f} | "
        f"{row['difference']:+.3f}{_between(row)}{', noise' if row['noise'] else ''} | {row['items']} |"
        for one, row in rows
    ]
    yield "\n".join([head, *lines])
    yield "Differences are between the same items; versions: " + _versions(evaluated)


def _between(row: Mapping[str, Any]) -> str:
    return "" if row["low"] is None else f" [{row['low']:+.3f}, {row['high']:+.3f}]"


def _versions(evaluated: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{one['benchmark']} {one['version']}" for one in evaluated) + "."


def _results(evaluated: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    from huggingface_hub import EvalResult

    for one in evaluated:
        for row in _after(one):
            yield EvalResult(
                task_type="text-generation",
                dataset_type=one["benchmark"],
                dataset_name=f"{one['benchmark']} {one['version']}",
                metric_type=row["metric"],
                metric_value=round(row["after"], 4),
            )


def _differences(config: Config, stage: str) -> Iterator[str]:
    yield "## Settings that differ from those for the paper (`experiment=main`)"
    changed = differences(config, stage)
    lines = [f"| `{name}` | {_shown(paper)} | {_shown(ours)} |" for name, (paper, ours) in changed.items()]
    yield "\n".join(["| setting | main | here |", "|---|---|---|", *lines]) if lines else "None."


def differences(config: Config, stage: str) -> dict[str, tuple[Any, Any]]:
    """Settings of a training that differ from `experiment=main` with this model: the paper's value and this one."""
    model = [f"model={config.model.name}"] if config.model.name in groups()["model"] else []
    paper, ours = flat(typed(composed(["experiment=main", *model]))), flat(config)
    names = [name for name in dict.fromkeys([*paper, *ours]) if name.partition(".")[0] in _GROUPS[stage]]
    return {
        name: (paper.get(name), ours.get(name))
        for name in names
        if name.partition(".")[2] not in _MACHINE and paper.get(name) != ours.get(name)
    }


def _shown(value: Any) -> str:
    text = str(value).replace("|", "\\|")
    return text if len(text) <= 60 else text[:57] + "..."


def _cost(cost: Mapping[str, Any], stage: str) -> Iterator[str]:
    mine = cost["stages"][stage]
    told = [f"Training took {duration(mine['hours'])}"]
    for name, text in _TOLD.items():
        if name in mine:
            told.append(text.format(mine[name]))
    yield "## Cost"
    everything = cost["all"]
    yield (
        f"{', '.join(told)}. The whole run, with the stages that it took from the cache: "
        f"{duration(everything['hours'])}, {everything['energy_kwh']:.3g} kWh, ${everything['dollars']:.2f}. Energy "
        "and price are estimates: the profile's watts and dollars times hours."
    )


_TOLD = {
    "device_hours": "{:.3g} device hours",
    "generated_tokens": "{:,.0f} tokens generated",
    "trained_tokens": "{:,.0f} tokens trained on",
    "tool_calls": "{:,.0f} tool calls",
    "peak_memory_gib": "{:.1f} GiB of memory at the peak",
    "energy_kwh": "{:.3g} kWh",
}


def _provenance(about: Mapping[str, str], outputs: Mapping[str, Entry]) -> Iterator[str]:
    yield "## Provenance"
    lines = [f"- {name}: {value}" for name, value in about.items()]
    lines += [f"- stage {name}: `{entry.directory.name}`, data {entry.data_hash()}" for name, entry in outputs.items()]
    yield "\n".join(lines)


def _limits(config: Config) -> Iterator[str]:
    yield "## Limits"
    tiny = "It knows nothing of the world and is for trying the pipeline only. " if config.model.name == "tiny" else ""
    yield (
        f"{tiny}One seed: intervals are over items, not over runs. It was trained on simulated servers, and the reward "
        "sees calls and their results, not whether what it says is true, polite or safe; nothing was done about "
        "safety. Calls that it makes on real systems can be wrong: let it act only where a wrong call does no harm."
    )


def _license(config: Config) -> str | None:
    """That of the start model, where its card is here."""
    from huggingface_hub import ModelCard

    folder = model_folder(model_path(config.model))
    file = folder / "README.md" if folder else None
    return ModelCard.load(file).data.get("license") if file and file.is_file() else None
