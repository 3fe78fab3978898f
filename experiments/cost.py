"""What stages cost, from what they leave behind: the manifest, metrics, kept rollouts and evaluation records.

A stage that is taken from the cache still has its cost. A figure that a stage left no trace of is None, and is left out
of sums. Energy and the machine's price are reckoned: watts and dollars of the profile times hours. Tokens of steps that
a kill took back and of rollouts that failed are in no figure, their seconds are.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from experiments.cache import Entry
from experiments.config import ProfileConfig
from experiments.requirements import METRICS, PROGRESS, SPENT
from experiments.tracking import read_rows, rows_by_step
from proverl.evals.evaluation import ABOUT
from proverl.evals.record import FILE as RECORDS

_GIB = 2**30
CAPTION = (
    "Tokens that the model wrote and that updates went over, tool calls, memory at the peak. Energy and price are "
    "estimates: the profile's watts and dollars times hours."
)


@dataclass(frozen=True)
class Cost:
    """What a stage or several took. None: not known.

    hours: by the clock, all tries. device_hours: these times the profile's GPUs, or times its machines without GPUs.
    generated_tokens: written by the model in rollouts and evaluations. trained_tokens: of the rows that updates went
    over, prompts and results included. tool_calls: of rollouts and evaluations. peak_*: GiB at the worst moment.
    energy_kwh, dollars: by the profile. endpoint_*: of models behind an endpoint, teacher or policy, at their prices.
    """

    hours: float | None = None
    device_hours: float | None = None
    generated_tokens: float | None = None
    trained_tokens: float | None = None
    tool_calls: float | None = None
    peak_memory_gib: float | None = None
    peak_gpu_memory_gib: float | None = None
    energy_kwh: float | None = None
    dollars: float | None = None
    endpoint_prompt_tokens: float | None = None
    endpoint_completion_tokens: float | None = None
    endpoint_dollars: float | None = None

    def known(self) -> dict[str, float]:
        """The figures that are known."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def total(costs: Iterable[Cost]) -> Cost:
    """The sum of what is known; of peaks, the highest."""
    found: dict[str, list[float]] = {}
    for cost in costs:
        for name, value in cost.known().items():
            found.setdefault(name, []).append(value)
    return Cost(**{name: max(values) if name.startswith("peak_") else sum(values) for name, values in found.items()})


def machine_cost(seconds: float, profile: ProfileConfig | Mapping[str, Any]) -> Cost:
    """What a profile's machine costs for so long; energy and price are estimates."""
    rates = asdict(profile) if isinstance(profile, ProfileConfig) else profile
    hours = seconds / 3600
    return Cost(
        hours=hours,
        device_hours=hours * rates["nodes"] * max(1, rates["gpus_per_node"]),
        energy_kwh=hours * rates["watts"] / 1000,
        dollars=hours * rates["price_per_hour"],
    )


def stage_cost(entry: Entry, profile: ProfileConfig) -> Cost:
    """What a finished stage cost, at the rates of the profile that made it, or of `profile` where it does not say."""
    manifest: Any = entry.manifest()
    rates = (manifest.get("about") or {}).get("profile") or profile
    peaks = {
        f"peak_{kind}_gib": manifest[f"peak_{kind}"] / _GIB
        for kind in ("memory", "gpu_memory")
        if manifest.get(f"peak_{kind}") is not None
    }
    return total([machine_cost(manifest["seconds"], rates), Cost(**peaks), *_work(entry.directory)])


def made_by(entry: Entry) -> str:
    """The job that made a finished stage, or "" where it does not say."""
    about: Any = entry.manifest().get("about") or {}
    return str(about.get("job", ""))


def costs(outputs: Mapping[str, Entry], profile: ProfileConfig, job: str) -> dict[str, Any]:
    """What a job's stages cost, as JSON: `all` of them, its `own` (those that it made itself), and each stage."""
    each = {name: stage_cost(entry, profile) for name, entry in outputs.items()}
    own = [name for name, entry in outputs.items() if made_by(entry) == job]
    return {
        "all": total(each.values()).known(),
        "own": total(each[name] for name in own).known(),
        "stages": {name: {**cost.known(), "own": name in own} for name, cost in each.items()},
    }


def _work(folder: Path) -> Iterator[Cost]:
    """Tokens and calls, by the files that kinds of stages leave."""
    if (folder / RECORDS).is_file():
        yield _evaluated(folder)
    if (folder / METRICS).is_file():
        yield _trained(folder)
    if (folder / PROGRESS).is_file():
        yield Cost(trained_tokens=max((row["tokens"] for row in read_rows(folder / PROGRESS)[0]), default=None))
    if (folder / SPENT).is_file():
        spent = json.loads((folder / SPENT).read_text())
        yield Cost(
            endpoint_prompt_tokens=spent["prompt_tokens"],
            endpoint_completion_tokens=spent["completion_tokens"],
            endpoint_dollars=spent["dollars"],
        )


def _evaluated(folder: Path) -> Cost:
    with (folder / RECORDS).open("rb") as file:
        kept = [json.loads(line) for line in file]
    read, written, calls = (
        sum(record[name] for record in kept) for name in ("prompt_tokens", "completion_tokens", "calls")
    )
    policy = json.loads((folder / ABOUT).read_text())["policy"]
    if policy["kind"] != "endpoint":
        return Cost(generated_tokens=written, tool_calls=calls)
    dollars = read * policy["dollars_per_million_prompt"] + written * policy["dollars_per_million_completion"]
    return Cost(
        tool_calls=calls,
        endpoint_prompt_tokens=read,
        endpoint_completion_tokens=written,
        endpoint_dollars=dollars / 1e6,
    )


def _trained(folder: Path) -> Cost:
    rows = rows_by_step(folder / METRICS).values()
    episodes = [row for row in rows if row.get("episode/count")]
    if not episodes:
        fine_tuned = [row["sft/tokens"] for row in rows if "sft/tokens" in row]
        return Cost(trained_tokens=sum(fine_tuned)) if fine_tuned else Cost()
    tokens = ("episode/prompt_tokens", "episode/response_tokens")
    return Cost(
        generated_tokens=_sampled(folder),
        trained_tokens=_summed(episodes, lambda row: row["episode/count"] * sum(row[name] for name in tokens)),
        tool_calls=_summed(episodes, lambda row: row["episode/count"] * row["episode/calls"]),
    )


def _summed(rows: Iterable[Mapping[str, float]], value: Callable[[Mapping[str, float]], float]) -> float | None:
    try:
        return sum(value(row) for row in rows)
    except KeyError:
        return None


def _sampled(folder: Path) -> float | None:
    """Tokens that the model wrote in the kept rollouts."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    files = sorted((folder / "rollouts").glob("step-*[0-9].parquet"))
    counted = [pc.sum(pq.read_table(file, columns=["sampled_tokens"])[0]).as_py() or 0 for file in files]
    return sum(counted) if files else None


def table(title: str, rows: Mapping[str, Cost], caption: str = "") -> Table:
    """Costs by row, without the columns that no row knows."""
    shown = Table(title=title, caption=caption or None, title_justify="left", caption_justify="left")
    shown.add_column("", no_wrap=True)
    columns = [
        (heading, tell)
        for name, heading, tell in _COLUMNS
        if any(getattr(cost, name) is not None for cost in rows.values())
        and not (name == "device_hours" and all(cost.device_hours == cost.hours for cost in rows.values()))
    ]
    for heading, _ in columns:
        shown.add_column(heading, justify="right", overflow="fold")  # a figure is never cut
    for label, cost in rows.items():
        shown.add_row(escape(label), *(tell(cost) for _, tell in columns))
    return shown


def _column(name: str, heading: str, tell: Callable[[float], str]) -> tuple[str, str, Callable[[Cost], str]]:
    def cell(cost: Cost) -> str:
        value = getattr(cost, name)
        return "" if value is None else tell(value)

    return name, heading, cell


def duration(hours: float) -> str:
    """A time as people say it."""
    seconds = hours * 3600
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _count(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value:.0f}"


def _kwh(value: float) -> str:
    if 0 < value < 0.001:
        return "<0.001"
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def _dollars(value: float) -> str:
    return f"${value:.2f}" if value >= 0.005 or not value else "<$0.01"


_COLUMNS = (
    _column("hours", "time", duration),
    _column("device_hours", "device h", lambda value: f"{value:.3g}"),
    _column("generated_tokens", "written", _count),
    _column("trained_tokens", "trained", _count),
    _column("tool_calls", "calls", _count),
    _column("peak_memory_gib", "GiB", lambda value: f"{value:.1f}"),
    _column("peak_gpu_memory_gib", "GPU GiB", lambda value: f"{value:.1f}"),
    _column("energy_kwh", "kWh", _kwh),
    _column("dollars", "price", _dollars),
    _column("endpoint_prompt_tokens", "asked", _count),
    _column("endpoint_completion_tokens", "answered", _count),
    _column("endpoint_dollars", "paid", _dollars),
)


def conclusion(found: Mapping[str, Any]) -> Table:
    """The table at the end of a run: its own stages, those of the cache, and sums."""
    names = {field.name for field in fields(Cost)}
    rows, own = {}, [name for name, one in found["stages"].items() if one["own"]]
    for name, one in found["stages"].items():
        label = name if one["own"] else f"{name} (cached)"
        rows[label] = Cost(**{key: value for key, value in one.items() if key in names})
    if len(own) < len(found["stages"]):
        rows["this run"] = Cost(**found["own"])
    rows["all"] = Cost(**found["all"])
    return table("Cost", rows, CAPTION)
