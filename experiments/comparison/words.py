"""How a comparison's figures are said: labels, units, numbers, and the sentences that sum it up.

A sentence says only what the tests bear: a difference is more than noise when its interval leaves 0 out and its
corrected p-value is at most 0.05.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from experiments.comparison.findings import Figure, Findings, Row, Table, Variant
from experiments.comparison.paper import paper
from proverl.evals import Comparison, Interval

_HELDOUT = {
    "success": "task success",
    "total": "reward",
    "calls": "calls per task",
    "over_budget": "over the call budget",
    "tool_errors": "failed calls per task",
    "abstention_recall": "abstention recall",
    "clarification": "clarification",
}
MAIN = {
    "heldout": ("success", "total", "calls")
}  # figures of a benchmark that stand in short tables; else the headline
RULE = (
    "Intervals are of 95%. The runs of a variant are its seeds: the interval of a figure is the wider of the one over "
    "seeds and the one over items. Differences are between the same seeds and the same items; their p-value is the "
    "larger of Student's t test over seeds and a permutation test over items. A single seed has items alone and says "
    "nothing of other seeds. p-values against the reference hold for all variants of a figure at once (Holm's "
    "correction). Noise: the interval holds 0, or the p-value is above 0.05."
)


def main_figures(table: Table) -> list[str]:
    """The figures of a benchmark that stand for it."""
    return [name for name in MAIN.get(table.benchmark, (table.headline,)) if name in table.figures]


def where(table: Table) -> str:
    """A benchmark's name for readers."""
    return "held-out tasks" if table.benchmark == "heldout" else table.benchmark


def label(table: Table, figure: str) -> str:
    """A figure's name for readers."""
    name, _, stratum = figure.partition("/")
    told = _HELDOUT.get(name, name.replace("_", " ")) if table.benchmark == "heldout" else name.replace("_", " ")
    return stratum.replace("_", " ") if stratum else told


def unit(table: Table, figure: str) -> str:
    """`%` for shares and for scores that the paper gives in percent, else nothing."""
    name = figure.partition("/")[0]
    return "%" if name in table.shares or name == paper().scores.get(table.benchmark) else ""


def number(value: float, of: str, sign: bool = False) -> str:
    """A value in its unit, with a real minus."""
    text = f"{100 * value:{'+' if sign else ''}.1f}" if of == "%" else f"{value:{'+' if sign else ''}.3f}"
    return text.replace("-", "−")


def between(found: Interval, of: str, sign: bool = False) -> str:
    """The interval, or nothing where there is none."""
    return "" if math.isnan(found.low) else f"[{number(found.low, of, sign)}, {number(found.high, of, sign)}]"


def gap(found: Comparison, of: str) -> str:
    """A difference with its interval."""
    told = f"{number(found.difference.mean, of, True)} {between(found.difference, of, True)}".strip()
    return told + (" points" if of == "%" else "")


def verdict(found: Figure) -> str:
    """What a difference to the reference amounts to: nothing (it is clear), `not by Holm`, or `noise`."""
    assert found.against
    if found.clear:
        return ""
    return "not by Holm" if found.against.clear else "noise"


@dataclass(frozen=True)
class Agreement:
    """How alike our differences to the reference and the paper's are ordered, over `n` variants (Kendall's tau)."""

    ours: str
    theirs: str
    tau: float
    p: float
    n: int


def agreement(table: Table) -> Agreement | None:
    """Of the headline's differences with the paper's in the same benchmark, or else in BFCL; None below three."""
    from scipy.stats import kendalltau  # takes a second to import

    theirs = table.benchmark if table.benchmark in paper().scores else "bfcl"
    ours = paper().scores.get(table.benchmark, table.headline)
    pairs = [
        (found.against.difference.mean, expected)
        for row in table.rows
        if (found := row.figures.get(ours)) and found.against and (expected := table.papers(row, theirs)) is not None
    ]
    if len(pairs) < 3:
        return None
    found = kendalltau(*zip(*pairs, strict=True))
    if math.isnan(found.statistic):  # one of both has no order
        return None
    return Agreement(
        label(table, ours), paper().titles[theirs], float(found.statistic), float(found.pvalue), len(pairs)
    )


def sentences(found: Findings) -> Iterator[str]:
    """The summary."""
    for model, reference in found.references.items():
        variants = [one for one in found.variants if one.model == model]
        yield _what(model, variants, reference)
        for table in found.tables:
            if table.model == model:
                yield from _gains(table)
                yield from _differences(table)
                if told := agreement(table):
                    yield _agrees(table, told)
    if found.left_out:
        yield f"Left out: {'; '.join(f'{one.name} {one.reason}' for one in found.left_out)}."


def _what(model: str, variants: Sequence[Variant], reference: Variant) -> str:
    runs = sum(len(one.runs) for one in variants)
    seeds = sorted({seed for one in variants for seed in one.runs})
    told = f"{_count(runs, 'run')} of {model}: {_count(len(variants), 'variant')}, "
    told += f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"
    if uneven := [one.name for one in variants if len(one.runs) < len(seeds)]:
        told += f" ({', '.join(uneven)} not in all)"
    if len(variants) == 1:
        return f"{told}."
    whole = any(paper().variant(one.experiment) == "full" for one in variants)
    return f"{told}; the reference is {reference.name}{'' if whole else ', since the whole method is not among them'}."


def _gains(table: Table) -> Iterator[str]:
    """What training did to the reference."""
    row = next((row for row in table.rows if row.variant == table.reference), None)
    for name in main_figures(table) if row else ():
        assert row
        found = row.figures.get(name)
        if found and found.gain and found.before and found.after:
            of = unit(table, name)
            ends = f"from {number(found.before.mean, of)} to {number(found.after.mean, of)}{' %' if of else ''}"
            noise = "" if found.gain.clear else ", which is noise"
            told = f"{_start(table)}: training as {row.variant.name} moves {label(table, name)} {ends}"
            yield f"{told}: {gap(found.gain, of)}{noise}."


def _differences(table: Table) -> Iterator[str]:
    """Which variants differ from the reference by more than noise, and how small a difference could be seen."""
    for name in main_figures(table):
        of = unit(table, name)
        tested = [(row, one) for row in table.rows if (one := row.figures.get(name)) and one.against]
        if not tested:
            continue
        if len(tested) == 1:
            yield _only(table, name, *tested[0])
            continue
        clear = [f"{row.variant.name} ({gap(one.against, of)})" for row, one in tested if one.clear and one.against]
        alone = [row.variant.name for row, one in tested if not one.clear and one.against and one.against.clear]
        told = f"{_start(table)}: against {table.reference.name}, {label(table, name)} differs by more than noise in "
        told += f"{len(clear) or 'none'} of {_count(len(tested), 'variant')}{': ' if clear else ''}{', '.join(clear)}"
        if alone:
            told += f"; before the correction for {len(tested)} variants also {', '.join(alone)}"
        yield told + "." + (_resolution(tested, of) if not clear else "")


def _only(table: Table, name: str, row: Row, one: Figure) -> str:
    assert one.against
    told = f"{_start(table)}: {row.variant.name} against {table.reference.name} in {label(table, name)}: "
    return f"{told}{gap(one.against, unit(table, name))}{'' if one.clear else ', which is noise'}."


def _resolution(tested: Sequence[tuple[Row, Figure]], of: str) -> str:
    widths = [
        (one.against.difference.high - one.against.difference.low) / 2
        for _, one in tested
        if one.against and not math.isnan(one.against.difference.low)
    ]
    if not widths:
        return ""
    return f" Their intervals are ±{number(median(widths), of)}{' points' if of else ''} at the median."


def _agrees(table: Table, found: Agreement) -> str:
    beside = paper().models[paper().beside(table.model)]
    return (
        f"The order of the {found.n} differences in {found.ours} and that of the paper's in {found.theirs} ({beside}): "
        f"Kendall's τ {number(found.tau, '')} (p = {found.p:.2f}{', which is noise' if found.p > 0.05 else ''})."
    )


def _start(table: Table) -> str:
    name = where(table)
    return name if name == table.benchmark else name.capitalize()


def _count(number_of: int, word: str) -> str:
    return f"{number_of} {word}{'' if number_of == 1 else 's'}"
