"""What several stages need of the machine, and names that they share."""

from pathlib import Path

from experiments.config import Config

TRAIN, HELDOUT = "train.parquet", "heldout.parquet"  # files of the synth stage
MODEL, CHECKPOINTS = "model", "checkpoints"  # folders of a training stage
METRICS = "metrics.jsonl"  # what a training stage appends to, a line per step
PROGRESS = "progress.jsonl"  # the same of the tiny model's warm-up
SPENT = "spent.json"  # in the synth stage: what a teacher behind an endpoint was asked
SYNTH_CODE = ("proverl.core", "proverl.envs", "proverl.agent", "proverl.reward", "proverl.synth")
ALL_CODE = (*SYNTH_CODE, "proverl.evals", "proverl.trainer")


def last_trained(config: Config) -> tuple[str, ...]:
    """The output that holds the trained model."""
    return ("sft",) if "sft" in config.stages and "grpo" not in config.stages else ("grpo",)


def trains(config: Config) -> bool:
    """Whether the run trains anything."""
    return bool({"sft", "grpo"} & set(config.stages))


def model_needs(config: Config) -> list[str]:
    """What is missing here for the model, a sentence each."""
    from proverl.trainer import check_requirements

    told = check_requirements(config.model, config.trainer, Path(config.runs_dir), trains(config))
    if config.model.gpu and not config.profile.gpus_per_node:
        told = [
            f"model {config.model.name} runs on GPUs and profile {config.profile.name} has none: add profile=h100x8 or "
            "profile=cluster, or experiment=main, which brings the paper's settings too.",
            *told,
        ]
    return told
