"""`trainer.filter_groups`: which groups a step trains on, with verl's replay buffer over a queue in memory."""

import pytest

pytestmark = pytest.mark.verl  # the module under test imports verl


class Queue:
    """TransferQueue's calls, over a dict; a prompt's rollouts have ended as soon as it is asked for."""

    def __init__(self, rewards):
        self.rewards, self.asked = rewards, []  # of each prompt in order
        self.tags, self.scores = {}, {}

    def add(self, count):
        import torch

        for _ in range(count):
            uid = f"{len(self.asked):09d}"
            for rollout, reward in enumerate(self.rewards[len(self.asked)]):
                self.tags[f"{uid}_{rollout}_0"] = {"status": "success"}
                self.scores[f"{uid}_{rollout}_0"] = torch.tensor([0.0, reward])
            self.asked.append(uid)
            self.tags[uid] = {"is_prompt": True, "status": "finished", "global_steps": 1}

    def kv_list(self):
        return {"train": dict(self.tags)}

    def kv_batch_get(self, keys, partition_id, select_fields):
        return {"rm_scores": [self.scores[key] for key in keys]}

    def kv_clear(self, keys, partition_id):
        for key in keys:
            self.tags.pop(key, None)


@pytest.fixture
def step(verl, monkeypatch):
    """Returns a function from all prompts' rewards to those that a step of two trains on, and how many it sampled."""
    from verl.trainer.ppo.v1 import replay_buffer

    from proverl.trainer.groups import VariedGroups

    def sample(rewards, batches):
        queue = Queue(rewards)
        monkeypatch.setattr(replay_buffer, "tq", queue)
        buffer = VariedGroups(
            trainer_mode="sync",
            trainer_config={},
            max_off_policy_threshold=8,
            max_off_policy_strategy="drop",
            sampler_kwargs={"prompts": 2, "batches": batches},
            refill_fn=queue.add,
        )
        queue.add(2)
        batch, metrics = buffer.sample(global_steps=1, partition_id="train", batch_size=2)
        assert metrics.get("training/filter_groups/evicted_samples", 0) <= 2 * (batches - 1)
        return sorted({int(key.split("_")[0]) for key in batch.keys}), len(queue.asked)

    return sample


ALIKE, VARIED = (1.0, 1.0), (1.0, 0.0)


@pytest.mark.parametrize(
    ("rewards", "batches", "trained", "sampled"),
    [
        ([VARIED, VARIED], 3, [0, 1], 2),  # nothing to replace
        ([ALIKE, VARIED, ALIKE, VARIED], 3, [1, 3], 4),  # two prompts in place of one
        ([ALIKE, ALIKE, ALIKE, VARIED, VARIED, VARIED], 3, [3, 4], 6),
        ([ALIKE, ALIKE], 1, [0, 1], 2),  # no more may be sampled
        ([ALIKE, ALIKE, ALIKE, VARIED], 2, [2, 3], 4),  # filled up with one that scores alike
        ([ALIKE] * 6, 3, [4, 5], 6),  # ends, whatever comes
        ([VARIED, ALIKE, VARIED, VARIED], 2, [0, 2], 4),  # in order; the surplus is left out
    ],
)
def test_groups_that_score_alike_are_replaced_within_the_bound(step, rewards, batches, trained, sampled):
    assert step(rewards, batches) == (trained, sampled)
