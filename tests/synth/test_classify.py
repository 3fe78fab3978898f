"""A model classifies tool pairs, against a real HTTP server on this machine."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from proverl.agent import EndpointPolicy
from proverl.core import Tool
from proverl.synth.graphs.classify import classify

NAMES = ("open", "read", "shut")
ACCOUNT = {"type": "object", "properties": {"account": {"type": "string", "x-entity": "bank.Account"}}}
TOOLS = [Tool(name, f"{name} it", ACCOUNT, ACCOUNT, "bank") for name in NAMES]


class Endpoint(ThreadingHTTPServer):
    """Answers a question about a target with the next of its texts, and keeps the requests."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = {name: ["{}"] for name in NAMES}
        self.requests = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):  # noqa: N802
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(request)
        target = json.loads(request["messages"][0]["content"].split("TARGET\n")[1].split("\n")[0])["name"]
        text = self.server.answers[target].pop(0)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        sent = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

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


def policy(endpoint, model="some-model"):
    return EndpointPolicy(model, f"http://127.0.0.1:{endpoint.server_port}/v1", "key", retries=0)


async def test_one_question_for_each_tool_makes_the_graph(endpoint):
    endpoint.answers["read"] = ['Here it is:\n```json\n{"open": "explicit"}\n```']
    endpoint.answers["shut"] = ['{"open": "explicit", "read": "implicit"}']
    graph = await classify(TOOLS, policy(endpoint))
    assert dict(graph.edges) == {
        ("open", "read"): {"kind": "explicit", "entities": ()},
        ("open", "shut"): {"kind": "explicit", "entities": ()},
        ("read", "shut"): {"kind": "implicit", "entities": ()},
    }
    assert set(graph.nodes) == set(NAMES)
    assert len(endpoint.requests) == 3
    assert "x-entity" not in json.dumps(endpoint.requests)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("no idea", "no JSON object"),
        ('{"open": ', "no JSON object"),
        ("[1]", "no JSON object"),
        ('{"steal": "explicit"}', "none of the sources: steal"),
        ('{"open": "perhaps"}', "neither explicit nor implicit: open"),
        ('{"open": ["explicit"]}', "neither explicit nor implicit: open"),
    ],
)
async def test_a_malformed_answer_is_told_why_and_asked_for_again(bad, why, endpoint):
    endpoint.answers["read"] = [bad, '{"open": "implicit"}']
    graph = await classify(TOOLS, policy(endpoint))
    assert list(graph.edges) == [("open", "read")]
    (again,) = [request for request in endpoint.requests if len(request["messages"]) > 1]
    assert again["messages"][1]["content"] == bad
    assert why in again["messages"][2]["content"]


async def test_a_model_that_never_answers_is_given_up(endpoint, tmp_path):
    endpoint.answers["read"] = ["?"] * 5
    with pytest.raises(ValueError, match="some-model gave no answer about read in 2 attempts; the last: This holds no"):
        await classify(TOOLS, policy(endpoint), tmp_path, attempts=2)
    assert len(endpoint.answers["read"]) == 3


async def test_answers_are_kept_by_schema_and_model(endpoint, tmp_path):
    endpoint.answers = {name: ["{}", "{}", "{}"] for name in NAMES}
    endpoint.answers["read"][0] = '{"open": "explicit"}'
    first = await classify(TOOLS, policy(endpoint), tmp_path)
    again = await classify(TOOLS, policy(endpoint), tmp_path)
    assert dict(first.edges) == dict(again.edges) and len(first.edges) == 1
    assert len(endpoint.requests) == 3
    assert {path.suffix for path in tmp_path.iterdir()} == {".json"}
    await classify(TOOLS, policy(endpoint, "another-model"), tmp_path)
    assert len(endpoint.requests) == 6
    changed = [*TOOLS[:2], Tool("shut", "shut it for good", ACCOUNT, ACCOUNT, "bank")]
    await classify(changed, policy(endpoint), tmp_path)
    assert len(endpoint.requests) == 9  # every question shows the tool that has changed


async def test_many_tools_are_asked_about_in_parts(endpoint, monkeypatch):
    monkeypatch.setattr("proverl.synth.graphs.classify._TOGETHER", 1)
    endpoint.answers = {name: ["{}", "{}"] for name in NAMES}
    await classify(TOOLS, policy(endpoint))
    assert len(endpoint.requests) == 6
