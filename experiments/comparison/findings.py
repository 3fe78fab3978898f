"""What a comparison of runs finds, as plain values: variants, their figures with intervals, and differences.

A variant is an overlay with a model; where runs of one overlay differ in other settings too, each setting is a variant.
Runs that trained nothing are variants of their own. A variant's runs are its seeds. Every variant is compared with the
reference of its model, the whole method, attempt by attempt: same seed, same item. `proverl.evals.over_seeds` says how
seeds and items make an interval; p-values hold for all variants of a figure at once (Holm 1979).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from experiments.attempts import Attempts, read_attempts, rewarded_as
from experiments.comparison.paper import paper
from experiments.comparison.recorded import LeftOut, Run
from experiments.config import RunError
from experiments.report import WINDOW
from proverl.evals import Comparison, Interval, Record, compare_over_seeds, holm, mean_interval, summarize_over_seeds
from proverl.evals.statistics import LEVEL
from proverl.trainer.metrics import PARTS

_NO_SETTING = ("experiment", "seed", "stages", "plan", "runs_dir", "tracking", "profile", "probe")
_HELDOUT = ("success", "total", *PARTS, "calls", "over_budget", "tool_errors", "abstention_recall", "clarification")

Pair = tuple[list[Record], list[Record]]


@dataclass(frozen=True)
class Variant:
    """Runs that differ in their seed alone. `settings` are those in which other runs of the overlay differ."""

    name: str
    experiment: str
    model: str
    settings: dict[str, str]
    runs: dict[int, Run] = field(repr=False)  # by seed

    def params(self) -> dict[str, str]:
        """The settings that all of its runs have."""
        shared = set.intersection(*(set(run.params.items()) for run in self.runs.values()))
        return {name: value for name, value in shared if name.partition(".")[0] not in _NO_SETTING}


@dataclass(frozen=True)
class Figure:
    """One figure of one variant, over all items or in a stratum.

    `gain` is after minus before; `against` is this variant minus the reference, over `seeds`; `adjusted` is its p-value
    by Holm.
    """

    name: str
    stratum: str
    before: Interval | None
    after: Interval | None
    gain: Comparison | None = None
    against: Comparison | None = None
    adjusted: float | None = None
    seeds: int = 0

    @property
    def key(self) -> str:
        """How it is called among the figures of its benchmark."""
        return f"{self.name}/{self.stratum}" if self.stratum else self.name

    @property
    def value(self) -> Interval | None:
        """What is compared: after training, where there was any."""
        return self.after or self.before

    @property
    def clear(self) -> bool:
        """Whether the difference to the reference is more than noise."""
        against = self.against
        return bool(against and against.difference.clear and (self.adjusted is None or self.adjusted <= LEVEL))


@dataclass(frozen=True)
class Row:
    """What one variant scored on a benchmark; `items` and `failed` attempts over all seeds, `note` if not compared."""

    variant: Variant
    items: int
    failed: int
    figures: dict[str, Figure]
    note: str = ""


@dataclass(frozen=True)
class Table:
    """One benchmark, with one model. `figures` are the overall ones, the headline first; `strata` by their keys."""

    model: str
    benchmark: str
    version: str
    headline: str
    shares: frozenset[str]
    figures: list[str]
    strata: list[str]
    rows: list[Row]
    reference: Variant

    def papers(self, row: Row, figure: str) -> float | None:
        """The paper's difference of a row's variant to the reference, in points; None where it reports none."""
        variant, reference = (paper().variant(one.experiment) for one in (row.variant, self.reference))
        return paper().difference(paper().beside(self.model), variant, reference, figure)


@dataclass(frozen=True)
class Components:
    """Means over the training rollouts of the first and the last steps, by `mean` (the reward) and its parts."""

    variant: Variant
    steps: int
    first: dict[str, Interval]
    last: dict[str, Interval]


@dataclass(frozen=True)
class Findings:
    """All of it."""

    variants: list[Variant]
    references: dict[str, Variant]  # by model
    tables: list[Table]
    components: list[Components]
    left_out: list[LeftOut]


def findings(runs: Sequence[Run], left_out: Sequence[LeftOut] = (), reference: str = "") -> Findings:
    """Compare runs; `reference` names the variant that others are compared with, by default the whole method.

    Raises RunError when there is no such variant.
    """
    variants, repeated = _variants(runs)
    references = {model: _reference(variants, model, reference) for model in dict.fromkeys(v.model for v in variants)}
    if reference and reference not in {one.name for one in references.values()}:
        names = ", ".join(dict.fromkeys(one.name for one in variants))
        raise RunError(f"--reference {reference} is none of the variants: {names}.")
    tables = [
        _table(model, benchmark, [one for one in variants if one.model == model], references[model])
        for model in references
        for benchmark in _benchmarks(variants, model)
    ]
    components = [found for variant in variants if (found := _components(variant))]
    return Findings(variants, references, tables, components, [*left_out, *repeated])


def _variants(runs: Sequence[Run]) -> tuple[list[Variant], list[LeftOut]]:
    found: dict[tuple[str, str, str], Variant] = {}
    repeated = []
    for run in sorted(runs, key=lambda one: -one.started):  # of two runs of one seed, the later
        alike = [one for one in runs if _kind(one) == _kind(run)]
        settings = _differing(run, alike)
        mixed = any(one.trained for one in runs if (one.experiment, one.model) == (run.experiment, run.model))
        experiment = run.experiment if run.trained or not mixed else f"{run.experiment} (evaluation)"
        name = " ".join([experiment, *(f"{key}={value}" for key, value in settings.items())])
        new = Variant(name, experiment, run.model, settings, {})
        variant = found.setdefault((name, run.model, ""), new)
        if run.seed in variant.runs:
            repeated.append(LeftOut(run.name, f"was repeated later (seed {run.seed} of {name})"))
        else:
            variant.runs[run.seed] = run
    order = {id(variant): _order(variant) for variant in found.values()}
    variants = sorted(found.values(), key=lambda one: order[id(one)])
    return [replace(one, runs=dict(sorted(one.runs.items()))) for one in variants], repeated


def _kind(run: Run) -> tuple[str, str, bool]:
    return run.experiment, run.model, run.trained


def _differing(run: Run, alike: Iterable[Run]) -> dict[str, str]:
    """The settings in which a run differs from others of its kind."""
    return {
        name: value
        for name, value in sorted(run.params.items())
        if name.partition(".")[0] not in _NO_SETTING and any(one.params.get(name, value) != value for one in alike)
    }


def _order(variant: Variant) -> tuple[str, int, str]:
    """The whole method first, then the paper's order, then others."""
    known = list(paper().variants[paper().ablated])
    name = paper().variant(variant.experiment)
    return variant.model, known.index(name) if name in known else len(known), variant.name


def _reference(variants: Sequence[Variant], model: str, name: str) -> Variant:
    ours = [one for one in variants if one.model == model]
    named = [one for one in ours if one.name == name]
    whole = [one for one in ours if paper().variant(one.experiment) == "full"]
    return (named or whole or ours)[0]


def _benchmarks(variants: Sequence[Variant], model: str) -> list[str]:
    names = {
        name.partition("-")[2]
        for one in variants
        if one.model == model
        for run in one.runs.values()
        for name in run.evaluations
    }
    return sorted(names, key=lambda name: (name != "heldout", name))


def _table(model: str, benchmark: str, variants: Sequence[Variant], reference: Variant) -> Table:
    attempts = {variant.name: _attempts(variant, benchmark) for variant in variants}
    made = [one for found in attempts.values() for pair in found.values() for one in pair if one]
    first, scale = made[0], _reward(attempts[reference.name])
    rescored = {
        name: {seed: tuple(one and rewarded_as(one, scale) for one in pair) for seed, pair in found.items()}
        for name, found in attempts.items()
    }
    names = list(dict.fromkeys(name for one in made for record in one.records for name in record.figures))
    shown = [name for name in _HELDOUT if name in names] if benchmark == "heldout" else names
    figures = sorted(shown, key=lambda name: name != first.headline)
    seen = dict.fromkeys((by, record.strata[by]) for one in made for record in one.records for by in record.strata)
    strata = sorted(seen, key=lambda one: [by for by, _ in seen].index(one[0]))  # key by key
    rows = []
    for variant in variants:
        found = rescored[variant.name]
        if found:
            rows.append(_row(variant, found, rescored[reference.name], figures, strata, first, reference))
    return Table(
        model=model,
        benchmark=benchmark,
        version=str(first.about["version"]),
        headline=first.headline,
        shares=frozenset(first.shares),
        figures=figures,
        strata=[f"{first.headline}/{value}" for _, value in strata],
        rows=corrected(rows),
        reference=reference,
    )


Evaluations = Mapping[int, Sequence[Attempts | None]]  # by seed: before and after training


def _attempts(variant: Variant, benchmark: str) -> dict[int, tuple[Attempts | None, Attempts | None]]:
    found = {}
    for seed, run in variant.runs.items():
        files = [run.evaluations.get(f"{when}-{benchmark}") for when in ("before", "after")]
        if any(files):
            before, after = (read_attempts(file) if file else None for file in files)
            found[seed] = (before, after)
    return found


def _reward(found: Evaluations) -> Mapping[str, Any] | None:
    """The settings of the reward that these were scored with."""
    return next((one.about.get("reward") for pair in found.values() for one in pair if one), None)


def _row(
    variant: Variant,
    found: Evaluations,
    reference: Evaluations,
    figures: Sequence[str],
    strata: Sequence[tuple[str, str]],
    like: Attempts,
    against: Variant,
) -> Row:
    gains = [_common(*pair) for pair in found.values() if all(pair)]
    values = {seed: _value(pair) for seed, pair in found.items()}
    others = {seed: _value(pair) for seed, pair in reference.items()}
    pairs = [pair for seed in values if seed in others if (pair := _common(others[seed], values[seed]))[0]]
    note = "" if pairs or variant == against else _unpaired(values, others)
    made = {}
    for name in figures:
        one = _means(found, name, like, "", "")
        gain = compare_over_seeds(gains, name, like.macro, name in like.shares) if gains else None
        gap = None
        if variant != against and pairs:
            gap = compare_over_seeds(pairs, name, like.macro, name in like.shares)
        made[name] = replace(one, gain=gain, against=gap, seeds=len(pairs))
    for by, value in strata:
        one = _means(found, like.headline, like, by, value)
        made[one.key] = one
    kept = list(values.values())
    return Row(
        variant=variant,
        items=sum(len({record.item for record in one.records}) for one in kept),
        failed=sum(one.failed for one in kept),
        figures={key: one for key, one in made.items() if one.value},
        note=note,
    )


def _value(pair: Sequence[Attempts | None]) -> Attempts:
    found = pair[1] or pair[0]
    assert found
    return found


def _common(first: Attempts | None, second: Attempts | None) -> Pair:
    """The records of both, of the attempts that both have; of another version of a benchmark there are none."""
    assert first and second
    if first.about["version"] != second.about["version"]:
        return [], []
    keys = {(one.item, one.trial) for one in first.records} & {(one.item, one.trial) for one in second.records}
    one, other = (
        [record for record in found.records if (record.item, record.trial) in keys] for found in (first, second)
    )
    return one, other


def _unpaired(values: Mapping[int, Attempts], others: Mapping[int, Attempts]) -> str:
    if not others:
        return "not compared: the reference was not evaluated on this"
    if not set(values) & set(others):
        return "not compared: no seed in common"
    versions = {one.about["version"] for one in (*values.values(), *others.values())}
    return f"not compared: other {'versions' if len(versions) > 1 else 'tasks'}"


def _means(found: Evaluations, name: str, like: Attempts, by: str, stratum: str) -> Figure:
    macro = [key for key in like.macro if key != by]
    means: list[Interval | None] = []
    for when in (0, 1):
        kept = [pair[when] for pair in found.values()]
        records = [
            [record for record in one.records if not by or record.strata.get(by) == stratum] for one in kept if one
        ]
        means.append(summarize_over_seeds(records, name, macro, name in like.shares) if records else None)
    before, after = means
    return Figure(name, stratum, before, after)


def corrected(rows: Sequence[Row]) -> list[Row]:
    """The rows with p-values that hold for all variants at once, figure by figure."""
    adjusted: dict[tuple[str, str], float] = {}
    for key in dict.fromkeys(key for row in rows for key in row.figures):
        tested = [
            (row.variant.name, found.against.p)
            for row in rows
            if (found := row.figures.get(key)) and found.against and found.against.p is not None
        ]
        for (name, _), p in zip(tested, holm([p for _, p in tested]), strict=True):
            adjusted[name, key] = p
    return [
        replace(
            row,
            figures={
                key: replace(one, adjusted=adjusted.get((row.variant.name, key))) for key, one in row.figures.items()
            },
        )
        for row in rows
    ]


def _components(variant: Variant) -> Components | None:
    curves = [run.curves for run in variant.runs.values() if run.curves.get("reward/mean")]
    if not curves:
        return None
    ends: list[dict[str, Interval]] = []
    for cut in (slice(None, WINDOW), slice(-WINDOW, None)):
        found = {}
        for name in ("mean", *PARTS):
            means = [
                fmean(step for _, step in sorted(one[f"reward/{name}"].items())[cut])
                for one in curves
                if f"reward/{name}" in one
            ]
            if means:
                found[name] = mean_interval(means) if len(means) > 1 else Interval(means[0], math.nan, math.nan, 1)
        ends.append(found)
    return Components(variant, min(len(one["reward/mean"]) for one in curves), *ends)
