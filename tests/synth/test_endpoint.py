"""The endpoint teacher, against a real HTTP server on this machine."""

import asyncio
import gc
import multiprocessing
import os
import pickle
from dataclasses import replace
from types import SimpleNamespace

import pytest
from banking_scenes import FIRST, SECOND, Ask, refused_transfer, scene
from endpoint_server import answer, serving

from proverl.core import Call
from proverl.synth.scene import MalformedReply
from proverl.synth.teachers.config import TeacherConfig
from proverl.synth.teachers.endpoint import EndpointError, EndpointTeacher
from proverl.synth.teachers.journal import Spent

QUERY = f"Please move 250 from {FIRST} to {SECOND}."
TRANSFER = ("transfer_funds", f'{{"from_account_id":"{FIRST}","to_account_id":"{SECOND}","amount":250}}')


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-very-secret-key")
    with serving() as server:
        yield server


@pytest.fixture
def teacher(endpoint, tmp_path):
    return make(endpoint, tmp_path)


def make(endpoint, folder, run="run", **settings):
    config = TeacherConfig("mine", "some-model", endpoint.url, options={"top_k": 5}, retries=2)
    return EndpointTeacher(replace(config, **settings), folder / "answers.db", run)


async def test_a_query_is_asked_for_and_returned(teacher, endpoint):
    endpoint.answers = [answer(f'"{QUERY}"')]
    assert await teacher.query(scene()) == QUERY
    (sent,) = endpoint.requests
    assert (sent["model"], sent["temperature"], sent["top_p"], sent["top_k"]) == ("some-model", 1.0, 1.0, 5)
    assert sent["max_completion_tokens"] == 2048
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert "tools" not in sent
    assert teacher.name == "mine"


async def test_the_assistant_calls_tools_in_parallel_or_answers(teacher, endpoint):
    endpoint.answers = [answer(calls=(TRANSFER, ("get_account", f'{{"account_id":"{FIRST}"}}'))), answer("Done.")]
    reply = await teacher.act(scene())
    assert [call.name for call in reply.calls] == ["transfer_funds", "get_account"]
    assert reply.calls[1] == Call("get_account", {"account_id": FIRST}, "x1")
    assert (await teacher.act(scene(number=1))).text == "Done."
    tools = endpoint.requests[0]["tools"]
    assert [tool["function"]["name"] for tool in tools] == ["transfer_funds", "get_account"]
    assert "x-entity" not in str(tools)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (answer(calls=[("transfer_funds", '{"amount":')]), "the arguments of transfer_funds cannot be read: not valid"),
        (answer(calls=[("transfer_funds", "[1]")]), "must be a JSON object"),
        (answer(calls=[("transfer", "{}")]), "it calls 'transfer', which is none of the tools"),
        (answer("I will", finish="length"), "it was cut after 2048 tokens"),
        (answer(""), "it is empty"),
        (answer("<think>Hm"), "it is empty"),
        (answer('<tool_call>{"name": "get_account"}</tool_call>'), "a call is written as text"),
        (answer("a") | {"choices": []}, "no choice"),
    ],
)
async def test_a_malformed_message_is_refused_with_the_reason(teacher, endpoint, reply, reason):
    endpoint.answers = [reply]
    with pytest.raises(MalformedReply, match=reason):
        await teacher.act(scene())


async def test_thinking_is_left_out(teacher, endpoint):
    endpoint.answers = [answer("<think>Call it?</think>\n\nDone.")]
    assert (await teacher.act(scene())).text == "Done."


async def test_the_next_attempt_is_told_what_was_wrong_and_has_another_seed(teacher, endpoint):
    endpoint.answers = [answer("``` x ```"), answer("", finish="length"), answer(QUERY), answer(QUERY), answer("Hi.")]
    one = scene()
    for reason in ("as no person writes", "it was cut"):
        with pytest.raises(MalformedReply, match=reason):
            await teacher.query(one)
    assert await teacher.query(one) == QUERY
    await teacher.query(scene(number=1))
    await teacher.act(one)
    texts = [str(request["messages"]) for request in endpoint.requests]
    assert ["could not be used" in text for text in texts] == [False, True, True, False, False]
    assert "as no person writes" in texts[1]
    assert "as no person writes" not in texts[2]
    assert len({request["seed"] for request in endpoint.requests}) == 5


async def test_a_scene_that_is_gone_leaves_no_fault_behind(teacher, endpoint):
    endpoint.answers = [answer("")]
    with pytest.raises(MalformedReply):
        await teacher.query(scene())
    gc.collect()
    assert not teacher._faults


async def test_busy_answers_are_asked_again_and_cost_nothing(teacher, endpoint):
    endpoint.answers = [429, 500, answer(QUERY)]
    assert await teacher.query(scene()) == QUERY
    assert endpoint.requests[0] == endpoint.requests[1] == endpoint.requests[2]
    assert teacher.spent() == Spent(1, 100, 20)


@pytest.mark.parametrize(
    ("reply", "error", "told"),
    [
        (429, EndpointError, "is asked too often; try a teacher.concurrency below"),
        (500, EndpointError, "still fails after 2 retries; its own log"),
        (401, EndpointError, "refuses the key; set OPENAI_API_KEY"),
        (404, EndpointError, "its address mostly ends in /v1"),
        (400, EndpointError, "refuses the request"),
        ("<html>Hello</html>", EndpointError, "answers with something that is no chat completion: '<html>"),
        ("[]", EndpointError, "no chat completion"),
    ],
)
async def test_an_endpoint_that_does_not_answer_is_no_malformed_reply(teacher, endpoint, reply, error, told):
    endpoint.default = reply
    with pytest.raises(error, match=told):
        await teacher.query(scene())
    assert teacher.spent() == Spent()


async def test_a_conversation_that_does_not_fit_is_given_up(teacher, endpoint):
    endpoint.default, endpoint.error = 400, "This model's maximum context length is 4096 tokens"
    with pytest.raises(MalformedReply, match="too long for the model"):
        await teacher.query(scene())


async def test_an_unreachable_or_slow_endpoint_is_told(endpoint, tmp_path):
    with pytest.raises(EndpointError, match="cannot be reached .*; start it, or set OPENAI_BASE_URL"):
        await make(endpoint, tmp_path, base_url="http://127.0.0.1:9/v1", retries=0).query(scene())
    endpoint.default, endpoint.delay = answer(QUERY), 0.3
    with pytest.raises(EndpointError, match="did not answer in time; .* teacher.seconds"):
        await make(endpoint, tmp_path, seconds=0.05, retries=0).query(scene())


def test_check_passes_or_says_in_one_sentence_what_to_do(endpoint, tmp_path):
    teacher = make(endpoint, tmp_path)
    teacher.check()
    for models, told in (
        (["other"], "teacher.model is 'some-model', but .* serves other"),
        ([], "serves no model"),
        (401, "set OPENAI_API_KEY"),
        (404, "mostly ends in /v1"),
        ("<html>", "/v1 gives no list of models"),
    ):
        endpoint.models = models
        with pytest.raises(EndpointError, match=told):
            teacher.check()
    with pytest.raises(EndpointError, match="cannot be reached"):
        make(endpoint, tmp_path, base_url="http://127.0.0.1:9/v1").check()
    assert not endpoint.requests


async def test_tokens_and_dollars_are_summed_and_reused_answers_are_counted_apart(endpoint, tmp_path):
    prices = {"dollars_per_million_prompt": 2.0, "dollars_per_million_completion": 10.0}
    endpoint.answers = [answer(QUERY, usage=(1000, 200), reasoning=150), answer("Done.", usage=None), answer("")]
    teacher = make(endpoint, tmp_path, **prices)
    await teacher.query(scene())
    await teacher.act(scene(number=1))
    with pytest.raises(MalformedReply):
        await teacher.act(scene(number=2))
    await make(endpoint, tmp_path, **prices).query(scene())
    assert teacher.spent() == Spent(3, 1100, 220, 150, reused=1, dollars=pytest.approx(0.0044))
    assert make(endpoint, tmp_path, "another run").spent() == Spent()


async def test_all_scenes_share_the_bound_on_requests(endpoint, tmp_path):
    endpoint.default, endpoint.delay = answer(QUERY), 0.03
    teacher = make(endpoint, tmp_path, concurrency=3)
    await asyncio.gather(*(teacher.query(scene(number=number)) for number in range(12)))
    assert len(endpoint.requests) == 12
    assert endpoint.most_at_once == 3


def test_a_teacher_may_go_from_one_event_loop_to_the_next(teacher, endpoint):
    endpoint.default = answer(QUERY)
    for number in range(2):
        assert asyncio.run(teacher.query(scene(number=number))) == QUERY


async def test_copies_of_a_teacher_share_journal_and_bound(endpoint, tmp_path):
    endpoint.default, endpoint.delay = answer(QUERY), 0.03
    teacher = make(endpoint, tmp_path, concurrency=2)
    copies = [pickle.loads(pickle.dumps(teacher)) for _ in range(6)]
    await asyncio.gather(*(copy.query(scene(number=number)) for number, copy in enumerate(copies)))
    assert endpoint.most_at_once == 2
    assert teacher.spent() == copies[0].spent() == Spent(6, 600, 120)


async def test_the_key_is_sent_and_written_nowhere(teacher, endpoint, tmp_path):
    endpoint.answers = [answer(QUERY)]
    await teacher.query(scene())
    assert endpoint.keys == ["Bearer a-very-secret-key"]
    assert not any(b"a-very-secret-key" in file.read_bytes() for file in tmp_path.iterdir())
    assert "secret" not in repr(teacher.config)


def _killed(url, folder, number):
    asyncio.run(make(SimpleNamespace(url=url), folder).query(scene(number=number)))
    os._exit(9)


def test_killed_processes_leave_their_answers_to_the_next_run(endpoint, tmp_path):
    endpoint.default = answer(QUERY)
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=_killed, args=(endpoint.url, tmp_path, number)) for number in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [9, 9]
    assert len(endpoint.requests) == 2
    teacher = make(endpoint, tmp_path)
    assert teacher.spent() == Spent(2, 200, 40)
    assert [asyncio.run(teacher.query(scene(number=number))) for number in range(2)] == [QUERY] * 2
    assert len(endpoint.requests) == 2
    assert teacher.spent() == Spent(2, 200, 40, reused=2)


async def test_a_run_that_is_played_again_gives_the_same_and_asks_nothing(endpoint, tmp_path):
    async def play():
        teacher = make(endpoint, tmp_path)
        one = scene(Ask(refused=refused_transfer("give_up")))
        told = []
        for attempt in (teacher.query, teacher.query, teacher.act, teacher.act):
            try:
                told.append(str(await attempt(one)))
            except MalformedReply as error:
                told.append(f"malformed: {error}")
        return told

    endpoint.answers = [answer("{}"), answer(QUERY), answer(calls=[TRANSFER]), answer("", finish="length")]
    first = await play()
    assert [text.startswith("malformed") for text in first] == [True, False, False, True]
    assert await play() == first
    assert len(endpoint.requests) == 4
