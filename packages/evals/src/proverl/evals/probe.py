"""What a model can do before it is trained: pass@k, how much rollouts of a task differ, and what limits cut.

GRPO learns only from tasks whose rollouts score differently. A probe lets the start model do each task several times,
sampled as in training; it says how much there is to learn on every server and kind, and how hard every task is.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from proverl.core import Task
from proverl.evals.record import Record

FILE = "probe.json"
K = 8  # of pass@k, where a task has as many episodes


def pass_at_k(episodes: int, passed: int, k: int) -> float:
    """The chance that at least one of `k` episodes passes, without bias from `passed` of `episodes` that did.

    Chen et al. 2021 (arXiv 2107.03374), equation 1. Raises ValueError unless 1 <= k <= episodes and 0 <= passed <=
    episodes.
    """
    if not (1 <= k <= episodes and 0 <= passed <= episodes):
        raise ValueError(f"pass@{k} of {passed} passed in {episodes} episodes makes no sense")
    return 1 - math.comb(episodes - passed, k) / math.comb(episodes, k)


def summary(records: Sequence[Record]) -> dict[str, Any]:
    """All that the probe found, as JSON: figures of all tasks, of each server and each kind, and each task's pass rate.

    Every task has the same number of episodes, `samples`; `k` is 8, or `samples` where those are fewer.
    """
    by_task = _by_task(records)
    samples = min((len(group) for group in by_task.values()), default=0)
    groups = {("all", "all"): records}
    for by in ("server", "kind"):
        for name in sorted({record.strata[by] for record in records}):
            groups[by, name] = [record for record in records if record.strata[by] == name]
    k = min(K, samples)
    return {
        "samples": samples,
        "k": k,
        "groups": [{"by": by, "name": name, **_figures(group, k)} for (by, name), group in groups.items()],
        "pass_rates": {task: fmean(record.figures["success"] for record in group) for task, group in by_task.items()},
    }


def write_summary(records: Sequence[Record], folder: Path) -> None:
    """Write `summary` into the folder's probe.json, all at once."""
    partial = folder / f"{FILE}.partial"
    partial.write_text(json.dumps(summary(records), indent=1) + "\n")
    partial.replace(folder / FILE)


def read_summary(folder: Path) -> dict[str, Any]:
    """Read what `write_summary` wrote. Raises FileNotFoundError."""
    found: dict[str, Any] = json.loads((folder / FILE).read_text())
    return found


def within(tasks: Iterable[Task], pass_rates: Mapping[str, float], low: float, high: float) -> list[Task]:
    """The tasks with a pass rate of at least `low` and at most `high`, in their order; those not probed are left out.

    Raises ValueError when none is left.
    """
    kept = [task for task in tasks if low <= pass_rates.get(task.id, math.nan) <= high]
    if not kept:
        raise ValueError(
            f"of {len(pass_rates)} probed tasks none has a pass rate between {low} and {high}; widen trainer.pass_rate"
        )
    return kept


def _figures(records: Sequence[Record], k: int) -> dict[str, float]:
    tasks = _by_task(records).values()
    deviations = [pstdev(record.figures["total"] for record in task) for task in tasks]
    passed = [(len(task), int(sum(record.figures["success"] for record in task))) for task in tasks]
    return {
        "tasks": len(tasks),
        "pass_at_1": fmean(pass_at_k(episodes, count, 1) for episodes, count in passed),
        "pass_at_k": fmean(pass_at_k(episodes, count, k) for episodes, count in passed),
        "reward": fmean(record.figures["total"] for record in records),
        "reward_variance": fmean(deviation**2 for deviation in deviations),
        "zero_variance_share": fmean(deviation < 1e-9 for deviation in deviations),
        "truncation": fmean(record.figures["cut"] for record in records),
    }


def _by_task(records: Iterable[Record]) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[record.item].append(record)
    return dict(groups)
