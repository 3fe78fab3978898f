"""Servers as MCP servers, over stdio and streamable HTTP, in the current protocol and the one before it.

A session is named by us, since the current protocol knows none: by `_meta["proverl/session"]` of a request, or by
`?session=` in the URL. A client that names none gets one of its own: per process on stdio, per `Mcp-Session-Id` in the
older protocol, per TCP connection in the current one, closed with it. Three further requests are for our own client:
`proverl/session/open`, `proverl/session/close`, `proverl/session/digest`.
"""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Sequence
from importlib.metadata import version
from itertools import count
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server import Server as McpServer
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request

from proverl.core import Call, ErrorCode, Result, Tool
from proverl.envs.schema import brief
from proverl.envs.server import Server
from proverl.envs.session import Session

if TYPE_CHECKING:
    import uvicorn

SESSION_KEY = "proverl/session"
CALL_KEY = "proverl/call"
_CONNECTION = "proverl_connection"


class OpenParams(types.RequestParams):
    """Parameters of `proverl/session/open`."""

    seed: int = 0


class OpenResult(types.Result):
    """Answer of `proverl/session/open`."""

    session: str
    now: str


class DigestResult(types.Result):
    """Answer of `proverl/session/digest`."""

    digest: str


class Sessions:
    """The open sessions of one host: named ones, and one for each client that names none.

    At most `limit` are open at once. A session unused for `idle_seconds` is closed.
    """

    def __init__(
        self, servers: Sequence[Server], seed: int = 0, limit: int = 10_000, idle_seconds: float = 3600.0
    ) -> None:
        self.servers = list(servers)
        self.seed = seed
        self._limit = limit
        self._idle_seconds = idle_seconds
        # key: name, and whether a client chose to name it; least recently used first
        self._open: OrderedDict[tuple[str, bool], tuple[Session, float]] = OrderedDict()

    def open(self, seed: int) -> Session:
        """Open a session under a new name, its `id`. Raises MCPError when the host is full."""
        return self._start((secrets.token_hex(8), True), seed)

    def named(self, name: str) -> Session:
        """The open session of this name. Raises MCPError when there is none: it is never made up."""
        session = self._use((name, True))
        if session is None:
            raise _error(f"no session {brief(name)}; open one with proverl/session/open")
        return session

    def own(self, client: str) -> Session:
        """The session of a client that names none; opened with the host's seed when it first calls."""
        return self._use((client, False)) or self._start((client, False), self.seed)

    def close(self, name: str, named: bool = True) -> None:
        """Close a session; closing one that is gone does nothing."""
        session, _ = self._open.pop((name, named), (None, 0.0))
        if session is not None:
            session.close()

    def _start(self, key: tuple[str, bool], seed: int) -> Session:
        self._expire()
        if len(self._open) >= self._limit:
            raise _error(f"all {self._limit} sessions are in use; close one first")
        session = Session(self.servers, seed, id=key[0])
        self._open[key] = (session, time.monotonic())
        return session

    def _use(self, key: tuple[str, bool]) -> Session | None:
        self._expire()
        if key not in self._open:
            return None
        session, _ = self._open.pop(key)
        self._open[key] = (session, time.monotonic())
        return session

    def close_all(self) -> None:
        """Close every session."""
        for key in list(self._open):
            self.close(*key)

    def _expire(self) -> None:
        oldest = time.monotonic() - self._idle_seconds
        while self._open and next(iter(self._open.values()))[1] < oldest:
            self.close(*next(iter(self._open)))


def mcp_server(sessions: Sessions) -> McpServer[Any]:
    """The MCP server that serves these sessions."""
    name = "+".join(server.name for server in sessions.servers)
    tools = [_described(tool) for server in sessions.servers for tool in server.tools if not tool.hidden]
    schemas = {tool.name: tool.input_schema for tool in tools}
    hidden = {tool.name for server in sessions.servers for tool in server.tools if tool.hidden}

    async def list_tools(
        context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        session = _session(sessions, context)
        if params.name in hidden:
            return _answer(Result(None, ErrorCode.UNKNOWN_TOOL, f"no tool {params.name!r}; call one of those listed"))
        call_id = (context.meta or {}).get(CALL_KEY)
        call = Call(params.name, params.arguments or {}, "" if call_id is None else str(call_id))
        return _answer(await session.execute(call))

    host: McpServer[Any] = McpServer(
        f"proverl-{name}",
        version=version("proverl-envs"),
        instructions="; ".join(server.description for server in sessions.servers),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=schemas.get,  # else the SDK lists all tools before each call over HTTP
    )
    _add_session_requests(host, sessions)
    return host


def _add_session_requests(host: McpServer[Any], sessions: Sessions) -> None:
    async def open_session(context: ServerRequestContext[Any], params: OpenParams) -> BaseModel:
        session = sessions.open(params.seed)
        return OpenResult(session=session.id, now=session.now.isoformat(timespec="minutes"))

    async def close_session(context: ServerRequestContext[Any], params: types.RequestParams) -> BaseModel:
        sessions.close(*_name(context))
        return types.EmptyResult()

    async def digest_session(context: ServerRequestContext[Any], params: types.RequestParams) -> BaseModel:
        return DigestResult(digest=await _session(sessions, context).state_digest())

    host.add_request_handler("proverl/session/open", OpenParams, open_session)
    host.add_request_handler("proverl/session/close", types.RequestParams, close_session)
    host.add_request_handler("proverl/session/digest", types.RequestParams, digest_session)


def _session(sessions: Sessions, context: ServerRequestContext[Any]) -> Session:
    name, named = _name(context)
    return sessions.named(name) if named else sessions.own(name)


def _name(context: ServerRequestContext[Any]) -> tuple[str, bool]:
    """The name of the session that a request is for, and whether the client chose it."""
    named = (context.meta or {}).get(SESSION_KEY)
    request: Request | None = context.request
    if named is None and request is not None:
        named = request.query_params.get("session")
    if named is not None:
        return str(named), True
    if request is None:
        return "stdio", False
    protocol_session = request.headers.get("mcp-session-id")
    if protocol_session:
        return f"mcp:{protocol_session}", False
    return f"tcp:{request.scope.get('state', {}).get(_CONNECTION, request.client)}", False


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=_without_sources(tool.parameters),
        output_schema=tool.returns,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
        _meta={"proverl/server": tool.server},
    )


def _without_sources(parameters: dict[str, Any]) -> dict[str, Any]:
    """The schema without the names of hidden tools, which know what only a person should."""
    properties = {
        name: {key: value for key, value in schema.items() if key != "x-source"}
        for name, schema in parameters["properties"].items()
    }
    return {**parameters, "properties": properties}


def _answer(result: Result) -> types.CallToolResult:
    structured: Any = result.content if result.ok else None
    text = types.TextContent(type="text", text=result.text())
    return types.CallToolResult(content=[text], structured_content=structured, is_error=not result.ok)


def _error(message: str) -> MCPError:
    return MCPError(code=types.INVALID_PARAMS, message=message)


async def serve_stdio(sessions: Sessions) -> None:
    """Serve over standard input and output until the client closes them."""
    host = mcp_server(sessions)
    try:
        async with stdio_server() as (reads, writes):
            await host.run(reads, writes, host.create_initialization_options())
    finally:
        sessions.close_all()


def http_app(sessions: Sessions, host: str = "127.0.0.1", token: str = "") -> Starlette:
    """The ASGI application for streamable HTTP at `/mcp`; with a token every request must bear it."""
    app = mcp_server(sessions).streamable_http_app(host=host, json_response=True)
    if token:
        app.add_middleware(BearerToken, token=token)
    return app


def http_server(sessions: Sessions, host: str, port: int, token: str = "") -> "uvicorn.Server":
    """The application of `http_app` in a web server that also tells connections apart."""
    import uvicorn  # late: stdio needs none

    app, protocol = http_app(sessions, host, token), _connections(sessions)
    config = uvicorn.Config(app, host, port, http=protocol, log_level="warning", timeout_keep_alive=3600)
    return uvicorn.Server(config)


def _connections(sessions: Sessions) -> type[asyncio.Protocol]:
    """uvicorn's protocol with a number for each connection: a client's port is another client's a moment later."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    numbers = count()

    class Numbered(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self._number = next(numbers)
            self.app_state: dict[str, Any] = {**self.app_state, _CONNECTION: self._number}

        def connection_lost(self, exc: Exception | None) -> None:
            sessions.close(f"tcp:{self._number}", named=False)
            super().connection_lost(exc)

    return Numbered


class BearerToken:
    """ASGI middleware: refuse HTTP requests that do not bear the token."""

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass the request on, or answer 401."""
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "http" and not secrets.compare_digest(given, self._expected):
            await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
            await send({"type": "http.response.body", "body": b"a bearer token is required"})
            return
        await self._app(scope, receive, send)
