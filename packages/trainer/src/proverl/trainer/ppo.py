"""verl's trainers with our metrics, our order of rows in a batch, and our CPU worker."""

from numbers import Real
from pathlib import Path
from typing import Any

import ray
import transfer_queue as tq
from transfer_queue import KVBatchMeta
from verl.trainer.ppo.v1 import PPOTrainer, get_trainer_cls
from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer

from proverl.trainer import checkpoints, rollouts, validation
from proverl.trainer import metrics as step_metrics
from proverl.trainer.verl_config import RunPaths

POLL_SECONDS = 0.05  # verl looks every 2 s whether the rollouts are done


def trainer(config: Any, metrics_path: Path) -> Any:
    """The trainer of verl's mode (`trainer.v1.trainer_mode`), with what `Trainer` adds to each."""
    kind = get_trainer_cls(config.trainer.v1.trainer_mode)
    return type(kind.__name__, (Trainer, kind), {})(config, metrics_path)


class Trainer(PPOTrainer):
    """One run; `config` is verl's, the metrics of each step go to `metrics_path`."""

    def __init__(self, config: Any, metrics_path: Path) -> None:
        super().__init__(config)
        self._metrics_path = metrics_path

    def _build_replay_buffer(self) -> ReplayBuffer:
        buffer = super()._build_replay_buffer()
        buffer.poll_interval = POLL_SECONDS
        return buffer

    def _init_resource_pool_mgr(self) -> None:
        super()._init_resource_pool_mgr()
        if self.config.trainer.device == "cpu":
            from proverl.trainer.cpu.rollout import SamplingWorker

            self.role_worker_mapping: dict[Any, Any] = dict.fromkeys(
                self.role_worker_mapping, ray.remote(SamplingWorker)
            )

    def get_llm_client(self) -> Any:
        """The client that agent loops sample through."""
        if self.config.actor_rollout_ref.rollout.name != "transformers":
            return super().get_llm_client()
        from proverl.trainer.cpu.rollout import WorkerClient

        return self.llm_server_manager.get_client(WorkerClient, replicas=self.llm_server_manager.get_replicas())

    def _fetch_one_gen_batch(self) -> Any:
        """The next rows, under ids that say their order, also in a run that was resumed (verl draws them at random)."""
        batch = super()._fetch_one_gen_batch()
        for row, index in enumerate(batch["index"]):
            batch["uid"][row] = f"{index:09d}"
        return batch

    def _balance_batch(self, batch: KVBatchMeta, *args: Any, **kwargs: Any) -> KVBatchMeta:
        """Put the batch in the order of its keys first: rollouts end in any order, and sums of floats depend on it."""
        batch.reorder(sorted(range(len(batch.keys)), key=lambda index: _order(batch.keys[index])))
        return super()._balance_batch(batch, *args, **kwargs)

    def _compute_advantage(self, batch: KVBatchMeta, metrics: dict) -> KVBatchMeta:
        """verl's. Raises ValueError when `trainer.truncated=masked` leaves nothing to train on."""
        try:
            return super()._compute_advantage(batch, metrics)
        except ValueError as error:
            if "at least one valid token" not in str(error):
                raise
            raise ValueError(
                f"limits stopped every episode of step {self.global_steps} and trainer.truncated is masked: nothing is "
                "left to train on; raise envs.limits, or make it scored or penalised"
            ) from error

    def _compute_metrics(
        self, batch: KVBatchMeta, metrics: dict, timing_raw: dict, global_steps: int, epoch: int
    ) -> None:
        super()._compute_metrics(batch, metrics, timing_raw, global_steps, epoch)
        keys = [key for key, tag in zip(batch.keys, batch.tags, strict=True) if not tag.get("is_padding", False)]
        data = tq.kv_batch_get(keys=keys, partition_id=batch.partition_id, select_fields=["extra_fields"])
        infos = [fields["reward_extra_info"] for fields in data["extra_fields"]]
        self._keep(global_steps, [fields["rollout"] for fields in data["extra_fields"]], infos)
        prompts = [key.rsplit("_", 2)[0] for key in keys]
        expected = self.config.data.train_batch_size * self.config.actor_rollout_ref.rollout.n
        scalars = {name: float(value) for name, value in metrics.items() if isinstance(value, Real)}
        values = step_metrics.summarize(infos, prompts, expected, scalars)
        step_metrics.append(self._metrics_path, global_steps, values)
        self.checkpoint_callback.step_ended()

    def _val_metrics_update(
        self,
        data_sources: list[str],
        sample_uids: list[str],
        reward_extra_infos_dict: dict[str, list],
        sample_turns: list[int],
        expected_acc_counts: dict[tuple[str, str], int],
    ) -> dict[str, float]:
        """Our figures of a validation in place of verl's, from its columns of our numbers."""
        return validation.summarize(reward_extra_infos_dict, sum(expected_acc_counts.values()))

    def _save_checkpoint(self) -> None:
        folder = Path(self.config.trainer.default_local_dir)
        if self.global_steps < self.total_training_steps and not checkpoints.has_room(folder):
            print(f"the disk has no room for the checkpoint of step {self.global_steps}: it is left out", flush=True)
        else:
            super()._save_checkpoint()

    def _keep(self, step: int, episodes: list[dict[str, Any]], infos: list[dict[str, float]]) -> None:
        """Write the step's episodes; they are for reading, so a full disk does not end the training."""
        try:
            rollouts.write(RunPaths(self._metrics_path.parent).rollouts, step, episodes, infos)
        except OSError as error:
            print(f"the rollouts of step {step} are not kept: {error}", flush=True)


def _order(key: str) -> tuple[str, int, int]:
    uid, rollout, part = key.rsplit("_", 2)
    return uid, int(rollout), int(part)
