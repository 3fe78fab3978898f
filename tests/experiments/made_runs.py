"""Runs as jobs record them, with evaluations that are made up, but shaped as real ones are; every draw has a seed."""

import json
import random
from dataclasses import dataclass, field

from experiments.attempts import FOLDER, Attempts, write_attempts, write_one
from experiments.cache import Entry
from experiments.compose import check
from experiments.pipeline import flat
from experiments.tracking import Tracker
from proverl.core import Call, CallRecord, Episode, GroundTruth, Result, Step, Task, TaskKind
from proverl.evals.evaluation import ABOUT, FAILURES
from proverl.evals.heldout import Attempted, _answers
from proverl.evals.record import Record, write_records
from proverl.reward import RewardConfig, score

SERVERS = ("banking", "calendar", "filesystem")


@dataclass
class Made:
    """A run to make. `skill` is the chance of an expected call to be made, before and after training."""

    experiment: str = "default"
    seed: int = 0
    skill: tuple[float, float] = (0.6, 0.75)
    extra: float = 0.0  # calls too many for each task, after training
    overrides: tuple[str, ...] = ()
    status: str = "FINISHED"
    tasks: int = 24
    world: int = 0  # other tasks
    tags: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    steps: int = 20
    said: str = "Done."
    evaluated: bool = True
    trained: bool = True  # else there is no evaluation after training
    bfcl: dict[str, tuple[list[float], list[float]]] = field(default_factory=dict)  # category: accuracies before, after


def record(runs, made):
    """Record a run in the store of the folder `runs`; return its MLflow run's id."""
    config = check([f"runs_dir={runs}", f"experiment={made.experiment}", f"seed={made.seed}", *made.overrides])[0]
    suffix = len(list((runs / "jobs").glob("*"))) if (runs / "jobs").exists() else 0
    job = runs / "jobs" / f"{made.experiment}-{config.model.name}-s{made.seed}-{suffix}"
    tracker = Tracker(config, job)
    about = {"experiment": made.experiment, "model": config.model.name, "seed": str(made.seed)}
    tracker.tags(about | {"git.commit": "c0ffee", "git.dirty": "false"} | made.tags)
    tracker.params(flat(config))
    tracker.steps(list(_steps(made, config.reward)))
    tracker.results(made.metrics)
    if made.evaluated:
        outputs = {}
        times = list(zip(("before", "after"), made.skill, (0.0, made.extra), strict=True))
        for when, skill, extra in times if made.trained else times[:1]:
            outputs[f"{when}-heldout"] = _evaluation(job / f"{when}-heldout", made, when, skill, extra, config.reward)
        paths = [*write_attempts(outputs, job), *(_bfcl(made, at, job) for at in (0, 1) if made.bfcl)]
        for path in paths:
            tracker.artifact(path, FOLDER)
    tracker.close(made.status)
    return tracker.run_id


def _bfcl(made, at, job):
    """What the stage of another benchmark leaves."""
    records = [
        Record(
            f"{category}_{number}", number, {"category": category}, 0, 0, None, {"accuracy": value}, {"accuracy": 0.0}
        )
        for category, values in made.bfcl.items()
        for number, value in enumerate(values[at])
    ]
    found = Attempts({"benchmark": "bfcl", "version": "v4"}, "accuracy", ["category"], ["accuracy"], 0, records)
    return write_one(found, job / FOLDER / f"{('before', 'after')[at]}-bfcl.json.gz")


def _steps(made, reward):
    draw = random.Random(f"steps {made.experiment} {made.seed}")
    for step in range(1, made.steps + 1):
        grown = made.skill[0] + (made.skill[1] - made.skill[0]) * step / made.steps
        parts = {name: grown + draw.gauss(0, 0.03) for name in ("validity", "coverage", "name", "arg")}
        parts["efficiency"] = -0.05 * (1 - step / made.steps)
        row = {f"reward/{name}": value for name, value in parts.items()}
        mean = sum(getattr(reward, name) * value for name, value in parts.items())
        calls = 2.2 + made.extra * step / made.steps + draw.gauss(0, 0.1)
        yield {"step": step, "reward/mean": mean, "episode/calls": calls, "episode/success": grown / 2, **row}


def _evaluation(folder, made, when, skill, extra, reward):
    folder.mkdir(parents=True)
    records = [_attempt(made, when, skill, extra, reward, number) for number in range(made.tasks)]
    write_records(records, folder)
    (folder / FAILURES).write_text("[]")
    settings = {"tasks": made.tasks}
    told = {"benchmark": "heldout", "version": "this run's tasks", "settings": settings, "seed": made.seed}
    weights = {name: getattr(reward, name) for name in RewardConfig.__dataclass_fields__}
    policy = {"kind": "model", "temperature": 0.0}
    (folder / ABOUT).write_text(json.dumps({**told, "reward": weights, "policy": policy, "model": {"name": "tiny"}}))
    return Entry(folder.name, "0", folder)


def _attempt(made, when, skill, extra, reward, number):
    luck = random.Random(f"{made.seed} {made.world} {number}")  # of the task: how hard it is
    hard = luck.random()
    server = SERVERS[number % len(SERVERS)]
    steps = tuple(Step(f"{server}_{at}", {"to": f"ACC-{luck.randrange(99)}"}) for at in range(1 + number % 3))
    asked = f"Please do {len(steps)} things, {made.world}."
    task = Task(f"heldout-{number}", TaskKind.MULTI_TURN, (server,), made.seed, "", (asked,), (), GroundTruth(steps))
    draw = random.Random(f"{made.experiment} {when if made.skill[0] != made.skill[1] else ''} {made.seed} {number}")
    right = [step for step in steps if (hard + draw.random()) / 2 < skill]
    calls = [Call(step.name, step.arguments, f"call_{at}") for at, step in enumerate(right)]
    many = int(extra) + (draw.random() < extra % 1)
    calls += [Call(f"{server}_more", {}, f"call_{len(calls) + at}") for at in range(many)]
    made_calls = [CallRecord(call, Result({"ok": True}), 0, 1) for call in calls]
    functions = {call.id: {"name": call.name, "arguments": call.arguments} for call in calls}
    asks = [{"id": key, "type": "function", "function": function} for key, function in functions.items()]
    messages = [
        {"role": "user", "content": asked},
        *([{"role": "assistant", "content": "", "tool_calls": asks}] if calls else []),
        *({"role": "tool", "tool_call_id": call.id, "name": call.name, "content": '{"ok":true}'} for call in calls),
        {"role": "assistant", "content": made.said},
    ]
    episode = Episode(task.id, messages=messages, calls=made_calls)
    found = score(made_calls, task.ground_truth, (), reward, replied=True)
    parts = found.as_dict()
    figures = {"success": float(len(right) == len(steps)), "total": found.total, "calls": float(found.n_calls)}
    figures |= {name: parts[name] for name in ("validity", "coverage", "efficiency", "name", "arg")}
    figures |= {
        "over_budget": float(found.n_calls > found.budget),
        "tool_errors": 0.0,
        "state_equal": figures["success"],
    }
    floor = {name: 0.0 for name in figures}
    answer = _answers().dump_python(Attempted(task, episode), mode="json")
    strata = {"server": server, "kind": "multi_turn"}
    return Record(task.id, number, strata, 0, made.seed, answer, figures, floor, "", messages, calls=len(calls))
