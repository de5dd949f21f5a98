"""How much a server may send at once, and in all. The client libraries hold whatever comes until an event ends."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

LARGEST_EVENT: Final = 2_000_000
"""Bytes of one event of a stream, or of a reply without any: more is no word of an answer."""
LARGEST_RESPONSE: Final = 256_000_000

LINES: Final = re.compile(rb"[\r\n]")
BLANK_LINES: Final = re.compile(rb"\r?\n\r?\n|\r\r")
"""What ends an event: a line of JSON, or lines of a server-sent event."""
_LONGEST_END: Final = 3
"""Bytes of one that may have come before."""

PLAIN: Final = {"Accept-Encoding": "identity"}
"""A header of every request: what is packed could be any number of times as large as the bytes that arrive."""


class ResponseTooLarge(ValueError):
    """More than is read was sent."""


def bounded(event_end: re.Pattern[bytes]) -> Callable[[Any], Awaitable[None]]:
    """A hook for the responses of either HTTP library."""

    async def bound(response: Any) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ValueError("a response is packed although that was declined")
        stream = response.stream
        base = next(cls for cls in type(stream).__mro__ if cls.__name__ == "AsyncByteStream")
        response.stream = type("BoundedStream", (_Bounded, base), {})(stream, event_end)

    return bound


class _Bounded:
    """The bytes of a response, as long as they keep within bounds."""

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
            if event > LARGEST_EVENT or whole > LARGEST_RESPONSE:
                raise ResponseTooLarge
            before = seen[-_LONGEST_END:]
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()
