"""JSON-RPC messages of ACP over standard input and output, one on each line."""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any, Final, TextIO

from zkchat.environment import Environment

MAX_MESSAGE_BYTES: Final = 50_000_000
"""Of one line. A client that sends more is not understood any more, and its input counts as ended."""
_CHUNK: Final = 65_536
_PARSE_ERROR: Final = {
    "jsonrpc": "2.0",
    "id": None,
    "error": {"code": -32700, "message": "That is no JSON-RPC message."},
}


class StdioTransport:
    """Implements `acp._transport.Transport`. A thread reads, so that input is taken in whatever else is going on."""

    def __init__(self, lines: Iterator[bytes], write: Callable[[bytes], object]) -> None:
        """`lines` may block; `write` writes and flushes."""
        self._lines = lines
        self._write = write
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
        for line in self._lines:
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                message = None
            self._submit(self._take, message)
        self._submit(self._received.put_nowait, None)

    def _submit(self, act: Callable[[Any], object], argument: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits for input
            self._loop.call_soon_threadsafe(act, argument)

    def _take(self, message: object) -> None:
        if isinstance(message, dict):
            self._received.put_nowait(message)
        else:
            self._loop.create_task(self.send(_PARSE_ERROR))


@contextmanager
def protocol_output(environment: Environment) -> Iterator[Callable[[bytes], object]]:
    """A function that writes to standard output, while everything else that is printed there goes to standard error."""
    stdout, stderr = environment.stdout, environment.stderr
    stdout.flush()
    number, error_number = _descriptor(stdout), _descriptor(stderr)
    if number is None or error_number is None:
        with redirect_stdout(stderr):
            yield lambda data: _write_text(stdout, data)
        return
    own = os.dup(number)
    os.dup2(error_number, number)
    try:
        with redirect_stdout(stderr):
            yield lambda data: _write_all(own, data)
    finally:
        os.dup2(own, number)
        os.close(own)


def _write_text(stream: TextIO, data: bytes) -> None:
    stream.write(data.decode())
    stream.flush()


def _write_all(number: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(number, view) :]


def input_lines(stream: TextIO) -> Iterator[bytes]:
    """The lines of a stream as they come. Its descriptor is read without a buffer of Python's, whose lock a thread that
    waits for input would hold when the program ends."""
    number = _descriptor(stream)
    if number is None:
        yield from (line.encode() for line in stream)
        return
    rest = bytearray()
    while chunk := _read(number):
        *lines, last = chunk.split(b"\n")
        for line in lines:
            yield bytes(rest + line)
            rest.clear()
        rest += last
        if len(rest) > MAX_MESSAGE_BYTES:
            print("zkchat: A message of the client is too long.", file=sys.stderr)  # noqa: T201
            return
    if rest:
        yield bytes(rest)


def _read(number: int) -> bytes:
    try:
        return os.read(number, _CHUNK)
    except OSError:
        return b""


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError, AttributeError):  # a stream in memory, or a closed one
        return None
