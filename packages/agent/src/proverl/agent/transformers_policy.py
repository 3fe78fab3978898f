"""A transformers causal LM in this process as a policy: requests of concurrent episodes are sampled in one batch.

Everything runs in the caller's event loop, a token at a time, so that the same episodes give the same batches. The only
module of this package, with `decoder`, that needs torch.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from random import Random
from typing import Any

from proverl.agent.chat_template import ChatTemplate
from proverl.agent.decoder import Decoder, Row
from proverl.agent.limits import Limits
from proverl.agent.token_chat import Generated, TokenChat
from proverl.core import Task


class TransformersPolicy:
    """Samples from `model` (kept in eval mode, weights open to the caller) for any number of chats at once.

    Log-probabilities are those of the model's own distribution (temperature 1, no top-p), whatever it was sampled with:
    the ones that the trainer's policy assigns. Memory holds `max_batch` contexts; run no more
    episodes than that at once, or their earlier turns are computed again.
    """

    def __init__(
        self,
        model: Any,
        template: ChatTemplate,
        temperature: float = 1.0,
        top_p: float = 1.0,
        max_batch: int = 64,
    ) -> None:
        if temperature < 0 or not 0 < top_p <= 1:
            raise ValueError(f"temperature is {temperature} and top_p {top_p}; need at least 0, and above 0 up to 1")
        self.model = model.eval()
        self.template = template
        self._decoder = Decoder(model, template.stop_ids, max_batch)
        self._temperature = temperature
        self._top_p = top_p
        self._max_batch = max_batch
        self._waiting: deque[Row] = deque()
        self._futures: dict[Row, asyncio.Future[Generated]] = {}
        self._worker: asyncio.Task[None] | None = None

    def chat(self, task: Task, limits: Limits, seed: int = 0) -> TokenChat:
        """Open a chat for one episode; what it samples depends on the task's id and the seed, not on other chats."""
        rng = Random(f"{task.id}:{seed}")

        async def generate(ids: list[int], most: int) -> Generated:
            return await self.generate(ids, most, rng)

        most = getattr(self.model.config, "max_position_embeddings", 0)
        return TokenChat(self.template, generate, task.tools, limits.within(most) if most else limits)

    async def generate(
        self,
        prompt_ids: list[int],
        max_tokens: int,
        rng: Random,
        temperature: float | None = None,
        top_p: float | None = None,
    ) -> Generated:
        """Sample at most `max_tokens` ids after the prompt; `rng` is advanced by one number for every id.

        Raises ValueError on an empty prompt or no tokens to sample, and whatever the model raises.
        """
        if not prompt_ids or max_tokens < 1:
            raise ValueError(f"got {len(prompt_ids)} prompt ids and {max_tokens} to sample; need at least 1 of each")
        row = Row(
            list(prompt_ids),
            max_tokens,
            rng,
            self._temperature if temperature is None else temperature,
            self._top_p if top_p is None else top_p,
        )
        future: asyncio.Future[Generated] = asyncio.get_running_loop().create_future()
        self._futures[row] = future
        self._waiting.append(row)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._serve())
        return await future

    def update_weights(self, state: Mapping[str, Any]) -> None:
        """Load new weights and forget what the old ones computed. Raises RuntimeError when names or shapes differ."""
        self.model.load_state_dict(state)
        self.forget()

    def forget(self) -> None:
        """Drop the keys and values kept between requests: call it after changing `model` in place."""
        self._decoder.forget()

    async def _serve(self) -> None:
        """Sample until no request is left; an error goes to everyone who waits."""
        try:
            while self._waiting or self._decoder.live:
                room = self._max_batch - self._decoder.live
                new = [self._waiting.popleft() for _ in range(min(room, len(self._waiting)))]
                self._resolve(self._decoder.admit(new) if new else self._decoder.step())
                await asyncio.sleep(0)  # lets finished rows' episodes go on
        except Exception as error:
            self._fail(error)

    def _resolve(self, finished: list[Row]) -> None:
        for row in finished:
            future = self._futures.pop(row)
            ids = row.ids[len(row.ids) - len(row.log_probs) :]
            if not future.done():  # the episode may have been cancelled
                future.set_result(Generated(ids, row.log_probs, "stop" if row.finish == "stop" else "length"))

    def _fail(self, error: Exception) -> None:
        for future in self._futures.values():
            if not future.done():
                future.set_exception(error)
        self._futures.clear()
        self._waiting.clear()
        self._decoder.drop()
