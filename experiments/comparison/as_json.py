"""A comparison's figures as JSON."""

import math
from typing import Any

from experiments.comparison.findings import Components, Figure, Findings, Row, Table
from experiments.comparison.words import agreement, label, sentences, unit
from proverl.evals import Comparison, Interval


def as_json(found: Findings) -> dict[str, Any]:
    """Everything that the tables show, without rounding; figures of shares are between 0 and 1."""
    return {
        "summary": list(sentences(found)),
        "references": {model: one.name for model, one in found.references.items()},
        "variants": [
            {
                "variant": one.name,
                "experiment": one.experiment,
                "model": one.model,
                "settings": one.params(),
                "runs": {str(seed): run.id for seed, run in one.runs.items()},
            }
            for one in found.variants
        ],
        "benchmarks": [_table(table) for table in found.tables],
        "components": [_components(one) for one in found.components],
        "left_out": [{"run": one.name, "reason": one.reason} for one in found.left_out],
    }


def _table(table: Table) -> dict[str, Any]:
    alike = agreement(table)
    return {
        "benchmark": table.benchmark,
        "model": table.model,
        "version": table.version,
        "headline": table.headline,
        "reference": table.reference.name,
        "rows": [_row(table, row) for row in table.rows],
        "agreement": alike and {"with": alike.theirs, "tau": alike.tau, "p": alike.p, "variants": alike.n},
    }


def _row(table: Table, row: Row) -> dict[str, Any]:
    told = {"variant": row.variant.name, "items": row.items, "failed": row.failed, "note": row.note}
    return told | {"figures": {key: _figure(table, one) for key, one in row.figures.items()}}


def _figure(table: Table, one: Figure) -> dict[str, Any]:
    told = {"label": label(table, one.key), "unit": unit(table, one.key)}
    means = {"before": _interval(one.before), "after": _interval(one.after)}
    compared = {"gain": _comparison(one.gain), "against": _comparison(one.against)}
    tested = {"seeds": one.seeds, "p_holm": one.adjusted, "noise": not one.clear} if one.against else {}
    return {**told, **means, **compared, **tested}


def _comparison(found: Comparison | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"before": found.before, "after": found.after, **(_interval(found.difference) or {}), "p": found.p}


def _interval(found: Interval | None) -> dict[str, Any] | None:
    if found is None:
        return None
    low, high = (None if math.isnan(bound) else bound for bound in (found.low, found.high))
    return {"mean": found.mean, "low": low, "high": high, "items": found.n}


def _components(found: Components) -> dict[str, Any]:
    first, last = ({name: _interval(one) for name, one in ends.items()} for ends in (found.first, found.last))
    return {
        "variant": found.variant.name,
        "model": found.variant.model,
        "steps": found.steps,
        "first": first,
        "last": last,
    }
