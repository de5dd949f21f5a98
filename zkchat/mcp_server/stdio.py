"""The transport over standard input and output: every request that was read is answered before it ends."""

import json
from collections import Counter
from functools import partial
from typing import Any, Final

import anyio
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from msgspec import Struct, field

from zkchat.compose.protocol_streams import Channel, Lines
from zkchat.mcp_server.worker import Worker

MAX_LINE_BYTES: Final = 4_000_000
"""Bytes of a message; a longer one is not read."""
DRAIN_SECONDS: Final = 60.0
"""How long requests may take to be answered after the end of input."""


class Exchange(Struct):
    """Which requests are under way: of the client, which we answer, and of ours, which it answers."""

    asked: Counter[str] = field(default_factory=Counter)
    asking: set[types.RequestId] = field(default_factory=set)
    is_ended: bool = False
    """Whether the client sends nothing more."""
    changed: anyio.Event = field(default_factory=anyio.Event)

    def received(self, message: types.JSONRPCMessage) -> None:
        match message:
            case types.JSONRPCRequest():
                self.asked[str(message.id)] += 1
            case types.JSONRPCNotification(method="notifications/cancelled"):
                self._done(str((message.params or {}).get("requestId")))  # which is not answered
            case types.JSONRPCResponse() | types.JSONRPCError() if message.id is not None:
                self.asking.discard(message.id)

    def sent(self, message: types.JSONRPCMessage) -> None:
        match message:
            case types.JSONRPCRequest():
                self.asking.add(message.id)
                self._wake()
            case types.JSONRPCResponse() | types.JSONRPCError():
                self._done(str(message.id))

    def _done(self, request: str) -> None:
        self.asked[request] -= 1
        self.asked = +self.asked
        self._wake()

    def _wake(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()


class StdioTransport:
    """One connection over a channel."""

    def __init__(self, channel: Channel) -> None:
        self._lines = Lines(channel.read, MAX_LINE_BYTES)
        self._write = channel.write
        self._reading, self._writing = Worker(), Worker()
        self._exchange = Exchange()

    async def serve(self, server: Server[Any]) -> None:
        """Serve until the input has ended and every request is answered, or nobody reads the output."""
        inbox, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write_stream, outbox = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._receive, inbox, write_stream.clone())
                tasks.start_soon(self._send, outbox, tasks.cancel_scope)
                await server.run(read_stream, write_stream, server.create_initialization_options())
                tasks.cancel_scope.cancel()
        finally:
            self._reading.stop()
            self._writing.stop()

    async def _receive(
        self, inbox: ObjectSendStream[SessionMessage | Exception], answers: ObjectSendStream[SessionMessage]
    ) -> None:
        async with inbox, answers:
            while (line := await self._reading.run(self._lines.next)) is not None:
                if not line.strip():
                    continue
                try:
                    message = parsed(line)
                except NoMessage as refused:
                    await answers.send(SessionMessage(refused.answer))
                else:
                    self._exchange.received(message)
                    await inbox.send(SessionMessage(message))
            with anyio.move_on_after(DRAIN_SECONDS):
                await self._drain(inbox)

    async def _drain(self, inbox: ObjectSendStream[SessionMessage | Exception]) -> None:
        """Wait until all is answered; nobody answers questions of ours any more."""
        exchange = self._exchange
        while exchange.asked:
            changed = exchange.changed
            for unanswered in [*exchange.asking]:
                exchange.asking.discard(unanswered)
                closed = types.ErrorData(code=types.CONNECTION_CLOSED, message="The input has ended.")
                await inbox.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=unanswered, error=closed)))
            if not exchange.asked:
                return
            await changed.wait()

    async def _send(self, outbox: ObjectReceiveStream[SessionMessage], scope: anyio.CancelScope) -> None:
        async with outbox:
            async for item in outbox:
                data = dumped(item.message)
                try:
                    await self._writing.run(partial(self._write, data))
                except OSError:  # nobody reads it
                    scope.cancel()
                    return
                self._exchange.sent(item.message)


class NoMessage(Exception):
    """A line that is no message, with the error that answers it."""

    def __init__(self, code: int, message: str, request: types.RequestId | None = None) -> None:
        super().__init__(message)
        error = types.ErrorData(code=code, message=message)
        self.answer = types.JSONRPCError(jsonrpc="2.0", id=request, error=error)


def parsed(line: bytes) -> types.JSONRPCMessage:
    """The message of a line. Raises `NoMessage`."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        raise _refusal(line) from None
    if isinstance(message, types.JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line):
        raise NoMessage(types.INVALID_REQUEST, "The id of a request is a string or an integer.")
    return message


def _refusal(line: bytes) -> NoMessage:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return NoMessage(types.PARSE_ERROR, f"A message is one line of JSON, of at most {MAX_LINE_BYTES:,} bytes.")
    request = found.get("id") if isinstance(found, dict) else None
    is_valid = isinstance(request, str | int) and not isinstance(request, bool)
    return NoMessage(types.INVALID_REQUEST, "This is no message of JSON-RPC 2.0.", request if is_valid else None)


def dumped(message: types.JSONRPCMessage) -> bytes:
    """A message as a line. Characters that UTF-8 does not have are replaced."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:
        plain = message.model_dump(mode="python", by_alias=True, exclude_unset=True)
        text = json.dumps(plain, ensure_ascii=False)
    return text.encode(errors="replace") + b"\n"
