"""Standard input and output of a program that speaks a protocol on them: nothing else is read or printed there."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from msgspec import Struct

from zkchat.core import Environment

_CHUNK: Final = 65_536


class Channel(Struct, frozen=True):
    """Where messages come from and go to, as bytes."""

    read: Callable[[int], bytes]
    """At most so many bytes; none at the end."""
    write: Callable[[bytes], object]


@contextmanager
def claimed_streams(environment: Environment) -> Iterator[Channel]:
    """Standard input and output for messages alone: what else is printed goes to standard error."""
    stdin, stdout = environment.stdin, environment.stdout
    try:
        descriptors = stdin.fileno(), stdout.fileno()
        aside = environment.stderr.fileno()
    except (OSError, ValueError):  # streams in memory
        whole = [stdin.read().encode(errors="replace")]
        yield Channel(lambda _: whole.pop() if whole else b"", lambda data: stdout.write(data.decode()))
        return
    source, sink = map(os.dup, descriptors)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, descriptors[0])
    os.close(nothing)
    os.dup2(aside, descriptors[1])
    try:
        yield Channel(partial(os.read, source), partial(_write_all, sink))
    finally:
        stdout.flush()  # what was printed meanwhile is no message
        os.dup2(source, descriptors[0])
        os.dup2(sink, descriptors[1])
        os.close(sink)  # `source` stays open: a thread may still be waiting for input


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class Lines:
    """The lines of an input, each of a bounded length."""

    def __init__(self, read: Callable[[int], bytes], max_bytes: int) -> None:
        self._read = read
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self._searched = 0

    def next(self) -> bytes | None:
        """The next line; None at the end of input. A line that is too long is cut, so that it is no message."""
        is_too_long = False
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                self._searched = 0
                return line[:1] if is_too_long or end > self._max_bytes else line
            if is_too_long or len(self._buffer) > self._max_bytes:
                is_too_long = True
                del self._buffer[1:]
            self._searched = len(self._buffer)
            try:
                chunk = self._read(_CHUNK)
            except OSError:  # the terminal, or whatever it was, is gone
                chunk = b""
            if not chunk:
                line = bytes(self._buffer)
                self._buffer.clear()
                self._searched = 0
                return line or None
            self._buffer += chunk
