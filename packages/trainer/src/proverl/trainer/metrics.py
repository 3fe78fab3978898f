"""What is logged of a step, under names that do not change, and the file it goes to.

| names | what |
|---|---|
| `reward/mean`, `reward/{validity,coverage,efficiency,name,arg}` | means over the step's episodes |
| `reward/{std,zero_variance_share}` | mean deviation within a prompt; share of prompts whose rollouts score alike |
| `episode/{calls,tool_errors,replies,prompt_tokens,response_tokens}` | per episode |
| `episode/success` | share of episodes that did their task: right final state, right look-ups |
| `episode/{count,failed}` | episodes trained on, and rollouts that could not be run |
| `stop/*` | share of episodes that ended for each reason |
| `actor/*` | verl's: loss, KL, entropy, gradient norm, learning rate, clipped share |
| `rollout/probability_difference` | of the sampled tokens, between rollout and trainer, mean |
| `rollout/replaced_groups` | groups that scored alike and were replaced (`trainer.filter_groups`) |
| `time/{step,generate,update,save,validate}_s` | wall-clock seconds of the step and of its phases |
| `time/{log_probs,sync}_s` | of `update`: log-probabilities under old and start model; new weights to the rollout |
| `validation/*` | of the dev split, in steps that validate: `validation.py` |
| `time/{environment,reward}_s` | seconds that all episodes together spent in tools and in scoring, while generating |
| `sft/{loss,grad_norm,lr,epoch,step_s}` | supervised fine-tuning: mean over learned tokens (nats), and verl's |
| `sft/{tokens,learned_tokens}` | of the step's demonstrations: all, and those of the assistant |
"""

import json
import math
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev

PARTS = ("validity", "coverage", "efficiency", "name", "arg")
_VERL = {
    "actor/loss": "actor/loss",
    "actor/pg_loss": "actor/pg_loss",
    "actor/kl_loss": "actor/kl_loss",
    "actor/entropy": "actor/entropy",
    "actor/grad_norm": "actor/grad_norm",
    "actor/lr": "actor/lr",
    "actor/pg_clipfrac": "actor/pg_clipfrac",
    "actor/ppo_kl": "actor/ppo_kl",
    "training/rollout_probs_diff_mean": "rollout/probability_difference",
    "training/filter_groups/evicted_samples": "rollout/replaced_groups",
    "prompt_length/mean": "episode/prompt_tokens",
    "response_length/mean": "episode/response_tokens",
    "timing_s/step": "time/step_s",
    "timing_s/gen": "time/generate_s",
    "timing_s/save_checkpoint": "time/save_s",
    "timing_s/testing": "time/validate_s",
}
_PER_EPISODE = ("episode/calls", "episode/tool_errors", "episode/replies", "episode/success")
_PHASES = {
    "update": ("old_log_prob", "ref", "adv", "update_actor", "update_weights"),
    "log_probs": ("old_log_prob", "ref"),
    "sync": ("update_weights",),
}


def summarize(
    infos: Sequence[Mapping[str, float]], prompts: Sequence[str], expected: int, verl: Mapping[str, float]
) -> dict[str, float]:
    """One step's metrics from the episodes' numbers, the prompt each belongs to, and what verl measured."""
    found = {new: float(verl[old]) for old, new in _VERL.items() if old in verl}
    found |= {name: float(value) for name, value in verl.items() if name.startswith("validation/")}
    for name, parts in _PHASES.items():
        found[f"time/{name}_s"] = math.fsum(float(verl.get(f"timing_s/{part}", 0.0)) for part in parts)
    found["episode/count"], found["episode/failed"] = float(len(infos)), float(expected - len(infos))
    if infos:
        found |= _means(infos) | _groups([info["reward/total"] for info in infos], prompts)
    return dict(sorted(found.items()))


def _means(infos: Sequence[Mapping[str, float]]) -> dict[str, float]:
    found = {"reward/mean": fmean(info["reward/total"] for info in infos)}
    for name in (*(f"reward/{part}" for part in PARTS), *_PER_EPISODE):
        found[name] = fmean(info[name] for info in infos)
    for name in infos[0]:
        if name.startswith("stop/"):
            found[name] = fmean(info[name] for info in infos)
    for part in ("environment", "environment_processor", "reward", "reward_processor"):
        found[f"time/{part}_s"] = math.fsum(info[f"seconds/{part}"] for info in infos)
    return found


def _groups(rewards: Sequence[float], prompts: Sequence[str]) -> dict[str, float]:
    groups = defaultdict(list)
    for prompt, reward in zip(prompts, rewards, strict=True):
        groups[prompt].append(reward)
    deviations = [pstdev(group) for group in groups.values()]
    return {
        "reward/std": fmean(deviations),
        "reward/zero_variance_share": fmean(deviation < 1e-9 for deviation in deviations),
    }


def append(path: Path, step: int, values: Mapping[str, float]) -> None:
    """Add one step as one line. A full disk loses the line, which is said; it does not end the training."""
    size = path.stat().st_size if path.exists() else 0
    try:
        with path.open("a") as file:
            file.write(json.dumps({"step": step, **values}) + "\n")
    except OSError as error:
        print(f"the metrics of step {step} are lost: {error}", flush=True)
        if path.is_file():
            os.truncate(path, size)  # no half line


def read(path: Path, after: int = 0) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield (step, metrics) of the complete lines of steps later than `after`; none when there is no file yet.

    Raises ValueError that names a line which can't be read.
    """
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    for number, line in enumerate(lines, 1):  # the last piece has no newline: it is still being written
        try:
            values = json.loads(line)
            step = int(values.pop("step"))
        except (ValueError, KeyError, AttributeError, TypeError):
            raise ValueError(f"line {number} of {path} is no step's metrics; delete that line to go on") from None
        if step > after:
            yield step, values


def truncate(path: Path, step: int) -> None:
    """Drop the lines of steps later than `step`, which a resumed run writes again."""
    kept = [(found, values) for found, values in read(path) if found <= step]
    partial = path.with_suffix(".partial")
    partial.write_text("".join(json.dumps({"step": found, **values}) + "\n" for found, values in kept))
    partial.replace(path)
