"""Which call may stand for which ground-truth step, and how many of its argument values are equal.

A value that an earlier call of the episode produces stands in the ground truth as a reference to step and field.
Whether an argument equals it depends on which call stands for that step. Every such question ("did the call that
stands for step j return `value` at `path`?") becomes one bit, a fact, so that a search over matchings compares whole
numbers.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from proverl.core import Call, CallRecord, GroundTruth, Json, Step, find_references, follow, json_equal, resolve


@dataclass(frozen=True, slots=True)
class Pair:
    """A call that may stand for a step: `equal` argument values agree, and one more for each of `facts` that holds."""

    equal: int
    facts: tuple[int, ...] = ()

    def count(self, known: int) -> int:
        """Return how many argument values are equal when the facts `known` hold."""
        return self.equal + sum(needed & known == needed for needed in self.facts)


@dataclass(frozen=True, slots=True)
class Problem:
    """A matching problem: pairs, facts and dependencies, with sets of steps and of facts as bits.

    sizes[step]: its number of arguments. messages[position]: a call's message.
    pairs[step][position]: the calls that may stand for a step.
    proves[step][position]: the facts that hold once that call stands for the step.
    value[step], state[step]: the steps that must come in an earlier message, at an earlier position.
    order: the steps, dependencies first.
    """

    sizes: tuple[int, ...]
    messages: tuple[int, ...]
    pairs: list[dict[int, Pair]]
    proves: list[dict[int, int]]
    value: list[int]
    state: list[int]
    order: tuple[int, ...]

    def share(self, step: int, equal: int) -> float:
        """Return the equal share of a step's arguments; 1 for a step without arguments."""
        return equal / self.sizes[step] if self.sizes[step] else 1.0

    @property
    def unit(self) -> int:
        """Return the number that makes every step's share of equal arguments a whole number."""
        return math.lcm(*(max(size, 1) for size in self.sizes))


class _Question(NamedTuple):
    """Whether the call that stands for `step` returned `value` at `path`."""

    step: int
    path: str
    value: Json


def build(calls: Sequence[CallRecord], truth: GroundTruth, *, paper_exact: bool) -> Problem:
    """Lay out the matching of calls with the steps of a ground truth.

    A call may stand for a step when the names are equal and the call has all of the step's argument keys, from the
    step's user turn on. With `paper_exact` the turn is not looked at, and a reference means what its step returned when
    the task was made. Raises ValueError when edges or references form a circle or name a step that is not there.
    """
    order = _order(truth)
    before = _dependencies(truth)
    questions: list[_Question] = []
    pairs: list[dict[int, Pair]] = []
    for step in truth.steps:
        expected = recorded_arguments(step, truth) if paper_exact else step.arguments
        pairs.append(
            {
                position: _pair(expected, record.call.arguments, questions)
                for position, record in enumerate(calls)
                if isinstance(record.call, Call) and (paper_exact or record.turn >= step.turn)
                if record.call.name == step.name and record.call.arguments.keys() >= expected.keys()
            }
        )
    return Problem(
        sizes=tuple(len(step.arguments) for step in truth.steps),
        messages=tuple(record.message for record in calls),
        pairs=pairs,
        proves=[_proofs(step, found, calls, questions) for step, found in enumerate(pairs)],
        value=before["value"],
        state=before["state"],
        order=order,
    )


def recorded_arguments(step: Step, truth: GroundTruth) -> dict[str, Json]:
    """Return a step's arguments with every reference replaced by what its step returned when the task was made.

    Raises ValueError when a task was made without recording it.
    """
    contents = {index: item.returned for index, item in enumerate(truth.steps) if item.returned is not None}
    try:
        return {name: resolve(value, contents) for name, value in step.arguments.items()}
    except KeyError as error:
        raise ValueError(
            f"reward.paper_exact needs what ground-truth steps returned when the task was made: {error.args[0]}"
        ) from None


def _pair(expected: Mapping[str, Json], given: Mapping[str, Json], questions: list[_Question]) -> Pair:
    """Compare arguments; what depends on other steps is appended to `questions`, whose indices are the facts' bits."""
    equal = 0
    facts: list[int] = []
    for name, value in expected.items():
        new = _questions(value, given[name])
        if new:
            facts.append(((1 << len(new)) - 1) << len(questions))
            questions += new
        elif new is not None:
            equal += 1
    return Pair(equal, tuple(facts))


def _questions(expected: Json, given: Json) -> list[_Question] | None:
    """Return what must hold for two values to be equal, one question for each reference; None when nothing helps."""
    references = list(find_references(expected))
    if not references:
        return [] if json_equal(expected, given) else None
    if isinstance(expected, dict) and "$result" in expected:
        return [_Question(*references[0], given)]
    parts = [_questions(one, other) for one, other in _side_by_side(expected, given)]
    if not parts or None in parts:
        return None
    return [question for part in parts for question in part or ()]


def _side_by_side(expected: Json, given: Json) -> Iterator[tuple[Json, Json]]:
    """Yield the elements of two containers of equal shape in pairs; nothing when the shapes differ."""
    if isinstance(expected, list) and isinstance(given, list) and len(expected) == len(given):
        yield from zip(expected, given, strict=True)
    elif isinstance(expected, dict) and isinstance(given, dict) and expected.keys() == given.keys():
        yield from ((expected[key], given[key]) for key in expected)


def _proofs(
    step: int, found: Mapping[int, Pair], calls: Sequence[CallRecord], questions: Sequence[_Question]
) -> dict[int, int]:
    """Return, for each call that may stand for a step, the facts that its result proves."""
    about = [(1 << bit, question) for bit, question in enumerate(questions) if question.step == step]
    if not about:
        return {}
    return {position: sum(bit for bit, question in about if _answers(calls[position], question)) for position in found}


def _answers(record: CallRecord, question: _Question) -> bool:
    try:
        return record.result.ok and json_equal(follow(record.result.content, question.path), question.value)
    except KeyError:
        return False


def _dependencies(truth: GroundTruth) -> dict[str, list[int]]:
    """Return, by kind of edge, the steps that every step depends on."""
    masks = {"value": [0] * len(truth.steps), "state": [0] * len(truth.steps)}
    for edge in truth.edges:
        masks[edge.kind][edge.after] |= 1 << edge.before
    return masks


def _order(truth: GroundTruth) -> tuple[int, ...]:
    """Return the steps, dependencies first, otherwise as written."""
    sorter: TopologicalSorter[int] = TopologicalSorter({index: () for index in range(len(truth.steps))})
    for before, after in _flows(truth):
        if not (0 <= before < len(truth.steps) and 0 <= after < len(truth.steps)):
            raise ValueError(f"step {after} depends on step {before}, but there are only {len(truth.steps)} steps")
        sorter.add(after, before)
    try:
        return tuple(sorter.static_order())
    except CycleError as error:
        raise ValueError(f"ground-truth steps depend on each other in a circle: {error.args[1]}") from None


def _flows(truth: GroundTruth) -> Iterator[tuple[int, int]]:
    """Yield (before, after) for every edge and every reference."""
    yield from ((edge.before, edge.after) for edge in truth.edges)
    for index, step in enumerate(truth.steps):
        yield from ((producer, index) for producer, _ in find_references(step.arguments))
