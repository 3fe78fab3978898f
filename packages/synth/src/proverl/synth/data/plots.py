"""The pictures of a dataset card: the same bytes for the same figures."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from proverl.envs import load_server, server_names
from proverl.synth.data.figures import Figures

LEAST_ROWS = 15  # in which every tool should be expected
_COLOURS = ("#2a6fbb", "#e08a2c")  # train, heldout
_INK, _PALE = "#333333", "#dddddd"


def draw(figures: Mapping[str, Figures], folder: Path) -> dict[str, str]:
    """Draw every picture into a folder; returns file name -> what it shows."""
    calls = {split: found.calls for split, found in figures.items()}
    turns = {split: found.turns for split, found in figures.items()}
    lengths = {split: found.queries.lengths for split, found in figures.items()}
    _bars(calls, "calls expected in a conversation", folder / "calls.png")
    _bars(turns, "user turns in a conversation", folder / "turns.png")
    _bars(_capped(lengths, 60), "words in a user turn (60: and more)", folder / "words.png")
    _tools(figures, folder / "tools.png")
    return {
        "calls.png": "Calls expected in a conversation",
        "turns.png": "User turns in a conversation",
        "tools.png": "Rows in which each tool is expected, by server",
        "words.png": "Words in a user turn",
    }


def _capped(counts: Mapping[str, Counter[int]], most: int) -> dict[str, Counter[int]]:
    capped = {split: Counter[int]() for split in counts}
    for split, counter in counts.items():
        for value, count in counter.items():
            capped[split][min(value, most)] += count
    return capped


def _axes(width: float, height: float) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width, height), dpi=110, layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=_INK, length=0)
    return figure, axes


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, metadata={"Software": None})  # the version of matplotlib would change the bytes


def _bars(counts: Mapping[str, Counter[int]], label: str, path: Path) -> None:
    """Shares of rows by a whole number, the splits side by side."""
    figure, axes = _axes(7, 3)
    width = 0.8 / max(len(counts), 1)
    for place, (split, counter) in enumerate(counts.items()):
        total = max(counter.total(), 1)
        at = [value + (place - (len(counts) - 1) / 2) * width for value in counter]
        shares = [100 * count / total for count in counter.values()]
        axes.bar(at, shares, width * 0.95, color=_COLOURS[place], label=f"{split} ({counter.total():,})")
    axes.set(xlabel=label, ylabel="% of split")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(axis="y", color=_PALE)
    axes.legend(frameon=False)
    _save(figure, path)


def tools_by_server() -> dict[str, list[str]]:
    """The visible tools of every installed server."""
    return {name: [tool.name for tool in load_server(name).tools if not tool.hidden] for name in server_names()}


def _tools(figures: Mapping[str, Figures], path: Path) -> None:
    """A dot a tool in a row a server; most servers fit on one screen."""
    called = sum((found.called for found in figures.values()), Counter[str]())
    servers = {name: tools for name, tools in tools_by_server().items() if any(tool in called for tool in tools)}
    figure, axes = _axes(8, 1.2 + 0.32 * len(servers))
    for place, tools in enumerate(servers.values()):
        rows = sorted(called[tool] for tool in tools)
        # neighbours stand at different heights, so that equal counts show as several dots
        heights = [place + 0.11 * (index % 5 - 2) for index in range(len(rows))]
        colours = [_COLOURS[0] if count >= LEAST_ROWS else _COLOURS[1] for count in rows]
        axes.scatter(rows, heights, s=16, c=colours, alpha=0.75, linewidths=0)
    axes.axvline(LEAST_ROWS, color=_INK, linewidth=0.8, linestyle=":")
    axes.set_xscale("symlog", linthresh=LEAST_ROWS)
    axes.set_xlim(-1, 1.2 * max(called.values(), default=1) + 5)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xticks([0, 5, 10, 15, 30, 60, 120, 240, 480])
    axes.set_yticks(range(len(servers)), [f"{name} ({len(tools)})" for name, tools in servers.items()])
    axes.invert_yaxis()
    axes.grid(axis="x", color=_PALE)
    axes.set_xlabel(f"rows in which a tool is expected, a dot a tool; orange: under {LEAST_ROWS}")
    _save(figure, path)
