"""Whether a task was done, apart from how it was rewarded."""

from collections.abc import Sequence

from proverl.core import CallRecord, GroundTruth, Tool
from proverl.reward.matching import match


def task_success(
    calls: Sequence[CallRecord], ground_truth: GroundTruth, tools: Sequence[Tool], *, state_equal: bool, replied: bool
) -> bool:
    """Whether the final state is the ground truth's and every read-only step was made with equal argument values.

    `state_equal` says whether the session's final digest equals the one after the ground truth's calls. A task that
    expects no call is done by a reply with text and no call; one that expects some is never done without any.
    Raises ValueError when a step's tool is not among `tools`.
    """
    if not ground_truth.steps:
        return replied and not calls
    if not state_equal or not calls:
        return False
    read_only = _read_only(ground_truth, tools)
    if not any(read_only):
        return True
    shares = match(calls, ground_truth).shares
    return all(share == 1.0 for share, needed in zip(shares, read_only, strict=True) if needed)


def _read_only(ground_truth: GroundTruth, tools: Sequence[Tool]) -> list[bool]:
    by_name = {tool.name: tool for tool in tools}
    for step in ground_truth.steps:
        if step.name not in by_name:
            raise ValueError(f"ground-truth step {step.name!r} is not among the candidate tools {sorted(by_name)}")
    return [by_name[step.name].read_only for step in ground_truth.steps]
