"""An HTTP client that reads an answer up to a size and a time, since a server may send without end."""

import asyncio
from typing import Any

import httpx2
from openai import DefaultAsyncHttpxClient

LARGEST_ANSWER = 2**24  # bytes; 100,000 tokens of reasoning take about half a million


class BoundedClient(DefaultAsyncHttpxClient):
    """`seconds` bound a whole request; the timeouts of the class above start anew with every byte."""

    def __init__(self, seconds: float) -> None:
        super().__init__(timeout=seconds)
        self._seconds = seconds

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """The answer, wholly read. Raises httpx2.ReadTimeout and httpx2.ReadError, after which openai tries again."""
        try:
            async with asyncio.timeout(self._seconds):
                streamed = await super().send(request, **{**options, "stream": True})
                try:
                    body = await _read(streamed)
                finally:
                    await streamed.aclose()
        except TimeoutError:
            raise httpx2.ReadTimeout(f"no whole answer within {self._seconds:g} seconds", request=request) from None
        of_the_body = ("content-encoding", "content-length", "transfer-encoding")
        headers = [(name, value) for name, value in streamed.headers.multi_items() if name not in of_the_body]
        return httpx2.Response(streamed.status_code, headers=headers, content=body, request=request)


async def _read(streamed: httpx2.Response) -> bytes:
    body = bytearray()
    async for part in streamed.aiter_bytes():
        body += part
        if len(body) > LARGEST_ANSWER:
            raise httpx2.ReadError(f"the answer is larger than {LARGEST_ANSWER // 2**20} MiB")
    return bytes(body)
