"""`hydra/sweeper=reward_search`: a sweep whose jobs Optuna chooses one by one (experiments/search.py).

hydra-optuna-sweeper is not used: it needs an Optuna of years ago, and can't leave a proposal untrained.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra.core.plugins import Plugins
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict


class RewardSearch(Sweeper):
    """Hands the command's jobs to the search, and each that it chooses to Hydra's launcher."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Keep what composes a job, and what runs it."""
        self.hydra_context, self.config = hydra_context, config
        self.launcher: Launcher = Plugins.instance().instantiate_launcher(hydra_context, task_function, config)

    def sweep(self, arguments: list[str]) -> None:
        """Search. A plan is that of the first job."""
        if self.config.plan:
            self.launcher.launch([arguments], 0)
            return
        from experiments.search import search

        search(self.settings, arguments, self._config, self._run)

    def _config(self, overrides: Sequence[str]) -> DictConfig:
        composed = self._composed(overrides)
        with open_dict(composed):
            del composed["hydra"]
        return composed

    def _composed(self, overrides: Sequence[str]) -> DictConfig:
        return self.hydra_context.config_loader.load_sweep_config(self.config, list(overrides))

    def _run(self, overrides: Sequence[str], number: int) -> Path:
        from experiments.sweep import running

        composed = self._composed(overrides)
        folder = Path(composed.hydra.sweep.dir, composed.hydra.sweep.subdir)
        running().add(folder, overrides)
        self.launcher.launch([list(overrides)], number)
        return folder
