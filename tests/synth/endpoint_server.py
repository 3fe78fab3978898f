"""An OpenAI-compatible server on this machine, with scripted answers."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class EndpointServer(ThreadingHTTPServer):
    """Gives `answers` in order (a number: that HTTP status; a text: as it is), then `default`; keeps the requests.

    An answer may be a function of the request. One that is an iterator of bytes is sent piece by piece.
    """

    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[dict | int | str | Callable[[dict], dict]] = []
        self.default: dict | int | str | Callable[[dict], dict] = 500
        self.models: list[str] | int | str = ["some-model", "another"]
        self.error = "busy"
        self.requests: list[dict] = []
        self.keys: list[str] = []
        self.delay = 0.0
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        models = self.server.models
        if isinstance(models, list):
            models = {"data": [{"id": name, "object": "model", "created": 1, "owned_by": "x"} for name in models]}
        self.send(models)

    def do_POST(self):  # noqa: N802
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with server.lock:
            server.requests.append(body)
            server.keys.append(self.headers["authorization"])
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
            answer = server.answers.pop(0) if server.answers else server.default
        if callable(answer):
            answer = answer(body)
        time.sleep(server.delay)
        with server.lock:
            server.at_once -= 1
        self.send(answer)

    def send_pieces(self, pieces):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):
            for piece in pieces:
                self.wfile.write(piece)
                time.sleep(0.01 if len(piece) == 1 else 0)

    def send(self, answer):
        if isinstance(answer, Iterator):
            self.send_pieces(answer)
            return
        body = {"error": {"message": self.server.error}} if isinstance(answer, int) else answer
        text = body if isinstance(body, str) else json.dumps(body)
        self.send_response(answer if isinstance(answer, int) else 200)
        self.send_header("content-type", "text/html" if isinstance(answer, str) else "application/json")
        self.send_header("content-length", str(len(text.encode())))
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        with suppress(BrokenPipeError):  # a client that did not wait
            self.wfile.write(text.encode())

    def log_message(self, *args):
        pass


@contextmanager
def serving():
    server = EndpointServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def answer(text=None, calls=(), finish="stop", usage=(100, 20), reasoning=0):
    message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": f"x{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(calls)
        ]
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "some-model"}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": finish}]
    if usage:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        body["usage"]["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return body
