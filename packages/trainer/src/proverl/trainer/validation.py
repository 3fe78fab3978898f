"""Validation while training: what is logged of the dev split's episodes, and which step was best there.

Every `trainer.validate_every` steps the policy does the tasks of the dev split once, greedily. Its figures stand in the
line of that step in metrics.jsonl, and the best step is read off that file, so that a resumed run knows it too.

| names | what |
|---|---|
| `validation/{reward,validity,coverage,efficiency,name,arg}` | means over the dev split's episodes |
| `validation/{success,calls,completed}` | share of tasks done, calls per task, share that no limit ended |
| `validation/{count,failed}` | episodes scored, and episodes that could not be run |
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from proverl.trainer import metrics

BEST = "validation/reward"  # what decides: it varies less from task to task than success does
_NAMES = {
    "reward/total": "reward",
    **{f"reward/{part}": part for part in metrics.PARTS},
    "episode/success": "success",
    "episode/calls": "calls",
    "stop/completed": "completed",
}


def summarize(columns: Mapping[str, Sequence[float | None]], expected: int) -> dict[str, float]:
    """The figures of one validation from the episodes' numbers by name, of `expected` episodes that were to be run."""
    count = len(columns.get("reward/total", ()))
    found = {"validation/count": float(count), "validation/failed": float(expected - count)}
    if count:
        for old, new in _NAMES.items():
            found[f"validation/{new}"] = fmean(value for value in columns[old] if value is not None)
    return found


def best_step(path: Path, among: Collection[int]) -> int:
    """Of some steps the one with the highest validation reward in a metrics file, the first of equals; 0 for none."""
    rewards = {step: values[BEST] for step, values in metrics.read(path) if BEST in values and step in among}
    return max(rewards, key=rewards.__getitem__, default=0)
