"""verl's filter of groups whose rollouts score alike, bounded and in a fixed order (`trainer.filter_groups`)."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer


class VariedGroups(ReplayBuffer):
    """Replaces groups that score alike (DAPO, arXiv 2503.14476, section 3.2), by verl's rule: two prompts for each.

    verl ignores its bound on extra batches, and takes the groups that end first. Here a step samples at most `batches`
    batches of `prompts` prompts, and fills its batch with groups that score alike when they are used up; prompts are
    judged when all that run have ended, and taken in order, so the same seed trains on the same groups.
    """

    def __init__(self, *, sampler_kwargs: Any, refill_fn: Callable[[int], int], **verl: Any) -> None:
        prompts = sampler_kwargs["prompts"]
        super().__init__(
            sampler_kwargs=sampler_kwargs,
            refill_fn=self._refill,
            filter_groups_metric="reward",
            train_batch_size=prompts,
            gen_batch_size=1,
            max_inflight_gen_batches=2,  # room for two prompts in place of each of a batch
            **verl,
        )
        self._submit = refill_fn
        self._extra = prompts * (sampler_kwargs["batches"] - 1)
        self._to_sample = self._to_replace = 0

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> Any:
        """verl's: the keys of a batch, and metrics; with a new step's allowance of prompts."""
        self._to_sample = self._to_replace = self._extra
        return super().sample(global_steps=global_steps, partition_id=partition_id, batch_size=batch_size)

    def _refill(self, count: int) -> None:
        count = min(count, self._to_sample)
        self._to_sample -= count
        if count:
            self._submit(count)

    def _running(self, partition_id: str) -> bool:
        return bool(self.pending_keys[partition_id] or self.running_keys[partition_id])

    def _dapo_filtered_keys(self, partition_id: str) -> tuple[set[str], Counter]:
        """The groups to replace now: none while others run, and no more than may still be sampled."""
        if self._running(partition_id):
            return set(), Counter()
        alike, _ = super()._dapo_filtered_keys(partition_id)
        replaced = sorted(alike)[: self._to_replace]
        self._to_replace -= len(replaced)
        rewards = self._dapo_classification_cache[partition_id]
        return set(replaced), Counter(rewards[uid] for uid in replaced)

    def _sampleable_terminal_keys(self, partition_id: str, eviction_reasons: Any) -> set[str]:
        if self._running(partition_id):
            return set()
        return super()._sampleable_terminal_keys(partition_id, eviction_reasons)

    def _select_prompt_uids(self, partition_id: str, sampleable_keys: set[str], batch_size: int) -> Any:
        _, rows, steps = super()._select_prompt_uids(partition_id, sampleable_keys, batch_size)
        rewards = self._dapo_classification_cache[partition_id]
        alike_last = sorted(sampleable_keys, key=lambda uid: (rewards.get(uid) is not None, uid))
        return alike_last[:batch_size], rows, steps
