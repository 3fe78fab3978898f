"""The processes that fine-tune: `torchrun -m proverl.trainer.sft_trainer RUN_FOLDER`, started by `proverl.trainer.sft`.

verl's SFT trainer with our rows, our metrics and our checkpoints. Each process is a rank; rank 0 writes. They end when
the process that started them does.
"""

import os
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow.parquet as pq
import torch
import verl  # noqa: F401  (runs `compat`, which must come before verl's modules ask for their device)
from omegaconf import DictConfig, OmegaConf
from verl.trainer.sft_trainer import SFTTrainer
from verl.utils import tensordict_utils as tu

from proverl.trainer import checkpoints, metrics
from proverl.trainer.driver import end_with_parent, note, publish, resume
from proverl.trainer.rows import order
from proverl.trainer.run_folder import private_folder
from proverl.trainer.verl_config import RunPaths


class Demonstrations(torch.utils.data.Dataset):
    """verl's dataset plug-in: the demonstrations in the order of use, as often as the run's steps take them."""

    def __init__(self, parquet_files: Any, tokenizer: Any, config: Any, processor: Any = None, **_: Any) -> None:
        table = pq.read_table(list(parquet_files))
        self._columns = {name: table[name] for name in ("prompt_ids", "response_ids", "mask")}
        self._order = list(order(len(table), config.rows, config.seed))

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, position: int) -> dict[str, torch.Tensor]:
        """One row: input_ids, position_ids and loss_mask, all of shape (tokens,); the mask is 1 on learned tokens."""
        prompt, response, mask = (column[self._order[position]].as_py() for column in self._columns.values())
        return {
            "input_ids": torch.tensor(prompt + response),
            "position_ids": torch.arange(len(prompt) + len(response)),
            "loss_mask": torch.tensor([0] * len(prompt) + mask),
        }


class Trainer(SFTTrainer):
    """One SFT run; `config` is verl's."""

    def __init__(self, config: DictConfig, paths: RunPaths) -> None:
        self._paths = paths
        super().__init__(config)
        self._step = self.resume_global_step
        self._train_batch = self.training_client.train_batch
        self.training_client.train_batch = self._logged_train_batch

    def _build_dataloader(self) -> None:
        super()._build_dataloader()
        self.train_sampler.shuffle = False  # the rows stand in the order of use

    def _build_ckpt_handler(self) -> None:
        super()._build_ckpt_handler()
        save = self.ckpt_handler.save_checkpoint
        mark = checkpoints.MarkComplete(self.config)

        def save_and_mark(step: int) -> None:
            if step < self.total_training_steps and not self._has_room(step):
                return
            save(step)  # returns on all ranks once all have written
            if self.rank == 0:
                mark.on_save(self, step, str(self._paths.checkpoints / f"global_step_{step}"))

        self.ckpt_handler.save_checkpoint = save_and_mark

    def _has_room(self, step: int) -> bool:
        """What rank 0 sees of the disk, so that all ranks do the same."""
        room = torch.tensor(int(checkpoints.has_room(self._paths.checkpoints)))
        torch.distributed.broadcast(room, 0)
        if self.rank == 0 and not room:
            note(f"the disk has no room for the checkpoint of step {step}: it is left out")
        return bool(room)

    def _logged_train_batch(self, data: Any) -> Any:
        """verl's update on one batch, and its line in the metrics file."""
        start = time.perf_counter()
        output = self._train_batch(data=data)
        self._step += 1
        if self.rank == 0:
            values = tu.get(output, "metrics")
            metrics.append(self._paths.metrics, self._step, self._values(data, values, time.perf_counter() - start))
        return output

    def _values(self, data: Any, values: dict[str, Any], seconds: float) -> dict[str, float]:
        """What is logged of a step (the names in `metrics`): verl's numbers are over all ranks."""
        lengths = tu.get(data, "global_token_num")
        return {
            "sft/epoch": self._step * len(lengths) / self.config.data.demonstrations,
            "sft/grad_norm": float(values["grad_norm"]),
            "sft/learned_tokens": float(tu.get(data, "batch_num_tokens")),
            "sft/loss": float(values["loss"]),
            "sft/lr": float(values["lr"]),
            "sft/step_s": seconds,
            "sft/tokens": float(sum(lengths)),
        }


def main(folder: Path) -> None:
    """Train the run in `folder`."""
    Thread(target=end_with_parent, args=[private_folder(folder)], daemon=True).start()
    paths = RunPaths(folder)
    config = OmegaConf.load(paths.verl)
    step = resume(config, paths)
    # verl would name gloo twice on a CPU, as "cpu" and as the device
    torch.distributed.init_process_group("cpu:gloo" if config.trainer.device == "cpu" else "cpu:gloo,cuda:nccl")
    if config.trainer.device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    trainer = Trainer(config, paths)
    if trainer.rank == 0:
        note(f"starting after step {step}")
    if step < config.trainer.total_training_steps:
        trainer.fit()
    if trainer.rank == 0:
        publish(paths, Path("huggingface"), Path(config.model.path))
        note("done")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
