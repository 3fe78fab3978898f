"""Scripted policies, and the oracle on a fake and on live sessions."""

import json

import pytest

from proverl.agent import Closings, Limits, OracleChat, OraclePolicy, ScriptedPolicy, plan, run_episode
from proverl.core import Edge, GroundTruth, Result, Step, StopReason, Task, TaskKind, reference
from proverl.envs import Session


async def test_the_silent_policy_says_nothing(task, environment):
    episode = await run_episode(task, environment, ScriptedPolicy().chat(task, Limits()), Limits())
    assert episode.stop == StopReason.COMPLETED
    assert [message["content"] for message in episode.messages if message["role"] == "assistant"] == ["", ""]


async def test_a_scripted_policy_begins_anew_in_every_episode(task, environment):
    policy = ScriptedPolicy(("One.", "Two."))
    for _ in range(2):
        episode = await run_episode(task, environment, policy.chat(task, Limits()), Limits())
        assert [m["content"] for m in episode.messages if m["role"] == "assistant"] == ["One.", "Two."]


def steps(*arguments: dict) -> tuple[Step, ...]:
    return tuple(Step(f"f{n}", given) for n, given in enumerate(arguments))


@pytest.mark.parametrize(
    ("truth", "messages"),
    [
        (GroundTruth(steps({}, {}, {})), [[0, 1, 2]]),
        (GroundTruth(steps({}, {"a": [reference(0, "id")]}, {})), [[0, 2], [1]]),
        (GroundTruth(steps({}, {}, {}), (Edge(0, 1), Edge(1, 2))), [[0], [1], [2]]),
        (GroundTruth(steps({}, {}), (Edge(0, 1, "state"),)), [[0, 1]]),
        (GroundTruth(steps({}, {}, {}), (Edge(0, 1), Edge(1, 2, "state"))), [[0], [1, 2]]),
        (GroundTruth(()), []),
    ],
)
def test_values_wait_for_a_later_message_and_states_for_a_later_place(truth, messages):
    assert plan(truth, 0) == messages


def test_without_parallel_calls_every_message_has_one():
    truth = GroundTruth(steps({}, {"a": reference(0, "id")}, {}))
    assert plan(truth, 0, parallel=False) == [[0], [1], [2]]


def test_a_circle_of_edges_is_refused():
    with pytest.raises(ValueError, match="circle among steps"):
        plan(GroundTruth(steps({}, {}), (Edge(0, 1), Edge(1, 0))), 0)


async def test_the_oracle_performs_the_ground_truth_with_live_values(task, environment):
    episode = await run_episode(task, environment, OracleChat(task), Limits())
    assert episode.stop == StopReason.COMPLETED
    assert [(call.name, call.arguments) for call in environment.ran] == [
        ("list_accounts", {}),
        ("open_account", {"kind": "savings"}),
        ("transfer_money", {"account_id": 41, "amount": 5}),
        ("transfer_money", {"account_id": 7, "amount": 1}),
    ]
    said = [message for message in episode.messages if message["role"] == "assistant"]
    assert [len(message.get("tool_calls", ())) for message in said] == [2, 1, 0, 1, 0]
    assert said[2]["content"] == said[4]["content"] == Closings().done


def variant(task: Task, **changes) -> Task:
    fields = {name: getattr(task, name) for name in Task.__dataclass_fields__}
    return Task(**fields | changes)


async def closing_texts(task, environment) -> list[str]:
    episode = await run_episode(task, environment, OraclePolicy().chat(task, Limits()), Limits())
    assert episode.stop == StopReason.COMPLETED
    return [m["content"] for m in episode.messages if m["role"] == "assistant" and "tool_calls" not in m]


async def test_the_oracle_asks_refuses_and_finishes(task, environment):
    texts = Closings()
    late = GroundTruth((Step("list_accounts", {}, turn=1),))
    assert await closing_texts(variant(task, ground_truth=late), environment) == [texts.ask, texts.done]
    none = variant(task, ground_truth=GroundTruth(), kind=TaskKind.ABSTENTION, turns=("Fly.",))
    assert await closing_texts(none, environment) == [texts.refuse]
    early = GroundTruth((Step("list_accounts", {}),))
    missing = variant(task, ground_truth=early, kind=TaskKind.CLARIFICATION)
    assert await closing_texts(missing, environment) == [texts.done, texts.refuse]


async def test_an_oracle_without_the_value_it_needs_crashes_with_the_reason(task, environment):
    environment.answer = lambda call: Result({"other": 1})
    episode = await run_episode(task, environment, OracleChat(task), Limits())
    assert episode.stop == StopReason.CRASHED
    assert "no value at 'account.id'" in episode.error
    environment.answer = lambda call: Result({"account": {"id": 41}, "text": "x" * 900})
    episode = await run_episode(task, environment, OracleChat(task), Limits(tool_output_tokens=50))
    assert "step 1 has returned nothing" in episode.error


async def test_an_oracle_with_a_tokenizer_sees_results_as_its_student_does(task, environment, tokenizer):
    environment.answer = lambda call: Result({"text": "x" * 99})
    limits = Limits(tool_output_tokens=60)
    plain = await run_episode(task, environment, OraclePolicy().chat(task, limits), limits)
    assert "[cut" not in plain.messages[3]["content"]
    cut = await run_episode(task, environment, OraclePolicy(tokenizer=tokenizer).chat(task, limits), limits)
    assert "[cut: " in cut.messages[3]["content"]


async def test_the_oracle_works_on_a_live_banking_session(task):
    def banking(session: Session) -> Task:
        read = [tool for tool in session.tools if tool.read_only and not tool.required]
        truth = GroundTruth(tuple(Step(tool.name, {}) for tool in read))
        return variant(task, servers=("banking",), tools=session.tools, ground_truth=truth, turns=("Show me all.",))

    digests, texts = set(), set()
    for _ in range(2):
        with Session(["banking"], seed=5) as session:
            live = banking(session)
            episode = await run_episode(live, session, OracleChat(live), Limits())
        assert episode.stop == StopReason.COMPLETED
        assert len(episode.calls) == len(live.ground_truth.steps) > 0
        assert all(record.result.ok for record in episode.calls)
        digests.add(episode.digest)
        texts.add(json.dumps(episode.messages))
    assert len(digests) == len(texts) == 1
