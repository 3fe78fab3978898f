"""Run an experiment: synthesise tasks, train, evaluate before and after, record it all in MLflow.

    uv run python -m experiments.run                                  # the default: a tiny model on this machine's CPU
    uv run python -m experiments.run reward.beta=0                    # an ablation
    uv run python -m experiments.run -m reward.beta=0,0.5 seed=0,1    # a sweep; tasks are synthesised once per seed
    uv run python -m experiments.run model=qwen3_4b experiment=main plan=true

A killed command goes on where it was when it is typed again. Only what answers a typing mistake is imported up here:
torch, verl and MLflow load when a stage needs them.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import hydra
from omegaconf import DictConfig, OmegaConf

from experiments.progress import Screen

SCREEN = Screen()
FAILED: list[Path] = []  # folders of the jobs that ended with a sentence


def main() -> None:
    """Check the command line, then let Hydra run its jobs; a user's mistake ends with one sentence and exit code 2."""
    if not any(argument.startswith("-") and argument not in ("-m", "--multirun") for argument in sys.argv[1:]):
        SCREEN.say("Checking the config")  # what checks it takes seconds to import
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a scheduler's Ctrl-C: MLflow hears of it as well
    # Hydra then raises what a job raised instead of printing it in its own way
    os.environ["HYDRA_FULL_ERROR"] = "1"
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # transformers shows one for each loading of weights
    from experiments.compose import check, flags_first
    from experiments.config import ConfigError

    try:
        sys.argv[1:] = flags_first(sys.argv[1:])
        jobs = check(sys.argv[1:])
        if len(jobs) > 1:
            SCREEN.say(f"A sweep of {len(jobs)} jobs.")
        _hydra()
    except KeyboardInterrupt:
        SCREEN.say("Stopped. The same command goes on from here.")
        sys.exit(130)
    except ConfigError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except OSError as error:  # Hydra makes a job's folder before the job can tell of anything
        from experiments.failures import sentence

        if (told := sentence(error)) is None:
            raise
        print(told, file=sys.stderr)
        sys.exit(2)
    if FAILED:
        sys.exit(2)


@hydra.main(config_path="../conf", config_name="config", version_base="1.3")
def _hydra(composed: DictConfig) -> None:
    from hydra.core.hydra_config import HydraConfig

    from experiments.config import typed
    from experiments.failures import sentence
    from experiments.job import job
    from experiments.stages import stages

    folder = Path(HydraConfig.get().runtime.output_dir)
    try:
        config = typed(composed)
        job(config, stages(config), folder, SCREEN)
    except Exception as error:
        told = sentence(error)
        if told is None:
            raise
        print(told, file=sys.stderr)
        FAILED.append(folder)  # not raised, so that the other jobs of a sweep go on


def _job_name(*, _root_: DictConfig) -> str:
    """The folder of a job under `runs/jobs`: what it is, and the hash of everything that decides its result."""
    from experiments.pipeline import job_key

    groups = OmegaConf.masked_copy(_root_, [str(key) for key in _root_ if key != "hydra"])
    values: Any = OmegaConf.to_container(groups, resolve=True)
    kind = values["policy"]["kind"]
    who = values["model"]["name"] if kind == "model" else kind
    return f"{values['experiment']}-{who}-s{values['seed']}-{job_key(values)}"


OmegaConf.register_new_resolver("job_name", _job_name, replace=True)

if __name__ == "__main__":
    main()
