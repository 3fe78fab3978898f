"""Evaluating a model behind an endpoint that fails now and then, stalls, or answers with garbage."""

import time
from dataclasses import replace
from itertools import repeat

import pytest
from endpoint_server import answer, serving

from proverl.agent import Limits
from proverl.core import GroundTruth, Step, Task, TaskKind
from proverl.envs import load_server
from proverl.evals import (
    EvaluationFailed,
    PolicyConfig,
    endpoint_needs,
    endpoint_policy,
    evaluate,
    heldout,
    read_records,
)
from proverl.reward import RewardConfig

TOOLS = tuple(tool for tool in load_server("filesystem").tools if not tool.hidden)
LOOK = Step("list_directory", {"path": "/"})
TASKS = [
    Task(f"task-{n}", TaskKind.MULTI_TURN, ("filesystem",), n, "", ("Look.",), TOOLS, GroundTruth((LOOK,)))
    for n in range(20)
]


@pytest.fixture
def endpoint():
    with serving() as server:
        server.default = answer("Done.", usage=(100, 5))
        yield server


def run(endpoint, folder, tasks=TASKS, seconds=30.0, deadline=600.0, concurrency=20):
    config = PolicyConfig("endpoint", base_url=endpoint.url, model="some-model", retries=0, seconds=seconds)
    given = replace(heldout(tasks, Limits(), RewardConfig()), seconds=deadline, concurrency=concurrency)
    return evaluate(given, endpoint_policy(config), folder)


def stalled(body):
    time.sleep(2)
    return answer("Too late.")


def test_tokens_are_counted_and_no_more_is_asked_at_once_than_allowed(endpoint, tmp_path):
    endpoint.delay = 0.02
    found = run(endpoint, tmp_path, concurrency=3)
    assert [(one.prompt_tokens, one.completion_tokens, one.replies) for one in found.records] == [(100, 5, 1)] * 20
    assert 1 < endpoint.most_at_once <= 3
    assert endpoint.requests[0]["temperature"] == 0


def test_an_error_now_and_then_costs_an_attempt_that_is_made_again(endpoint, tmp_path):
    good = answer("Done.")
    endpoint.answers = [500, good, "<html>busy</html>", good, good | {"choices": None}, good]
    found = run(endpoint, tmp_path, concurrency=1, tasks=TASKS[:3])
    assert (len(found.records), found.failures) == (3, [])
    assert len(endpoint.requests) == 6


def test_an_endpoint_that_always_errs_ends_the_evaluation_and_is_quoted(endpoint, tmp_path):
    endpoint.default = 503
    endpoint.error = "out of memory"
    with pytest.raises(EvaluationFailed, match=r"the first 16 attempts failed, .* 503 .*out of memory"):
        run(endpoint, tmp_path, concurrency=1)


def test_what_was_done_before_the_endpoint_went_down_is_kept(endpoint, tmp_path):
    endpoint.answers = [answer("Done.")] * 7
    endpoint.default = 500
    with pytest.raises(EvaluationFailed, match="13 of 20 attempts failed"):
        run(endpoint, tmp_path, concurrency=1)
    assert len(read_records(tmp_path)) == 7
    endpoint.default = answer("Done.")
    asked = len(endpoint.requests)
    assert len(run(endpoint, tmp_path).records) == 20
    assert len(endpoint.requests) - asked == 13


def test_an_endpoint_that_stalls_on_one_request_costs_that_attempt(endpoint, tmp_path):
    endpoint.answers = [stalled]
    found = run(endpoint, tmp_path, concurrency=20, seconds=0.5)
    assert len(found.records) == 20  # its time was up, and it was made again
    assert not found.failures


def dripping(body):
    """A reply whose bytes come one by one, each long before a timeout."""
    return (piece for piece in repeat(b" "))


def endless(body):
    return (piece for piece in repeat(b" " * 2**20))


@pytest.mark.parametrize(
    ("answering", "told"), [(dripping, "no whole answer within 0.5 seconds"), (endless, "is larger than 16 MiB")]
)
def test_a_reply_without_end_is_not_waited_for(answering, told, endpoint, tmp_path):
    endpoint.default = answering
    seconds = 0.5 if answering is dripping else 60.0
    with pytest.raises(EvaluationFailed, match=told):
        run(endpoint, tmp_path, concurrency=1, tasks=TASKS[:1], seconds=seconds)


@pytest.mark.parametrize("usage", [(1.5, 2.5), (-1, 5), ("x", "y"), (2**40, 5)])
def test_what_is_no_count_of_tokens_is_counted_as_none(usage, endpoint, tmp_path):
    told = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": 3}
    endpoint.default = answer("Done.") | {"usage": told}
    found = run(endpoint, tmp_path, tasks=TASKS[:2])
    assert [(one.prompt_tokens, one.completion_tokens) for one in found.records] == [(0, 0)] * 2
    assert read_records(tmp_path) == found.records


@pytest.mark.parametrize("name", [None, "", "\ud800"])
def test_a_call_whose_id_cannot_be_sent_back_gets_one_that_can(name, endpoint, tmp_path):
    called = answer(None, [("list_directory", '{"path": "/"}')], "tool_calls")
    called["choices"][0]["message"]["tool_calls"][0] |= {"id": name, "type": None}
    endpoint.answers = [called]
    found = run(endpoint, tmp_path, tasks=TASKS[:1])
    assert found.records[0].figures["success"] == 1
    said, told = endpoint.requests[1]["messages"][-2:]
    assert said["tool_calls"][0]["id"] == told["tool_call_id"] != ""


def test_an_attempt_over_its_deadline_is_left_out_not_wrong(endpoint, tmp_path):
    endpoint.delay = 1.5
    with pytest.raises(EvaluationFailed, match="longer than evals.heldout.seconds=0.2"):
        run(endpoint, tmp_path, tasks=TASKS[:2], deadline=0.2)


def needs(endpoint, **changes):
    settings = {"kind": "endpoint", "base_url": endpoint.url, "model": "some-model"} | changes
    return endpoint_needs(PolicyConfig(**settings))


def test_an_endpoint_is_asked_for_its_models_before_anything_starts(endpoint, monkeypatch):
    assert needs(endpoint) == []
    assert needs(endpoint, model="other") == [f"policy.model is other, but {endpoint.url} serves some-model, another."]
    (told,) = needs(endpoint, base_url="http://127.0.0.1:9/v1")
    assert told.startswith("http://127.0.0.1:9/v1 can't be reached (") and told.endswith("or mend policy.base_url.")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    endpoint.models = 401
    assert needs(endpoint) == [f"{endpoint.url} refuses the key: set OPENAI_API_KEY."]
    endpoint.models = 404
    assert needs(endpoint) == [f"{endpoint.url} has no list of models: the address mostly ends in /v1."]
    for odd in ("<html>", 500):  # it may answer all the same
        endpoint.models = odd
        assert needs(endpoint) == []
    assert needs(endpoint, model="") == ["policy.model is empty: say which, e.g. policy.model=NAME."]
