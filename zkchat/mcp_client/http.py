"""Servers that are reached over streamable HTTP: bounded answers, and what a status means."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
from mcp.client.streamable_http import streamable_http_client

from zkchat.mcp_client.faults import ServerFault, describe_status, without_secrets
from zkchat.mcp_client.stdio import MAX_MESSAGE, Pace
from zkchat.model.tool_server import ServerDefinition

_SECONDS_TO_CONNECT: Final = 10.0


class BoundedClient(httpx2.AsyncClient):
    """A client that remembers the last refusal and reads no endless answer."""

    refusal = ""
    """What the status of the last answer to a message says of the server; empty where it was no error."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        response = await super().send(request, **options)
        if request.method == "POST":
            self.refusal = _refusal(response)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise ServerFault("sent a compressed answer that was not asked for")
        if isinstance(response.stream, httpx2.AsyncByteStream):
            kind = response.headers.get("content-type", "")
            response.stream = _BoundedStream(response.stream, endless=kind.lower().startswith("text/event-stream"))
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, *, endless: bool) -> None:
        self._stream = stream
        self._endless = endless
        """Whether it is a stream of events, which is bounded event by event."""
        self._pace = Pace()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_MESSAGE and not self._endless:
                raise ServerFault(f"sent a message of more than {MAX_MESSAGE // 1_000_000} MB")
            await self._pace.passed(chunk.count(b"data:"), len(chunk))
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _refusal(response: httpx2.Response) -> str:
    if response.status_code >= 400:
        return describe_status(response.status_code, str(response.request.url))
    if response.next_request is not None:
        target = without_secrets(str(response.next_request.url))
        return f"redirects to {target}, which is not followed: check its `url` in the settings"
    return ""


def client_for(definition: ServerDefinition) -> BoundedClient:
    """A client with the headers of a server. Raises `ServerFault` where they are none."""
    try:
        return BoundedClient(
            headers={**definition.headers, "accept-encoding": "identity"},
            timeout=httpx2.Timeout(_SECONDS_TO_CONNECT, read=None),
        )
    except (ValueError, TypeError, httpx2.InvalidURL):
        raise ServerFault("cannot be reached: its `headers` in the settings are not valid") from None


@asynccontextmanager
async def open_http(client: BoundedClient, definition: ServerDefinition) -> AsyncGenerator[Any, None]:
    """The streams of a server over HTTP."""
    async with (
        client,
        streamable_http_client(definition.url, http_client=client, max_sse_event_size=MAX_MESSAGE) as streams,
    ):
        yield streams
