"""Where agent loops run: on the nodes of a cluster, or inside the trainer's process.

verl's workers hold the episodes, their live sessions and the reward. On a CPU a process of their own would only cost
its start.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from tensordict import TensorDict
from verl.trainer.ppo.v1 import AgentLoopManagerTQ
from verl.trainer.ppo.v1.agent_loop_tq import AgentLoopWorkerTQ

from proverl.trainer.cluster import end_with_any, episode_places

_Worker = AgentLoopWorkerTQ.__ray_actor_class__


class ClusterAgentLoops(AgentLoopManagerTQ):
    """verl's manager, whose workers keep to `episode_places`, so that servers can be kept off GPU nodes."""

    async def _init_agent_loop_workers(self) -> None:
        self.agent_loop_workers = [
            self.agent_loop_workers_class.options(scheduling_strategy=place).remote(
                self.config, self.llm_client, self.teacher_client, self.reward_loop_worker_handles
            )
            for place in episode_places(self.rollout_config.agent.num_workers)
        ]


class LocalAgentLoops:
    """Stands for verl's `AgentLoopManagerTQ`: the same worker, on an event loop in a thread."""

    def __init__(self, config: Any, llm_client: Any) -> None:
        self._loop = asyncio.new_event_loop()
        Thread(target=self._loop.run_forever, name="episodes", daemon=True).start()
        self._worker = _Worker(config, llm_client)

    def generate_sequences(self, prompts: TensorDict) -> None:
        """Start the rollouts of a batch; their outputs go to TransferQueue."""
        asyncio.run_coroutine_threadsafe(self._worker.generate_sequences(prompts), self._loop).result()


@contextmanager
def agent_loops(config: Any, llm_client: Any) -> Iterator[Any]:
    """The manager of agent loops: with Ray workers, or this process when that has no GPU to feed."""
    if config.trainer.device == "cpu":
        yield LocalAgentLoops(config, llm_client)
        return
    loops, over = ClusterAgentLoops.create(config=config, llm_client=llm_client, reward_loop_worker_handles=[]), Event()
    Thread(target=end_with_any, args=[loops.agent_loop_workers, over], name="episodes", daemon=True).start()
    try:
        yield loops
    finally:
        over.set()
