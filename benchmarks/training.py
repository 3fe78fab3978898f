"""Where a GRPO step's time goes on this machine's CPU, and the same step by TRL, in tokens a second.

    uv run python -m benchmarks.training             # the default run's step, six times, and twice more beside TRL
    uv run python -m benchmarks.training --steps 3

The first table splits the default run's step (tiny model, 8 prompts x 8 rollouts), by the figures that every run logs.
Environment and reward are in it by the clock, which goes on while their thread waits for a core that a sampler holds,
and by the processor time that they take themselves; the bound is on this.

The second compares with TRL's `GRPOTrainer`: its own tool loop and `environment_factory`, our sessions and reward
behind the tools. Both have the same start model, tasks in the same order, limits of tokens and turns, GRPO settings,
and as many processes of one thread. Tokens are those of prompts and responses that are trained on; seconds are those of
the step without checkpoints; the first step of each is left out. How TRL 1.16 is run:

- tasks with one user turn (`synth.user_turns=[1,1]`): its loop ends at the first reply without a call;
- a `response_schema`, in which the tokenizer reads the tiny model's calls; a broken call makes a reply words to it, so
  its episodes are a little shorter, and it knows no limit of calls;
- tools as JSON schemas: it makes them from Python signatures, and would show the model others than ours shows;
- no log-probabilities of the old policy: it takes the update's own, verl computes them. Both compute the start model's;
- sampling by `generate`: on a CPU its continuous batching warms up for ten seconds before each round of replies.
"""

import argparse
import json
import os
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.agent_loop import configured, made_tasks
from experiments.config import Config
from proverl.agent import ChatTemplate, tool_format
from proverl.agent.chat import clip
from proverl.agent.formats import render_tools
from proverl.core import Call, CallRecord, Task
from proverl.envs import Session
from proverl.reward import candidates
from proverl.trainer import RunPaths, model_path, read_metrics, rollouts, train
from proverl.trainer.rows import order
from proverl.trainer.train import environment

INSIDE = ("environment", "reward")
SHARE = 0.02  # of a step's time, at most, that the processor time of these two takes
_MICRO_BATCH = 8  # TRL's unit is sequences: about the tokens of `trainer.micro_batch_tokens`
_INSIDE = r"(?:(?!<\|/call\|>).)*"
SCHEMA = {  # of the tiny model's replies, as transformers reads them
    "x-regex": rf"^(?P<content>(?:(?!<\|call\|>|<\|end\|>).)*)(?P<tool_calls>(?:<\|call\|>{_INSIDE}<\|/call\|>)+)?",
    "type": "object",
    "properties": {
        "role": {"const": "assistant"},
        "content": {"type": "string"},
        "tool_calls": {
            "type": "array",
            "x-regex-iterator": rf"<\|call\|>({_INSIDE})<\|/call\|>",
            "items": {
                "type": "object",
                "properties": {
                    "type": {"const": "function"},
                    "function": {
                        "type": "object",
                        "x-regex": r"^(?P<name>[^{]+)(?P<arguments>\{.*)$",
                        "properties": {
                            "name": {"type": "string"},
                            "arguments": {"type": "object", "x-parser": "json"},
                        },
                    },
                },
            },
        },
    },
}


def main() -> None:
    """Train with both, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=6, help="of each run; the first does not count")
    steps = parser.parse_args().steps
    folder = Path(tempfile.mkdtemp(prefix="proverl-bench-"))
    figures: dict[str, Any] = {"load_before": os.getloadavg()[0]}
    config, tasks = _prepared(steps)
    logged = _trained(config, tasks, folder / "default")
    figures |= {
        "seconds": split(logged),
        "processor": processor(logged),
        "rollouts": config.trainer.prompts * config.trainer.rollouts,
    }
    config, tasks = _prepared(steps, "synth.user_turns=[1,1]")
    logged = _trained(config, tasks, folder / "one_turn")
    seconds = [values["time/step_s"] - values["time/save_s"] for values in logged]
    figures["ours"] = rate(tokens(RunPaths(folder / "one_turn"), steps), seconds)
    figures["trl"] = trl(config, tasks, folder / "trl")
    figures["load_after"] = os.getloadavg()[0]
    _show(figures)
    path = folder / "training.json"
    path.write_text(json.dumps(figures, indent=1))
    print(path)


def split(logged: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Mean seconds of a step and of its parts, from the metrics of some steps."""
    mean = {name: fmean(values[name] for values in logged) for name in logged[0] if name.startswith("time/")}
    step = mean["time/step_s"]
    found = {name: mean[f"time/{name}_s"] for name in (*INSIDE, "log_probs", "sync", "save")}
    found["generate"] = mean["time/generate_s"] - sum(found[name] for name in INSIDE)
    found["update"] = mean["time/update_s"] - found["log_probs"] - found["sync"]
    return {**found, "rest": step - sum(found.values()), "step": step}


def processor(logged: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Mean seconds of processor time of a step's environment and reward, from the metrics of some steps."""
    return {name: fmean(values[f"time/{name}_processor_s"] for values in logged) for name in INSIDE}


def tokens(paths: RunPaths, steps: int) -> list[int]:
    """Tokens of all prompts and responses of each step but the first."""
    found = [rollouts.read(paths.rollouts, step) for step in range(2, steps + 1)]
    return [sum(one.prompt_tokens + one.response_tokens for one in step) for step in found]


def rate(tokens: Sequence[int], seconds: Sequence[float]) -> dict[str, float]:
    """Of some steps together: tokens a second, and mean tokens and seconds of a step."""
    return {"tokens_s": sum(tokens) / sum(seconds), "tokens": fmean(tokens), "seconds": fmean(seconds)}


def trl(config: Config, tasks: Sequence[Task], folder: Path) -> dict[str, float]:
    """The same steps by TRL, in as many processes."""
    os.environ.update(environment(gpu=False))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1])}
    ranks = config.trainer.cpu_ranks
    with ProcessPoolExecutor(ranks, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(_trl_rank, range(ranks), repeat(config), repeat(tasks), repeat(folder)))
    seconds = [max(step) for step in zip(*(one for one, _ in found), strict=True)]
    return rate([sum(step) for step in zip(*(one for _, one in found), strict=True)][1:], seconds[1:])


def _trl_rank(rank: int, config: Config, tasks: Sequence[Task], folder: Path) -> tuple[list[float], list[int]]:
    """One process of TRL's; returns the seconds of each step and the tokens that it trained on."""
    trainer, limits = config.trainer, config.envs.limits
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(trainer.cpu_ranks)}
    from datasets import Dataset
    from transformers import AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    tokenizer = AutoTokenizer.from_pretrained(model_path(config.model))
    tokenizer.response_schema = SCHEMA
    template = ChatTemplate(tokenizer, tool_format(config.model.format))
    seconds: list[float] = []
    trained: list[int] = []

    class Clock(TrainerCallback):
        def on_step_begin(self, *_: Any, **__: Any) -> None:
            self.start = time.perf_counter()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            seconds.append(time.perf_counter() - self.start)

    def reward(
        environments: Sequence[_Environment],
        completions: Sequence[list[dict[str, Any]]],
        completion_ids: Sequence[list[int]],
        prompt_tokens: Sequence[int],
        **_: Any,
    ) -> list[float]:
        trained.append(sum(prompt_tokens) + sum(len(ids) for ids in completion_ids))
        return [
            one._score(bool(messages[-1].get("content")))
            for one, messages in zip(environments, completions, strict=True)
        ]

    rows = []
    for index in order(len(tasks), trainer.rows, config.seed):  # as our own run takes them
        task = tasks[index]
        prompt = [{"role": "system", "content": task.system}, {"role": "user", "content": task.turns[0]}]
        length = len(template.prompt(prompt, task.tools))
        rows.append({"prompt": prompt, "environment": task.id, "prompt_tokens": length})
    run = GRPOTrainer(
        model=str(model_path(config.model)),
        processing_class=tokenizer,
        reward_funcs=reward,
        train_dataset=Dataset.from_list(rows),
        environment_factory={task.id: _factory(task, config, tokenizer) for task in tasks},
        callbacks=[Clock()],
        args=GRPOConfig(
            output_dir=str(folder),
            use_cpu=True,
            bf16=False,
            model_init_kwargs={"dtype": "float32"},
            gradient_checkpointing=False,
            ddp_find_unused_parameters=False,
            per_device_train_batch_size=_MICRO_BATCH,
            gradient_accumulation_steps=trainer.prompts * trainer.rollouts // trainer.cpu_ranks // _MICRO_BATCH,
            num_generations=trainer.rollouts,
            max_steps=trainer.steps,
            shuffle_dataset=False,
            learning_rate=trainer.learning_rate,
            lr_scheduler_type="constant",
            beta=trainer.kl,
            loss_type="dapo",  # a mean over the batch's tokens
            temperature=trainer.temperature,
            max_completion_length=limits.response_tokens,
            generation_kwargs={"max_new_tokens": limits.reply_tokens},
            max_tool_calling_iterations=limits.assistant_turns - 1,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
    )
    run._env_tools = {task.id: render_tools(task.tools) for task in tasks}
    run.train()
    return seconds, trained


class _Environment:
    """One task as TRL has it: `reset`, and a method for every tool, which `_factory` adds."""

    _task: Task
    _config: Config
    _tokenizer: Any

    def reset(self, **_: Any) -> None:
        """Open a fresh session."""
        self._session = Session(self._task.servers, self._task.seed, call_seconds=self._config.envs.limits.call_seconds)
        self._calls: list[CallRecord] = []

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        result = self._session.call(name, arguments)
        self._calls.append(CallRecord(Call(name, arguments), result, 0, 0))
        return clip(result.text(), self._config.envs.limits.tool_output_tokens, self._tokenizer)

    def _score(self, replied: bool) -> float:
        with self._session:
            tools = candidates(self._task.tools, self._session.tools)
            return self._config.reward.score(self._calls, self._task.ground_truth, tools, replied=replied).total


def _factory(task: Task, config: Config, tokenizer: Any) -> partial[_Environment]:
    """What makes environments of one task."""
    members = {"_task": task, "_config": config, "_tokenizer": tokenizer}
    members |= {tool.name: _method(tool.name) for tool in task.tools}
    return partial(type("Task", (_Environment,), members))


def _method(name: str) -> Any:
    def call(self: _Environment, **arguments: Any) -> str:
        return self._call(name, arguments)

    call.__name__ = name
    return call


def _prepared(steps: int, *overrides: str) -> tuple[Config, list[Task]]:
    config = configured([f"trainer.steps={steps}", *overrides], tasks=steps * 8)
    return config, made_tasks(config)


def _trained(config: Config, tasks: Sequence[Task], folder: Path) -> list[dict[str, float]]:
    """Train with ours; return the metrics of each step but the first."""
    train(tasks, folder, config.trainer, config.model, config.envs.limits, config.reward, config.seed)
    return [values for _, values in read_metrics(RunPaths(folder).metrics, after=1)]


def _show(figures: Mapping[str, Any]) -> None:
    seconds, busy, rollouts = figures["seconds"], figures["processor"], figures["rollouts"]
    table = Table("part of a step", "seconds", "share", "processor time", "its share", "must", "a rollout")
    for name, value in sorted(seconds.items(), key=lambda item: item[1]):
        table.add_row(name.replace("_", " "), *_cells(value, seconds["step"], busy.get(name), rollouts, ""))
    both = [sum(found[name] for name in INSIDE) for found in (seconds, busy)]
    table.add_section()
    table.add_row("environment and reward", *_cells(both[0], seconds["step"], both[1], rollouts, f"<= {SHARE:.0%}"))
    Console().print(table)
    ours, theirs = figures["ours"], figures["trl"]
    table = Table("step of tasks with one user turn", "tokens a second", "tokens", "seconds")
    for name, one in (("ours", ours), ("TRL", theirs)):
        table.add_row(name, f"{one['tokens_s']:,.0f}", f"{one['tokens']:,.0f}", f"{one['seconds']:.2f}")
    table.add_row("ours / TRL", f"{ours['tokens_s'] / theirs['tokens_s']:.2f}", "", "")
    Console().print(table)
    print(f"load of the machine: {figures['load_before']:.1f} before, {figures['load_after']:.1f} after")


def _cells(value: float, step: float, busy: float | None, rollouts: int, most: str) -> list[str]:
    cells = [f"{value:.3f}", f"{value / step:.1%}"]
    if busy is not None:
        cells += [f"{busy:.3f}", f"{busy / step:.1%}", most, f"{busy / rollouts * 1e3:.2f} ms"]
    return cells


if __name__ == "__main__":
    main()
