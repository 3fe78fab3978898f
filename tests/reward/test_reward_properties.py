"""What must hold of the reward whatever the policy does."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from proverl.core import Call, CallRecord, Edge, ErrorCode, GroundTruth, MalformedCall, Result, Step, Tool, reference
from proverl.reward import RewardConfig, score

CONFIG = RewardConfig()
INTEGER = {"type": "integer"}
TOOLS = tuple(
    Tool(
        name, "", {"type": "object", "properties": {"x": INTEGER, "y": INTEGER}, "required": ["x"]}, {"type": "object"}
    )
    for name in "abcd"
)
CODES = st.sampled_from([None, None, None, ErrorCode.REJECTED])


@st.composite
def truths(draw):
    """Up to six steps over three tools; some take what an earlier one returned, with the edge that this brings."""
    steps, edges = [], []
    for index in range(draw(st.integers(1, 6))):
        arguments = {key: draw(st.integers(0, 2)) for key in ["x", *draw(st.sampled_from([[], ["y"]]))]}
        if index and draw(st.booleans()):
            producer = draw(st.integers(0, index - 1))
            arguments["x"] = reference(producer, "id")
            edges.append(Edge(producer, index, "value"))
        turn = steps[-1].turn if steps else 0
        steps.append(Step(draw(st.sampled_from("abc")), arguments, turn + draw(st.integers(0, 1))))
    return GroundTruth(tuple(steps), tuple(edges))


def oracle(truth):
    """The expected calls one after the other, with results numbered as a server would."""
    records = []
    for index, step in enumerate(truth.steps):
        known = {
            key: 100 + value["$result"]["step"] if isinstance(value, dict) else value
            for key, value in step.arguments.items()
        }
        records.append(CallRecord(Call(step.name, known), Result({"id": 100 + index}), step.turn, index))
    return records


@st.composite
def records(draw):
    """Any call a policy may make, good or bad."""
    if draw(st.integers(0, 9)) == 0:
        return CallRecord(MalformedCall("?", "no JSON"), Result(code=ErrorCode.INVALID_ARGUMENTS), 0, 0)
    arguments = {
        key: draw(st.integers(0, 3) | st.just("1") | st.integers(100, 105))
        for key in draw(st.sets(st.sampled_from("xyz")))
    }
    result = Result({"id": draw(st.integers(100, 105))}, draw(CODES))
    return CallRecord(Call(draw(st.sampled_from("abcde")), arguments), result, draw(st.integers(0, 3)), 0)


def in_order(calls):
    """Give the calls user turns and messages that never go back."""
    turn, ordered = 0, []
    for message, record in enumerate(calls):
        turn = max(turn, record.turn)
        ordered.append(replace(record, turn=turn, message=message))
    return ordered


def total(calls, truth, config=CONFIG):
    return score(calls, truth, TOOLS, config, replied=True).total


@given(st.lists(records(), max_size=12), truths())
@settings(deadline=None)
def test_bounds(calls, truth):
    result = score(in_order(calls), truth, TOOLS, CONFIG, replied=True)
    for part in (result.validity, result.coverage, result.name, result.arg):
        assert 0 <= part <= 1
    assert -CONFIG.alpha * len(calls) / result.budget <= result.efficiency <= 0
    assert result.total <= 1.3 + 1e-12
    used = [position for position in result.matched if position is not None]
    assert len(used) == len(set(used))


@given(truths())
@settings(deadline=None)
def test_oracle_earns_everything(truth):
    result = score(oracle(truth), truth, TOOLS, CONFIG, replied=True)
    assert abs(result.total - 1.3) < 1e-12


@given(truths(), st.data())
@settings(deadline=None)
def test_oracle_is_never_beaten_by_a_mutation_of_it(truth, data):
    calls = oracle(truth)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(calls)))
        change = data.draw(st.sampled_from(["drop", "repeat", "insert", "swap", "replace"]))
        if change == "insert" or not calls:
            calls.insert(at, data.draw(records()))
        elif change == "drop":
            del calls[at % len(calls)]
        elif change == "repeat":
            calls.insert(at, calls[at % len(calls)])
        elif change == "replace":
            calls[at % len(calls)] = data.draw(records())
        else:
            one, other = at % len(calls), data.draw(st.integers(0, len(calls) - 1))
            calls[one], calls[other] = calls[other], calls[one]
    assert total(in_order(calls), truth) <= total(oracle(truth), truth) + 1e-12


@given(truths(), st.data())
@settings(deadline=None)
def test_each_missing_call_costs(truth, data):
    calls = oracle(truth)
    kept = data.draw(st.integers(0, len(calls) - 1))
    assert total(calls[:kept], truth) < total(calls[: kept + 1], truth)


@given(st.lists(records(), max_size=8), records(), truths())
@settings(deadline=None)
def test_a_further_call_never_lowers_coverage_nor_raises_efficiency(calls, more, truth):
    before = score(in_order(calls), truth, TOOLS, CONFIG, replied=True)
    after = score(in_order([*calls, more]), truth, TOOLS, CONFIG, replied=True)
    assert after.coverage >= before.coverage
    assert after.efficiency <= before.efficiency


@given(st.lists(records(), min_size=1, max_size=8), truths(), st.data())
@settings(deadline=None)
def test_a_call_that_succeeds_instead_never_lowers_the_reward(calls, truth, data):
    calls = in_order(calls)
    at = data.draw(st.integers(0, len(calls) - 1))
    better = list(calls)
    better[at] = replace(calls[at], result=Result(calls[at].result.content))
    assert total(better, truth) >= total(calls, truth) - 1e-12


@given(truths(), st.data())
@settings(deadline=None)
def test_each_value_put_right_never_lowers_the_reward(truth, data):
    right = oracle(truth)
    wrong = [
        replace(item, call=Call(item.call.name, {**item.call.arguments, **data.draw(flaws(item))})) for item in right
    ]
    mixed = list(wrong)
    scores = [total(mixed, truth)]
    for index in range(len(right)):
        mixed[index] = right[index]
        scores.append(total(mixed, truth))
    assert scores == sorted(scores, key=lambda value: round(value, 12))


def flaws(record):
    return st.dictionaries(st.sampled_from(sorted(record.call.arguments)), st.integers(-3, -1))


@given(st.lists(records(), max_size=8), truths(), st.floats(0, 3), st.floats(0, 3))
@settings(deadline=None)
def test_more_slack_and_less_penalty_never_cost(calls, truth, one, other):
    low, high = sorted((one, other))
    calls = in_order(calls)
    assert total(calls, truth, RewardConfig(beta=low)) <= total(calls, truth, RewardConfig(beta=high)) + 1e-12
    assert total(calls, truth, RewardConfig(alpha=high)) <= total(calls, truth, RewardConfig(alpha=low)) + 1e-12


@given(st.lists(records(), max_size=8), truths())
@settings(deadline=None)
def test_key_order_call_ids_unrelated_tools_and_message_numbers_do_not_matter(calls, truth):
    calls = in_order(calls)
    changed = [
        replace(
            item,
            call=Call(item.call.name, dict(reversed(item.call.arguments.items())), id="x"),
            message=7 * item.message,
        )
        if isinstance(item.call, Call)
        else replace(item, message=7 * item.message)
        for item in calls
    ]
    before = score(calls, truth, TOOLS, CONFIG, replied=True)
    unrelated = Tool("unrelated", "", {"type": "object"}, {"type": "object"})
    assert score(changed, truth, (unrelated, *reversed(TOOLS)), CONFIG, replied=False) == before


@given(st.lists(records(), max_size=8), truths(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_in_which_the_steps_are_written_does_not_matter(calls, truth, random):
    new_place = list(range(len(truth.steps)))
    random.shuffle(new_place)
    steps = list(truth.steps)
    for old, new in enumerate(new_place):
        steps[new] = replace(truth.steps[old], arguments=moved(truth.steps[old].arguments, new_place))
    edges = tuple(Edge(new_place[edge.before], new_place[edge.after], edge.kind) for edge in truth.edges)
    assert abs(total(in_order(calls), GroundTruth(tuple(steps), edges)) - total(in_order(calls), truth)) < 1e-12


def moved(arguments, new_place):
    return {
        key: reference(new_place[value["$result"]["step"]], "id") if isinstance(value, dict) else value
        for key, value in arguments.items()
    }


@given(st.integers(0, 9), st.integers(0, 9))
def test_asking_is_never_worth_less_than_guessing(value, guess):
    # the amount is said in the second user turn
    truth = GroundTruth((Step("a", {"x": value}, turn=1),))
    asked = [CallRecord(Call("a", {"x": value}), Result(), 1, 1)]
    guessed = [CallRecord(Call("a", {"x": guess}), Result(), 0, 0)]
    assert total(asked, truth) > total(guessed, truth)
    assert total(asked, truth) >= total(guessed + asked, truth)
