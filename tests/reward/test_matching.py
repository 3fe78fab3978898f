"""The search against every matching there is, and greedy against exact."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from proverl.core import Call, CallRecord, Edge, GroundTruth, Result, Step, reference
from proverl.reward import match
from proverl.reward.matching import assess, exact, greedy
from proverl.reward.pairing import build

VALUES = st.integers(0, 2)


@st.composite
def truths(draw, most=4):
    """Ground truths of few names and values, so that steps compete for calls; edges and references go forwards."""
    steps, edges = [], []
    for index in range(draw(st.integers(1, most))):
        arguments = {key: draw(VALUES) for key in draw(st.sets(st.sampled_from("xyz")))}
        if index and draw(st.booleans()):
            producer = draw(st.integers(0, index - 1))
            arguments["ref"] = draw(st.sampled_from([reference(producer, "id"), [reference(producer, "id"), 1]]))
        steps.append(Step(draw(st.sampled_from("ab")), arguments, draw(st.integers(0, 1))))
        edges += [
            Edge(before, index, draw(st.sampled_from(["value", "state"])))
            for before in range(index)
            if draw(st.integers(0, 2)) == 0
        ]
    return GroundTruth(tuple(steps), tuple(edges))


@st.composite
def episodes(draw, most=5):
    """Calls with the same few names and values, in messages of one or more calls."""
    records, message = [], 0
    for _ in range(draw(st.integers(0, most))):
        message += draw(st.integers(0, 1))
        arguments = {key: draw(VALUES) for key in draw(st.sets(st.sampled_from("xyz"), min_size=1))}
        if draw(st.booleans()):
            arguments["ref"] = draw(st.sampled_from([0, 1, [0, 1], [1, 1]]))
        call = Call(draw(st.sampled_from("ab")), arguments)
        records.append(CallRecord(call, Result({"id": draw(VALUES)}), min(message, 1), message))
    return records


def worth(matching):
    return matching.coverage, sum(position is not None for position in matching.positions), round(matching.arg, 9)


def best_of_all(problem):
    """Every one-to-one matching, tried one after the other."""
    choices = [[None, *pairs] for pairs in problem.pairs]
    for chosen in product(*choices):
        used = [position for position in chosen if position is not None]
        if len(used) == len(set(used)):
            yield assess(problem, {step: position for step, position in enumerate(chosen) if position is not None})


@settings(max_examples=100, deadline=None)
@given(episodes(), truths(), st.booleans())
def test_exact_search_finds_the_best_of_all_matchings(calls, truth, turns):
    problem = build(calls, truth if turns else GroundTruth(truth.steps), paper_exact=False)
    found = assess(problem, exact(problem, greedy(problem)))
    assert worth(found) == max(worth(matching) for matching in best_of_all(problem))


@settings(max_examples=50, deadline=None)
@given(episodes(12), truths(10))
def test_greedy_is_a_matching_and_never_above_exact(calls, truth):
    problem = build(calls, truth, paper_exact=False)
    guess = greedy(problem)
    assert len(set(guess.values())) == len(guess)
    assert worth(assess(problem, guess)) <= worth(assess(problem, exact(problem, guess)))


@settings(max_examples=50, deadline=None)
@given(st.permutations(range(6)), st.lists(st.integers(0, 1), min_size=6, max_size=6), st.data())
def test_greedy_is_exact_when_no_two_steps_compete(order, flaws, data):
    edges = [Edge(a, b, "state") for a in range(6) for b in range(a + 1, 6) if data.draw(st.booleans())]
    truth = GroundTruth(tuple(Step(f"tool{index}", {"x": 1}) for index in range(6)), tuple(edges))
    calls = [CallRecord(Call(f"tool{index}", {"x": flaws[index]}), Result(), 0, at) for at, index in enumerate(order)]
    problem = build(calls, truth, paper_exact=False)
    assert worth(assess(problem, greedy(problem))) == worth(assess(problem, exact(problem, {})))


def test_above_ten_steps_a_perfect_episode_is_matched_perfectly():
    truth = GroundTruth(
        tuple(Step("pay", {"amount": index}) for index in range(14)), tuple(Edge(i, i + 1) for i in range(13))
    )
    calls = [CallRecord(Call("pay", {"amount": index}), Result(), 0, index) for index in range(14)]
    assert worth(match(calls, truth)) == (1, 14, 1)


def test_one_call_does_not_stand_for_two_steps():
    truth = GroundTruth((Step("pay", {"x": 1}), Step("pay", {"x": 1})))
    assert match([CallRecord(Call("pay", {"x": 1}), Result(), 0, 0)], truth).coverage == 0.5


def test_coverage_goes_before_equal_values():
    # the right pay comes before find; the wrong one after it keeps the order
    truth = GroundTruth((Step("find", {}), Step("pay", {"x": 1})), (Edge(0, 1, "state"),))
    made = [("pay", {"x": 1}), ("find", {}), ("pay", {"x": 2})]
    calls = [CallRecord(Call(name, arguments), Result(), 0, at) for at, (name, arguments) in enumerate(made)]
    found = match(calls, truth)
    assert (found.positions, found.coverage, found.arg) == ((1, 2), 1, 0.5)


def test_exact_beats_greedy_where_steps_compete():
    # greedy gives the first step the only call that the second one can use
    truth = GroundTruth((Step("pay", {"x": 1}), Step("pay", {"x": 1, "y": 1})))
    calls = [
        CallRecord(Call("pay", {"x": 1, "y": 1}), Result(), 0, 0),
        CallRecord(Call("pay", {"x": 2}), Result(), 0, 1),
    ]
    problem = build(calls, truth, paper_exact=False)
    assert assess(problem, greedy(problem)).coverage == 0.5
    assert match(calls, truth).coverage == 1


def test_many_calls_that_fit_all_of_ten_steps_are_searched():
    # every call has a and b right and c wrong, but for the last, which nothing distinguishes before it is reached
    truth = GroundTruth(tuple(Step("pay", {"a": 1, "b": 1, "c": index}) for index in range(10)))
    wrong, better = {"a": 1, "b": 0, "c": -1}, {"a": 1, "b": 1, "c": -1}
    calls = [CallRecord(Call("pay", wrong), Result(), 0, at) for at in range(39)]
    found = match([*calls, CallRecord(Call("pay", better), Result(), 0, 39)], truth)
    # nine steps share one value of three, one shares two
    assert worth(found) == (1, 10, round((9 * 1 / 3 + 2 / 3) / 10, 9))
