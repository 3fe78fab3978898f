"""What an episode costs around the model: our agent loop with a generator that answers from a list, many at once.

    uv run python -m benchmarks.agent_loop                          # 2,048 rollouts of the default run's tasks
    uv run python -m benchmarks.agent_loop --profile synth=paper envs=paper   # the paper's limits, and where time goes

Every rollout has a live session, the model's chat template and tokenizer, and the reward; only sampling is a stub,
which answers with the ground truth's calls. The table shows processor time of this process for each reply (a turn) and
the most memory that it had, with the bounds. verl's own share (its worker, TransferQueue) is not in it.
"""

import argparse
import asyncio
import cProfile
import json
import os
import pstats
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

from hydra import compose, initialize_config_dir
from rich.console import Console
from rich.table import Table

from experiments.config import Config, typed
from proverl.agent import ChatTemplate, OracleChat, Reply, run_episode, tool_format
from proverl.core import Task, task_to_json
from proverl.envs import Session
from proverl.synth import ScriptedTeacher, Synthesis, read_tasks, write_dataset
from proverl.trainer import model_path
from proverl.trainer.train import environment

TURN_MS, MEMORY_GIB = 1.0, 4.0  # the most that a turn and all rollouts together may take
_ROW = re.compile(r"^\d+\|\d+\|(\d+)\|")  # of a request id: run, step, row


class Stub:
    """A rollout server that says each row's replies in order, each after a while that follows from the seed."""

    def __init__(self, replies: Sequence[Sequence[list[int]]]) -> None:
        self._replies = replies
        self.said: dict[str, int] = {}
        self._random = Random("stub")
        self.live = self.most = self.turns = 0

    async def generate(self, request_id: str, *, prompt_ids: list[int], sampling_params: dict[str, Any]) -> Any:
        """As verl's client: ids, their log-probabilities, and the version of the weights."""
        self.live += 1
        self.most = max(self.most, self.live)
        await asyncio.sleep(self._random.uniform(0.05, 0.15))
        self.live -= 1
        self.turns += 1
        said = self.said.get(request_id, 0)
        self.said[request_id] = said + 1
        row = _ROW.match(request_id)
        assert row is not None
        replies = self._replies[int(row[1])]
        ids = replies[min(said, len(replies) - 1)][: sampling_params["max_tokens"]]
        return SimpleNamespace(token_ids=ids, log_probs=[-0.5] * len(ids), extra_fields={"global_steps": 1})


class _Recorder(OracleChat):
    """Performs the ground truth of a task, and keeps what it said."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.said: list[Reply] = []

    async def reply(self) -> Reply:
        """The next reply."""
        self.said.append(await super().reply())
        return self.said[-1]


def main() -> None:
    """Make tasks and replies, run them all at once, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rollouts", type=int, default=2048, help="at once")
    parser.add_argument("--rounds", type=int, default=3, help="of which the fastest counts: other work slows them")
    parser.add_argument("--tasks", type=int, default=64, help="that they share")
    parser.add_argument("--profile", action="store_true", help="show where the time goes (it then takes longer)")
    parser.add_argument("overrides", nargs="*", help="settings of the run")
    asked = parser.parse_args()
    config = configured(asked.overrides, asked.tasks)
    tasks = made_tasks(config)
    figures = measure(config, tasks, asked.rollouts, asked.rounds, asked.profile)
    table = Table("what", "measured", "must")
    table.add_row("processor time a turn", f"{figures['turn_ms']:.2f} ms", f"<= {TURN_MS:g} ms")
    table.add_row("most memory", f"{figures['memory_gib']:.2f} GiB", f"<= {MEMORY_GIB:g} GiB")
    table.add_row("memory before", f"{figures['memory_before_gib']:.2f} GiB", "")
    for name in ("concurrent", "turns", "tokens_a_rollout", "score"):
        table.add_row(name.replace("_", " "), f"{figures[name]:,.4g}", "")
    Console().print(table)
    path = Path(tempfile.mkdtemp(prefix="proverl-bench-")) / "agent_loop.json"
    path.write_text(json.dumps(figures, indent=1))
    print(path)


def measure(config: Config, tasks: Sequence[Task], rollouts: int, rounds: int, profile: bool) -> dict[str, float]:
    """Run `rollouts` episodes at once on one event loop, `rounds` times, and measure."""
    os.environ.update(environment(gpu=False))
    from transformers import AutoTokenizer

    from proverl.trainer.agent_loop import EpisodeLoop

    tokenizer = AutoTokenizer.from_pretrained(model_path(config.model))
    stub = Stub([_replies(task, config, tokenizer) for task in tasks])
    rows = [{"index": index, "task": task_to_json(task)} for index, task in enumerate(tasks)]
    limits, reward = (json.dumps(asdict(part)) for part in (config.envs.limits, config.reward))

    async def rollout(number: int) -> Any:
        loop = EpisodeLoop(
            SimpleNamespace(config=None),
            stub,
            tokenizer,
            format=config.model.format,
            limits=limits,
            reward=reward,
            seed=config.seed,
        )
        row = {"extra_info": rows[number % len(rows)], "global_steps": 1, "session_id": number // len(rows)}
        return await loop.run({"temperature": 1.0, "top_p": 1.0}, **row)

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*(rollout(number) for number in range(rollouts)))

    asyncio.run(rollout(0))  # templates and caches that every run has
    before = _memory("VmRSS")
    profiler = cProfile.Profile(time.process_time)
    if profile:
        profiler.enable()
    turn_ms = []
    for _ in range(rounds):
        stub.said.clear()
        stub.turns, start = 0, time.process_time()
        outputs = asyncio.run(all_at_once())
        turn_ms.append((time.process_time() - start) / stub.turns * 1e3)
    if profile:
        profiler.disable()
        pstats.Stats(profiler, stream=sys.stdout).sort_stats("tottime").print_stats(30)
    return {
        "turn_ms": min(turn_ms),
        "memory_gib": _memory("VmHWM"),
        "memory_before_gib": before,
        "rollouts": rollouts,
        "concurrent": stub.most,
        "turns": stub.turns,
        "tokens_a_rollout": sum(len(one.prompt_ids) + len(one.response_ids) for one in outputs) / rollouts,
        "score": sum(one.reward_score for one in outputs) / rollouts,
    }


def configured(overrides: list[str], tasks: int) -> Config:
    """The typed config of a run with so many training tasks, all made here."""
    with initialize_config_dir(str(Path(__file__).parents[1] / "conf"), version_base="1.3"):
        size = [f"synth.train_tasks={tasks}", "synth.heldout_tasks=1", "synth.when2call=0", "synth.xlam_irrelevance=0"]
        return typed(compose("config", [*overrides, *size]))


def made_tasks(config: Config) -> list[Task]:
    """The training tasks of a config."""
    with tempfile.TemporaryDirectory() as folder:
        write_dataset(Synthesis(config.synth, config.seed, config.envs.limits, ScriptedTeacher()), Path(folder))
        return read_tasks(Path(folder) / "train.parquet")


def _replies(task: Task, config: Config, tokenizer: Any) -> list[list[int]]:
    """The ids of what a perfect policy says, in the model's format."""
    template, chat = ChatTemplate(tokenizer, tool_format(config.model.format)), _Recorder(task, tokenizer=tokenizer)
    with Session(task.servers, task.seed) as session:
        asyncio.run(run_episode(task, session, chat, config.envs.limits))
    return [template.written(reply) for reply in chat.said]


def _memory(name: str) -> float:
    """GiB of this process: VmRSS now, VmHWM at most."""
    found = re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 2**20


if __name__ == "__main__":
    main()
