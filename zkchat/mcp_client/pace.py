"""How fast a server may send, so that one that never stops cannot take the processor from the chat."""

import time
from typing import Final

import anyio

_MESSAGES_PER_SECOND: Final = 500
_BYTES_PER_SECOND: Final = 64_000_000


class Pace:
    """Makes its reader wait for the rest of a second in which too much came; meanwhile the sender's pipe is full."""

    def __init__(self, *, messages: int = _MESSAGES_PER_SECOND, octets: int = _BYTES_PER_SECOND) -> None:
        self._limits = messages, octets
        self._begin = time.monotonic()
        self._messages = 0
        self._octets = 0

    async def passed(self, messages: int, octets: int) -> None:
        """So much came now."""
        now = time.monotonic()
        if now - self._begin >= 1:
            self._begin, self._messages, self._octets = now, 0, 0
        self._messages += messages
        self._octets += octets
        if self._messages > self._limits[0] or self._octets > self._limits[1]:
            await anyio.sleep(max(0.0, self._begin + 1 - now))
