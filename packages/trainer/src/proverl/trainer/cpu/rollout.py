"""Sampling through transformers inside the training worker: one process holds the weights, updates them and samples."""

import os
from collections.abc import Generator
from random import Random
from typing import Any

import torch
from transformers import AutoModelForCausalLM
from verl.single_controller.base.decorator import Dispatch, register
from verl.utils.distributed import initialize_global_process_group_ray
from verl.workers.config import HFModelConfig
from verl.workers.engine_workers import ActorRolloutRefWorker
from verl.workers.rollout.base import BaseRollout
from verl.workers.rollout.llm_server import LLMServerClient
from verl.workers.rollout.replica import RolloutReplica, TokenOutput

from proverl.agent import ChatTemplate, tool_format
from proverl.agent.transformers_policy import TransformersPolicy


class TransformersRollout(BaseRollout):
    """The worker's half: a second copy of the model, which takes the trained weights each step."""

    def __init__(self, config: Any, model_config: HFModelConfig, device_mesh: Any, **_: Any) -> None:
        super().__init__(config, model_config, device_mesh)
        model = AutoModelForCausalLM.from_config(self.model_config.hf_config, dtype=torch.float32)
        self._parameters = model.state_dict(keep_vars=True)
        format = tool_format(self.config.engine_kwargs["transformers"]["format"])
        template = ChatTemplate(self.model_config.tokenizer, format)
        self._policy = TransformersPolicy(model, template, max_batch=self.config.max_num_seqs)
        self._step = 0
        os.nice(5)  # the process that runs the episodes goes first: all samplers wait for it, it for none

    async def update_weights(self, weights: Generator, global_steps: int | None = None, **_: Any) -> None:
        """Copy the weights in place."""
        with torch.no_grad():
            for name, tensor in weights:
                self._parameters[name].copy_(tensor)
        self._policy.forget()
        self._step = global_steps or 0

    async def resume(self, tags: list[str]) -> None:
        """Nothing was released."""

    async def release(self) -> None:
        """Nothing to release: the CPU's memory is not shared with another engine."""

    async def sample(self, prompt_ids: list[int], parameters: dict[str, Any]) -> TokenOutput:
        """Sample one reply; `parameters` are vLLM's, of which max_tokens, seed, temperature and top_p count."""
        sampled = await self._policy.generate(
            prompt_ids,
            parameters["max_tokens"],
            Random(parameters["seed"]),
            parameters["temperature"],
            parameters["top_p"],
        )
        return TokenOutput(
            token_ids=sampled.ids,
            log_probs=sampled.log_probs,
            stop_reason="completed" if sampled.finish == "stop" else "length",
            extra_fields={"global_steps": self._step},
        )


class SamplingWorker(ActorRolloutRefWorker):
    """verl's worker, which also answers sampling requests, since its rollout lives in the same process."""

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def init_model(self) -> None:
        """Join the process group first: verl would name gloo twice, as "cpu" and as the device."""
        initialize_global_process_group_ray(backend="cpu:gloo")
        super().init_model()

    @register(dispatch_mode=Dispatch.DIRECT_ROLLOUT_METHOD)
    async def generate(self, prompt_ids: list[int], sampling_params: dict[str, Any], **_: Any) -> TokenOutput:
        """What verl's clients call on a rollout server."""
        return await self.rollout.sample(prompt_ids, sampling_params)

    @register(dispatch_mode=Dispatch.DIRECT_ROLLOUT_METHOD)
    async def sleep(self) -> None:
        """Nothing to free."""

    @register(dispatch_mode=Dispatch.DIRECT_ROLLOUT_METHOD)
    async def wake_up(self) -> None:
        """Nothing to restore."""


class WorkerReplica(RolloutReplica):
    """A rollout server without a process of its own: its worker."""

    async def launch_servers(self) -> None:
        """The worker is already running."""
        self.servers = list(self.workers)
        self._server_handle = self.workers[0]
        self._server_address = f"worker-{self.replica_rank}"


class WorkerClient(LLMServerClient):
    """Sends each episode to the worker that has the fewest, and keeps it there, where its earlier turns are cached."""

    def __init__(
        self, config: Any, load_balancer_handle: Any = None, replicas: list[RolloutReplica] | None = None
    ) -> None:
        super().__init__(config, load_balancer_handle)
        self._servers = {replica.server_address: replica.server_handle for replica in replicas or ()}
        self._episodes: dict[str, str] = {}  # request id -> address, for the life of this client
        self._load = dict.fromkeys(self._servers, 0)

    async def _acquire_server(self, request_id: str, **_: Any) -> tuple[str, Any]:
        if request_id not in self._episodes:
            address = min(self._load, key=self._load.__getitem__)
            self._episodes[request_id] = address
            self._load[address] += 1
        address = self._episodes[request_id]
        return address, self._servers[address]

    def _release_server(self, server_id: str, request_id: str | None = None) -> None:
        """An episode stays where it is."""
