"""A checkpoint sampled by vLLM on this machine's GPUs: ids in, ids out, as in training. Needs the `gpu` extra."""

from itertools import count
from pathlib import Path
from typing import Any

from proverl.agent.chat_template import ChatTemplate
from proverl.agent.limits import Limits
from proverl.agent.token_chat import Generated, TokenChat
from proverl.core import Task


class VLLMPolicy:
    """Samples for any number of chats at once. An engine belongs to one event loop; `close` ends its processes."""

    def __init__(
        self,
        model: Path | str,
        template: ChatTemplate,
        temperature: float = 0.0,
        top_p: float = 1.0,
        tensor_parallel: int = 1,
        data_parallel: int = 1,
        **engine: Any,
    ) -> None:
        """Load the model on `tensor_parallel` x `data_parallel` GPUs; `engine` is passed to vLLM by its own names."""
        from vllm import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM

        self._engine = AsyncLLM.from_engine_args(
            AsyncEngineArgs(
                model=str(model),
                tensor_parallel_size=tensor_parallel,
                data_parallel_size=data_parallel,
                generation_config="vllm",  # else the checkpoint's file would change how is sampled
                **engine,
            )
        )
        self._template = template
        self._temperature, self._top_p = temperature, top_p
        self._requests = count()

    def chat(self, task: Task, limits: Limits, seed: int = 0) -> TokenChat:
        """Open a chat for one episode; each of its replies has a seed of its own."""
        replies = count()

        async def generate(ids: list[int], most: int) -> Generated:
            return await self._generate(ids, most, seed * 1_000 + next(replies))

        return TokenChat(self._template, generate, task.tools, limits.within(self._engine.model_config.max_model_len))

    async def _generate(self, ids: list[int], most: int, seed: int) -> Generated:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        asked = SamplingParams(
            temperature=self._temperature,
            top_p=self._top_p,
            max_tokens=most,
            seed=seed,
            logprobs=0,  # those of the sampled tokens alone
            stop_token_ids=sorted(self._template.stop_ids),
            detokenize=False,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        final: Any = None
        async for output in self._engine.generate({"prompt_token_ids": ids}, asked, str(next(self._requests))):
            final = output
        reply = final.outputs[0]
        sampled = list(reply.token_ids)
        log_probs = [place[token].logprob for place, token in zip(reply.logprobs, sampled, strict=True)]
        return Generated(sampled, log_probs, "length" if reply.finish_reason == "length" else "stop")

    def close(self) -> None:
        """End the engine's processes and give the GPUs back."""
        self._engine.shutdown()
