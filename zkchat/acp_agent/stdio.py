"""JSON-RPC messages of ACP over standard input and output, one on each line."""

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from zkchat.compose.protocol_streams import Channel, Lines

MAX_MESSAGE_BYTES: Final = 50_000_000
"""Of one line; a longer one is no message."""
_NO_JSON: Final = -32700
_NO_REQUEST: Final = -32600


class StdioTransport:
    """Implements `acp._transport.Transport`. A thread reads, so that input is taken in whatever else is going on."""

    def __init__(self, channel: Channel) -> None:
        self._lines = Lines(channel.read, MAX_MESSAGE_BYTES)
        self._write = channel.write
        self._received: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._is_broken = False
        threading.Thread(target=self._read, name="acp-input", daemon=True).start()

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message. A client that reads no more ends the input as well."""
        if self._is_broken:
            return
        try:
            text = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
            self._write(f"{text}\n".encode(errors="replace"))  # half a character, which a name may hold, is no JSON
        except OSError:
            self._is_broken = True
            self._received.put_nowait(None)

    async def receive(self) -> dict[str, Any] | None:
        return await self._received.get()

    async def close(self) -> None:
        self._is_broken = True

    def _read(self) -> None:
        for line in iter(self._lines.next, None):
            if not line.strip():
                continue
            try:
                message = json.loads(line, parse_constant=_refuse)
            except (ValueError, RecursionError):
                message = None
            self._submit(self._take, message)
        self._submit(self._received.put_nowait, None)

    def _submit(self, act: Callable[[Any], object], argument: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits for input
            self._loop.call_soon_threadsafe(act, argument)

    def _take(self, message: object) -> None:
        if isinstance(message, dict) and isinstance(message.get("method", ""), str):
            self._received.put_nowait(message)
            return
        code, answered = (_NO_REQUEST, message.get("id")) if isinstance(message, dict) else (_NO_JSON, None)
        error = {"code": code, "message": "That is no JSON-RPC message."}
        self._loop.create_task(self.send({"jsonrpc": "2.0", "id": answered, "error": error}))


def _refuse(constant: str) -> None:
    """`NaN` and the infinities, which Python takes for JSON, but no client."""
    raise ValueError(constant)
