"""The stages that evaluate: one for each benchmark, before training, after it, or alone.

Each is cached on its own, so another benchmark, or other settings of one, evaluates nothing else again.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.cache import file_digest
from experiments.config import Config, RunError, plain
from experiments.pipeline import Inputs, Stage
from experiments.requirements import HELDOUT, MODEL, SYNTH_CODE, last_trained, model_needs, trains
from proverl.evals import Benchmark, Heldout, endpoint_needs
from proverl.evals.benchmark import benchmark_class
from proverl.evals.evaluation import ABOUT

if TYPE_CHECKING:
    from proverl.agent import Policy
    from proverl.core import Task
    from proverl.evals import Evaluation


def before(config: Config) -> tuple[Stage, ...]:
    """A stage for each benchmark, of the model as it comes or of whoever `policy` names."""
    return tuple(_stage("before", name, config) for name in config.evals.benchmarks)


def after(config: Config) -> tuple[Stage, ...]:
    """A stage for each benchmark, of the trained model."""
    return tuple(_stage("after", name, config) for name in config.evals.benchmarks)


def output(when: str, name: str) -> str:
    """What the output of such a stage is called."""
    return f"{when}-{name}"


def _stage(when: str, name: str, config: Config) -> Stage:
    heldout = name == "heldout"
    trained = when == "after"
    plugin = benchmark_class(name).__module__.split(".")[0]
    return Stage(
        name="evals",
        output=output(when, name),
        title=f"Evaluating {when} training, {name}" if trains(config) else f"Evaluating, {name}",
        depends=("seed", "model", "policy", f"evals.{name}", *(("envs", "reward") if heldout else ())),
        code=(*SYNTH_CODE, "proverl.evals", "proverl.trainer.tiny", *({plugin} - {"proverl"})),
        reads=("synth",) if heldout else (),
        also_reads=last_trained if trained else lambda config: (),
        optional=trained,
        work=partial(_evaluate, name, trained),
        needs=partial(_needs, name),
        resumes=True,
        items=partial(_attempts, name),
        seconds=lambda config, items: items * config.profile.eval_task_seconds,
    )


def _evaluate(name: str, trained: bool, inputs: Inputs, folder: Path) -> None:
    from proverl.trainer import model_path

    config = inputs.config
    found = config.evals.benchmarks[name]
    if isinstance(found, Heldout):
        found = _with_tasks(found, inputs)
    if trained:
        model: str | Path = inputs.outputs[last_trained(config)[0]] / MODEL
    else:
        model = model_path(config.model) if config.policy.kind == "model" else ""
    evaluated(found, model, inputs, folder)


def _with_tasks(found: Heldout, inputs: Inputs) -> Heldout:
    from proverl.synth import read_tasks

    tasks = read_tasks(inputs.outputs["synth"] / HELDOUT)
    return replace(found, given=tuple(tasks), world=inputs.config.envs.limits, reward=inputs.config.reward)


def evaluated(found: Benchmark, model: str | Path, inputs: Inputs, folder: Path) -> "Evaluation":
    """Let the config's policy, or this model, do the benchmark. Raises RunError when too much of it fails."""
    from proverl.evals import EvaluationFailed, evaluate

    config = inputs.config
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ABOUT).write_text(json.dumps(_about(found, model, config), indent=1) + "\n")
    try:
        with _policy(found, model, config) as policy:
            return evaluate(found, policy, folder, config.seed, inputs.report)
    except EvaluationFailed as error:
        raise RunError(f"{str(error).rstrip('.')}; the same command goes on from there.") from error


def _about(found: Benchmark, model: str | Path, config: Config) -> dict[str, Any]:
    """Decoding, model and versions, as a reader of the records needs them."""
    from importlib.metadata import version

    whole, heldout = plain(config), isinstance(found, Heldout)
    packages = ("transformers", "vllm") if config.policy.kind == "model" else ("openai",)
    installed = {name: version(name) for name in packages if not (name == "vllm" and not config.profile.gpus_per_node)}
    return {
        "benchmark": found.name,
        "version": found.version,
        "settings": found.as_config(),
        "policy": asdict(config.policy),
        "model": _model(model, config),
        "seed": config.seed,
        "packages": installed,
        **({"reward": whole["reward"], "limits": whole["envs"]["limits"]} if heldout else {}),
    }


def _model(model: str | Path, config: Config) -> dict[str, Any]:
    """The model by name and path, and the hash of its chat template, where it is on this machine."""
    files = [Path(model) / name for name in ("chat_template.jinja", "tokenizer_config.json")] if model else []
    template = next((file_digest(file) for file in files if file.is_file()), None)
    return {"name": config.model.name, "format": config.model.format, "path": str(model), "template": template}


@contextmanager
def _policy(found: Benchmark, model: str | Path, config: Config) -> "Iterator[Policy]":
    from proverl.evals import endpoint_policy, load_policy, scripted_policy, vllm_policy

    asked = config.policy
    if asked.kind in ("oracle", "silent"):
        yield scripted_policy(asked, found)
    elif asked.kind == "endpoint":
        yield endpoint_policy(asked)
    elif config.profile.gpus_per_node:
        profile = config.profile
        policy = vllm_policy(
            model,
            config.model.format,
            asked.temperature,
            asked.top_p,
            profile.tensor_parallel,
            max(1, profile.gpus_per_node // profile.tensor_parallel),
        )
        try:
            yield policy
        finally:
            policy.close()
    else:
        yield load_policy(model, config.model.format, asked.temperature, asked.top_p, found.concurrency)


def probed(tasks: "list[Task]", model: str | Path, inputs: Inputs, folder: Path) -> "Evaluation":
    """Let the model that training starts from do each task several times, sampled as in training."""
    config = inputs.config
    probe = config.probe
    sampled = replace(config.policy, kind="model", temperature=probe.temperature)
    asked = replace(inputs, config=replace(config, policy=sampled))
    found = Heldout(
        tasks=0,
        trials=probe.samples,
        concurrency=probe.concurrency,
        given=tuple(tasks),
        world=config.envs.limits,
        reward=config.reward,
    )
    return evaluated(found, model, asked, folder)


def _needs(name: str, config: Config) -> list[str]:
    found, kind = config.evals.benchmarks[name], config.policy.kind
    told = model_needs(config) if kind == "model" else []
    return [
        *told,
        *(endpoint_needs(config.policy) if kind == "endpoint" else []),
        *found.needs(),
        *(found.model_needs() if kind in ("model", "endpoint") else []),
    ]


def _attempts(name: str, config: Config) -> int:
    found = config.evals.benchmarks[name]
    if isinstance(found, Heldout):
        there = config.synth.heldout_tasks
        items = min(found.tasks or there, there)
    else:
        items = 0 if found.needs() else len(found.items())
    return items * found.trials
