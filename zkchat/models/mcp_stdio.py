"""Servers that are started as a process: their streams, their pace and their log."""

import asyncio
import json
import os
import re
import signal
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from subprocess import Popen
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCNotification, jsonrpc_message_adapter

from zkchat.core import ServerDefinition, make_private
from zkchat.models.mcp_contents import UNREADABLE, ServerFault, cleaned, one_line
from zkchat.subprocesses import find_program, signal_group, start_server

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


_MAX_BYTES: Final = 1_000_000
_KEPT_BYTES: Final = 200_000
"""What stays of a log that is full: its end."""


class ServerLog:
    """Appends to a file that never grows over a megabyte. A disk that is full or a folder that is not there is no
    reason for a server to fail: what cannot be written is dropped."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._handle: int | None = None

    def write(self, text: bytes) -> None:
        with suppress(OSError):
            if self._handle is None:
                make_private(self.file.parent)
                flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
                flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
                self._handle = os.open(self.file, flags, 0o600)
            size = os.fstat(self._handle).st_size
            if size + len(text) > _MAX_BYTES:
                os.lseek(self._handle, max(0, size - _KEPT_BYTES), os.SEEK_SET)
                end = os.read(self._handle, _KEPT_BYTES)
                os.ftruncate(self._handle, 0)
                os.write(self._handle, b"(what was before is gone)\n" + end.partition(b"\n")[2])
            os.write(self._handle, text[-_MAX_BYTES // 2 :])

    def line(self, text: str) -> None:
        self.write(f"{text}\n".encode("utf-8", "replace"))

    def close(self) -> None:
        if self._handle is not None:
            with suppress(OSError):
                os.close(self._handle)
            self._handle = None


MAX_MESSAGE: Final = 16_000_000
"""Bytes of one message; a picture may come as one."""

_CHUNK: Final = 65_536
_STDERR_PER_SECOND: Final = 2_000_000
_UNUSED: Final = frozenset({"notifications/message", "notifications/progress", "notifications/resources/updated"})
"""Notifications that nobody here reads."""

_ANSWER: Final = re.compile(rb'\s*\{(?=.*"jsonrpc").*?"id"\s*:\s*(\d{1,18})')

_SECONDS_TO_END: Final = 0.7
"""For a server whose input ended, and again after it was asked to end."""
_SECONDS_FOR_CHILDREN: Final = 0.3
"""For children of a server that has ended, and for a server whose output has ended."""
_POLL_SECONDS: Final = 0.01
_WATCH_SECONDS: Final = 0.25

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


class ServerProcess:
    """The process of a server, its streams, and what it said."""

    def __init__(self, program: Popen[bytes], log: ServerLog, on_end: Callable[[], None]) -> None:
        self.program = program
        self.fault: ServerFault | None = None
        self.noise = 0
        """Lines of its output that were no messages."""
        self._log = log
        self._on_end = on_end
        self._pace = Pace()
        self._is_gone = False
        """Neither the process nor a child is left, so that the number of its group may be somebody else's."""

    async def read_messages(self, receiver: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass on what arrives until the output ends."""
        try:
            async with receiver:
                reader, transport = await _reader(self.program.stdout)
                try:
                    await self._pass_on(reader, receiver)
                finally:
                    transport.close()
        except ServerFault as fault:
            self.fault = fault
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        finally:
            self._on_end()

    async def watch(self, receiver: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """End the connection when the process has ended: a child of it may keep its output open."""
        while not self._has_ended():
            await anyio.sleep(_WATCH_SECONDS)
        await anyio.sleep(_SECONDS_FOR_CHILDREN)  # for what it wrote before
        receiver.close()
        self._on_end()

    async def _pass_on(
        self, reader: asyncio.StreamReader, receiver: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        rest = bytearray()
        while chunk := await reader.read(_CHUNK):
            *lines, last = chunk.split(b"\n")
            for line in lines:
                rest += line
                message = self._parse(bytes(rest))
                rest.clear()
                if message is not None:
                    await receiver.send(SessionMessage(message))
                await self._pace.passed(1, len(line))
            rest += last
            if len(rest) > MAX_MESSAGE:
                raise ServerFault(f"sent a message of more than {MAX_MESSAGE // 1_000_000} MB")
            await self._pace.passed(0, len(last))

    def _parse(self, line: bytes) -> JSONRPCMessage | None:
        if not line.strip():
            return None
        message = parse_line(line)
        if message is None:
            self.noise += 1
            self._log.line(f"(not an MCP message) {one_line(line[:2000].decode('utf-8', 'replace'), 500)}")
            # What it answers has failed, as far as that can be seen; what answers nothing is waited past.
            answered = _ANSWER.match(line)
            error = ErrorData(code=PARSE_ERROR, message=f"{UNREADABLE} line")
            return JSONRPCError(jsonrpc="2.0", id=int(answered[1]), error=error) if answered else None
        if isinstance(message, JSONRPCNotification) and message.method in _UNUSED:
            return None
        return message

    async def write_messages(self, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Pass on what is to be sent; ends the input when there is no more."""
        pipe = self.program.stdin
        assert pipe is not None
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
        writer = asyncio.StreamWriter(transport, protocol, None, loop)
        try:
            async with messages:
                async for item in messages:
                    writer.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                    await writer.drain()
        except OSError:  # it reads no more; that its output ends is what counts
            pass
        finally:
            transport.close()

    async def keep_errors(self) -> None:
        """Write down what the process says on its error stream."""
        reader, transport = await _reader(self.program.stderr)
        pace = Pace(messages=1, octets=_STDERR_PER_SECOND)
        try:
            while chunk := await reader.read(_CHUNK):
                self._log.write(chunk)
                await pace.passed(0, len(chunk))
        finally:
            transport.close()

    async def end(self) -> None:
        """End the process and its children: by the end of its input, which came before, then by two signals."""
        if not await _within(_SECONDS_TO_END, self._has_ended):
            self._signal(signal.SIGTERM)
            await _within(_SECONDS_TO_END, self._has_ended)
        if self._signal(signal.SIGTERM):
            await _within(_SECONDS_FOR_CHILDREN, lambda: self._has_ended() and not self._signal(0))
        self.kill()
        await _within(_SECONDS_TO_END, self._has_ended)

    def kill(self) -> None:
        """End the process and its children at once."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> bool:
        """Send a signal to the process and its children; False where none of them is left."""
        if not self._is_gone and not signal_group(self.program, number):
            self._is_gone = True
        return not self._is_gone

    def _has_ended(self) -> bool:
        return self.program.poll() is not None

    async def describe_end(self) -> str:
        """How the process ended, after its output did."""
        if self.fault is not None:
            return str(self.fault)
        await _within(_SECONDS_FOR_CHILDREN, self._has_ended)
        code = self.program.returncode
        if code is None:
            return "closed its output"
        return f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"

    def describe_noise(self) -> str:
        """What may explain that no answer was understood; empty where nothing does."""
        if not self.noise:
            return ""
        lines = "a line that is no MCP message" if self.noise == 1 else f"{self.noise:,} lines that are no MCP messages"
        return f" (its standard output has {lines})"


@asynccontextmanager
async def open_process(process: ServerProcess) -> AsyncGenerator[Streams, None]:
    """The streams of a server's process; afterwards the process and its children are gone."""
    incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](16)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.read_messages, incoming)
            tasks.start_soon(process.watch, incoming)
            tasks.start_soon(process.write_messages, outgoing)
            tasks.start_soon(process.keep_errors)
            try:
                yield read_stream, write_stream
            finally:
                read_stream.close()
                write_stream.close()
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(0)
                    await process.end()
                tasks.cancel_scope.cancel()
    finally:
        process.kill()
        for pipe in (process.program.stdin, process.program.stdout, process.program.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        process.program.poll()


def start_process(
    definition: ServerDefinition, variables: Mapping[str, str], log: ServerLog, on_end: Callable[[], None]
) -> ServerProcess:
    """Start the process of a server. Raises `ServerFault`."""
    if sys.platform == "win32":
        raise ServerFault("cannot be started: on Windows only servers with a `url` can be used")
    inherited = {name: variables[name] for name in DEFAULT_INHERITED_ENV_VARS if name in variables}
    safe = {name: value for name, value in inherited.items() if not value.startswith("()")}
    environment = safe | definition.env
    # The user's home rather than a vault, whose files it would else run or read.
    folder = Path(definition.cwd or variables.get("HOME", "/"))
    if not folder.is_dir():
        raise ServerFault(f"cannot be started: its folder {folder} is not there")
    name = definition.command
    if "/" in name and not Path(name).is_absolute() and definition.cwd:
        name = str(folder / name)
    found = find_program(name, environment)
    if found is None:
        way_out = "check the path" if Path(name).is_absolute() else "install it or write its full path"
        raise ServerFault(f"cannot be started: there is no program {one_line(name, 200)} ({way_out})")
    log.line(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')} started: {definition.command}")
    try:
        program = start_server([found, *definition.args], variables=environment, folder=folder)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ServerFault(f"cannot be started: {reason}: {definition.command}") from None
    return ServerProcess(program, log, on_end)


def parse_line(line: bytes) -> JSONRPCMessage | None:
    """The message on a line, also one with text that is JSON and not Unicode; None for what is no message at all."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        pass
    try:
        return jsonrpc_message_adapter.validate_python(cleaned(json.loads(line)), by_name=False)
    except (ValueError, RecursionError):
        return None


async def _reader(pipe: object) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader(limit=_CHUNK)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader, transport


async def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            return False
        await anyio.sleep(_POLL_SECONDS)
    return True
