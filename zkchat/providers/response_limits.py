"""Limits on the size of responses: client libraries buffer whatever arrives until an event ends."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

from zkchat.model.patterns import lazy_pattern

MAX_EVENT_BYTES: Final = 2_000_000
"""Of one event of a stream, or of a reply without events."""
MAX_RESPONSE_BYTES: Final = 256_000_000

END_OF_LINE: Final = lazy_pattern(rb"[\r\n]")
END_OF_EVENT: Final = lazy_pattern(rb"\r?\n\r?\n|\r\r")
"""What ends an event: of JSON lines, and of server-sent events."""
_MAX_END_BYTES: Final = 3
"""Bytes of an event's end that may have come with the data before."""

NO_COMPRESSION: Final = {"Accept-Encoding": "identity"}
"""Header of every request: a compressed response could expand to any size."""


class ResponseTooLarge(ValueError):
    """The response exceeds the limits."""


def limit_response(event_end: re.Pattern[bytes]) -> Callable[[Any], Awaitable[None]]:
    """A response hook for either HTTP library that limits the response's stream."""

    async def limit(response: Any) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ValueError("a response is packed although that was declined")
        stream = response.stream
        base = next(cls for cls in type(stream).__mro__ if cls.__name__ == "AsyncByteStream")
        response.stream = type("LimitedStream", (_LimitedStream, base), {})(stream, event_end)

    return limit


class _LimitedStream:
    """The bytes of a response; raises `ResponseTooLarge` beyond the limits."""

    def __init__(self, stream: Any, event_end: re.Pattern[bytes]) -> None:
        self._stream = stream
        self._event_end = event_end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        event = whole = 0
        before = b""
        async for data in self._stream:  # never much at once: the HTTP libraries read 64 KB
            seen = before + data
            ends = [match.end() for match in self._event_end.finditer(seen)]
            event = len(seen) - ends[-1] if ends else event + len(data)
            whole += len(data)
            if event > MAX_EVENT_BYTES or whole > MAX_RESPONSE_BYTES:
                raise ResponseTooLarge
            before = seen[-_MAX_END_BYTES:]
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()
