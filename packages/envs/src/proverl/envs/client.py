"""A session on the other side of MCP, with the face that the episode loop knows."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Literal

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from proverl.core import Call, ErrorCode, Result, Tool
from proverl.envs.hosting import CALL_KEY, SESSION_KEY, DigestResult, OpenParams, OpenResult

Protocol = Literal["auto", "legacy"]

OPEN_SECONDS = 60  # a command may first download what it starts


class _Open(types.Request[OpenParams, Literal["proverl/session/open"]]):
    method: Literal["proverl/session/open"] = "proverl/session/open"
    params: OpenParams


class _Close(types.Request[types.RequestParams, Literal["proverl/session/close"]]):
    method: Literal["proverl/session/close"] = "proverl/session/close"
    params: types.RequestParams


class _Digest(types.Request[types.RequestParams, Literal["proverl/session/digest"]]):
    method: Literal["proverl/session/digest"] = "proverl/session/digest"
    params: types.RequestParams


class RemoteSession:
    """One session of an MCP server: a URL, a command to start, or an in-process MCP server.

    Ours are asked for a session of their own with `seed`; a third party's server gets one connection, and has no
    digest. Use as an async context manager; entering raises ConnectionError when the server does not name its tools in
    `OPEN_SECONDS`, or without end.
    """

    def __init__(
        self, server: str | StdioServerParameters | Any, seed: int = 0, protocol: Protocol = "auto", name: str = ""
    ) -> None:
        self._client = Client(server, mode=protocol, cache=None)
        self._seed = seed
        self._server = name
        told = name or (server if isinstance(server, str) else str(getattr(server, "command", "")))
        self._where = f"the MCP server {told}".rstrip()
        self._stack = AsyncExitStack()
        self._meta: Any = {}
        self.tools: tuple[Tool, ...] = ()
        self.id = ""

    async def __aenter__(self) -> "RemoteSession":
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                await self._stack.enter_async_context(self._client)
                await self._open()
                self.tools = tuple([self._tool(tool) for tool in await self._list()])
        except TimeoutError:
            await self._stack.aclose()
            raise ConnectionError(f"{self._where} did not name its tools within {OPEN_SECONDS} s") from None
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self.id:
                await self._client.session.send_request(_Close(params=self._params()), types.EmptyResult)
        finally:
            await self._stack.aclose()

    async def execute(self, call: Call) -> Result:
        """Run one call there. Raises MCPError when the session is gone or the connection fails."""
        meta = {**self._meta, **({CALL_KEY: call.id} if call.id else {})}
        return _result(await self._client.call_tool(call.name, call.arguments, meta=meta))  # type: ignore[arg-type]

    async def state_digest(self) -> str:
        """Digest of the state there; empty for a third party's server."""
        if not self.id:
            return ""
        return (await self._client.session.send_request(_Digest(params=self._params()), DigestResult)).digest

    async def _open(self) -> None:
        try:
            opened = await self._client.session.send_request(_Open(params=OpenParams(seed=self._seed)), OpenResult)
        except MCPError as error:
            if error.code != types.METHOD_NOT_FOUND:
                raise
            return
        self.id = opened.session
        self._meta = {SESSION_KEY: self.id}

    async def _list(self) -> Sequence[types.Tool]:
        tools: list[types.Tool] = []
        cursors: list[str | None] = [None]
        while True:
            page = await self._client.list_tools(cursor=cursors[-1])
            tools += page.tools
            if not page.next_cursor:
                return tools
            if page.next_cursor in cursors:
                raise ConnectionError(f"{self._where} names its tools without end: {page.next_cursor!r} came twice")
            cursors.append(page.next_cursor)

    def _params(self) -> types.RequestParams:
        return types.RequestParams(_meta=self._meta)

    def _tool(self, tool: types.Tool) -> Tool:
        hints = tool.annotations or types.ToolAnnotations()
        return Tool(
            name=tool.name,
            description=tool.description or "",
            parameters=dict(tool.input_schema),
            returns=dict(tool.output_schema or {"type": "object"}),
            server=str((tool.meta or {}).get("proverl/server", self._server)),
            read_only=bool(hints.read_only_hint),
            destructive=bool(hints.destructive_hint),
            idempotent=bool(hints.idempotent_hint),
        )


def _result(answer: types.CallToolResult) -> Result:
    text = "\n".join(part.text for part in answer.content if isinstance(part, types.TextContent))
    if not answer.is_error:
        return Result(answer.structured_content if answer.structured_content is not None else _json(text))
    body = _json(text)
    if isinstance(body, dict) and body.get("error") in set(ErrorCode):
        return Result(None, ErrorCode(body["error"]), str(body.get("message", "")))
    return Result(None, ErrorCode.REJECTED, text)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
