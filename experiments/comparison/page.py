"""A comparison as one page without anything outside it: tables, pictures, episodes, settings, costs, its command."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from experiments.comparison.changed_episodes import changed
from experiments.comparison.findings import Components, Figure, Findings, Row, Table
from experiments.comparison.paper import paper
from experiments.comparison.plots import COLOURS, plots
from experiments.comparison.words import RULE, between, label, main_figures, number, sentences, unit, verdict, where
from experiments.episodes import template
from experiments.report import WINDOW
from proverl.trainer.metrics import PARTS

_COSTS = {  # metric: heading and how it is written
    "cost/hours": ("hours", "{:.2f}"),
    "cost/device_hours": ("device hours", "{:.2f}"),
    "cost/generated_tokens": ("tokens generated", "{:,.0f}"),
    "cost/trained_tokens": ("tokens trained", "{:,.0f}"),
    "cost/tool_calls": ("tool calls", "{:,.0f}"),
    "cost/peak_memory_gib": ("peak memory, GiB", "{:.1f}"),
    "cost/energy_kwh": ("energy, kWh", "{:.3f}"),
    "cost/dollars": ("price, $", "{:.2f}"),
}


@dataclass(frozen=True)
class Cell:
    """One cell: its text, lines below it in small, and whether it is `clear`, `noise` or the `paper`'s."""

    text: str
    below: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True)
class Grid:
    """A table for reading; the first cell of a row is its heading."""

    title: str
    caption: str
    headings: list[str]
    rows: list[list[Cell]]


def page(found: Findings, command: str, sweep_command: str = "") -> str:
    """The report as HTML. `command` repeats the comparison, `sweep_command` its runs."""
    pictures = [(plot, [Markup(picture) for picture in plot.pictures]) for plot in plots(found)]
    return template(Path(__file__).with_name("page.html.j2")).render(
        title=_title(found),
        sentences=list(sentences(found)),
        rule=RULE,
        source=paper().source,
        results=[*main_results(found), *against(found), *gains(found), *strata(found), *components(found)],
        plots=pictures,
        episodes=list(changed(found)),
        figures=_shown_figures,
        number=number,
        settings=list(settings(found)),
        runs=list(runs(found)),
        notes=list(provenance_notes(found)),
        command=command,
        sweep_command=sweep_command,
        names=[run.name for one in found.variants for run in one.runs.values()],
        colours=COLOURS,
    )


def _title(found: Findings) -> str:
    whole = [one.name for one in found.references.values()]
    return f"{', '.join(found.references)}: {len(found.variants)} variants against {', '.join(dict.fromkeys(whole))}"


def against(found: Findings, short: bool = False) -> Iterator[Grid]:
    """Differences of variants to the reference of their model, with the paper's beside them; `short`: the main ones."""
    for table in found.tables:
        rows = [row for row in table.rows if row.variant != table.reference]
        if not rows:
            continue
        beside = paper().beside(table.model)
        reported = [table.benchmark] if table.benchmark in paper().scores else list(paper().scores)
        theirs = [name for name in reported if any(table.papers(row, name) is not None for row in rows)]
        columns = main_figures(table) if short else table.figures
        shown = [name for name in columns if any((one := row.figures.get(name)) and one.against for row in rows)]
        caption = f"After training, minus {table.reference.name}: the same seeds and items."
        if theirs:
            caption += f" The paper's columns are {paper().models[beside]}'s, in points"
            if beside != table.model:
                caption += f"; compare signs and order with them, not sizes: {table.model} is another model"
            caption += "." if table.benchmark in paper().scores else ", and these are other tasks."
        yield Grid(
            f"Against {table.reference.name}: {_where(table)}",
            caption,
            [
                *("variant", "items"),
                *(_heading(table, name) for name in shown),
                *(f"paper: {paper().titles[name]}" for name in theirs),
            ],
            [
                [
                    Cell(row.variant.name, (_seeds(row), row.note)),
                    Cell(str(row.items), (f"{row.failed} failed",) if row.failed else ()),
                    *(_difference(table, name, row.figures.get(name)) for name in shown),
                    *(_papers(table, row, name) for name in theirs),
                ]
                for row in rows
            ],
        )


def _difference(table: Table, name: str, one: Figure | None) -> Cell:
    if one is None or one.against is None:
        return Cell("")
    of = unit(table, name)
    told, p = verdict(one), one.adjusted
    written = "" if p is None else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    tested = ", ".join(part for part in (written, told) if part)
    below = (between(one.against.difference, of, True), tested)
    return Cell(number(one.against.difference.mean, of, True), below, "noise" if told else "clear")


def _papers(table: Table, row: Row, name: str) -> Cell:
    found = table.papers(row, name)
    return Cell("" if found is None else f"{found:+.1f}".replace("-", "−"), (), "paper")


def gains(found: Findings, short: bool = False) -> Iterator[Grid]:
    """Every variant before and after training; `short`: main figures."""
    for table in found.tables:
        shown = main_figures(table) if short else table.figures
        yield Grid(
            f"{'Before and after training' if _trained(table) else 'Figures'}: {_where(table)}",
            "Below: the paired difference." if _trained(table) else "",
            ["variant", "items", *(_heading(table, name) for name in shown)],
            [
                [
                    Cell(row.variant.name, (_seeds(row),)),
                    Cell(str(row.items), (f"{row.failed} failed",) if row.failed else ()),
                    *(_gain(table, name, row.figures.get(name)) for name in shown),
                ]
                for row in table.rows
            ],
        )


def _gain(table: Table, name: str, one: Figure | None) -> Cell:
    if one is None or one.value is None:
        return Cell("")
    of = unit(table, name)
    if not (one.before and one.after):
        return Cell(number(one.value.mean, of), (between(one.value, of),))
    text = f"{number(one.before.mean, of)} → {number(one.after.mean, of)}"
    if one.gain is None:
        return Cell(text)
    below = f"{number(one.gain.difference.mean, of, True)} {between(one.gain.difference, of, True)}"
    return Cell(text, (below, "" if one.gain.clear else "noise"), "clear" if one.gain.clear else "")


def strata(found: Findings) -> Iterator[Grid]:
    """The headline in every stratum, before and after."""
    for table in found.tables:
        if table.strata:
            yield Grid(
                f"{label(table, table.headline).capitalize()} by stratum: {_where(table)}",
                "Below: the 95% interval of the last figure. Not tested: it shows where a difference comes from.",
                ["variant", *(_heading(table, name) for name in table.strata)],
                [
                    [Cell(row.variant.name), *(_stratum(table, row.figures.get(name)) for name in table.strata)]
                    for row in table.rows
                ],
            )


def _stratum(table: Table, one: Figure | None) -> Cell:
    if one is None or one.value is None:
        return Cell("")
    of = unit(table, table.headline)
    means = [number(mean.mean, of) for mean in (one.before, one.after) if mean]
    return Cell(" → ".join(means), (between(one.value, of),))


def main_results(found: Findings) -> Iterator[Grid]:
    """The paper's main table with ours in it, of the benchmarks that were run."""
    for model in found.references:
        tables = {table.benchmark: table for table in found.tables if table.model == model}
        columns = [name for name in paper().titles if name.partition("/")[0] in tables]
        beside = paper().beside(model)
        kept = {name: tables[name.partition("/")[0]] for name in columns}
        columns = [name for name, table in kept.items() if any(_ours(table, row, name) for row in table.rows)]
        if not columns:
            continue
        ours = [
            [
                Cell(f"{variant.name}, {when}", (model,)),
                *(_own(kept[name], variant.name, name, when) for name in columns),
            ]
            for variant in found.variants
            if variant.model == model
            for when in ("before", "after")
        ]
        theirs = [
            [
                Cell(f"paper: {name.replace('_', ' ')}", (paper().models[beside],)),
                *(Cell(f"{values[one]:.1f}" if one in values else "", (), "paper") for one in columns),
            ]
            for name, values in paper().variants[beside].items()
        ]
        yield Grid(
            f"The paper's table: {model}",
            "Percent; below: 95% intervals. " + _of_another(model, beside),
            ["", *(paper().titles[name] for name in columns)],
            [row for row in ours if any(cell.text for cell in row[1:])] + theirs,
        )


def _ours(table: Table, row: Row, name: str) -> Figure | None:
    """The figure of ours that the paper calls `name`, as in bfcl/base."""
    benchmark, _, stratum = name.partition("/")
    return row.figures.get(f"{table.headline}/{stratum}" if stratum else paper().scores[benchmark])


def _own(table: Table, variant: str, name: str, when: str) -> Cell:
    row = next((row for row in table.rows if row.variant.name == variant), None)
    one = _ours(table, row, name) if row else None
    mean = getattr(one, when) if one else None
    return Cell(number(mean.mean, "%"), (between(mean, "%"),)) if mean else Cell("")


def components(found: Findings) -> Iterator[Grid]:
    """Means of the reward and its parts in the first and the last steps of training, beside the paper's."""
    for model in found.references:
        kept = [one for one in found.components if one.variant.model == model]
        if not kept:
            continue
        beside = paper().beside(model) if paper().beside(model) in paper().components else paper().ablated
        names = ["mean", *PARTS]
        theirs = paper().components[beside]
        yield Grid(
            f"Reward and parts over training: {model}",
            f"Training rollouts, first → last {WINDOW} steps; below: 95% interval of the last over seeds. A variant's "
            f"reward is its own. The paper's are of steps 0 and 350. {_of_another(model, beside)}",
            ["", "steps", *("reward" if name == "mean" else name for name in names)],
            [[Cell(one.variant.name), Cell(str(one.steps)), *(_moved(one, name) for name in names)] for one in kept]
            + [
                [Cell("paper: full", (paper().models[beside],)), Cell("350")]
                + [Cell(_of_two(theirs["first"][name], theirs["last"][name]), (), "paper") for name in names]
            ],
        )


def _of_two(first: float, last: float) -> str:
    return f"{first:.2f} → {last:.2f}".replace("-", "−")


def _moved(one: Components, name: str) -> Cell:
    first, last = one.first.get(name), one.last.get(name)
    if not first or not last:
        return Cell("")
    return Cell(f"{number(first.mean, '')} → {number(last.mean, '')}", (between(last, ""),))


def settings(found: Findings) -> Iterator[Grid]:
    """What variants of a model were set to, where they differ."""
    for model in found.references:
        variants = [one for one in found.variants if one.model == model]
        params = {one.name: one.params() for one in variants}
        names = sorted({name for of in params.values() for name in of})
        differing = [name for name in names if len({of.get(name, "") for of in params.values()}) > 1]
        if differing:
            yield Grid(
                f"Settings that differ: {model}",
                "",
                ["setting", *(one.name for one in variants)],
                [[Cell(name), *(Cell(params[one.name].get(name, "")) for one in variants)] for name in differing],
            )


def runs(found: Findings) -> Iterator[Grid]:
    """Every run with its cost and where it comes from."""
    kept = [(variant, seed, run) for variant in found.variants for seed, run in variant.runs.items()]
    costs = {name: form for name, (_, form) in _COSTS.items() if any(name in run.metrics for _, _, run in kept)}
    yield Grid(
        "Runs",
        "Cost is of all of a run's stages, also of those that it shares with others." if costs else "",
        ["variant", "model", "seed", "run", "commit", *(_COSTS[name][0] for name in costs)],
        [
            [
                Cell(variant.name),
                Cell(variant.model),
                Cell(str(seed)),
                Cell(run.id[:8], (run.name,)),
                Cell(run.tags.get("git.commit", "")[:8], ("with changes",) if _dirty(run.tags) else ()),
                *(Cell(form.format(run.metrics[name]) if name in run.metrics else "") for name, form in costs.items()),
            ]
            for variant, seed, run in kept
        ],
    )


def provenance_notes(found: Findings) -> Iterator[str]:
    """What else differs between runs than their settings, a sentence each."""
    tags = [run.tags for variant in found.variants for run in variant.runs.values()]
    for key, told in {"code.hash": "codes", "lock.sha256": "sets of packages", "git.commit": "commits"}.items():
        values = {of[key] for of in tags if key in of}
        if len(values) > 1:
            yield f"The runs are of {len(values)} {told}."
    if any(map(_dirty, tags)):
        yield "Some runs were made with changes that are in no commit."
    machines = {of.get("hardware.cpu", of.get("machine", "")) for of in tags}
    if len(machines) > 1:
        yield f"The runs are of {len(machines)} kinds of machine."


def _dirty(tags: dict[str, str]) -> bool:
    return tags.get("git.dirty") == "true"


def _shown_figures(figures: dict[str, float]) -> Iterable[tuple[str, str]]:
    order = ("total", "success", *PARTS, "calls")
    names = [name for name in order if name in figures] or list(figures)
    return [("reward" if name == "total" else name.replace("_", " "), f"{round(figures[name], 2):g}") for name in names]


def _heading(table: Table, figure: str) -> str:
    of = unit(table, figure)
    return f"{label(table, figure)}{f', {of}' if of else ''}"


def _where(table: Table) -> str:
    return f"{where(table)}, {table.model}"


def _seeds(row: Row) -> str:
    count = len(row.variant.runs)
    return f"{count} seed{'' if count == 1 else 's'}"


def _trained(table: Table) -> bool:
    return any(one.before and one.after for row in table.rows for one in row.figures.values())


def _of_another(model: str, beside: str) -> str:
    name = paper().models[beside]
    return f"The paper's rows are of {name}." if beside == model else f"The paper's rows are of {name}, another model."
