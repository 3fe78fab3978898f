"""Run an experiment: synthesise tasks, train, evaluate before and after, record it all in MLflow.

    uv run python -m experiments.run                                  # the default: a tiny model on this machine's CPU
    uv run python -m experiments.run reward.beta=0                    # an ablation
    uv run python -m experiments.run -m reward.beta=0,0.5 seed=0,1    # a sweep; tasks are synthesised once per seed
    uv run python -m experiments.run -m experiment=ablation           # a sweep that an overlay names
    uv run python -m experiments.run model=qwen3_4b experiment=main plan=true

A killed command goes on where it was when it is typed again. Only what answers a typing mistake is imported up here:
torch, verl and MLflow load when a stage needs them.
"""

import os
import signal
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import hydra
from omegaconf import DictConfig, OmegaConf

from experiments.options import CONF
from experiments.progress import Screen
from experiments.usage import answered

if TYPE_CHECKING:
    from experiments.compose import Command

SCREEN = Screen()
FAILED: list[Path] = []  # folder of a job that ended with a sentence


def main() -> None:
    """Check the command line, then let Hydra run its jobs; a user's mistake ends with one sentence and exit code 2."""
    if answer := answered(sys.argv[1:]):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` has enough of it
        print(answer)
        return
    if not any(argument.startswith("-") and argument not in ("-m", "--multirun") for argument in sys.argv[1:]):
        SCREEN.say("Checking the config")  # what checks it takes seconds to import
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a scheduler's Ctrl-C: MLflow hears of it as well
    # Hydra then raises what a job raised instead of printing it in its own way
    os.environ["HYDRA_FULL_ERROR"] = "1"
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # transformers shows one for each loading of weights
    from experiments.compose import read
    from experiments.config import RunError

    try:
        command = read(sys.argv[1:])
        from experiments.sweep import end_with_sweep, sweep_of  # after what answers a mistake

        end_with_sweep()
        sweep = sweep_of(command, sys.argv)
        if len(command.jobs) > 1 and not command.searches:
            SCREEN.say(f"A sweep of {len(command.jobs)} jobs.")
        sys.argv[1:] = command.argv
        with sweep.recorded(SCREEN) if sweep else nullcontext():
            _hydra()
        if len(command.jobs) > 1 and all(job.config.plan for job in command.jobs) and not command.searches:
            _plan_of_all(command)
        if FAILED or (sweep and not sweep.conclude(SCREEN)):
            sys.exit(2)
    except KeyboardInterrupt:
        SCREEN.say("Stopped. The same command goes on from here.")
        sys.exit(130)
    except RunError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except OSError as error:  # Hydra makes a job's folder before the job can tell of anything
        from experiments.failures import sentence

        if (told := sentence(error)) is None:
            raise
        print(told, file=sys.stderr)
        sys.exit(2)


def _plan_of_all(command: "Command") -> None:
    from experiments.cache import StageCache
    from experiments.config import ConfigError
    from experiments.plan import sweep_plan
    from experiments.stages import stages

    jobs = [
        (" ".join(one for one in job.overrides if one.partition("=")[0] in command.swept), job.config)
        for job in command.jobs
    ]
    cache = StageCache(Path(command.jobs[0].config.runs_dir) / "stages")
    with suppress(ConfigError):  # a job's own plan has said it
        SCREEN.console.print(sweep_plan([(name, config, stages(config)) for name, config in jobs], cache))


@hydra.main(config_path=str(CONF), config_name="config", version_base="1.3")
def _hydra(composed: DictConfig) -> None:
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    from experiments.config import typed
    from experiments.failures import sentence
    from experiments.job import job
    from experiments.stages import stages
    from experiments.sweep import for_a_job, run_alone, state_kept

    chosen = HydraConfig.get()
    folder = Path(chosen.runtime.output_dir)
    if chosen.mode == RunMode.MULTIRUN and not composed.plan:
        overrides = for_a_job([*chosen.overrides.hydra, *chosen.overrides.task])
        run_alone(overrides, folder, os.environ, Path.cwd())
        return
    try:
        with nullcontext() if composed.plan else state_kept(folder):
            config = typed(composed)
            job(config, stages(config), folder, SCREEN)
    except Exception as error:
        told = sentence(error)
        if told is None:
            raise
        print(told, file=sys.stderr)
        FAILED.append(folder)


def _job_name(*, _root_: DictConfig) -> str:
    """The folder of a job under `runs/jobs`: what it is, and the hash of everything that decides its result."""
    from experiments.compose import job_name

    return job_name(_root_)


OmegaConf.register_new_resolver("job_name", _job_name, replace=True)

if __name__ == "__main__":
    main()
