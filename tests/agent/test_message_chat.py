"""The endpoint policy, against a real HTTP server on this machine."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from proverl.agent import EndpointPolicy, Limits, run_episode
from proverl.core import Call, MalformedCall, StopReason


class Endpoint(ThreadingHTTPServer):
    """Answers chat completions with the given bodies (a number: that HTTP status) and keeps the requests."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[dict | int] = []
        self.requests: list[dict] = []
        self.error = "busy"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):  # noqa: N802
        self.server.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        answer = self.server.answers.pop(0)
        body = json.dumps({"error": {"message": self.server.error}} if isinstance(answer, int) else answer).encode()
        self.send_response(answer if isinstance(answer, int) else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def endpoint():
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def policy(endpoint):
    url = f"http://127.0.0.1:{endpoint.server_port}/v1"
    return EndpointPolicy("some-model", url, "key", options={"temperature": 0.5}, retries=2)


def answer(text: str | None = None, calls: tuple = (), finish: str = "stop", usage: tuple[int, int] | None = None):
    message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            # the same ids in every reply, as some servers do
            {"id": f"x{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(calls)
        ]
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "some-model"}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": finish}]
    if usage:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return body


async def test_an_episode_over_the_wire(task, environment, policy, endpoint):
    calls = (("list_accounts", "{}"), ("open_account", '{"kind":'), ("list_accounts", ""))
    endpoint.answers = [answer(calls=calls), 503, answer("Opened."), answer(calls=calls[:1]), answer("Done.")]
    episode = await run_episode(task, environment, policy.chat(task, Limits(reply_tokens=99), seed=7), Limits())
    assert (episode.stop, episode.error) == (StopReason.COMPLETED, "")
    assert [call.name for call in environment.ran] == ["list_accounts"] * 3
    assert isinstance(episode.calls[1].call, MalformedCall)
    assert "not valid JSON" in episode.messages[4]["content"]
    first, retried, again, _, last = endpoint.requests
    assert retried == again
    assert (first["model"], first["temperature"], first["seed"], first["max_completion_tokens"]) == (
        "some-model",
        0.5,
        7,
        99,
    )
    assert [tool["function"]["name"] for tool in first["tools"]] == [tool.name for tool in task.tools]
    assert "x-entity" not in json.dumps(first["tools"])
    assert first["messages"] == episode.messages[:2]
    shown = retried["messages"]
    assert [call["function"]["arguments"] for call in shown[2]["tool_calls"]] == ["{}", "{}", ""]
    assert [message.get("tool_call_id") for message in shown[3:]] == ["x0", "x1", "x2"]
    assert [m["content"] for m in last["messages"]] == [m["content"] for m in episode.messages[:-1]]
    assert episode.transcript is None


async def test_arguments_reach_the_environment_as_an_object(task, environment, policy, endpoint):
    endpoint.answers = [answer(calls=(("open_account", '{"kind":"savings"}'),)), answer("a"), answer("b")]
    await run_episode(task, environment, policy.chat(task, Limits()), Limits())
    assert environment.ran == [Call("open_account", {"kind": "savings"}, "call_0")]
    assert "max_completion_tokens" not in endpoint.requests[0]


async def test_room_follows_the_endpoints_own_count(task, environment, policy, endpoint):
    limits = Limits(response_tokens=100)
    endpoint.answers = [answer("a", usage=(50, 30)), answer("b", usage=(90, 70))]
    chat = policy.chat(task, limits)
    assert chat.room is None
    episode = await run_episode(task, environment, chat, limits)
    assert episode.stop == StopReason.COMPLETED
    assert chat.room == 100 - (90 + 70 - 50)


async def test_a_reply_cut_by_the_endpoint_ends_the_episode(task, environment, policy, endpoint):
    endpoint.answers = [answer("I wi", finish="length")]
    episode = await run_episode(task, environment, policy.chat(task, Limits()), Limits())
    assert episode.stop == StopReason.TOKENS


async def test_an_endpoint_that_keeps_failing_crashes_the_episode_with_its_message(task, environment, policy, endpoint):
    endpoint.answers = [500] * 3
    episode = await run_episode(task, environment, policy.chat(task, Limits()), Limits())
    assert episode.stop == StopReason.CRASHED
    assert "busy" in episode.error
    assert len(endpoint.requests) == 3


async def test_no_choice_is_an_error(task, environment, policy, endpoint):
    endpoint.answers = [answer("a") | {"choices": []}]
    episode = await run_episode(task, environment, policy.chat(task, Limits()), Limits())
    assert "no chat completion: " in episode.error


async def test_half_characters_of_an_endpoint_become_question_marks(task, environment, policy, endpoint):
    endpoint.answers = [answer("Well\ud83d.", calls=[("fi\udc00nd", '{"query": "\ud83d"}')])]
    reply = await policy.chat(task, Limits()).reply()
    assert reply.text == "Well?."
    assert reply.calls == (Call("fi?nd", {"query": "?"}, "x0"),)


async def test_a_task_without_tools_sends_none(task, environment, policy, endpoint):
    object.__setattr__(task, "tools", ())
    endpoint.answers = [answer("a"), answer("b")]
    await run_episode(task, environment, policy.chat(task, Limits()), Limits())
    assert "tools" not in endpoint.requests[0]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"choices": None}, "no chat completion"),
        ({"choices": [{"message": None}]}, "no chat completion"),
        ({"choices": [{"message": {"tool_calls": [{"id": "x", "type": "function", "function": None}]}}]}, "no chat"),
        ({"choices": "none today"}, "no chat completion"),
    ],
)
async def test_an_answer_that_is_no_reply_is_named(task, environment, policy, endpoint, change, told):
    endpoint.answers = [answer("Hello.") | change]
    episode = await run_episode(task, environment, policy.chat(task, Limits()), Limits())
    assert episode.stop == StopReason.CRASHED
    assert episode.error.startswith("ValueError: the endpoint's answer is") and told in episode.error


async def test_a_conversation_too_long_for_the_model_is_cut_not_failed(task, environment, policy, endpoint):
    endpoint.answers = [400]
    endpoint.error = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."
    episode = await run_episode(task, environment, policy.chat(task, Limits()), Limits())
    assert (episode.stop, episode.error) == (StopReason.TOKENS, "")


async def test_options_that_only_the_server_knows_are_sent(task, environment, endpoint):
    url = f"http://127.0.0.1:{endpoint.server_port}/v1"
    endpoint.answers = [answer("Done.")]
    asked = EndpointPolicy("some-model", url, "key", options={"chat_template_kwargs": {"enable_thinking": False}})
    await asked.chat(task, Limits()).reply()
    assert endpoint.requests[0]["chat_template_kwargs"] == {"enable_thinking": False}
