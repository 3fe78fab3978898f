"""verl's agent loop worker inside the trainer's process, where a process of its own would only cost its start."""

import asyncio
from threading import Thread
from typing import Any

from tensordict import TensorDict
from verl.trainer.ppo.v1 import AgentLoopManagerTQ
from verl.trainer.ppo.v1.agent_loop_tq import AgentLoopWorkerTQ

_Worker = AgentLoopWorkerTQ.__ray_actor_class__


class LocalAgentLoops:
    """Stands for verl's `AgentLoopManagerTQ`: the same worker, on an event loop in a thread."""

    def __init__(self, config: Any, llm_client: Any) -> None:
        self._loop = asyncio.new_event_loop()
        Thread(target=self._loop.run_forever, name="episodes", daemon=True).start()
        self._worker = _Worker(config, llm_client)

    def generate_sequences(self, prompts: TensorDict) -> None:
        """Start the rollouts of a batch; their outputs go to TransferQueue."""
        asyncio.run_coroutine_threadsafe(self._worker.generate_sequences(prompts), self._loop).result()


def agent_loops(config: Any, llm_client: Any) -> Any:
    """The manager of agent loops: verl's with its Ray workers, or this process when that has no GPU to feed."""
    if config.trainer.device == "cpu":
        return LocalAgentLoops(config, llm_client)
    return AgentLoopManagerTQ.create(config=config, llm_client=llm_client, reward_loop_worker_handles=[])
