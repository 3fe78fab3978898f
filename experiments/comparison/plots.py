"""A comparison's pictures: small SVGs that a page lays out side by side, in the colours of the page.

Every colour is drawn as a mark and then replaced by a CSS variable, so one picture serves light and dark. A variant has
one colour in all of them; the reference is drawn in the colour of the text. Letters stay letters, in the page's font.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from statistics import fmean
from typing import Any

from experiments.comparison.findings import Figure, Findings, Row, Table, Variant
from experiments.comparison.paper import paper
from experiments.comparison.words import label, main_figures, unit, where
from experiments.report import WINDOW, trailing_means
from proverl.trainer.metrics import PARTS

COLOURS = 10  # variants beside the reference that a page has colours for; further ones begin anew
_INK, _SOFT, _GRID = "#000001", "#000002", "#000003"
_NAMES = {_INK: "--ink", _SOFT: "--soft", _GRID: "--line"}
_SIZE = (4.0, 2.7)  # inches; a page scales it
_STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 8.5,
    "text.color": _INK,
    "axes.edgecolor": _GRID,
    "axes.labelcolor": _SOFT,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "grid.color": _GRID,
    "grid.linewidth": 0.6,
    "xtick.color": _GRID,
    "ytick.color": _GRID,
    "xtick.labelcolor": _SOFT,
    "ytick.labelcolor": _SOFT,
    "lines.solid_capstyle": "round",
}


@dataclass(frozen=True)
class Plot:
    """Pictures that belong together, as inline SVG, and what they show."""

    title: str
    caption: str
    pictures: list[str]


def plots(found: Findings) -> Iterator[Plot]:
    """All pictures of a comparison, model by model."""
    for model, reference in found.references.items():
        variants = [one for one in found.variants if one.model == model]
        colours = _colours(variants, reference)
        of = f", {model}" if len(found.references) > 1 else ""
        trained = [one for one in variants if _curves(one, "reward/mean")]
        tables = [table for table in found.tables if table.model == model]
        made = [
            *_bars(tables, colours, of),
            *_rewards(trained, reference, colours, of),
            *_parts(trained, reference, colours, of),
            *_scatters(tables, colours, of),
        ]
        yield from (plot for plot in made if plot.pictures)


def _colours(variants: Sequence[Variant], reference: Variant) -> dict[str, str]:
    others = [one.name for one in variants if one != reference]
    return {reference.name: _INK} | {name: f"#0001{at % COLOURS:02x}" for at, name in enumerate(others)}


def _drawn(name: str, draw: Callable[[Any], None], size: tuple[float, float] = _SIZE) -> str:
    """One picture as the text of an SVG element. `name` keeps the ids inside apart from those of others."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure, axes = plt.subplots(figsize=size, layout="constrained")
        draw(axes)
        text = StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
        plt.close(figure)
    return _themed(text.getvalue(), name)


def _themed(text: str, name: str) -> str:
    """The SVG element alone, in the page's colours and font, of whatever size the page gives it."""
    attributes, _, inside = text.partition("<svg")[2].partition(">")
    box = re.search(r'viewBox="[^"]*"', attributes)
    assert box
    inside = re.sub(r"<metadata>.*?</metadata>", "", inside, flags=re.DOTALL).replace("xlink:href", "href")
    for mark, variable in _NAMES.items():
        inside = inside.replace(mark, f"var({variable})")
    inside = re.sub(r"#0001([0-9a-f]{2})", lambda found: f"var(--v{int(found[1], 16)})", inside)
    inside = re.sub(r"font-family: [^;\"]*; ", "", inside)  # the page's
    return f'<svg role="img" aria-label="{escape(name)}" {box[0]}>{inside.strip()}'


Curve = dict[int, float]


def _curves(variant: Variant, metric: str) -> list[Curve]:
    """The metric over the steps, seed by seed, each value the mean of the last steps."""
    found = []
    for run in variant.runs.values():
        history = run.curves.get(metric)
        if history:
            steps = sorted(history)
            found.append(dict(zip(steps, trailing_means([history[step] for step in steps]), strict=True)))
    return found


def _line(
    axes: Any, curves: Sequence[Curve], colour: str, band: bool = True, width: float = 1.6
) -> tuple[float, float]:
    """Draw the mean over seeds and the band from the lowest to the highest; return where it ends."""
    steps = sorted(set.intersection(*(set(curve) for curve in curves)))
    mean = [fmean(curve[step] for curve in curves) for step in steps]
    axes.plot(steps, mean, color=colour, linewidth=width)
    if band and len(curves) > 1:
        low, high = ([bound(curve[step] for curve in curves) for step in steps] for bound in (min, max))
        axes.fill_between(steps, low, high, color=colour, alpha=0.18, linewidth=0)
    return steps[-1], mean[-1]


def _seeds(variants: Sequence[Variant]) -> str:
    counts = sorted({len(one.runs) for one in variants})
    return f"{'–'.join(map(str, counts))} seed{'s' if counts != [1] else ''}"


def _rewards(variants: Sequence[Variant], reference: Variant, colours: Mapping[str, str], of: str) -> Iterator[Plot]:
    shown = [one for one in variants if one != reference] or list(variants)
    whole = _on_scale(reference, reference)
    lines = {one.name: found for one in shown if (found := _on_scale(one, reference))}
    values = [value for curves in (*lines.values(), whole) for curve in curves for value in curve.values()]
    if not values:
        return
    room = 0.05 * (max(values) - min(values) or 1)

    def picture(variant: Variant) -> str:
        def draw(axes: Any) -> None:
            if whole and variant != reference:
                _line(axes, whole, _INK, width=1.0)
            _line(axes, lines[variant.name], colours[variant.name])
            axes.set(ylim=(min(values) - room, max(values) + room), xlabel="GRPO step", ylabel="reward")
            axes.set_title(variant.name, color=colours[variant.name])

        return _drawn(f"reward of {variant.name}", draw)

    yield Plot(
        f"Reward over training{of}",
        f"Training rollouts, mean of the last {WINDOW} steps; line: mean over {_seeds(variants)}, band: lowest to "
        f"highest seed. In the text's colour: {reference.name}. Rewards are given with the weights of "
        f"{reference.name}, whatever weights a variant is trained with; its call budget is its own.",
        [picture(one) for one in shown if one.name in lines],
    )


def _on_scale(variant: Variant, reference: Variant) -> list[Curve]:
    """Reward curves with the reference's weights: R is linear in its parts. None of a reward of the user's own."""
    own, wanted = ({part: one.params().get(f"reward.{part}") for part in PARTS} for one in (variant, reference))
    curves = _curves(variant, "reward/mean")
    if own == wanted:
        return curves
    parts = {part: _curves(variant, f"reward/{part}") for part in PARTS}
    if None in own.values() or None in wanted.values() or any(len(found) != len(curves) for found in parts.values()):
        return []
    more = {part: float(wanted[part] or 0) - float(own[part] or 0) for part in PARTS}
    return [
        {
            step: value + sum(more[part] * parts[part][at].get(step, 0.0) for part in PARTS)
            for step, value in curve.items()
        }
        for at, curve in enumerate(curves)
    ]


def _parts(variants: Sequence[Variant], reference: Variant, colours: Mapping[str, str], of: str) -> Iterator[Plot]:
    titles = {f"reward/{part}": f"{part}, mean" for part in PARTS}
    titles |= {"episode/calls": "calls per task", "episode/success": "task success, share"}

    def picture(metric: str) -> str:
        def draw(axes: Any) -> None:
            ends = []
            for variant in sorted(variants, key=lambda one: one == reference):  # the reference lies on top
                if curves := _curves(variant, metric):
                    main = variant == reference
                    end = _line(axes, curves, colours[variant.name], main, 1.8 if main else 1.1)
                    ends.append((end, variant.name, colours[variant.name]))
            _label_ends(axes, ends)
            axes.set(xlabel="GRPO step", title=titles[metric])

        return _drawn(metric, draw)

    metrics = [metric for metric in titles if any(_curves(one, metric) for one in variants)]
    yield Plot(
        f"Parts of the reward, and calls, over training{of}",
        f"Training rollouts, mean of the last {WINDOW} steps and over {_seeds(variants)}; band: lowest to highest seed "
        f"of {reference.name}. A task that expects no call counts 0 in every part.",
        [picture(metric) for metric in metrics],
    )


def _label_ends(axes: Any, ends: Sequence[tuple[tuple[float, float], str, str]]) -> None:
    """Write each line's name at its end, apart from each other."""
    low, high = axes.get_ylim()
    places = _spread([y for (_, y), _, _ in ends], low, high, (high - low) / 13)
    for ((x, y), name, colour), place in zip(ends, places, strict=True):
        axes.annotate(
            name,
            (x, y),
            (1.03, (place - low) / (high - low)),
            textcoords="axes fraction",
            color=colour,
            fontsize=7.5,
            va="center",
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 0},
            annotation_clip=False,
        )


def _spread(values: Sequence[float], low: float, high: float, least: float) -> list[float]:
    """Places near the values, within the bounds, at least so far apart where there is room."""
    order = sorted(range(len(values)), key=values.__getitem__)
    least = min(least, (high - low) / max(1, len(values) - 1))
    places = [0.0] * len(values)
    floor = low
    for rank, index in enumerate(order):
        ceiling = high - least * (len(values) - 1 - rank)
        places[index] = min(max(values[index], floor), ceiling)
        floor = places[index] + least
    return places


def _bars(tables: Sequence[Table], colours: Mapping[str, str], of: str) -> Iterator[Plot]:
    for table in tables:
        pictures = []
        for name in main_figures(table):
            rows = [(row, one) for row in table.rows if (one := row.figures.get(name)) and one.against]
            if rows:
                pictures.append(_bar(table, name, rows, colours))
        yield Plot(
            f"Differences to {table.reference.name}, {where(table)}{of}",
            "After training, same seeds and items, with 95% intervals. Filled: more than noise after Holm's correction."
            + (" Diamonds: the paper's difference." if table.benchmark in paper().scores else ""),
            pictures,
        )


def _bar(table: Table, name: str, rows: Sequence[tuple[Row, Figure]], colours: Mapping[str, str]) -> str:
    of = unit(table, name)
    scale = 100 if of == "%" else 1

    def draw(axes: Any) -> None:
        for at, (row, one) in enumerate(rows):
            assert one.against
            mean, low, high = (scale * getattr(one.against.difference, bound) for bound in ("mean", "low", "high"))
            colour = colours[row.variant.name]
            face = colour if one.clear else "none"
            axes.barh(at, mean, 0.62, facecolor=face, edgecolor=colour, alpha=0.75, linewidth=1)
            axes.plot([low, high], [at, at], color=_INK, linewidth=1.2)
            if table.benchmark in paper().scores and name == paper().scores[table.benchmark]:
                theirs = table.papers(row, table.benchmark)
                if theirs is not None:
                    axes.plot(theirs, at, "D", markersize=5, markerfacecolor="none", markeredgecolor=_SOFT)
        axes.axvline(0, color=_SOFT, linewidth=0.8)
        axes.set_yticks(range(len(rows)), [row.variant.name for row, _ in rows])
        for text, (row, _) in zip(axes.get_yticklabels(), rows, strict=True):
            text.set_color(colours[row.variant.name])
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        items = "–".join(map(str, sorted({one.against.difference.n for _, one in rows if one.against})))
        axes.set(
            title=label(table, name),
            xlabel=f"difference{', points' if of else ''} (n = {items} items)",
        )

    return _drawn(f"{label(table, name)}: differences", draw, (_SIZE[0], 0.9 + 0.24 * len(rows)))


def _scatters(tables: Sequence[Table], colours: Mapping[str, str], of: str) -> Iterator[Plot]:
    for table in tables:
        scale = 100 if unit(table, table.headline) == "%" else 1
        points = {row.variant.name: list(_points(table, row, scale)) for row in table.rows}
        every = [value for found in points.values() for _, before, after, _ in found for value in (before, after)]
        if not every:
            continue
        yield Plot(
            f"Before and after training, {where(table)}{of}",
            f"{label(table, table.headline)}{', %' if scale == 100 else ''}: a point is a stratum, its area the number "
            "of items; above the line is better after training. Lines: 95% intervals of the figure after training.",
            [_scatter(table, name, found, every, colours[name]) for name, found in points.items() if found],
        )


Point = tuple[str, float, float, Figure]


def _points(table: Table, row: Row, scale: float) -> Iterator[Point]:
    for key in table.strata:
        one = row.figures.get(key)
        if one and one.before and one.after:
            yield label(table, key), scale * one.before.mean, scale * one.after.mean, one


def _scatter(table: Table, name: str, points: Sequence[Point], every: Sequence[float], colour: str) -> str:
    scale = 100 if unit(table, table.headline) == "%" else 1
    low, high = min(every), max(every)
    room = 0.06 * (high - low or 1)

    def draw(axes: Any) -> None:
        axes.plot([low - room, high + room], [low - room, high + room], color=_GRID, linewidth=1)
        for _, before, after, one in points:
            assert one.after
            if not math.isnan(one.after.low):
                span = [scale * one.after.low, scale * one.after.high]
                axes.plot([before, before], span, color=colour, linewidth=0.7, alpha=0.6)
            axes.scatter(before, after, s=8 + one.after.n / 4, color=colour, alpha=0.8, linewidths=0)
        ends = [((before, after), text, _SOFT) for text, before, after, _ in points]
        axes.set(xlim=(low - room, high + room), ylim=(low - room, high + room))
        _label_ends(axes, ends)
        axes.set(xlabel="before training", ylabel="after training")
        axes.set_title(name, color=colour)

    return _drawn(f"{table.benchmark} before and after, {name}", draw)
