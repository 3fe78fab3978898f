"""A dataset whose second rank dies once, when it is asked for the first row after the fourth batch of four."""

import os
import signal
from pathlib import Path
from typing import Any

from proverl.trainer.sft_trainer import Demonstrations


class Dying(Demonstrations):
    """The demonstrations; beside the rows lies a note that the death has happened."""

    def __init__(self, parquet_files: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(parquet_files, *args, **kwargs)
        self._died = Path(parquet_files[0]).with_name("died")

    def __getitem__(self, position: int) -> Any:
        if position == 17 and not self._died.exists():
            self._died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(position)
