"""The same calls through every path give the same results: in process, stdio, HTTP, both protocols."""

import asyncio
import json
import socket
import struct
import sys
import threading
import time
from http.client import HTTPResponse

import httpx
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.server.lowlevel import Server as McpServer
from mcp.shared.exceptions import MCPError
from mcp_types import LATEST_PROTOCOL_VERSION

from proverl.core import Call, ErrorCode
from proverl.envs import Session, client, load_server
from proverl.envs.client import RemoteSession
from proverl.envs.hosting import CALL_KEY, SESSION_KEY, Sessions, http_app, http_server, mcp_server

CALLS = [
    ("list_notes", {}),
    ("add_note", {"text": "Zürich 日本", "cost": 12.5}),
    ("add_note", {"text": "", "cost": 12.5}),
    ("get_note", {"note_id": "NOTE-1"}),
    ("delete_note", {"note_id": "NOTE-10000"}),
    ("delete_note", {"note_id": "NOTE-10001"}),
    ("unheard_of", {}),
]


@pytest.fixture(scope="module")
def url(notes):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = http_server(Sessions([notes], seed=5), "127.0.0.1", port)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}/mcp"
    server.should_exit = True
    thread.join()


def in_process(notes, seed):
    with Session([notes], seed) as session:
        return [session.call(*call) for call in CALLS], session.digest()


async def remote(server, seed, protocol):
    async with RemoteSession(server, seed, protocol) as session:
        return [await session.execute(Call(*call)) for call in CALLS], await session.state_digest()


@pytest.mark.parametrize("protocol", ["auto", "legacy"])
async def test_http_and_memory_equal_in_process(notes, url, protocol):
    expected = in_process(notes, 9)
    assert await remote(url, 9, protocol) == expected
    assert await remote(mcp_server(Sessions([notes])), 9, protocol) == expected


@pytest.mark.parametrize("protocol", ["auto", "legacy"])
async def test_stdio_equals_in_process(protocol):
    command = StdioServerParameters(command=sys.executable, args=["-m", "proverl.envs.cli", "serve", "banking"])
    with Session(["banking"], 3) as session:
        tools = [tool.name for tool in session.tools if tool.read_only and not tool.required]
        expected = [session.call(name, {}) for name in tools]
    async with RemoteSession(command, 3, protocol) as there:
        assert [tool.name for tool in there.tools] == [tool.name for tool in session.tools]
        assert [await there.execute(Call(name, {})) for name in tools] == expected


async def test_interleaved_sessions_share_nothing(notes, url):
    expected = [in_process(notes, seed) for seed in range(4)]
    assert await asyncio.gather(*(remote(url, seed, "auto") for seed in range(4))) == expected


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_names_no_session_gets_one_of_its_own(notes, url, mode):
    async with Client(url, mode=mode) as one, Client(url, mode=mode) as two:
        added = await one.call_tool("add_note", {"text": "mine", "cost": 1})
        note = {"note_id": added.structured_content["id"]}
        assert not (await one.call_tool("get_note", note)).is_error
        assert (await two.call_tool("get_note", note)).is_error


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_unknown_session_is_an_error(url, mode):
    async with Client(f"{url}?session=gone", mode=mode) as client:
        with pytest.raises(MCPError, match="no session 'gone'"):
            await client.call_tool("list_notes", {})
    async with Client(url, mode=mode) as client:
        with pytest.raises(MCPError, match="no session 'other'"):
            await client.call_tool("list_notes", {}, meta={SESSION_KEY: "other"})


async def test_a_repeated_call_id_does_not_act_twice_over_mcp(notes, url):
    async with RemoteSession(url, 2) as session:
        first = await session.execute(Call("add_note", {"text": "a", "cost": 1}, "call-7"))
        digest = await session.state_digest()
        assert await session.execute(Call("add_note", {"text": "a", "cost": 1}, "call-7")) == first
        assert await session.state_digest() == digest


async def test_tools_arrive_with_their_types_and_hints(notes, url):
    async with RemoteSession(url) as session:
        assert {tool.name: tool for tool in session.tools} == {tool.name: tool for tool in notes.tools}


def test_sessions_have_a_cap_and_an_idle_limit(notes):
    sessions = Sessions([notes], limit=2)
    names = [sessions.open(seed).id for seed in range(2)]
    with pytest.raises(MCPError, match="all 2 sessions are in use"):
        sessions.open(3)
    sessions.close(names[0])
    sessions.close(names[0])
    assert sessions.open(3).call("nothing", {}).code == ErrorCode.UNKNOWN_TOOL
    brief = Sessions([notes], idle_seconds=0.0)
    name = brief.open(1).id
    with pytest.raises(MCPError, match="no session"):
        brief.named(name)


def test_a_token_is_required_where_one_is_set(notes):
    transport = httpx.ASGITransport(http_app(Sessions([notes]), token="secret"))

    async def ask(headers):
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return (await client.get("/mcp", headers=headers)).status_code

    assert asyncio.run(ask({})) == 401
    assert asyncio.run(ask({"Authorization": "Bearer wrong"})) == 401


async def test_a_call_id_of_null_is_none(url):
    async with Client(url) as client:
        for text in ("a", "b"):
            answer = await client.call_tool("add_note", {"text": text, "cost": 1}, meta={CALL_KEY: None})
            assert not answer.is_error


async def test_a_long_name_of_a_session_is_not_repeated_at_length(url):
    async with Client(url) as client:
        with pytest.raises(MCPError, match="no session 'x") as told:
            await client.call_tool("list_notes", {}, meta={SESSION_KEY: "x" * 100_000})
    assert len(str(told.value)) < 200


def test_a_client_on_the_port_of_one_that_left_gets_a_session_of_its_own(url):
    port = int(url.split(":")[2].split("/")[0])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        own_port = free.getsockname()[1]
    first, second = (digest_after_a_note(port, own_port) for _ in range(2))
    assert first == second


def digest_after_a_note(port, own_port):
    """Connect from this port, write a note, and return the digest that the server then tells."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # the port is free at once
        client.bind(("127.0.0.1", own_port))
        client.connect(("127.0.0.1", port))
        added = asked(client, "tools/call", {"name": "add_note", "arguments": {"text": "mine", "cost": 1}})
        assert not added["isError"]
        return asked(client, "proverl/session/digest", {})["digest"]


def asked(client, method, params):
    meta = {
        "io.modelcontextprotocol/protocolVersion": LATEST_PROTOCOL_VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}})
    head = {
        "host": f"127.0.0.1:{client.getpeername()[1]}",
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": LATEST_PROTOCOL_VERSION,
        "mcp-method": method,
        "mcp-name": params.get("name", ""),
        "content-length": str(len(body)),
    }
    lines = ["POST /mcp HTTP/1.1", *(f"{name}: {value}" for name, value in head.items() if value), "", body]
    client.sendall("\r\n".join(lines).encode())
    response = HTTPResponse(client)
    response.begin()
    return json.loads(response.read())["result"]


async def test_hidden_tools_are_neither_named_nor_answered():
    async with RemoteSession(mcp_server(Sessions([load_server("banking")]))) as session:
        assert "reveal" not in str(session.tools)
        told = await session.execute(Call("reveal_card_pin", {"card_id": "CRD-10000"}))
        assert told.code == ErrorCode.UNKNOWN_TOOL


async def test_a_server_that_does_not_answer_is_given_up(monkeypatch):
    monkeypatch.setattr(client, "OPEN_SECONDS", 2)
    silent = StdioServerParameters(command=sys.executable, args=["-c", "import sys; sys.stdin.read()"])
    with pytest.raises(ConnectionError, match="python.* did not name its tools within 2 s"):
        async with RemoteSession(silent):
            pass


async def test_a_list_of_tools_without_end_is_refused():
    async def again(context, params):
        return types.ListToolsResult(tools=[], next_cursor="more")

    with pytest.raises(ConnectionError, match="the MCP server desk names its tools without end: 'more' came twice"):
        async with RemoteSession(McpServer("desk", on_list_tools=again), name="desk"):
            pass
