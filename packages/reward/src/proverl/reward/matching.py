"""The one-to-one matching of calls with ground-truth steps that coverage and argument values are read from.

Among all matchings: the highest coverage, then the most matched steps, then the highest R_arg. Exact for up to 10
steps, greedy above. The exact search goes through the calls in order and keeps, for every set of steps matched so far,
the best way to get there: its cost grows with the number of calls and with 2 to the number of steps, never with the
number of matchings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import NamedTuple

from proverl.core import CallRecord, GroundTruth
from proverl.reward.pairing import Problem, build

EXACT_STEPS = 10
# Bounds the work on an episode written to be hard; far above what ordinary ones need.
_MAX_STATES = 4096


@dataclass(frozen=True, slots=True)
class Matching:
    """For every step: the position of its call or None, whether it is covered (m * o), the share of equal arguments."""

    positions: tuple[int | None, ...]
    covered: tuple[bool, ...]
    shares: tuple[float, ...]

    @property
    def coverage(self) -> float:
        """R_coverage = 1/|G| * sum of m(g) * o(g)."""
        return sum(self.covered) / len(self.covered)

    @property
    def arg(self) -> float:
        """R_arg, the mean share of equal argument values over the matched steps; 0 when none is matched."""
        shares = [share for share, position in zip(self.shares, self.positions, strict=True) if position is not None]
        return sum(shares) / len(shares) if shares else 0.0


def match(calls: Sequence[CallRecord], truth: GroundTruth, *, paper_exact: bool = False) -> Matching:
    """Return the best matching. Raises ValueError on a ground truth that contradicts itself (see `pairing.build`)."""
    problem = build(calls, truth, paper_exact=paper_exact)
    positions = greedy(problem)
    return assess(problem, exact(problem, positions) if len(truth.steps) <= EXACT_STEPS else positions)


def assess(problem: Problem, positions: Mapping[int, int]) -> Matching:
    """Work out what a matching (step -> position of its call) is worth."""
    steps = range(len(problem.pairs))
    covered = tuple(step in positions and _in_order(problem, positions, step) for step in steps)
    shares = tuple(
        problem.share(step, problem.pairs[step][positions[step]].count(_known(problem, positions, positions[step])))
        if step in positions
        else 0.0
        for step in steps
    )
    return Matching(tuple(positions.get(step) for step in steps), covered, shares)


def _in_order(problem: Problem, positions: Mapping[int, int], step: int) -> bool:
    """o(g): every step that `step` depends on is matched by an earlier call, an earlier message where a value flows."""
    at, messages = positions[step], problem.messages
    for before, position in positions.items():
        if (
            problem.value[step] >> before & 1
            and messages[position] >= messages[at]
            or problem.state[step] >> before & 1
            and position >= at
        ):
            return False
    needed = problem.value[step] | problem.state[step]
    return needed & sum(1 << before for before in positions) == needed


def _known(problem: Problem, positions: Mapping[int, int], until: int) -> int:
    """Return the facts that the matched calls before position `until` prove."""
    known = 0
    for step, position in positions.items():
        if position < until:
            known |= problem.proves[step].get(position, 0)
    return known


def greedy(problem: Problem) -> dict[int, int]:
    """Give every step, dependencies first, one of the free calls.

    That is one that keeps the order if there is any, of those the one with the most equal values, of those the first.
    """
    positions: dict[int, int] = {}
    for step in problem.order:
        taken = set(positions.values())
        best: tuple[bool, int] | None = None
        for position, pair in problem.pairs[step].items():
            if position in taken:
                continue
            ordered = _in_order(problem, positions | {step: position}, step)
            worth = (ordered, pair.count(_known(problem, positions, position)))
            if best is None or worth > best:
                best = worth
                positions[step] = position
    return positions


class _Chain(NamedTuple):
    """The matched pairs of a state, last first."""

    step: int
    position: int
    before: "_Chain | None"


class _State(NamedTuple):
    """Value-giving steps matched before this message, steps matched so far, facts that a later call may ask for."""

    earlier: int
    matched: int
    known: int


class _Worth:
    """The value of a pair as one whole number: coverage before number of pairs before equal shares."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.unit = problem.unit
        self.pair = self.unit * len(problem.sizes) + 1
        self.cover = self.pair * (len(problem.sizes) + 1) * 2

    def __call__(self, step: int, equal: int, *, covered: bool) -> int:
        """Return the worth of one matched step."""
        size = self.problem.sizes[step]
        return covered * self.cover + self.pair + (equal * self.unit // size if size else self.unit)

    def of(self, matching: Matching) -> int:
        """Return the worth of a whole matching."""
        return sum(
            covered * self.cover + (position is not None) * self.pair + round(share * self.unit)
            for position, covered, share in zip(matching.positions, matching.covered, matching.shares, strict=True)
        )


def exact(problem: Problem, known_answer: Mapping[int, int]) -> dict[int, int]:
    """Return the best matching, or `known_answer` when none is better."""
    worth = _Worth(problem)
    floor = worth.of(assess(problem, known_answer))
    ceilings = _ceilings(problem, worth)
    if floor >= sum(ceilings[0]):
        return dict(known_answer)
    return _search(problem, worth, floor, ceilings) or dict(known_answer)


def _ceilings(problem: Problem, worth: _Worth) -> list[list[int]]:
    """Return, by position and step, the most that the step can still add when only calls from there on are left."""
    matchable = sum(1 << step for step, pairs in enumerate(problem.pairs) if pairs)
    coverable = [(value | state) & ~matchable == 0 for value, state in zip(problem.value, problem.state, strict=True)]
    rows = [[0] * len(problem.pairs)]
    for position in reversed(range(len(problem.messages))):
        row = list(rows[-1])
        for step, pairs in enumerate(problem.pairs):
            if position in pairs:
                pair = pairs[position]
                most = worth(step, pair.equal + len(pair.facts), covered=coverable[step])
                row[step] = max(row[step], most)
        rows.append(row)
    return rows[::-1]


def _search(problem: Problem, worth: _Worth, floor: int, ceilings: list[list[int]]) -> dict[int, int] | None:
    """Return the best matching worth more than `floor`, or None."""
    takers: list[list[int]] = [[] for _ in problem.messages]
    for step, pairs in enumerate(problem.pairs):
        for position in pairs:
            takers[position].append(step)
    asked = _asked_from(problem)
    providers = reduce(or_, problem.value)
    layer: dict[_State, tuple[int, _Chain | None]] = {_State(0, 0, 0): (0, None)}
    for position, steps in enumerate(takers):
        if position and problem.messages[position] != problem.messages[position - 1]:
            layer = _next_message(layer, providers)
        if steps:
            layer = _next_layer(problem, worth, layer, position, steps, asked[position + 1])
            layer = _pruned(layer, floor, ceilings[position + 1])
    best = max(layer.values(), key=lambda item: item[0], default=(0, None))
    return _unchain(best[1]) if best[0] > floor else None


def _next_layer(
    problem: Problem,
    worth: _Worth,
    layer: Mapping[_State, tuple[int, _Chain | None]],
    position: int,
    steps: Sequence[int],
    asked: int,
) -> dict[_State, tuple[int, _Chain | None]]:
    """Extend every state by giving this call to one of `steps` or to none; of the facts, those in `asked` are kept."""
    following: dict[_State, tuple[int, _Chain | None]] = {}
    for (earlier, matched, known), (total, chain) in layer.items():
        _keep(following, _State(earlier, matched, known & asked), total, chain)
        for step in steps:
            if matched >> step & 1:
                continue
            value, state = problem.value[step], problem.state[step]
            covered = earlier & value == value and matched & state == state
            gained = worth(step, problem.pairs[step][position].count(known), covered=covered)
            facts = (known | problem.proves[step].get(position, 0)) & asked
            _keep(following, _State(earlier, matched | 1 << step, facts), total + gained, _Chain(step, position, chain))
    return following


def _keep(layer: dict[_State, tuple[int, _Chain | None]], state: _State, total: int, chain: _Chain | None) -> None:
    if state not in layer or total > layer[state][0]:
        layer[state] = (total, chain)


def _next_message(
    layer: Mapping[_State, tuple[int, _Chain | None]], providers: int
) -> dict[_State, tuple[int, _Chain | None]]:
    """Let the steps matched so far that give a value to others (`providers`) count as earlier than the next message."""
    merged: dict[_State, tuple[int, _Chain | None]] = {}
    for state, (total, chain) in layer.items():
        _keep(merged, _State(state.matched & providers, state.matched, state.known), total, chain)
    return merged


def _pruned(
    layer: Mapping[_State, tuple[int, _Chain | None]], floor: int, ceiling: Sequence[int]
) -> dict[_State, tuple[int, _Chain | None]]:
    """Drop states that cannot get above `floor`, and the least promising ones when there are too many."""
    hopes = {
        state: total + sum(most for step, most in enumerate(ceiling) if not state.matched >> step & 1)
        for state, (total, _) in layer.items()
    }
    kept = [state for state in layer if hopes[state] > floor]
    if len(kept) > _MAX_STATES:
        kept = sorted(kept, key=lambda state: -hopes[state])[:_MAX_STATES]
    return {state: layer[state] for state in kept}


def _asked_from(problem: Problem) -> list[int]:
    """Return, by position, the facts that a call from there on asks for."""
    asked = [0] * (len(problem.messages) + 1)
    for pairs in problem.pairs:
        for position, pair in pairs.items():
            for needed in pair.facts:
                asked[position] |= needed
    for position in reversed(range(len(problem.messages))):
        asked[position] |= asked[position + 1]
    return asked


def _unchain(chain: _Chain | None) -> dict[int, int]:
    positions: dict[int, int] = {}
    while chain is not None:
        positions[chain.step] = chain.position
        chain = chain.before
    return positions
