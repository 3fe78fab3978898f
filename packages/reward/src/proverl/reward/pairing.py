"""Which call may stand for which ground-truth step, and how many of its argument values are equal.

A value that an earlier call of the episode produces stands in the ground truth as a reference to step and field. Whether
an argument equals it depends on which call stands for that step. Every such question ("did the call that stands for step
j return `value` at `path`?") becomes one bit, a fact, so that a search over matchings compares integers only.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from proverl.core import Call, CallRecord, GroundTruth, Json, Step, find_references, follow, json_equal, resolve


@dataclass(frozen=True, slots=True)
class Pair:
    """A call that may stand for a step: `equal` fixed argument values agree, and one more for every set of facts that holds."""

    equal: int
    facts: tuple[int, ...] = ()

    def count(self, known: int) -> int:
        """Return how many argument values are equal when the facts `known` hold."""
        return self.equal + sum(needed & known == needed for needed in self.facts)


@dataclass(slots=True)
class Problem:
    """A matching problem: pairs, facts and dependencies, with steps and facts as bits.

    pairs[step][position]: the calls that may stand for a step. proves[step][position]: the facts that hold once that call
    stands for it. value[step], state[step]: the steps that must come in an earlier message, at an earlier position.
    order: the steps, dependencies first. messages[position]: the message of a call. sizes[step]: its number of arguments.
    """

    sizes: tuple[int, ...]
    messages: tuple[int, ...]
    pairs: list[dict[int, Pair]]
    value: list[int]
    state: list[int]
    order: tuple[int, ...]
    proves: list[dict[int, int]] = field(default_factory=list)

    def share(self, step: int, equal: int) -> float:
        """Return the equal share of a step's arguments; 1 for a step without arguments."""
        return equal / self.sizes[step] if self.sizes[step] else 1.0

    @property
    def unit(self) -> int:
        """Return the number that makes every step's share of equal arguments a whole number."""
        return math.lcm(*(max(size, 1) for size in self.sizes))


def build(calls: Sequence[CallRecord], truth: GroundTruth, *, paper_exact: bool) -> Problem:
    """Lay out the matching of calls with the steps of a ground truth.

    A call may stand for a step when the names are equal and the call has all of the step's argument keys, from the
    step's user turn on. With `paper_exact` the turn is not looked at, and a reference means what its step returned when the task was
    made. Raises ValueError when edges or references form a circle or name a step that is not there.
    """
    steps = truth.steps
    facts: dict[int, list[tuple[int, str, Json]]] = defaultdict(list)
    n_facts = 0
    pairs: list[dict[int, Pair]] = []
    for step in steps:
        expected = recorded_arguments(step, truth) if paper_exact else step.arguments
        found: dict[int, Pair] = {}
        for position, record in enumerate(calls):
            if not _eligible(record, step, paper_exact=paper_exact):
                continue
            pair, new = _pair(expected, record.call.arguments, n_facts)  # type: ignore[union-attr]
            found[position] = pair
            for bit, (producer, path, value) in enumerate(new, n_facts):
                facts[producer].append((1 << bit, path, value))
            n_facts += len(new)
        pairs.append(found)
    value, state = _dependencies(truth)
    problem = Problem(
        sizes=tuple(len(step.arguments) for step in steps),
        messages=tuple(record.message for record in calls),
        pairs=pairs,
        value=value,
        state=state,
        order=_order(truth),
    )
    problem.proves = [
        {position: _proven(calls[position], facts[index]) for position in found} if index in facts else {}
        for index, found in enumerate(pairs)
    ]
    return problem


def recorded_arguments(step: Step, truth: GroundTruth) -> dict[str, Json]:
    """Return a step's arguments with every reference replaced by what its step returned when the task was made.

    Raises ValueError when a task was made without recording it.
    """
    contents = {index: item.returned for index, item in enumerate(truth.steps) if item.returned is not None}
    try:
        return {name: resolve(value, contents) for name, value in step.arguments.items()}
    except KeyError as error:
        raise ValueError(f"reward.paper_exact needs recorded results: step {step.name!r}: {error.args[0]}") from None


def _eligible(record: CallRecord, step: Step, *, paper_exact: bool) -> bool:
    call = record.call
    return (
        isinstance(call, Call)
        and call.name == step.name
        and call.arguments.keys() >= step.arguments.keys()
        and (paper_exact or record.turn >= step.turn)
    )


def _pair(
    expected: Mapping[str, Json], given: Mapping[str, Json], bit: int
) -> tuple[Pair, list[tuple[int, str, Json]]]:
    """Compare arguments; the questions left open are returned, numbered from `bit` on."""
    equal = 0
    needed: list[int] = []
    new: list[tuple[int, str, Json]] = []
    for name, value in expected.items():
        questions = _questions(value, given[name])
        if questions is None:
            continue
        if questions:
            needed.append(((1 << len(questions)) - 1) << (bit + len(new)))
            new += questions
        else:
            equal += 1
    return Pair(equal, tuple(needed)), new


def _questions(expected: Json, given: Json) -> list[tuple[int, str, Json]] | None:
    """Return what would make two values equal: (step, path, value) for every reference; None when nothing would."""
    references = list(find_references(expected))
    if not references:
        return [] if json_equal(expected, given) else None
    if isinstance(expected, dict) and "$result" in expected:
        return [(*references[0], given)]
    parts = list(_zip(expected, given))
    if not parts:
        return None
    open_questions: list[tuple[int, str, Json]] = []
    for one, other in parts:
        questions = _questions(one, other)
        if questions is None:
            return None
        open_questions += questions
    return open_questions


def _zip(expected: Json, given: Json) -> Iterator[tuple[Json, Json]]:
    """Yield the elements of two containers of equal shape side by side; nothing when the shapes differ."""
    if isinstance(expected, list) and isinstance(given, list) and len(expected) == len(given):
        yield from zip(expected, given, strict=True)
    elif isinstance(expected, dict) and isinstance(given, dict) and expected.keys() == given.keys():
        yield from ((expected[key], given[key]) for key in expected)


def _proven(record: CallRecord, facts: Sequence[tuple[int, str, Json]]) -> int:
    proven = 0
    for bit, path, value in facts if record.result.ok else ():
        try:
            if json_equal(follow(record.result.content, path), value):
                proven |= bit
        except KeyError:
            continue
    return proven


def _dependencies(truth: GroundTruth) -> tuple[list[int], list[int]]:
    """Return, for every step, the steps it needs in an earlier message and those it needs at an earlier position."""
    masks = {"value": [0] * len(truth.steps), "state": [0] * len(truth.steps)}
    for edge in truth.edges:
        if not (0 <= edge.before < len(truth.steps) and 0 <= edge.after < len(truth.steps)):
            raise ValueError(
                f"the ground truth has {len(truth.steps)} steps, but an edge {edge.before} -> {edge.after}"
            )
        masks[edge.kind][edge.after] |= 1 << edge.before
    return masks["value"], masks["state"]


def _order(truth: GroundTruth) -> tuple[int, ...]:
    """Return the steps, dependencies first, otherwise as written."""
    sorter: TopologicalSorter[int] = TopologicalSorter({index: () for index in range(len(truth.steps))})
    for edge in truth.edges:
        sorter.add(edge.after, edge.before)
    for index, step in enumerate(truth.steps):
        for producer, path in find_references(step.arguments):
            if not 0 <= producer < len(truth.steps):
                raise ValueError(f"step {step.name!r} refers to {path!r} of step {producer}, which is not there")
            sorter.add(index, producer)
    try:
        return tuple(sorter.static_order())
    except CycleError as error:
        raise ValueError(f"the ground truth's steps depend on each other in a circle: {error.args[1]}") from None
