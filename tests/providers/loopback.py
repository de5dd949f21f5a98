"""An HTTP server on loopback that speaks the protocols of Ollama, of OpenAI-compatible servers and of Anthropic.

Which answer it gives is chosen by the model's name. It runs on a thread of its own, so that what is tested may run
an event loop, or several, or none.
"""

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

import pytest

from zkchat.core.prompt import Finish, ModelChunk, TextChunk, ThinkingChunk, ToolRequested

KEY = "sk-canary-5f2b9c"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Connection:
    """One request's connection, from the server's side."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> Request:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await self._reader.readexactly(int(headers.get("content-length", 0)))
        return Request(method, path, headers, json.loads(body) if body else None)

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def reply(self, status: int, body: object, **headers: str) -> None:
        data = json.dumps(body).encode()
        lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()]
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        await self.write(f"{head}{''.join(lines)}Connection: close\r\n\r\n".encode() + data)

    async def begin(self, content_type: str) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n"
        await self.write(head.encode())

    async def piece(self, data: bytes) -> None:
        await self.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end(self, last: bytes = b"") -> None:
        if last:
            await self.piece(last)
        await self.write(b"0\r\n\r\n")

    async def hang(self) -> None:
        """Say nothing until the other side goes."""
        await self._reader.read()

    async def reset(self) -> None:
        # Nothing tells a server when the other side has read what was sent, which a reset would discard.
        await asyncio.sleep(0.05)
        transport = self._writer.transport
        bare: socket.socket = transport.get_extra_info("socket")
        bare.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()


class OllamaProtocol:
    """Ollama's own interface: a line of JSON for each piece."""

    content_type = "application/x-ndjson"
    path = "/api/chat"
    last = b""

    def answer(self, chunks: Sequence[ModelChunk], request: Request, read: int | None = None) -> Iterator[bytes]:
        for chunk in chunks:
            match chunk:
                case TextChunk(text=text):
                    yield self.line(message={"role": "assistant", "content": text})
                case ThinkingChunk(text=text):
                    yield self.line(message={"role": "assistant", "content": "", "thinking": text})
                case ToolRequested(call=call):
                    calls = [{"function": {"name": call.name, "arguments": _object_or_text(call.arguments)}}]
                    yield self.line(message={"role": "assistant", "content": "", "tool_calls": calls})
                case Finish(reason=reason):
                    tokens = prompt_tokens(request) if read is None else read
                    yield self.finish("length" if reason == "length" else "stop", tokens)

    def line(self, *, done: bool = False, **more: object) -> bytes:
        body = {"model": "any", "created_at": "2026-01-01T00:00:00.000000001Z", **more, "done": done}
        return json.dumps(body, ensure_ascii=False).encode() + b"\n"

    def finish(self, reason: str, read: int) -> bytes:
        durations = dict.fromkeys(("total_duration", "load_duration", "prompt_eval_duration", "eval_duration"), 1_000)
        counts = {"prompt_eval_count": read, "eval_count": 7}
        empty = {"role": "assistant", "content": ""}
        return self.line(done=True, message=empty, done_reason=reason, **durations, **counts)

    def garbled(self, data: bytes) -> bytes:
        return data + b"\n"

    def error(self, text: str) -> object:
        return {"error": text}


class OpenAIProtocol:
    """OpenAI's chat completions: an event of JSON for each piece."""

    content_type = "text/event-stream"
    path = "/v1/chat/completions"
    last = b"data: [DONE]\n\n"

    def answer(self, chunks: Sequence[ModelChunk], request: Request, read: int | None = None) -> Iterator[bytes]:
        yield self.event({"role": "assistant", "content": None})
        calls = 0
        for chunk in chunks:
            match chunk:
                case TextChunk(text=text):
                    yield self.event({"content": text})
                case ThinkingChunk(text=text):
                    yield self.event({"reasoning_content": text})
                case ToolRequested(call=call):
                    first = {"name": call.name, "arguments": ""}
                    yield self.call(calls, id=call.call_id, type="function", function=first)
                    size = min(100_000, len(call.arguments) // 2 + 1)
                    for start in range(0, len(call.arguments), size):
                        yield self.call(calls, function={"arguments": call.arguments[start : start + size]})
                    calls += 1
                case Finish(reason=reason):
                    yield self.event({}, finish=reason)
                    if request.body.get("stream_options", {}).get("include_usage"):
                        yield self.usage(prompt_tokens(request) if read is None else read)

    def event(self, delta: object, *, finish: str | None = None) -> bytes:
        return self._data(choices=[{"index": 0, "delta": delta, "finish_reason": finish}])

    def call(self, index: int, **piece: object) -> bytes:
        return self.event({"tool_calls": [{"index": index, **piece}]})

    def usage(self, read: int) -> bytes:
        counts = {"prompt_tokens": read, "completion_tokens": 7, "total_tokens": read + 7}
        return self._data(choices=[], usage=counts)

    def _data(self, **more: object) -> bytes:
        body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "any", **more}
        return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"

    def garbled(self, data: bytes) -> bytes:
        return b"data: " + data + b"\n\n"

    def error(self, text: str) -> object:
        return {"error": {"message": text, "type": "some_error", "code": None, "param": None}}


class AnthropicProtocol:
    """Anthropic's messages: named events, and a block for each part of the answer."""

    content_type = "text/event-stream"
    path = "/v1/messages"
    last = b""

    def answer(self, chunks: Sequence[ModelChunk], request: Request, read: int | None = None) -> Iterator[bytes]:
        tokens = prompt_tokens(request) if read is None else read
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "any", "content": []}
        usage = {"input_tokens": tokens, "output_tokens": 1}
        yield self.event("message_start", message={**message, "stop_reason": None, "usage": usage})
        for index, chunk in enumerate(chunks):
            match chunk:
                case TextChunk(text=text):
                    yield from self.block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": text})
                case ThinkingChunk(text=text):
                    block = {"type": "thinking", "thinking": "", "signature": ""}
                    signed = {"type": "signature_delta", "signature": f"signed {text}"}
                    yield from self.block(index, block, {"type": "thinking_delta", "thinking": text}, signed)
                case ToolRequested(call=call):
                    use = {"type": "tool_use", "id": call.call_id, "name": call.name, "input": {}}
                    size = min(100_000, len(call.arguments) // 2 + 1)
                    pieces = [call.arguments[at : at + size] for at in range(0, len(call.arguments), size)]
                    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
                    yield from self.block(index, use, *deltas)
                case Finish(reason=reason):
                    said = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}[reason]
                    yield self.event("message_delta", delta={"stop_reason": said}, usage={"output_tokens": 7})
                    yield self.event("message_stop")

    def block(self, index: int, block: object, *deltas: object) -> Iterator[bytes]:
        yield self.event("content_block_start", index=index, content_block=block)
        for delta in deltas:
            yield self.event("content_block_delta", index=index, delta=delta)
        yield self.event("content_block_stop", index=index)

    def event(self, name: str, **more: object) -> bytes:
        return self.named(name, json.dumps({"type": name, **more}, ensure_ascii=False).encode())

    def named(self, name: str, data: bytes) -> bytes:
        return f"event: {name}\ndata: ".encode() + data + b"\n\n"

    def garbled(self, data: bytes) -> bytes:
        return self.named("error" if b"error" in data else "content_block_delta", data)

    def error(self, text: str) -> object:
        return {"type": "error", "error": {"type": "some_error", "message": text}}


WireProtocol = OllamaProtocol | OpenAIProtocol | AnthropicProtocol
PROTOCOLS: dict[str, WireProtocol] = {
    protocol.path: protocol for protocol in (OllamaProtocol(), OpenAIProtocol(), AnthropicProtocol())
}


def _object_or_text(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def prompt_tokens(request: Request) -> int:
    """As many as a rather terse tokenizer would count."""
    system = [{"content": block["text"]} for block in request.body.get("system", ())]  # of Anthropic
    return sum(1 + len(_said(message).split()) for message in (*system, *request.body["messages"]))


def _said(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return " ".join(str(block.get("text", "")) for block in content) if isinstance(content, list) else str(content)


@dataclass
class Loopback:
    """`plays` holds an answer for each model's name. Other names get 404, as on a real server."""

    plays: dict[str, list[ModelChunk]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)
    """Set once a client has left while it was still being answered."""
    port: int = 0
    key: str = KEY
    """What all but Ollama's protocol ask for; empty: none is needed."""
    _answering: set[asyncio.Task[None]] = field(default_factory=set, repr=False)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)))
        self._thread.start()
        assert ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._stop.wait()
        for _ in range(20):  # a connection that was just accepted gets its task: a closed server would leave it open
            await asyncio.sleep(0)
        server.close()
        if self._answering:
            await asyncio.wait({*self._answering}, timeout=0.5)
        for task in self._answering:
            task.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        connection = Connection(reader, writer)
        try:
            request = await connection.read()
            self.requests.append(request)
            await self.serve(request, connection)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def serve(self, request: Request, connection: Connection) -> None:
        """Answer one request; a fault server overrides this."""
        if request.path == "/v1/models":
            entries = [{"id": name, "object": "model", "max_model_len": 8192} for name in self.plays]
            return await connection.reply(200, {"object": "list", "data": entries})
        protocol = PROTOCOLS.get(request.path)
        model = (request.body or {}).get("model", "")
        if model not in self.plays:
            return await connection.reply(404, (protocol or PROTOCOLS["/api/chat"]).error(f"model '{model}' not found"))
        if protocol is None:
            return await connection.reply(200, self.shown())
        is_refused = self.key and request.headers.get("authorization") != f"Bearer {self.key}"
        if is_refused and not isinstance(protocol, OllamaProtocol):
            return await connection.reply(401, protocol.error("Invalid API Key"))
        await connection.begin(protocol.content_type)
        for piece in protocol.answer(self.plays[model], request, self.prompt_tokens(request)):
            await connection.piece(piece)
        return await connection.end(protocol.last)

    def prompt_tokens(self, request: Request) -> int:
        """What the server reports that it read."""
        return prompt_tokens(request)

    def shown(self) -> object:
        """What `/api/show` says of every model."""
        return {
            "parameters": 'stop                           "<|im_end|>"',
            "template": "{{ .Prompt }}",
            "details": {"format": "gguf", "family": "llama"},
            "model_info": {"general.architecture": "llama", "llama.context_length": 8192},
            "capabilities": ["completion", "tools"],
        }


def serving(
    make: Callable[[], AbstractContextManager[object]],
    scope: Literal["function", "module"] = "module",
    name: str = "server",
) -> object:
    """A fixture: a server of each test, or one that runs as long as the tests of a module do."""

    @pytest.fixture(scope=scope, name=name)
    def started() -> Iterator[object]:
        with make() as server:
            yield server

    return started
