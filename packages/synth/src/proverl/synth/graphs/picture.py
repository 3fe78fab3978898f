"""A server's dependency graph for people: a table for the terminal and a picture.

Both leave out the edges of a tool that only repeats an entity which it was asked for: they tell nothing new.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import networkx as nx
from rich.table import Table

from proverl.core import Tool
from proverl.synth.graphs.graph import parameter_entities
from proverl.synth.schema import result_entities

_COLOURS = (
    "#1f77b4",
    "#d9730d",
    "#2a9134",
    "#9351b8",
    "#8c5a3c",
    "#c2338f",
    "#6b7280",
    "#8f8f00",
    "#0f9aa8",
    "#3d4eac",
)
_STATE = "#c81e1e"
_LEFT, _MIDDLE, _RIGHT, _FIRST = 0.22, 0.48, 0.74, 0.98  # where the columns stand


def told(tool: Tool) -> set[str]:
    """The entities in a tool's result that it was not asked for."""
    return {entity for _, entity in result_entities(tool.returns)} - parameter_entities(tool)


def table(graph: nx.DiGraph, tools: Sequence[Tool], title: str) -> Table:
    """One line a tool: what it needs, what it tells, and which tools open the way to it."""
    rows = Table("tool", "needs", "tells", "may need first", title=title)
    for tool in tools:
        before = ", ".join(_before(graph, tool.name))
        rows.add_row(tool.name, _short(parameter_entities(tool)), _short(told(tool)), before)
    return rows


def draw(graph: nx.DiGraph, tools: Sequence[Tool], title: str, path: Path) -> None:
    """Write a picture: the tools that tell an entity, the entities, the tools that need one, and what may come first.

    The file's ending decides the format. Raises ValueError when matplotlib knows no such format.
    """
    from matplotlib.figure import Figure  # imported late: it takes a second

    tells = {tool.name: told(tool) for tool in tools if told(tool)}
    before = {tool.name: _before(graph, tool.name) for tool in tools}
    needs = {tool.name: parameter_entities(tool) for tool in tools}
    needs = {name: entities for name, entities in needs.items() if entities or before[name]}
    columns = _columns(tells, needs, sorted(set().union(*tells.values(), *needs.values())))
    figure = Figure(figsize=(14, 1.2 + 0.3 * max(map(len, columns))), layout="constrained")
    _Sketch(figure.subplots(), columns).draw(tells, needs, before, title)
    alone = [tool.name for tool in tools if tool.name not in tells.keys() | needs.keys()]
    if alone:
        figure.supxlabel(f"alone: {', '.join(alone)}", fontsize=9)
    figure.savefig(path, dpi=150)


def _before(graph: nx.DiGraph, name: str) -> list[str]:
    return sorted(before for before, _, kind in graph.in_edges(name, data="kind") if kind == "implicit")


def _columns(tells: dict[str, set[str]], needs: dict[str, set[str]], entities: list[str]) -> list[dict[str, float]]:
    """Heights (0: top, 1: bottom) of what stands left, in the middle and right, ordered so that few lines cross."""
    middle = _spread(entities)
    for _ in range(8):
        left, right = (_spread(sorted(side, key=lambda name: _centre(side[name], middle))) for side in (tells, needs))
        around = {
            entity: [
                side[name] for links, side in ((tells, left), (needs, right)) for name in side if entity in links[name]
            ]
            for entity in entities
        }
        middle = _spread(sorted(entities, key=lambda entity: mean(around[entity] or [1.0])))
    return [left, middle, right]


def _centre(entities: set[str], middle: dict[str, float]) -> float:
    return mean([middle[entity] for entity in sorted(entities)] or [1.0])


def _spread(names: Sequence[str]) -> dict[str, float]:
    return {name: (index + 0.5) / len(names) for index, name in enumerate(names)}


class _Sketch:
    """The three columns, drawn into matplotlib axes."""

    def __init__(self, axes: Any, columns: list[dict[str, float]]) -> None:
        self.axes = axes
        self.left, self.middle, self.right = columns
        self.colours = {entity: _COLOURS[index % len(_COLOURS)] for index, entity in enumerate(self.middle)}

    def draw(
        self, tells: dict[str, set[str]], needs: dict[str, set[str]], before: dict[str, list[str]], title: str
    ) -> None:
        """Lines first, names on top of them."""
        for name, height in self.left.items():
            for entity in sorted(tells[name]):
                self._line((_LEFT, height), (_MIDDLE, self.middle[entity]), entity)
            self.axes.text(_LEFT - 0.006, height, name, ha="right", va="center", fontsize=9)
        for name, height in self.right.items():
            for entity in sorted(needs[name]):
                self._line((_MIDDLE, self.middle[entity]), (_RIGHT, height), entity, "-|>")
            self.axes.text(_RIGHT + 0.006, height, name, ha="left", va="center", fontsize=9)
            if before[name]:
                self._first(before[name], height)
        for entity, height in self.middle.items():
            style: dict[str, Any] = {"boxstyle": "round,pad=0.35", "fc": "white", "ec": self.colours[entity], "lw": 1.6}
            self.axes.text(_MIDDLE, height, _short({entity}), ha="center", va="center", fontsize=9.5, bbox=style)
        self._frame(title, any(before.values()))

    def _line(self, start: tuple[float, float], end: tuple[float, float], entity: str, tip: str = "-") -> None:
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path as Curve

        half = (start[0] + end[0]) / 2
        curve = Curve([start, (half, start[1]), (half, end[1]), end], [Curve.MOVETO] + [Curve.CURVE4] * 3)
        style: dict[str, Any] = {
            "arrowstyle": tip,
            "mutation_scale": 8,
            "color": self.colours[entity],
            "lw": 1.1,
            "alpha": 0.75,
        }
        self.axes.add_patch(FancyArrowPatch(path=curve, **style))

    def _first(self, names: list[str], height: float) -> None:
        from matplotlib.patches import FancyArrowPatch

        style: dict[str, Any] = {
            "arrowstyle": "-|>",
            "mutation_scale": 9,
            "color": _STATE,
            "lw": 1.2,
            "ls": (0, (3, 2)),
        }
        self.axes.add_patch(FancyArrowPatch((_FIRST, height), (_FIRST - 0.035, height), **style))
        self.axes.text(_FIRST, height, ", ".join(names), va="center", fontsize=9, color=_STATE)

    def _frame(self, title: str, state: bool) -> None:
        self.axes.set(xlim=(0, 1.25), ylim=(1, -0.6 / max(len(self.left), len(self.right), 1)))
        self.axes.axis("off")
        self.axes.set_title(f"{title}: which tool leads to which", fontsize=13, pad=24)
        heads = [
            (_LEFT, "right", "tells"),
            (_MIDDLE, "center", "an entity"),
            (_RIGHT, "left", "to a tool that needs it"),
        ]
        for x, side, text in heads + [(_FIRST, "left", "may have to run first")] * state:
            style: dict[str, Any] = {"fontsize": 10, "style": "italic", "color": _STATE if x == _FIRST else "black"}
            self.axes.annotate(
                text, (x, 1), (0, 6), xycoords=("data", "axes fraction"), textcoords="offset points", ha=side, **style
            )


def _short(entities: set[str]) -> str:
    return ", ".join(sorted(entity.rpartition(".")[2] for entity in entities))
