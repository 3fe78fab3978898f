"""Scoring a plan: which of its steps are expected ones, in the expected order."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from proverl.evals.teval.data import FINISH, Question, Step
from proverl.evals.teval.embedder import Embedder
from proverl.evals.teval.parsing import UNREADABLE, load

_NAME, _ARGS, _ALIKE = 0.75, 0.25, 0.8  # weights of the cosines, and how alike two steps must be
Found = tuple[float, str]


def read_plan(question: Question, text: str, published: bool) -> list[Step]:
    """The steps in a reply; none when it is no plan. In words, every sentence that names a tool is a step."""
    if question.format == "str":
        lines = text.replace(". ", "\n").split("\n")
        named = [(name, line) for line in lines if (name := _first_name(line, question.tools, published))]
        return [Step(name, place, line) for place, (name, line) in enumerate(named)]
    try:
        steps = load(text, "[", "]", published)
        return _texts(Step(step["name"], step["id"], step["args"]) for step in steps) if type(steps) is list else []
    except UNREADABLE:
        return []


def _texts(steps: Iterable[Step]) -> list[Step]:
    return [Step(str(step.name), int(step.id), str(step.args)) for step in steps]


def _first_name(line: str, names: Sequence[str], published: bool) -> str:
    """The name that stands first; of two at one place the longer, but the first of the list as published."""
    places = [(line.find(name), 0 if published else -len(name), name) for name in names if name in line]
    return min(places, key=lambda place: place[:2])[2] if places else ""


def score_plan(question: Question, text: str, published: bool, embed: Embedder) -> Found:
    """F1 of the steps that match expected ones in order, and what is wrong with the plan.

    Steps match when 0.75 cosine of the names + 0.25 cosine of the arguments is over 0.8, one to one with the largest
    sum; of the matches as many count as stand in order (paper of T-Eval, section 3; planning_evaluator.py).
    """
    plan = read_plan(question, text, published)
    if not plan:
        return 0.0, "no plan could be read"
    given, expected = _ordered(plan), _ordered(_texts(question.truth))
    if not given:
        return 0.0, f"no step before {FINISH}; the published scorer ends with an error on it"
    alike = _alike(given, expected, embed)
    if not published and question.format == "str":
        for row, step in enumerate(given):  # no sentence is like "{}"
            for column, other in enumerate(expected):
                if other.args == "{}" and other.name == step.name:
                    alike[row, column] = 1.0
    matched = _published_matches(alike) if published else matches(alike)
    right = _increasing([matched[row] for row in sorted(matched)])
    why = f"{right} of {len(expected)} expected steps in order, {len(given)} given"
    if published:
        why = "equal steps match in any order to it, and no sentence is like {}"
        if right == 0:
            right, why = 1, "it counts one step of a plan without any right one"
    f1 = 2 * right / (len(given) + len(expected))
    return f1, why if f1 < 1 or published else ""


def _ordered(plan: Sequence[Step]) -> list[Step]:
    steps = sorted(plan, key=lambda step: step.id)
    return steps[:-1] if steps[-1].name == FINISH else steps


def _alike(given: Sequence[Step], expected: Sequence[Step], embed: Embedder) -> np.ndarray:
    names = embed.cosines([step.name for step in given], [step.name for step in expected])
    args = embed.cosines([step.args for step in given], [step.args for step in expected])
    return _NAME * names + _ARGS * args


def matches(alike: np.ndarray) -> dict[int, int]:
    """Expected step by given step: the matching with the largest sum, and of equal ones the one most in order."""
    rows, columns = np.indices(alike.shape)
    worth = np.where(alike > _ALIKE, alike - 1e-6 * ((rows - columns) / max(alike.shape)) ** 2, 0.0)
    pairs = zip(*linear_sum_assignment(worth, maximize=True), strict=True)
    return {int(row): int(column) for row, column in pairs if alike[row, column] > _ALIKE}


def _published_matches(alike: np.ndarray) -> dict[int, int]:
    """The same sum, but of equal matchings the one that networkx comes upon."""
    import networkx

    graph = networkx.Graph()
    for row, column in zip(*np.nonzero(alike > _ALIKE), strict=True):
        graph.add_edge(int(row), str(column), weight=alike[row, column])
    pairs = networkx.max_weight_matching(graph)
    return {row: int(column) for row, column in (pair if isinstance(pair[0], int) else pair[::-1] for pair in pairs)}


def _increasing(values: Sequence[int]) -> int:
    """Length of the longest increasing subsequence."""
    ends: list[int] = []
    for value in values:
        place = bisect_left(ends, value)
        ends[place : place + 1] = [value]
    return len(ends)
