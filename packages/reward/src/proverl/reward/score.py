"""The reward R of an episode from its five parts (paper, Reward)."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from proverl.core import Call, CallRecord, GroundTruth, Tool
from proverl.reward.breakdown import Breakdown
from proverl.reward.matching import match
from proverl.reward.validity import validity

if TYPE_CHECKING:
    from proverl.reward.config import RewardConfig


def score(
    calls: Sequence[CallRecord],
    ground_truth: GroundTruth,
    tools: Sequence[Tool],
    config: "RewardConfig",
    *,
    replied: bool,
) -> Breakdown:
    """Score one episode.

    `calls` stand in the order in which they ran, malformed ones included. `tools` are the candidate tools with their
    own schemas, not as shown (see `candidates`). `replied` says whether the final reply has text. Raises ValueError on
    a ground truth that contradicts itself.
    """
    if not ground_truth.steps:
        return Breakdown(total=float(replied and not calls), n_calls=len(calls), abstention=True)
    n_expected = len(ground_truth.steps)
    allowed = budget(n_expected, config.beta)
    if not calls:
        return Breakdown(budget=allowed, matched=(None,) * n_expected)
    matching = match(calls, ground_truth, paper_exact=config.paper_exact)
    parts = Breakdown(
        validity=validity(calls, {tool.name: tool for tool in tools}),
        coverage=matching.coverage,
        efficiency=efficiency(len(calls), n_expected, config.alpha, config.beta),
        name=name_share(calls, ground_truth),
        arg=matching.arg,
        n_calls=len(calls),
        budget=allowed,
        matched=matching.positions,
    )
    return replace(parts, total=weighted_sum(parts, config))


def weighted_sum(parts: Breakdown, config: "RewardConfig") -> float:
    """R, by default 0.5 R_validity + 0.5 R_coverage + 0.15 R_efficiency + 0.2 R_name + 0.1 R_arg."""
    return (
        config.validity * parts.validity
        + config.coverage * parts.coverage
        + config.efficiency * parts.efficiency
        + config.name * parts.name
        + config.arg * parts.arg
    )


def budget(n_expected: int, beta: float) -> int:
    """B = n_gt + ceil(n_gt * beta), where beta is the decimal number as written: 30 calls at 0.1 give 33."""
    return n_expected + math.ceil(n_expected * Fraction(str(beta)))


def efficiency(n_calls: int, n_expected: int, alpha: float, beta: float) -> float:
    """R_efficiency = -alpha * max(0, n_calls - B) / B."""
    allowed = budget(n_expected, beta)
    return -alpha * max(0, n_calls - allowed) / allowed + 0.0  # + 0.0 turns -0.0 into 0.0


def name_share(calls: Sequence[CallRecord], ground_truth: GroundTruth) -> float:
    """R_name, the share of the calls whose name is among the ground truth's names; a malformed call has none."""
    names = {step.name for step in ground_truth.steps}
    return sum(isinstance(record.call, Call) and record.call.name in names for record in calls) / len(calls)


def candidates(offered: Sequence[Tool], own: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return the offered tools as their servers define them (`own`), without stripped enums; others stay as offered."""
    by_name = {tool.name: tool for tool in own}
    return tuple(by_name.get(tool.name, tool) for tool in offered)
