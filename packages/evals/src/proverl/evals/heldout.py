"""Held-out tasks: start states and chains that the policy is never trained on, scored as in training.

The answer of an attempt is its task and its episode; the same loop runs it as in training.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, ClassVar

from pydantic import SkipValidation, TypeAdapter

from proverl.agent import Limits, OraclePolicy, Policy, run_episode
from proverl.core import Call, Episode, Json, StopReason, Task, TaskKind
from proverl.envs import Session
from proverl.evals.benchmark import Benchmark, Item, Score
from proverl.evals.isolated import Isolated
from proverl.evals.record import Record
from proverl.reward import Reward, RewardConfig, candidates, task_success


class EpisodeCrashed(RuntimeError):
    """An episode that could not be run to its end."""


@dataclass(frozen=True)
class Attempted:
    """An answer: the task, and what the policy did on it. The episode has no tokens."""

    task: Task
    episode: Episode


@dataclass(frozen=True, kw_only=True)
class Heldout(Benchmark):
    """The held-out tasks of a synthesis.

    Which tasks, under which limits and with which reward is no setting of an evaluation: a run sets `given`, `world`
    and `reward` from its other groups.
    """

    tasks: int = 128
    seconds: float = 3600.0
    given: SkipValidation[tuple[Task, ...]] = field(default=(), repr=False, metadata={"given": True})
    world: SkipValidation[Limits] = field(default_factory=Limits, metadata={"given": True})
    reward: Any = field(default_factory=RewardConfig, metadata={"given": True})  # a Reward; pydantic knows no protocols

    name: ClassVar[str] = "heldout"
    headline: ClassVar[str] = "success"
    shares: ClassVar[frozenset[str]] = frozenset(
        {"success", "over_budget", "state_equal", "cut", "abstention_precision", "abstention_recall", "clarification"}
    )

    @classmethod
    def settings(cls) -> list[str]:
        """Tokens are no settings either: an episode has the limits of training."""
        return [name for name in super().settings() if name not in ("context_tokens", "reply_tokens")]

    @property
    def version(self) -> str:
        """Tasks are of the run's own making; their hash is the run's tag data.synth."""
        return "this run's tasks"

    def needs(self) -> list[str]:
        """Nothing but the tasks."""
        return []

    def limits(self) -> Limits:
        """An episode's limits, as in training."""
        return self.world

    def items(self) -> list[Item]:
        """The first `tasks` of the tasks given."""
        given = self.given[: self.tasks] if self.tasks else self.given
        return [Item(task.id, {"server": _server(task), "kind": str(task.kind)}) for task in given]

    @cached_property
    def _tasks(self) -> dict[str, Task]:
        return {task.id: task for task in self.given}

    async def attempt(self, item: Item, policy: Policy, seed: int, isolated: Isolated) -> Json:
        """Run the episode. Raises EpisodeCrashed when the policy or the environment fails."""
        task = self._tasks[item.id]
        with Session(task.servers, task.seed, call_seconds=self.world.call_seconds) as session:
            episode = await run_episode(task, session, policy.chat(task, self.world, seed), self.world)
        _refuse_crash(episode, "the policy or its world")
        episode.transcript = None  # the tokens are of no use to a reader and large
        answer: Json = _answers().dump_python(Attempted(task, episode), mode="json")
        return answer

    def score(self, item: Item, answer: Json) -> Score:
        """Reward, its parts, success, and what the task's kind asks for."""
        attempted = _answers().validate_python(answer)
        task, episode = attempted.task, attempted.episode
        with Session(task.servers, task.seed) as session:
            tools = candidates(task.tools, session.tools)
        breakdown = self.reward.score(episode.calls, task.ground_truth, tools, replied=episode.replied)
        same = episode.digest == (task.digest or asyncio.run(self._oracle_digest(task)))
        success = task_success(episode.calls, task.ground_truth, tools, state_equal=same, replied=episode.replied)
        figures = {"success": float(success), "total": breakdown.total, "calls": float(breakdown.n_calls)}
        if not breakdown.abstention:  # a task that expects no call has a reward and no parts
            parts = breakdown.as_dict()
            figures |= {name: parts[name] for name in ("validity", "coverage", "efficiency", "name", "arg")}
            figures["over_budget"] = float(breakdown.n_calls > breakdown.budget)
        figures["tool_errors"] = float(sum(not record.result.ok for record in episode.calls))
        figures["state_equal"] = float(same)
        figures["cut"] = float(episode.stop != StopReason.COMPLETED)
        return Score(figures | _by_kind(task, episode), episode.stop if episode.stop != StopReason.COMPLETED else "")

    async def _oracle_digest(self, task: Task) -> str:
        """The final state of a task that does not tell it."""
        with Session(task.servers, task.seed) as session:
            oracle = await run_episode(task, session, OraclePolicy().chat(task, self.world), self.world)
        _refuse_crash(oracle, "the oracle")
        return oracle.digest

    def oracle(self) -> Policy:
        """The ground truth as a policy."""
        return OraclePolicy()

    def silence(self, item: Item) -> Json:
        """An episode without calls and words."""
        task = self._tasks[item.id]
        with Session(task.servers, task.seed) as session:
            digest = asyncio.run(session.state_digest())
        episode = Episode(task.id, messages=[{"role": "assistant", "content": ""}], digest=digest)
        answer: Json = _answers().dump_python(Attempted(task, episode), mode="json")
        return answer


def _by_kind(task: Task, episode: Episode) -> dict[str, float]:
    """Abstention precision and recall, and the share of clarifications, as means over the episodes that have them."""
    figures = {}
    abstained = not episode.calls
    if abstained:
        figures["abstention_precision"] = float(not task.ground_truth.steps)
    if task.kind == TaskKind.ABSTENTION:
        figures["abstention_recall"] = float(abstained)
    if task.kind == TaskKind.CLARIFICATION:
        last = len(task.turns) - 1
        expected = {step.name for step in task.ground_truth.steps if step.turn == last}
        made = [record.call for record in episode.calls if record.turn == last]
        asked = all(isinstance(call, Call) and call.name in expected for call in made)
        figures["clarification"] = float(asked and episode.replied)
    return figures


def attempted(record: Record) -> Attempted:
    """The task and the episode of a held-out record, with the record's reward in the episode."""
    found = _answers().validate_python(record.answer)
    # the reward of a task that expects no call has no parts
    found.episode.reward = {**record.figures, "abstention": float("validity" not in record.figures)}
    return found


def heldout(tasks: Iterable[Task], world: Limits, reward: Reward, settings: Heldout | None = None) -> Heldout:
    """The benchmark over these tasks."""
    given = tuple(tasks)
    return replace(settings or Heldout(tasks=0), given=given, world=world, reward=reward)


def _server(task: Task) -> str:
    """The server that the task is about."""
    return task.servers[0]


def _refuse_crash(episode: Episode, actor: str) -> None:
    if episode.stop == StopReason.CRASHED:
        raise EpisodeCrashed(f"{actor} failed on task {episode.task_id}: {episode.error}")


@cache
def _answers() -> TypeAdapter[Attempted]:
    return TypeAdapter(Attempted)
