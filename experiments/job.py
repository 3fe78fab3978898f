"""One job of a command: its stages, its MLflow run, its figures."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from experiments.alarms import Teller, told, with_alarms
from experiments.attempts import FOLDER as ATTEMPTS
from experiments.attempts import write_attempts
from experiments.cache import Entry, StageCache
from experiments.config import Config, ConfigError, plain
from experiments.cost import conclusion, costs
from experiments.evaluation_figures import tables as evaluation_tables
from experiments.model_card import CARD, publish
from experiments.pipeline import Rows, Stage, compute, entries, flat, lacking, own
from experiments.plan import plan
from experiments.progress import Report, Screen
from experiments.provenance import FILE as PROVENANCE
from experiments.provenance import model_hash, provenance, write_changes
from experiments.report import curve, episode_pages, figures, markdown, probe_table, table, ui_command
from experiments.rollouts import sample
from experiments.tracking import Follower, Tracker, rows_by_step
from experiments.training_plan import changed_settings, estimated, final_verl_config, gpu, tables
from proverl.evals.figures import ALL
from proverl.trainer.run_folder import STAGES_FILE


def job(
    config: Config, stages: Sequence[Stage], folder: Path, screen: Screen, tags: Mapping[str, str] | None = None
) -> Path | None:
    """Run a job and return the path of its figures, which is also the last line printed (None for `plan=true`).

    `tags` are further ones of its MLflow run.

    Raises ConfigError when this machine lacks something that a stage to compute needs, also after a plan.
    """
    cache = StageCache(Path(config.runs_dir) / "stages")
    screen.say("Looking at what this machine has for it")  # a model's tokenizer, say, takes seconds to import
    missing = lacking(config, stages, cache)
    if config.plan:
        if "grpo" in config.stages:
            _show_training(config, folder, screen)
        screen.console.print(plan(config, stages, cache))
    if missing:
        raise ConfigError("\n".join(f"Needs: {sentence}" if config.plan else sentence for sentence in missing))
    if config.plan:
        return None
    who = config.model.name if config.policy.kind == "model" else f"the {config.policy.kind} policy"
    screen.say(f"{config.experiment}: {who}, seed {config.seed}, in {folder}")
    with _tracked(config, folder, screen, tags) as tracker:
        _name_stages(folder, own(config, stages, entries(config, stages, cache)))
        outputs = compute(config, stages, cache, screen, _Watch(tracker, config, screen), folder.name)
        for stage in stages:  # steps that another job computed belong to this run too
            if stage.rows and stage.output in outputs:
                directory = outputs[stage.output].directory
                rows = rows_by_step(directory / stage.rows.file)
                _record(tracker, config, stage.rows, directory, with_alarms(rows, sorted(rows)))
        return _conclude(config, outputs, folder, tracker, screen)


def _name_stages(folder: Path, found: Mapping[str, Entry]) -> None:
    """Write down where the job's stages lie, for commands that read them while it runs and later."""
    places = {name: os.path.relpath(entry.directory, folder) for name, entry in found.items()}
    (folder / STAGES_FILE).write_text(json.dumps(places, indent=1) + "\n")


def _show_training(config: Config, folder: Path, screen: Screen) -> None:
    with suppress(ValueError):  # overrides that verl does not know are among what is missing
        final, path = final_verl_config(config), folder / "verl.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(OmegaConf.to_yaml(final, resolve=True))
        screen.say("verl's settings where they differ from its defaults:")
        for key, value in changed_settings(config, final).items():
            screen.say(f"  {key}: {json.dumps(value)}")
        screen.say(f"All of verl's settings: {path}")
    found = estimated(config)
    if found is None:
        if config.trainer.gpus_per_node:
            screen.say(
                "Memory and time are not reckoned: model.architecture must hold the sizes in the model's config.json"
            )
        return
    for part in tables(config, found):
        screen.console.print(part)
    for sentence in found.too_much(gpu(config)):
        screen.say(f"Does not fit: {sentence}")


class _Watch:
    """While a training stage runs, sends its steps to MLflow, shows the last one and tells of alarms."""

    def __init__(self, tracker: Tracker, config: Config, screen: Screen) -> None:
        self.tracker = tracker
        self.config = config
        self.alarms = Teller(screen.say)

    @contextmanager
    def __call__(self, stage: Stage, folder: Path, report: Report) -> Iterator[None]:
        rows = stage.rows
        if rows is None:
            yield
            return
        total, seen = rows.total(self.config), dict[int, dict[str, Any]]()

        def handle(new: list[dict[str, Any]]) -> None:
            seen.update((int(row["step"]), row) for row in new)
            self.alarms.tell(seen)
            _record(self.tracker, self.config, rows, folder, with_alarms(seen, [int(row["step"]) for row in new]))
            report(int(new[-1][rows.unit]), total, _note(new[-1]))

        done = rows_by_step(folder / rows.file).values()  # of a run that was killed
        report(max((int(row[rows.unit]) for row in done), default=0), total)
        with Follower(folder / rows.file, handle):
            yield


def _record(tracker: Tracker, config: Config, rows: Rows, folder: Path, new: list[dict[str, Any]]) -> None:
    """Send a stage's new steps to MLflow, then a sample of the episodes of each."""
    for step in tracker.steps(new, rows.counter):
        tracker.rollouts(sample(folder / "rollouts", step, config.tracking.rollouts))


@contextmanager
def _tracked(config: Config, folder: Path, screen: Screen, tags: Mapping[str, str] | None) -> Iterator[Tracker]:
    folder.mkdir(parents=True, exist_ok=True)
    screen.say(f"Recording in MLflow at {config.tracking.uri}")
    tracker = Tracker(config, folder, screen.say)
    about = {"experiment": config.experiment, "model": config.model.name, "seed": str(config.seed)}
    about |= {"mlflow.source.name": "experiments.run"} | dict(tags or {})
    made_with = provenance() | model_hash(config)
    tracker.tags(about | made_with)
    tracker.params(flat(config))
    resolved = folder / "config.yaml"
    resolved.write_text(OmegaConf.to_yaml(OmegaConf.create(plain(config))))
    tracker.artifact(resolved)
    (folder / PROVENANCE).write_text(json.dumps(made_with, indent=1))
    for path in (folder / PROVENANCE, *write_changes(folder)):
        tracker.artifact(path, "provenance")
    with tracker.ended():
        yield tracker


def _conclude(config: Config, outputs: Mapping[str, Entry], folder: Path, tracker: Tracker, screen: Screen) -> Path:
    tracker.tags({f"data.{name}": entry.data_hash() for name, entry in outputs.items()})
    tracker.tags(model_hash(config))  # weights that were loaded from afar are here by now
    found = figures(config, outputs) | {"cost": costs(outputs, config.profile, folder.name)}
    path = folder / "figures.json"
    path.write_text(json.dumps({**found, "mlflow": {"uri": config.tracking.uri, "run": tracker.run_id}}, indent=1))
    tracker.results(_results(found) | _costs(found["cost"]))
    if found["heldout"]:
        tracker.tags({"mlflow.note.content": markdown(found)})
    for page in episode_pages(config, outputs, folder):
        tracker.artifact(page, "episodes")
    for attempts in write_attempts(outputs, folder):
        tracker.artifact(attempts, ATTEMPTS)
    made_with = json.loads((folder / PROVENANCE).read_text()) | model_hash(config)
    for trained in publish(config, outputs, found, made_with, folder):
        tracker.artifact(trained.folder / CARD, f"models/{trained.stage}")
        tracker.register(trained.name, trained.folder, trained.card, trained.tags)
        screen.say(f"The model with its card, as it can be published: {trained.folder}")
    for picture in curve(config, outputs, folder):
        tracker.artifact(picture)
    tracker.artifact(path)
    tracker.tags({f"alarm.{alarm['name']}": told(alarm) for alarm in found["alarms"]})
    if any("after" in row for row in found["heldout"]):
        screen.console.print(table(found))
    for shown in evaluation_tables(found["benchmarks"]):
        screen.console.print(shown)
    if found["probe"]:
        screen.console.print(probe_table(found["probe"]))
    if outputs:
        screen.console.print(conclusion(found["cost"]))
    for alarm in found["alarms"]:
        screen.say(told(alarm))
    if list(outputs) == ["synth"]:
        made = outputs["synth"].directory
        screen.say(f"What is in it: {made / 'README.md'}")
        screen.say(f"To read some of it: uv run proverl data show {made / 'train.parquet'}")
    screen.say(f"Its name for show, compare and rerun: {' or '.join(filter(None, [folder.name, tracker.run_id[:8]]))}")
    screen.say(f"To look at it: {ui_command(config.tracking.uri)}")
    screen.say(str(path))
    return path


def _results(found: Mapping[str, Any]) -> dict[str, float]:
    probed = {
        f"probe/{group['by']}/{group['name']}/{name}": value
        for group in (found["probe"] or {}).get("groups", ())
        for name, value in group.items()
        if name not in ("by", "name")
    }
    evaluated = {
        f"{one['benchmark']}/{row['metric']}{'' if row['by'] == ALL else '/' + row['stratum']}/{column}": row[column]
        for one in found["benchmarks"]
        for row in one["figures"]
        for column in ("before", "after", "difference", "low", "high")
        if row.get(column) is not None
    }
    return probed | evaluated


def _costs(cost: Mapping[str, Any]) -> dict[str, float]:
    """What all stages cost as `cost/...`, what this run itself did as `cost/own/...`."""
    own = {f"cost/own/{name}": value for name, value in cost["own"].items()}
    return {f"cost/{name}": value for name, value in cost["all"].items()} | own


def _note(row: Mapping[str, Any]) -> str:
    for name in ("reward", "loss"):
        value = row.get({"reward": "reward/mean", "loss": "sft/loss"}[name])
        if value is not None:
            return f"{name} {value:.3f}"
    return ""
