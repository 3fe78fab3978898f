"""Evaluation on held-out tasks: the policy's own episodes against live sessions, scored as in training."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from proverl.agent import Limits, OraclePolicy, Policy, run_episode
from proverl.core import Episode, StopReason, Task
from proverl.envs import Session
from proverl.evals.config import EvalsConfig
from proverl.evals.heldout_record import EvaluationRecord, append_record, by_episode, read_records, resume
from proverl.reward import Reward, candidates, task_success

Progress = Callable[[int, int, str], None]


class EvaluationFailed(RuntimeError):
    """An episode that could not be run. What was evaluated before is kept, and the same call goes on from there."""


def evaluate(
    tasks: Sequence[Task],
    policy: Policy,
    folder: Path,
    config: EvalsConfig,
    limits: Limits,
    reward: Reward,
    seed: int = 0,
    progress: Progress = lambda done, total, note: None,
) -> list[EvaluationRecord]:
    """Let the policy do every task `config.repeats` times and return the records, which lie in `folder` as well.

    Episodes that `folder` already has are not run again. `progress` is called with the episodes done, their total and
    the mean reward so far. Raises EvaluationFailed when the policy or the environment fails, ValueError when records in
    `folder` belong to other tasks.
    """
    return asyncio.run(_Evaluation(tasks, policy, folder, config, limits, reward, seed, progress).run())


class _Evaluation:
    """One evaluation: what is left to do, and where its records go."""

    def __init__(
        self,
        tasks: Sequence[Task],
        policy: Policy,
        folder: Path,
        config: EvalsConfig,
        limits: Limits,
        reward: Reward,
        seed: int,
        progress: Progress,
    ) -> None:
        self.tasks, self.policy, self.folder, self.config = tasks, policy, folder, config
        self.limits, self.reward, self.seed, self.progress = limits, reward, seed, progress
        self.slots = asyncio.Semaphore(config.concurrency)
        done = resume(folder)
        for record in done:
            if record.position >= len(tasks) or record.task != tasks[record.position]:
                raise ValueError(f"{folder} holds records of other tasks, such as {record.task.id}; use another folder")
        self.done = by_episode(done)
        self.rewards = [record.breakdown.total for record in done]

    async def run(self) -> list[EvaluationRecord]:
        """Run what is missing, as many episodes at a time as the config allows."""
        self._report()
        await asyncio.gather(
            *(
                self._one(position, repeat)
                for position, task in enumerate(self.tasks)
                for repeat in range(self.config.repeats)
                if (task.id, repeat) not in self.done
            )
        )
        return read_records(self.folder)

    async def _one(self, position: int, repeat: int) -> None:
        async with self.slots:
            task, seed = self.tasks[position], self.seed * self.config.repeats + repeat
            record = await _evaluated(position, repeat, seed, task, self.policy, self.limits, self.reward)
        append_record(record, self.folder)
        self.rewards.append(record.breakdown.total)
        self._report()

    def _report(self) -> None:
        mean = f"reward {sum(self.rewards) / len(self.rewards):.3f}" if self.rewards else ""
        self.progress(len(self.rewards), len(self.tasks) * self.config.repeats, mean)


async def _evaluated(
    position: int, repeat: int, seed: int, task: Task, policy: Policy, limits: Limits, reward: Reward
) -> EvaluationRecord:
    """Run and score one episode, and compare its final state with the ground truth's."""
    with Session(task.servers, task.seed, call_seconds=limits.call_seconds) as session:
        episode = await run_episode(task, session, policy.chat(task, limits, seed), limits)
        tools = candidates(task.tools, session.tools)
    _refuse_crash(episode, "the policy")
    breakdown = reward.score(episode.calls, task.ground_truth, tools, replied=episode.replied)
    episode.transcript = None  # the tokens are of no use to a reader and large
    episode.reward = breakdown.as_dict()
    same = episode.digest == (task.digest or await _oracle_digest(task, limits))
    success = task_success(episode.calls, task.ground_truth, tools, state_equal=same, replied=episode.replied)
    return EvaluationRecord(position, repeat, seed, task, episode, breakdown, success, same)


async def _oracle_digest(task: Task, limits: Limits) -> str:
    """The final state of a task that does not tell it."""
    with Session(task.servers, task.seed) as session:
        oracle = await run_episode(task, session, OraclePolicy().chat(task, limits), limits)
    _refuse_crash(oracle, "the oracle")
    return oracle.digest


def _refuse_crash(episode: Episode, actor: str) -> None:
    if episode.stop == StopReason.CRASHED:
        raise EvaluationFailed(f"{actor} failed on task {episode.task_id}: {episode.error}")
