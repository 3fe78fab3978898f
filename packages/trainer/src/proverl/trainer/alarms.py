"""Signs that a GRPO run goes wrong, read from the metrics of its steps: what is seen, from which bound, what to try.

Each rule is a pure function of the histories of the metrics that it names (`metrics.py`), one value a step, oldest
first. It returns a figure that is compared with the alarm's bound, or None while there are too few steps or the change
could be noise: every step trains on other prompts, so a trend counts only when it is `CLEAR` standard errors large.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

WINDOW = 8  # steps under a mean
CLEAR = 4.0  # standard errors

Rule = Callable[..., float | None]


@dataclass(frozen=True)
class Alarm:
    """One sign. It is raised while `rule`, given the histories of `metrics`, returns a figure above `bound`.

    `says` is the sentence about it, with `{figure}` and `{bound}`.
    """

    name: str
    metrics: tuple[str, ...]
    rule: Rule
    bound: float
    says: str
    advice: str

    def sentence(self, figure: float) -> str:
        """What is seen and what to try."""
        return f"{self.says.format(figure=figure, bound=self.bound)} {self.advice}"


def raised(history: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The alarms that are on after the last step of `history`, with their figures.

    `history` holds the metrics of all steps so far, by name. An alarm whose metrics are not all there in every step,
    as finite numbers, is off.
    """
    figures = {alarm.name: _figure(alarm, history) for alarm in ALARMS}
    return {name: figure for name, figure in figures.items() if figure is not None and figure > BY_NAME[name].bound}


def _figure(alarm: Alarm, history: Sequence[Mapping[str, float]]) -> float | None:
    columns = [[row.get(name, math.nan) for row in history] for name in alarm.metrics]
    if not history or not all(math.isfinite(value) for column in columns for value in column):
        return None
    return alarm.rule(*columns)


def last_two(values: Sequence[float]) -> float | None:
    """The smaller of the last two values."""
    return min(values[-2:]) if len(values) >= 2 else None


def dropped(failed: Sequence[float], count: Sequence[float]) -> float | None:
    """The smaller of the shares of rollouts that could not be run in the last two steps."""
    return last_two([lost / (lost + run) if lost else 0.0 for lost, run in zip(failed, count, strict=True)])


def level(values: Sequence[float]) -> float | None:
    """The mean of the last WINDOW values."""
    return fmean(values[-WINDOW:]) if len(values) >= WINDOW else None


def cut_short(completed: Sequence[float]) -> float | None:
    """The level of the share of episodes that a limit ended, from the share that came to their end."""
    return level([1 - share for share in completed])


def share_lost(values: Sequence[float]) -> float | None:
    """Which share of the mean of the first WINDOW values the last WINDOW ones lost."""
    if len(values) < 2 * WINDOW or (start := fmean(values[:WINDOW])) <= 0:
        return None
    return 1 - fmean(values[-WINDOW:]) / start


def rise(values: Sequence[float]) -> float | None:
    """By how much the last quarter of the values is above the first, at least WINDOW values each; None if not clear."""
    size = max(WINDOW, len(values) // 4)
    return _clear_rise(values[:size], values[-size:]) if len(values) >= 2 * size else None


def relative_rise(values: Sequence[float]) -> float | None:
    """`rise` as a share of the mean of the first quarter."""
    found, start = rise(values), fmean(values[: max(WINDOW, len(values) // 4)])
    return None if found is None or start <= 0 else found / start


def fall_despite_rise(falling: Sequence[float], rising: Sequence[float]) -> float | None:
    """By how much the first history fell while the second rose, both clearly."""
    return None if rise(rising) is None else rise([-value for value in falling])


def spike(part: Sequence[float], whole: Sequence[float]) -> float | None:
    """By how much the ratio of the two is higher in the last half WINDOW than it was in all steps before."""
    ratios = [some / all_ if all_ > 0 else 0.0 for some, all_ in zip(part, whole, strict=True)]
    before, recent = ratios[: -WINDOW // 2], ratios[-WINDOW // 2 :]
    return _clear_rise(before, recent) if len(before) >= 2 * WINDOW else None


def _clear_rise(before: Sequence[float], after: Sequence[float]) -> float | None:
    """The difference of the means if it is positive and at least CLEAR standard errors, values spread as before."""
    pooled = (variance(before) * (len(before) - 1) + variance(after) * (len(after) - 1)) / (
        len(before) + len(after) - 2
    )
    error = math.sqrt(pooled * (1 / len(before) + 1 / len(after)))
    difference = fmean(after) - fmean(before)
    return difference if difference > 0 and difference >= CLEAR * error else None


ALARMS = (
    Alarm(
        "rollouts_fail",
        ("episode/failed", "episode/count"),
        dropped,
        0.05,
        "{figure:.0%} of the rollouts could not be run, two steps in a row (bound {bound:.0%}).",
        "The stage's train.log says why of each (RolloutFailed): a tool that hangs or ends its process, a reward of "
        "your own that fails.",
    ),
    Alarm(
        "probabilities_diverge",
        ("rollout/probability_difference",),
        last_two,
        0.02,
        "The probabilities of the sampled tokens differ between rollout and trainer by {figure:.3f} on average, two "
        "steps in a row (bound {bound}).",
        "Check that both use the same weights, precision and chat format; then try trainer.learning_rate lower, or "
        "verl's correction for the mismatch (algorithm.rollout_correction).",
    ),
    Alarm(
        "entropy_collapses",
        ("actor/entropy",),
        share_lost,
        0.75,
        "The policy lost {figure:.0%} of the entropy that it started with (bound {bound:.0%}): its rollouts become "
        "alike.",
        "Try a lower trainer.learning_rate, a higher trainer.kl or a wider upper clip; go back to an earlier "
        "checkpoint, since lost entropy does not come back.",
    ),
    Alarm(
        "reward_without_success",
        ("episode/success", "reward/mean"),
        fall_despite_rise,
        0.03,
        "Reward rises while task success fell by {figure:.2f} (bound {bound}): the policy earns reward without doing "
        "the tasks.",
        "Read the best-paid failures, then raise the weight of the part they lack (reward.coverage, reward.arg) or "
        "lower that of the part they live on.",
    ),
    Alarm(
        "calls_drift_up",
        ("episode/calls",),
        relative_rise,
        0.25,
        "Calls per task rose by {figure:.0%} (bound {bound:.0%}).",
        "Try a higher reward.efficiency or reward.alpha, or a smaller reward.beta; look whether failed calls are "
        "repeated.",
    ),
    Alarm(
        "zero_variance",
        ("reward/zero_variance_share",),
        level,
        0.6,
        "In {figure:.0%} of the prompts all rollouts score alike (bound {bound:.0%}): these teach nothing and still "
        "pay KL.",
        "Filter tasks by difficulty (experiment=probe, then trainer.pass_rate), or raise trainer.rollouts or "
        "trainer.temperature.",
    ),
    Alarm(
        "tool_errors_spike",
        ("episode/tool_errors", "episode/calls"),
        spike,
        0.2,
        "The share of calls that err jumped by {figure:.2f} (bound {bound}).",
        "Look whether a server or its time limit fails (the stage's train.log), or whether the policy's calls can no "
        "longer be parsed; then lower trainer.learning_rate.",
    ),
    Alarm(
        "truncation",
        ("stop/completed",),
        cut_short,
        0.25,
        "{figure:.0%} of the episodes are cut by a limit (bound {bound:.0%}); stop/* says by which.",
        "Raise that limit in envs.limits, above all response_tokens and assistant_turns, or look whether the policy "
        "rambles or repeats itself.",
    ),
)
BY_NAME = {alarm.name: alarm for alarm in ALARMS}
