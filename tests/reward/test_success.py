"""Task success: the final state, and what was read."""

import pytest

from proverl.core import Call, CallRecord, GroundTruth, Result, Step, Tool
from proverl.reward import task_success

TOOLS = (Tool("get", "", {}, {}, read_only=True), Tool("set", "", {}, {}))
TRUTH = GroundTruth((Step("get", {"key": "a"}), Step("set", {"key": "b"})))


def calls(*named):
    return [CallRecord(Call(name, {"key": key}), Result(), 0, index) for index, (name, key) in enumerate(named)]


@pytest.mark.parametrize(
    ("made", "state_equal", "success"),
    [
        (calls(("get", "a"), ("set", "b")), True, True),
        (calls(("get", "a"), ("set", "b")), False, False),
        (calls(("get", "x"), ("set", "b")), True, False),  # read the wrong thing
        (calls(("set", "b")), True, False),  # read nothing
        (calls(("get", "a"), ("set", "c"), ("set", "b")), True, True),  # only the state counts for changes
        (calls(("get", "a")), True, True),
        (calls(("get", "x"), ("get", "a"), ("set", "b")), True, True),
    ],
)
def test_state_and_read_only_steps(made, state_equal, success):
    assert task_success(made, TRUTH, TOOLS, state_equal=state_equal, replied=True) is success


@pytest.mark.parametrize(
    ("made", "replied", "success"), [([], True, True), ([], False, False), (calls(("get", "a")), True, False)]
)
def test_abstention(made, replied, success):
    assert task_success(made, GroundTruth(), TOOLS, state_equal=True, replied=replied) is success


def test_changes_alone_need_no_match():
    truth = GroundTruth((Step("set", {"key": "b"}),))
    assert task_success(calls(("set", "c"), ("set", "b")), truth, TOOLS, state_equal=True, replied=True)


def test_nothing_is_done_without_a_call():
    # steps that undo each other leave the state as it was
    truth = GroundTruth((Step("set", {"key": "b"}), Step("set", {"key": "a"})))
    assert not task_success([], truth, TOOLS, state_equal=True, replied=True)


def test_step_of_an_unknown_tool_is_refused():
    with pytest.raises(ValueError, match="ground-truth step 'fly' is not among the candidate tools"):
        task_success(calls(("set", "b")), GroundTruth((Step("fly", {}),)), TOOLS, state_equal=True, replied=True)
