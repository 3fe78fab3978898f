"""The stages of a run: which part of the config each depends on, and the package function that does its work.

Their order here is that of a run. What is evaluated before training needs none, so a sweep over the trainer's settings
evaluates it once.
Heavy imports (torch, verl) stand inside the functions: a typing mistake must not wait for them.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.config import Config, RunError
from experiments.evaluations import after, before, probed
from experiments.pipeline import Inputs, Rows, Stage
from experiments.requirements import (
    CHECKPOINTS,
    HELDOUT,
    METRICS,
    MODEL,
    PROGRESS,
    SPENT,
    SYNTH_CODE,
    TRAIN,
    model_needs,
)
from experiments.training_plan import final_verl_config, training_seconds
from proverl.core import Task

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from proverl.synth.teachers.endpoint import EndpointTeacher


def _synth(inputs: Inputs, folder: Path) -> None:
    from proverl.synth import Impossible, ScriptedTeacher, Synthesis, Workers, write_dataset
    from proverl.synth.data.card import write_card
    from proverl.synth.data.own import InvalidTasks
    from proverl.synth.data.references import references
    from proverl.synth.processes import ProcessesDied
    from proverl.synth.teachers.endpoint import EndpointError

    config = inputs.config
    total = config.synth.train_tasks + config.synth.heldout_tasks
    endpoint = None if config.teacher.scripted else _endpoint(config, folder.name.removesuffix(".partial"))
    synthesis = Synthesis(
        config.synth,
        config.seed,
        config.envs.limits,
        endpoint or ScriptedTeacher(),
        Workers(config.profile.synth_processes, config.profile.ray),
        lambda done, note: inputs.report(done, total, note),
    )
    try:
        write_dataset(synthesis, folder)
    except (Impossible, InvalidTasks, EndpointError) as error:
        raise RunError(f"{str(error).rstrip('.')}.") from None
    except ProcessesDied as error:
        raise RunError(f"{error} (profile.synth_processes); the same command goes on from there.") from None
    write_card(folder, references())
    if endpoint:
        (folder / SPENT).write_text(json.dumps(asdict(endpoint.spent()), indent=1) + "\n")


def _endpoint(config: Config, stage: str) -> "EndpointTeacher":
    from proverl.synth.teachers.endpoint import EndpointTeacher

    # beside the stages: what a model was paid to say outlives a change of anything else
    return EndpointTeacher(config.teacher, Path(config.runs_dir) / "teacher.sqlite", stage)


def _synth_needs(config: Config) -> list[str]:
    """What is wrong with the tasks of the user's own and with the teacher's endpoint."""
    from proverl.synth.data.own import InvalidTasks, read_own_tasks
    from proverl.synth.teachers.endpoint import EndpointError

    told = []
    try:
        if config.synth.own_tasks:
            own = read_own_tasks(Path(config.synth.own_tasks), config.envs.limits)
            held = {name for task in own for name in task.servers} & set(config.synth.holdout_servers)
            told += [
                f"synth.own_tasks has tasks of {name}, which evals.holdout_servers has too." for name in sorted(held)
            ]
    except (InvalidTasks, OSError) as error:
        told.append(f"synth.own_tasks: {error}")
    try:
        if not config.teacher.scripted:
            _endpoint(config, "check").check()
    except EndpointError as error:
        told.append(f"{error}.")
    return told


def _warmstart(inputs: Inputs, folder: Path) -> None:
    from proverl.trainer.tiny.live import live_demonstrations
    from proverl.trainer.tiny.warmstart import WarmstartConfig, warmstart

    warmstart(WarmstartConfig(), folder, inputs.config.seed, live_demonstrations)


def _warmstart_tokens() -> int:
    from proverl.trainer.tiny.warmstart import WarmstartConfig

    return WarmstartConfig().tokens


def _sft(inputs: Inputs, folder: Path) -> None:
    from proverl.synth import read_tasks
    from proverl.trainer import TrainingFailed, train_sft

    config = inputs.config
    tasks = read_tasks(inputs.outputs["synth"] / TRAIN)
    try:
        train_sft(tasks, folder, config.sft, config.model, config.envs.limits, config.seed)
    except TrainingFailed as error:
        raise RunError(f"{str(error).rstrip('.')}.") from error
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


def _grpo(inputs: Inputs, folder: Path) -> None:
    from proverl.synth import read_tasks
    from proverl.trainer import TrainingFailed, train

    config = inputs.config
    tasks = _chosen(inputs, read_tasks(inputs.outputs["synth"] / TRAIN))
    validates = config.trainer.validate_every > 0
    dev = read_tasks(inputs.outputs["synth"] / HELDOUT)[-config.trainer.dev_tasks :] if validates else []
    start = inputs.outputs.get("sft")
    model = replace(config.model, path=str(start / MODEL)) if start else config.model
    try:
        train(tasks, folder, config.trainer, model, config.envs.limits, config.reward, config.seed, dev=dev)
    except TrainingFailed as error:
        raise RunError(f"{str(error).rstrip('.')}.") from error
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)  # they served a killed run; the model is what is kept


def _chosen(inputs: Inputs, tasks: list[Task]) -> list[Task]:
    """The tasks that are neither too hard nor too easy, as the probe found them."""
    from proverl.evals.probe import read_summary, within

    if not inputs.config.trainer.filters:
        return tasks
    rates = read_summary(inputs.outputs["probe"])["pass_rates"]
    try:
        return within(tasks, rates, *inputs.config.trainer.pass_rate)
    except ValueError as error:
        raise RunError(f"{error}.") from None


def _probe(inputs: Inputs, folder: Path) -> None:
    from proverl.evals.probe import write_summary
    from proverl.synth import read_tasks
    from proverl.trainer import model_path

    config = inputs.config
    tasks = read_tasks(inputs.outputs["synth"] / (TRAIN if config.probe.split == "train" else HELDOUT))
    count = min(config.probe.tasks or len(tasks), len(tasks))
    tasks = tasks[:count] if config.probe.split == "train" else tasks[-count:]
    start = inputs.outputs.get("sft")
    model = start / MODEL if start else model_path(config.model)
    write_summary(probed(tasks, model, inputs, folder).records, folder)


def _start(config: Config) -> tuple[str, ...]:
    """What GRPO starts from, when it isn't the model itself."""
    return ("sft",) if "sft" in config.stages else ()


def _grpo_needs(config: Config) -> list[str]:
    trainer, told = config.trainer, model_needs(config)
    if trainer.filters and config.probe.split != "train":
        told.append(f"trainer.pass_rate is {list(trainer.pass_rate)}, but probe.split is dev: set it to train.")
    evaluated = config.evals.heldout_tasks(config.synth.heldout_tasks)
    free = config.synth.heldout_tasks - evaluated
    if trainer.validate_every and trainer.dev_tasks > free:
        told.append(
            f"trainer.dev_tasks is {trainer.dev_tasks}, but evals.heldout.tasks leaves {max(0, free)} of the "
            f"{config.synth.heldout_tasks} held-out tasks: set synth.heldout_tasks to "
            f"{evaluated + trainer.dev_tasks}, or fewer evals.heldout.tasks."
        )
    if trainer.verl_overrides:
        told += _refused_by_verl(lambda: final_verl_config(config, False), trainer.verl_overrides, "trainer")
    return told


def _sft_needs(config: Config) -> list[str]:
    from proverl.trainer import RunPaths, model_path, sft_verl_config

    def settings() -> "DictConfig":
        sft, path, paths = replace(config.sft, verl_overrides={}), str(model_path(config.model)), RunPaths(Path("RUN"))
        tasks = config.synth.train_tasks
        return sft_verl_config(sft, config.model, path, config.envs.limits, paths, config.seed, tasks)

    return model_needs(config) + _refused_by_verl(settings, config.sft.verl_overrides, "sft")


def _refused_by_verl(settings: "Callable[[], DictConfig]", overrides: dict[str, Any], group: str) -> list[str]:
    """What verl can't do with these settings and the user's overrides of them, a sentence each."""
    from proverl.trainer.verl_check import verl_problems

    try:
        told = verl_problems(settings(), overrides, f"{group}.verl_overrides")
    except (ValueError, FileNotFoundError) as error:
        told = [str(error)]
    return [f"{text.rstrip('.')}." for text in told]


def _probed(config: Config) -> int:
    there = config.synth.train_tasks if config.probe.split == "train" else config.synth.heldout_tasks
    tasks = min(config.probe.tasks or there, there)
    return tasks * config.probe.samples


def stages(config: Config) -> tuple[Stage, ...]:
    """All stages in the order in which they run; those that `config.stages` does not name are only read from."""
    return (*_MAKING, *before(config), *_TRAINING, *(after(config) if config.policy.kind == "model" else ()))


_MAKING = (
    Stage(
        name="warmstart",
        output="warmstart",
        title="Warming up the tiny model",
        depends=("seed",),
        code=(*SYNTH_CODE, "proverl.trainer.tiny"),
        work=_warmstart,
        rows=Rows(PROGRESS, "tokens", lambda config: _warmstart_tokens()),
        resumes=True,
        items=lambda config: _warmstart_tokens(),
        seconds=lambda config, items: items / config.profile.warmstart_tokens_per_second,
    ),
    Stage(
        name="synth",
        output="synth",
        title="Synthesising tasks",
        depends=("seed", "envs", "synth", "teacher"),
        files=lambda config: (config.synth.own_tasks,) if config.synth.own_tasks else (),
        code=SYNTH_CODE,
        work=_synth,
        needs=_synth_needs,
        resumes=True,
        items=lambda config: config.synth.train_tasks + config.synth.heldout_tasks,
        seconds=lambda config, items: items * config.profile.synth_task_seconds,
    ),
)
_TRAINING = (
    Stage(
        name="sft",
        output="sft",
        title="Fine-tuning on demonstrations",
        depends=("seed", "model", "envs", "sft"),
        code=(*SYNTH_CODE, "proverl.trainer"),
        reads=("synth",),
        work=_sft,
        rows=Rows(METRICS, "step", lambda config: config.sft.steps(config.synth.train_tasks), "sft/step"),
        needs=_sft_needs,
        resumes=True,
        items=lambda config: config.sft.epochs * config.synth.train_tasks,
        seconds=lambda config, items: config.profile.startup_seconds + items * config.profile.sft_task_seconds,
    ),
    Stage(
        name="probe",
        output="probe",
        title="Probing before training",
        depends=("seed", "model", "envs", "probe", "reward"),
        code=(*SYNTH_CODE, "proverl.evals", "proverl.trainer.tiny"),
        reads=("synth",),
        also_reads=_start,
        work=_probe,
        needs=model_needs,
        resumes=True,
        items=_probed,
        seconds=lambda config, items: items * config.profile.eval_task_seconds,
    ),
    Stage(
        name="grpo",
        output="grpo",
        title="Training with GRPO",
        depends=("seed", "model", "envs", "reward", "trainer"),
        code=(*SYNTH_CODE, "proverl.trainer"),
        reads=("synth",),
        also_reads=lambda config: _start(config) + (("probe",) if config.trainer.filters else ()),
        work=_grpo,
        rows=Rows(METRICS, "step", lambda config: config.trainer.steps),
        needs=_grpo_needs,
        resumes=True,
        items=lambda config: config.trainer.steps * config.trainer.prompts * config.trainer.rollouts,
        seconds=lambda config, items: training_seconds(config),
    ),
)
