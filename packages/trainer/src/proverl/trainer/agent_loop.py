"""verl's agent loop for our tasks: one live session per rollout, the shared episode loop, our reward."""

import asyncio
import gc
import hashlib
import json
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import lru_cache
from threading import Thread
from typing import Any, TypeVar

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput

from proverl.agent import ChatTemplate, Generated, Limits, TokenChat, run_episode, tool_format
from proverl.core import Episode, StopReason, Task, task_from_json
from proverl.envs import Session
from proverl.reward import OwnReward, Reward, candidates, reward_from, task_success
from proverl.trainer.rollouts import packed

_T = TypeVar("_T")
ATTEMPTS = 2  # a rollout whose policy or environment failed runs once more, on a fresh session


class RolloutFailed(RuntimeError):
    """A rollout that could not be run. verl drops it and the step counts it; it is never scored."""


class RewardFailed(RuntimeError):
    """A user's reward gave no score for an episode."""


class EpisodeLoop(AgentLoopBase):
    """Runs one rollout of one row. Settings come from the run's agent_loop.yaml, `limits` and `reward` as JSON.

    verl makes one for each rollout: texts cost it nothing to hand on, and are read once.
    """

    def __init__(
        self,
        trainer_config: Any,
        server_manager: Any,
        tokenizer: Any,
        *,
        format: str,
        limits: str,
        reward: str,
        seed: int,
        truncated: str = "scored",
        **_: Any,
    ) -> None:
        # verl's __init__ builds a token builder per rollout; our chat keeps the tokens, so it is not called
        self.config = trainer_config.config
        self.server_manager = server_manager
        self.limits = _limits(limits)
        self.reward = _reward(reward)
        self.seed = seed
        self.truncated = truncated
        self.template = _template(tokenizer, format)

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput:
        """Run the row's task once.

        Raises RolloutFailed when the policy or the environment fails twice, or the reward once.
        """
        task = _task(row["extra_info"]["task"])
        key = f"{row['global_steps']}|{row['extra_info']['index']}|{row['session_id']}"
        for attempt in range(ATTEMPTS):
            rollout = _Rollout(self, sampling_params, f"{self.seed}|{key}|{attempt}")
            try:
                episode, extra = await rollout.run(task)
            except RewardFailed as error:  # on this episode; another attempt would be another episode
                raise RolloutFailed(f"rollout {key} of task {task.id} was not scored: {error}") from error
            if episode.stop != StopReason.CRASHED and episode.transcript and episode.transcript.response_ids:
                output = _output(episode, extra, rollout.versions, self.truncated)
                place = int(row["extra_info"]["index"]), int(row["session_id"])
                output.extra_fields["rollout"] = packed(task, *place, episode)
                return output
        raise RolloutFailed(f"rollout {key} of task {task.id} failed {ATTEMPTS} times: {episode.error or episode.stop}")


class _Rollout:
    """One attempt: its session, its seeds, and the versions of the weights that answered."""

    def __init__(self, loop: EpisodeLoop, parameters: dict[str, Any], key: str) -> None:
        self.loop, self.parameters, self.key = loop, parameters, key
        self.replies = 0
        self.versions: list[int] = []

    async def run(self, task: Task) -> tuple[Episode, dict[str, float]]:
        chat = TokenChat(self.loop.template, self.generate, task.tools, self.loop.limits)
        start, busy = time.perf_counter(), time.thread_time()
        seconds = self.loop.limits.call_seconds
        with Session(task.servers, task.seed, id=self.key, call_seconds=seconds) as session:
            opened = time.perf_counter() - start, time.thread_time() - busy
            episode = await run_episode(task, session, chat, self.loop.limits)
            episode.seconds["environment"] += opened[0]
            episode.seconds["environment_processor"] += opened[1]
            own = candidates(task.tools, session.tools)
        return episode, await self.scored(episode, task, own)

    async def scored(self, episode: Episode, task: Task, tools: Any) -> dict[str, float]:
        """The numbers of an episode. A user's reward has a thread, so that a slow one holds up nothing else.

        Raises RewardFailed with what it raised, or when it is not done within `episode_seconds`.
        """
        reward, seconds = self.loop.reward, self.loop.limits.episode_seconds
        if not isinstance(reward, OwnReward):
            return _scored(episode, task, tools, reward)
        try:
            return await asyncio.wait_for(_in_thread(lambda: _scored(episode, task, tools, reward)), seconds)
        except TimeoutError:
            raise RewardFailed(f"reward {reward.target} took longer than {seconds:g} seconds") from None
        except ValueError as error:
            raise RewardFailed(str(error)) from error

    async def generate(self, ids: list[int], most: int) -> Generated:
        """Sample one reply from verl's rollout server."""
        parameters = self.parameters | {
            "max_tokens": most,
            "seed": _seed(f"{self.key}|{self.replies}"),
            "stop_token_ids": sorted(self.loop.template.stop_ids),  # a base model's own config knows no end of turn
        }
        self.replies += 1
        output = await self.loop.server_manager.generate(
            request_id=self.key, prompt_ids=ids, sampling_params=parameters
        )
        self.versions += [v for v in (output.extra_fields.get("global_steps"),) if v is not None]
        ended = bool(output.token_ids) and output.token_ids[-1] in self.loop.template.stop_ids
        return Generated(list(output.token_ids), list(output.log_probs or ()), "stop" if ended else "length")


def _in_thread(work: Callable[[], _T]) -> "asyncio.Future[_T]":
    """Run `work` in a thread of its own, which does not keep the process from ending when it never comes back."""
    done: Future[_T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    done.set_running_or_notify_cancel()  # what runs can't be cancelled
    Thread(target=run, name="reward", daemon=True).start()
    return asyncio.wrap_future(done)


def _scored(episode: Episode, task: Task, tools: Any, reward: Reward) -> dict[str, float]:
    """The numbers that are logged of an episode: the same keys for every row."""
    start, busy = time.perf_counter(), time.thread_time()
    breakdown = reward.score(episode.calls, task.ground_truth, tools, replied=episode.replied)
    return {
        **{f"reward/{name}": value for name, value in breakdown.as_dict().items()},
        **{f"stop/{reason}": float(episode.stop == reason) for reason in StopReason},
        "episode/success": float(_success(episode, task, tools)),
        "episode/calls": float(len(episode.calls)),
        "episode/tool_errors": float(sum(not record.result.ok for record in episode.calls)),
        "episode/replies": float(sum(message["role"] == "assistant" for message in episode.messages)),
        "episode/expected_calls": float(len(task.ground_truth.steps)),
        **{f"seconds/{part}": value for part, value in episode.seconds.items()},
        "seconds/reward": time.perf_counter() - start,
        "seconds/reward_processor": time.thread_time() - busy,
    }


def _success(episode: Episode, task: Task, tools: Any) -> bool:
    same = episode.digest == task.digest
    return task_success(episode.calls, task.ground_truth, tools, state_equal=same, replied=episode.replied)


def _output(episode: Episode, extra: dict[str, float], versions: list[int], truncated: str) -> AgentLoopOutput:
    transcript = episode.transcript
    assert transcript is not None
    cut = episode.stop != StopReason.COMPLETED
    if cut and truncated == "penalised":
        extra = extra | {"reward/total": min(0.0, extra["reward/total"])}
    return AgentLoopOutput(
        prompt_ids=transcript.prompt_ids,
        response_ids=transcript.response_ids,
        response_mask=[0] * len(transcript.mask) if cut and truncated == "masked" else transcript.mask,
        response_logprobs=transcript.log_probs,
        reward_score=extra["reward/total"],
        num_turns=len(episode.messages),
        metrics=AgentLoopMetrics(
            generate_sequences=extra["seconds/generate"],
            tool_calls=extra["seconds/environment"],
            compute_score=extra["seconds/reward"],
        ),
        extra_fields={
            "reward_extra_info": extra,
            "min_global_steps": min(versions, default=0),
            "max_global_steps": max(versions, default=0),
        },
    )


def _seed(key: str) -> int:
    """A seed of 31 bits for one reply: the same run, step, row, rollout and reply give the same sample."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4]) >> 1


@lru_cache(maxsize=256)  # the rollouts of a row share it
def _task(text: str) -> Task:
    return task_from_json(text)


@lru_cache(maxsize=4)
def _template(tokenizer: Any, format: str) -> ChatTemplate:
    gc.freeze()  # a full collection would else walk, between rollouts, through all that the imports have made
    return ChatTemplate(tokenizer, tool_format(format))


@lru_cache(maxsize=4)
def _limits(settings: str) -> Limits:
    return Limits(**json.loads(settings))


@lru_cache(maxsize=4)
def _reward(settings: str) -> Reward:
    return reward_from(json.loads(settings))
