"""Repeat a recorded run from nothing, and say whether its figures agree.

    uv run python -m experiments.rerun RUN_ID                       # of the default store; its first characters do
    uv run python -m experiments.rerun RUN_ID --uri http://HOST:PORT --runs-dir runs

The run's own config comes from MLflow. What is different now (commit, changed files, lock, machine, model) is said
first. Stages are computed anew, in `runs/reruns/`, since a rerun that took them from the cache would show nothing; a
rerun that was killed goes on. It is an MLflow run of its own, tagged `rerun.of`. docs/runs.md says when figures agree.

Exit status: 0 when all figures agree, 1 when one does not, 2 when the run can't be repeated.
"""

import argparse
import json
import logging
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from omegaconf import DictConfig, OmegaConf
from rich.table import Table
from yaml import YAMLError

from experiments.agreement import Agreement, compared
from experiments.config import Config, RunError, StageName, dotted, keys_of, typed
from experiments.progress import Screen
from experiments.store import opened, parsed

SCREEN = Screen()
_OPEN = ("evals", "policy", "reward")  # groups whose keys depend on what was chosen


def main() -> None:
    """Repeat the run, print the comparison and, last, the path of its figures."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for bars, off in (("HF_HUB_DISABLE_PROGRESS_BARS", "1"), ("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")):
        os.environ.setdefault(bars, off)
    from experiments.failures import sentence

    try:
        agrees = rerun(arguments.run, arguments.uri, Path(arguments.runs_dir), SCREEN)
    except KeyboardInterrupt:
        SCREEN.say("Stopped. The same command goes on from here.")
        sys.exit(130)
    except Exception as error:  # the status of a traceback, 1, would say that a figure does not agree
        print(sentence(error) or traceback.format_exc(), file=sys.stderr)
        sys.exit(2)
    sys.exit(0 if agrees else 1)


def rerun(run_id: str, uri: str, runs_dir: Path, screen: Screen) -> bool:
    """Repeat a run; return whether all its figures agree. Raises RunError when it can't be repeated."""
    from experiments.job import job
    from experiments.provenance import model_hash, provenance
    from experiments.stages import stages

    client = opened(uri)
    run = find(client, run_id)
    with tempfile.TemporaryDirectory() as temporary:
        saved = read_config(artifact(client, run, "config.yaml", Path(temporary)))
        artifact(client, run, "figures.json", Path(temporary))
    fresh = _fresh_folder(runs_dir / "reruns", run.info.run_id)
    config = with_stages_of(run.data.tags, repeated(saved, fresh, uri, screen))
    screen.say(f"Repeating run {run.info.run_id} ({run.info.run_name}) in {fresh}")
    fresh.mkdir(parents=True, exist_ok=True)
    for told in differing(run.data.tags, provenance() | model_hash(config)):
        screen.say(told)
    folder = fresh / "jobs" / f"{run.info.run_name}-rerun"
    folder.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(filename=folder / "run.log", level=logging.WARNING)
    tags = {"rerun.of": run.info.run_id, "mlflow.source.name": "experiments.rerun"}
    path = job(config, stages(config), folder, screen, tags)
    assert path is not None
    again = str(json.loads(path.read_text())["mlflow"]["run"])
    with tempfile.TemporaryDirectory() as temporary:
        found = compared(client, run, client.get_run(again), Path(temporary))
    return _conclude(client, again, run.info.run_id, found, folder / "rerun.json", screen)


def find(client: Any, run_id: str) -> Any:
    """The recorded run with this id, an id that starts so, or this name. Raises RunError when it is none or several."""
    ids = [experiment.experiment_id for experiment in client.search_experiments()]
    runs = client.search_runs(ids, max_results=50_000) if run_id else []
    begun = [run for run in runs if run.info.run_id.startswith(run_id)]
    found = begun or [run for run in runs if run.info.run_name == run_id]
    if len(found) == 1:
        return found[0]
    if found:
        raise RunError(f"{run_id} is {'the start' if begun else 'the name'} of {len(found)} runs: give more of the id.")
    raise RunError(
        f"There is no run {run_id!r} in that store: a run says its name at its end, or give --uri or --runs-dir."
    )


def artifact(client: Any, run: Any, name: str, folder: Path) -> Path:
    """Fetch one of a run's artifacts. Raises RunError that says what a run without it is."""
    try:
        return Path(client.download_artifacts(run.info.run_id, name, str(folder)))
    except Exception as error:  # whatever the store says of a file that is not there
        why = {"config.yaml": "it is a sweep, no run of this harness, or its artifacts are gone: give another run"}
        reason = why.get(name, "it did not end, so there is nothing to compare with: type its own command again")
        raise RunError(f"Run {run.info.run_id} has no {name} ({reason}).") from error


def read_config(file: Path) -> DictConfig:
    """A run's recorded config. Raises RunError when it is damaged."""
    try:
        found = OmegaConf.load(file)
    except (OSError, ValueError, YAMLError) as error:
        raise RunError(f"The run's config.yaml is damaged ({str(error).splitlines()[0]}).") from error
    if not isinstance(found, DictConfig):
        raise RunError("The run's config.yaml is damaged (it holds no settings).")
    return found


def with_stages_of(tags: Mapping[str, str], config: Config) -> Config:
    """The config with a stage for each output that the run had, also for those that it took from the cache."""
    from experiments.stages import stages

    had = {stage.name for stage in stages(config) if f"data.{stage.output}" in tags} | set(config.stages)
    return replace(config, stages=tuple(name for name in get_args(StageName) if name in had))


def repeated(saved: DictConfig, runs_dir: Path, uri: str, screen: Screen) -> Config:
    """The run's own config, to be run in another folder and recorded in the same store.

    Settings that came later have today's default, which is said.
    """
    from experiments.compose import composed
    from experiments.pipeline import flat

    today, absent = composed([]), object()
    before = {name for name, _ in dotted(OmegaConf.to_container(saved))}
    for key in keys_of(Config):
        group = key.partition(".")[0]
        key = group if group in _OPEN else key
        if OmegaConf.select(saved, key, default=absent) is absent:
            value = OmegaConf.select(today, key, default=absent)
            if value is not absent:
                OmegaConf.update(saved, key, value, force_add=True)
    config = typed(saved)
    for key, value in flat(config).items():
        if key not in before:
            screen.say(f"The run's config has no {key}, which came later: it is {value} here.")
    return replace(config, plan=False, runs_dir=str(runs_dir), tracking=replace(config.tracking, uri=uri))


def differing(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each thing that is not as it was."""
    known = {
        "git.commit": "The commit is {now}, it was {before}.",
        "git.diff.sha256": "Files differ from the commit otherwise than then (artifact provenance/dirty.diff).",
        "code.hash": "The code of the packages or of the experiments is not the same.",
        "lock.sha256": "uv.lock is another, so packages may have other versions.",
        "model.hash": "The start model's files are not the same.",
        "python": "Python is {now}, it was {before}.",
    }
    for name, value in now.items():
        old = before.get(name, "not recorded")
        if old != value and (name in known or name.startswith("hardware.")):
            usual = f"{name.replace('.', ': ').capitalize()} is {{now}}, it was {{before}}."
            yield "Now different: " + known.get(name, usual).format(now=value, before=old)


def _fresh_folder(reruns: Path, run_id: str) -> Path:
    """A folder for a new rerun, or that of one that did not come to its end."""
    number = 1
    while (folder := reruns / f"{run_id[:12]}-{number}").is_dir() and list(folder.glob("jobs/*/rerun.json")):
        number += 1
    return folder


def _conclude(client: Any, again: str, before: str, found: Sequence[Agreement], path: Path, screen: Screen) -> bool:
    agrees = bool(found) and all(one.agrees for one in found)
    screen.console.print(table(found))
    verdicts = [one.verdict for one in found]
    counted = ", ".join(f"{verdicts.count(name)} {name}" for name in dict.fromkeys(verdicts))
    screen.say(f"The rerun {'agrees' if agrees else 'does not agree'}: {counted or 'there is nothing to compare'}.")
    figures = {"run": again, "rerun_of": before, "agrees": agrees, "figures": [one.as_json() for one in found]}
    path.write_text(json.dumps(figures, indent=1) + "\n")
    client.set_tag(again, "rerun.agrees", str(agrees).lower())
    client.log_artifact(again, str(path))
    screen.say(str(path))
    return agrees


def table(found: Sequence[Agreement]) -> Table:
    """One line for each figure that both runs have."""
    shown = Table(title="The run and its rerun", title_justify="left")
    for heading in ("figure", "then", "now", "difference", "agrees"):
        shown.add_column(heading, justify="left" if heading in ("figure", "agrees") else "right", no_wrap=True)
    for one in found:
        shown.add_row(*one.cells())
    return shown


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rerun",
        description=(__doc__ or "").split("\n")[0],
        epilog="Exit status: 0 all figures agree, 1 one does not, 2 the run can't be repeated.",
    )
    parser.add_argument("run", help="a run's name, its id in MLflow, or the first characters of that")
    return parsed(parser)


if __name__ == "__main__":
    main()
