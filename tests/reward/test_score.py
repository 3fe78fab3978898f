"""The reward's formulas against examples worked by hand; the numbers in the comments are the working."""

import pytest

from proverl.core import Call, CallRecord, Edge, ErrorCode, GroundTruth, MalformedCall, Result, Step, Tool, reference
from proverl.reward import Breakdown, RewardConfig, candidates, score

CONFIG = RewardConfig()
EXACT = RewardConfig(paper_exact=True)


def tool(name, **types):
    parameters = {"properties": {key: {"type": kind} for key, kind in types.items()}, "required": list(types)}
    return Tool(name, "", {"type": "object", **parameters}, {"type": "object"})


TOOLS = (
    tool("find", query="string"),
    tool("pay", account="string", amount="number"),
    tool("ping"),
)


def made(name, arguments, *, content=None, code=None, turn=0, message=0):
    return CallRecord(Call(name, arguments), Result(content, code), turn, message)


def in_turn(*records):
    """Give each call a message of its own."""
    return [CallRecord(item.call, item.result, item.turn, message) for message, item in enumerate(records)]


def parts(breakdown):
    return [breakdown.validity, breakdown.coverage, breakdown.efficiency, breakdown.name, breakdown.arg]


FIND = made("find", {"query": "rent"})
PAY = made("pay", {"account": "A1", "amount": 5})
FIND_AND_PAY = GroundTruth((Step("find", {"query": "rent"}), Step("pay", {"account": "A1", "amount": 5})))


def test_perfect_episode_earns_1_3():
    # 0.5 * 1 + 0.5 * 1 + 0.15 * 0 + 0.2 * 1 + 0.1 * 1 = 1.3
    result = score(in_turn(FIND, PAY), FIND_AND_PAY, TOOLS, CONFIG, replied=True)
    assert parts(result) == [1, 1, 0, 1, 1]
    assert result.total == pytest.approx(1.3)
    assert (result.n_calls, result.budget, result.matched) == (2, 3, (0, 1))


def test_mixed_episode():
    # validity: find 1, pay without amount 1/3, unknown tool 0, pay well-typed but refused 2/3 -> 2 / 4 = 0.5
    # coverage: both steps matched, no edges -> 1;  budget B = 2 + ceil(2 * 0.5) = 3, efficiency -0.5 * 1/3 = -1/6
    # name: find, pay, pay of 4 -> 0.75;  arg: find 1/1, pay account equal and amount not 1/2 -> 0.75
    # total: 0.25 + 0.5 - 0.025 + 0.15 + 0.075 = 0.95
    calls = in_turn(
        FIND,
        made("pay", {"account": "A1"}, code=ErrorCode.INVALID_ARGUMENTS),
        made("fly", {}, code=ErrorCode.UNKNOWN_TOOL),
        made("pay", {"account": "A1", "amount": 6}, code=ErrorCode.REJECTED),
    )
    result = score(calls, FIND_AND_PAY, TOOLS, CONFIG, replied=True)
    assert parts(result) == pytest.approx([0.5, 1, -1 / 6, 0.75, 0.75])
    assert result.total == pytest.approx(0.95)


def test_weights_come_from_the_config():
    # validity 1, coverage 1/2, efficiency 0, name 1, arg 1 -> 1 * 1 + 2 * 0.5 + 4 * 1 + 5 * 1 = 11
    config = RewardConfig(validity=1, coverage=2, efficiency=3, name=4, arg=5)
    assert score([FIND], FIND_AND_PAY, TOOLS, config, replied=True).total == pytest.approx(11)


@pytest.mark.parametrize(
    ("n_expected", "beta", "budget"),
    [(4, 0.5, 6), (1, 0.5, 2), (3, 0.5, 5), (4, 0, 4), (30, 0.1, 33), (3, 1.5, 8), (10, 1e-05, 11)],
)
def test_budget(n_expected, beta, budget):
    truth = GroundTruth((Step("ping", {}),) * n_expected)
    assert score([made("ping", {})], truth, TOOLS, RewardConfig(beta=beta), replied=True).budget == budget


@pytest.mark.parametrize(
    ("n_calls", "alpha", "efficiency"),
    [(1, 0.5, 0), (6, 0.5, 0), (7, 0.5, -0.5 / 6), (12, 0.5, -0.5), (12, 1, -1), (18, 0.5, -1), (18, 0, 0)],
)
def test_efficiency_of_four_expected_calls(n_calls, alpha, efficiency):
    # B = 4 + ceil(4 * 0.5) = 6, so 7 calls cost alpha * 1/6, 12 calls alpha * 6/6, 18 calls alpha * 12/6
    truth = GroundTruth((Step("ping", {}),) * 4)
    result = score([made("ping", {})] * n_calls, truth, TOOLS, RewardConfig(alpha=alpha), replied=True)
    assert result.efficiency == pytest.approx(efficiency)


def test_no_call_though_some_are_expected_earns_0():
    result = score([], FIND_AND_PAY, TOOLS, CONFIG, replied=True)
    assert result == Breakdown(budget=3, matched=(None, None))


@pytest.mark.parametrize(
    ("calls", "replied", "total"), [([], True, 1), ([], False, 0), ([FIND], True, 0), ([FIND], False, 0)]
)
def test_abstention(calls, replied, total):
    result = score(calls, GroundTruth(), TOOLS, CONFIG, replied=replied)
    assert (result.total, result.abstention, parts(result)) == (total, True, [0, 0, 0, 0, 0])


def test_malformed_call_on_an_abstention_task_is_a_call():
    malformed = CallRecord(MalformedCall("{", "no JSON"), Result(code=ErrorCode.INVALID_ARGUMENTS), 0, 0)
    assert score([malformed], GroundTruth(), TOOLS, CONFIG, replied=True).total == 0


def test_malformed_call_counts_as_a_call_without_validity_or_name():
    # validity (1 + 1 + 0) / 3, name 2/3, three calls of a budget of 3
    malformed = CallRecord(MalformedCall("{", "no JSON"), Result(code=ErrorCode.INVALID_ARGUMENTS), 0, 0)
    result = score([*in_turn(FIND, PAY), malformed], FIND_AND_PAY, TOOLS, CONFIG, replied=True)
    assert parts(result) == pytest.approx([2 / 3, 1, 0, 2 / 3, 1])
    assert result.n_calls == 3


def test_a_call_to_a_real_tool_that_was_not_offered_has_no_validity():
    result = score([FIND], FIND_AND_PAY, TOOLS[1:], CONFIG, replied=True)
    assert result.validity == 0


def test_call_without_all_argument_keys_does_not_match():
    result = score([made("pay", {"account": "A1"})], FIND_AND_PAY, TOOLS, CONFIG, replied=True)
    assert (result.coverage, result.arg, result.matched) == (0, 0, (None, None))


def test_values_and_extra_keys_do_not_matter_for_coverage():
    result = score([made("find", {"query": "x", "limit": 3})], FIND_AND_PAY, TOOLS, CONFIG, replied=True)
    assert (result.coverage, result.arg) == (0.5, 0)


def test_no_aligned_pair_gives_no_arg():
    result = score([made("ping", {})], FIND_AND_PAY, TOOLS, CONFIG, replied=True)
    assert (result.coverage, result.name, result.arg) == (0, 0, 0)


def test_step_without_arguments_counts_as_equal():
    # find has a wrong value 0/1, ping has no arguments 1 -> mean 0.5
    truth = GroundTruth((Step("find", {"query": "rent"}), Step("ping", {})))
    result = score(in_turn(made("find", {"query": "x"}), made("ping", {})), truth, TOOLS, CONFIG, replied=True)
    assert result.arg == 0.5


@pytest.mark.parametrize(
    ("given", "equal"),
    [(5, 1), (5.0, 1), ("5", 0.5), (6, 0.5), (True, 0.5), (None, 0.5)],
)
def test_value_equality_of_numbers(given, equal):
    truth = GroundTruth((Step("pay", {"account": "A1", "amount": 5}),))
    assert score([made("pay", {"account": " A1\n", "amount": given})], truth, TOOLS, CONFIG, replied=True).arg == equal


def test_true_is_not_1():
    truth = GroundTruth((Step("pay", {"account": "A1", "amount": 1}),))
    assert score([made("pay", {"account": "A1", "amount": True})], truth, TOOLS, CONFIG, replied=True).arg == 0.5


def test_wrong_order_loses_the_dependent_step_only():
    truth = GroundTruth(FIND_AND_PAY.steps, (Edge(0, 1, "state"),))
    # find is matched and free of dependencies 1, pay comes before find 0 -> 1/2
    result = score(in_turn(PAY, FIND), truth, TOOLS, CONFIG, replied=True)
    assert (result.coverage, result.arg, result.matched) == (0.5, 1, (1, 0))


def test_independent_steps_may_come_in_any_order():
    assert score(in_turn(PAY, FIND), FIND_AND_PAY, TOOLS, CONFIG, replied=True).coverage == 1


def test_unmatched_dependency_uncovers_the_step():
    truth = GroundTruth(FIND_AND_PAY.steps, (Edge(0, 1, "state"),))
    result = score([PAY], truth, TOOLS, CONFIG, replied=True)
    assert (result.coverage, result.arg, result.matched) == (0, 1, (None, 0))


def test_uncovered_step_still_serves_as_a_dependency():
    # a -> b -> c with a missing: b is matched but uncovered, c is matched after b and covered -> 1/3
    truth = GroundTruth(tuple(Step(name, {}) for name in "abc"), (Edge(0, 1, "state"), Edge(1, 2, "state")))
    calls = in_turn(made("b", {}), made("c", {}))
    assert score(calls, truth, TOOLS, CONFIG, replied=True).coverage == pytest.approx(1 / 3)


@pytest.mark.parametrize(("kind", "coverage"), [("value", 0.5), ("state", 1)])
def test_parallel_calls_satisfy_state_but_not_value_edges(kind, coverage):
    truth = GroundTruth(FIND_AND_PAY.steps, (Edge(0, 1, kind),))
    assert score([FIND, PAY], truth, TOOLS, CONFIG, replied=True).coverage == coverage


BOOK = Step("book", {"day": "Monday"})
CANCEL = Step("cancel", {"id": reference(0, "booking.id")}, turn=0)
BOOK_AND_CANCEL = GroundTruth((BOOK, CANCEL), (Edge(0, 1),))


def booked(number, day="Monday", **where):
    return made("book", {"day": day}, content={"booking": {"id": number}}, **where)


def test_reference_compares_with_what_the_matched_call_returned():
    # the policy's booking got number 8 in its own session, whatever the number was when the task was made
    right = score(in_turn(booked(8), made("cancel", {"id": 8})), BOOK_AND_CANCEL, TOOLS, CONFIG, replied=True)
    wrong = score(in_turn(booked(8), made("cancel", {"id": 7})), BOOK_AND_CANCEL, TOOLS, CONFIG, replied=True)
    assert (right.arg, wrong.arg) == (1, 0.5)
    assert right.coverage == wrong.coverage == 1


def test_reference_inside_a_list():
    truth = GroundTruth((BOOK, BOOK, Step("close", {"ids": [reference(1, "booking.id"), reference(0, "booking.id")]})))
    calls = in_turn(booked(1), booked(2), made("close", {"ids": [1, 2]}))
    assert score(calls, truth, TOOLS, CONFIG, replied=True).arg == 1
    calls = in_turn(booked(1), booked(2), made("close", {"ids": [1, 3]}))
    assert score(calls, truth, TOOLS, CONFIG, replied=True).arg == pytest.approx(2 / 3)


def test_reference_to_a_failed_call_equals_nothing():
    failed = made("book", {"day": "Monday"}, code=ErrorCode.REJECTED)
    result = score(in_turn(failed, made("cancel", {"id": None})), BOOK_AND_CANCEL, TOOLS, CONFIG, replied=True)
    assert result.arg == 0.5


def test_matching_picks_the_producer_whose_value_was_used():
    # two bookings; only with the second as "the" booking does the cancellation agree
    calls = in_turn(booked(1), booked(2), made("cancel", {"id": 2}))
    result = score(calls, BOOK_AND_CANCEL, TOOLS, CONFIG, replied=True)
    assert (result.matched, result.arg) == ((1, 2), 1)


def test_a_reference_is_proven_by_earlier_calls_only():
    calls = in_turn(made("cancel", {"id": 8}), booked(8))
    assert score(calls, BOOK_AND_CANCEL, TOOLS, CONFIG, replied=True).arg == 0.5


def test_paper_exact_compares_references_with_the_recorded_value():
    steps = (Step("book", {"day": "Monday"}, returned={"booking": {"id": 7}}), CANCEL)
    truth = GroundTruth(steps, (Edge(0, 1),))
    calls = in_turn(booked(8), made("cancel", {"id": 8}))
    assert score(calls, truth, TOOLS, CONFIG, replied=True).arg == 1
    assert score(calls, truth, TOOLS, EXACT, replied=True).arg == 0.5


def test_paper_exact_says_what_is_missing():
    with pytest.raises(ValueError, match="reward.paper_exact needs what .* step 0 has returned nothing"):
        score([booked(8)], BOOK_AND_CANCEL, TOOLS, EXACT, replied=True)


def test_a_guess_before_the_user_said_it_does_not_match():
    truth = GroundTruth((Step("pay", {"account": "A1", "amount": 5}, turn=1),))
    guess, asked = (
        [made("pay", {"account": "A1", "amount": 5}, turn=0)],
        [made("pay", {"account": "A1", "amount": 5}, turn=1)],
    )
    assert score(guess, truth, TOOLS, CONFIG, replied=True).coverage == 0
    assert score(asked, truth, TOOLS, CONFIG, replied=True).coverage == 1
    assert score(guess, truth, TOOLS, EXACT, replied=True).coverage == 1


def test_as_dict_has_the_same_keys_for_every_task():
    one = score(in_turn(FIND, PAY), FIND_AND_PAY, TOOLS, CONFIG, replied=True).as_dict()
    other = score([], GroundTruth(), TOOLS, CONFIG, replied=True).as_dict()
    assert one.keys() == other.keys()
    assert all(isinstance(value, float) for value in (*one.values(), *other.values()))
    assert (one["matched"], one["calls"], other["abstention"]) == (2, 2, 1)


def test_candidates_restore_stripped_schemas():
    shown = (Tool("find", "", {"type": "object"}, {}), Tool("other", "", {}, {}))
    assert candidates(shown, TOOLS) == (TOOLS[0], shown[1])


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (GroundTruth((BOOK,), (Edge(0, 1),)), "step 1 depends on step 0, but there are only 1 steps"),
        (GroundTruth((Step("cancel", {"id": reference(4, "id")}),)), "step 0 depends on step 4"),
        (GroundTruth((BOOK, BOOK), (Edge(0, 1), Edge(1, 0))), "in a circle"),
    ],
)
def test_contradicting_ground_truth_is_refused(truth, message):
    with pytest.raises(ValueError, match=message):
        score([booked(1)], truth, TOOLS, CONFIG, replied=True)
