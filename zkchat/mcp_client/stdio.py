"""Servers that are started as a process and speak over its standard streams, one JSON message a line."""

import asyncio
import json
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
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)

from zkchat.mcp_client.contents import cleaned, one_line
from zkchat.mcp_client.faults import UNREADABLE, ServerFault
from zkchat.mcp_client.pace import Pace
from zkchat.mcp_client.server_log import ServerLog
from zkchat.model.patterns import lazy_pattern
from zkchat.model.tool_server import ServerDefinition
from zkchat.subprocesses import find_program, signal_group, start_server

MAX_MESSAGE: Final = 16_000_000
"""Bytes of one message; a picture may come as one."""

_CHUNK: Final = 65_536
_STDERR_PER_SECOND: Final = 2_000_000
_UNUSED: Final = frozenset({"notifications/message", "notifications/progress", "notifications/resources/updated"})
"""Notifications that nobody here reads."""

_ANSWER: Final = lazy_pattern(rb'\s*\{(?=.*"jsonrpc").*?"id"\s*:\s*(\d{1,18})')

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
            self._log.line(f"(not a message) {one_line(line[:2000].decode('utf-8', 'replace'), 500)}")
            return _failure(line)
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
        lines = "a line that is no message" if self.noise == 1 else f"{self.noise:,} lines that are no messages"
        return f" (it wrote {lines} to its standard output)"


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
    folder = _folder(definition, variables)
    command = [_program(definition, environment, folder), *definition.args]
    log.line(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')} started: {definition.command}")
    try:
        program = start_server(command, variables=environment, folder=folder)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ServerFault(f"cannot be started: {reason}: {definition.command}") from None
    return ServerProcess(program, log, on_end)


def _folder(definition: ServerDefinition, variables: Mapping[str, str]) -> Path:
    """Its own working folder; the user's home rather than a vault, whose files it would else run or read."""
    folder = Path(definition.cwd or variables.get("HOME", "/"))
    if not folder.is_dir():
        raise ServerFault(f"cannot be started: its folder {folder} is not there")
    return folder


def _program(definition: ServerDefinition, environment: Mapping[str, str], folder: Path) -> str:
    name = definition.command
    if "/" in name and not Path(name).is_absolute() and definition.cwd:
        name = str(folder / name)
    found = find_program(name, environment)
    if found is None:
        way_out = "check the path" if Path(name).is_absolute() else "install it or write its full path"
        raise ServerFault(f"cannot be started: there is no program {one_line(name, 200)} ({way_out})")
    return found


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


def _failure(line: bytes) -> JSONRPCError | None:
    """That the request failed which a line answers, as far as that can be seen; what answers none is waited past."""
    found = _ANSWER.match(line)
    error = ErrorData(code=PARSE_ERROR, message=f"{UNREADABLE} line")
    return JSONRPCError(jsonrpc="2.0", id=int(found[1]), error=error) if found else None


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
