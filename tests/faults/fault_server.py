"""A server on loopback that goes wrong in the way its model's name says, in all protocols.

`stall@5` says five words and then nothing; `503@2` refuses two requests and answers the third; a name without a
number goes wrong at once, and every time. `ok` does not go wrong.
"""

import asyncio
import gzip
import json
from collections import Counter
from dataclasses import dataclass, field

from tests.providers.loopback import PROTOCOLS, Connection, Loopback, Request, WireProtocol
from zkchat.core.message import ToolCallPart
from zkchat.core.prompt import Finish, ModelChunk, TextChunk, ThinkingChunk, ToolRequested

WORDS = tuple(f"word{number} " for number in range(1, 9))
HALVED = "Ein Schlüssel: 🗝️"
OSC_52 = "\x1b]52;c;cm0gLXJmIH4=\x07"
MORE_THAN_A_MILLION = ("0123456789abcde\n" * 256,) * 260
MALFORMED_ARGUMENTS = '{"query": "slee'

REFUSALS = {
    "307": "Moved",
    "400": "Something is wrong with the request",
    "401": "Invalid key",
    "403": "Not for you",
    "404": "There is no such model",
    "413": "This is more than the maximum context length of 2048 tokens",
    "429": "Slow down",
    "500": "Out of memory",
    "503": "Loading model",
    "quota": "You exceeded your current quota",
    "wait-an-hour": "Slow down",
    "no-wait": "Slow down",
}
"""Instead of an answer. The server repeats the key, as some do."""

BEFORE_THE_ANSWER = {
    "html": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 19\r\n\r\n<html>Log in</html>",
    "no-http": b"220 mail.example.org ESMTP\r\n",
    "silent": b"",
    "reset": b"",
}

IN_THE_MIDDLE = {
    "garbage": b"{oh no",
    "shape": b"[1, 2, 3]",
    "null": b"null",
    "no-utf-8": b'{"\xff\xfe": 1}',
    "error": b'{"error": "The runner has crashed"}',
    "fin": b"",
    "rst": b"",
    "nodone": b"",
    "stall": b"",
    "halved": b"",
}

ENDLESS: dict[str, ModelChunk] = {
    "endless": TextChunk(text="word word word word\n"),
    "endless-line": TextChunk(text="word" * 5),
    "endless-thinking": ThinkingChunk(text="hm " * 7),
    "endless-blank": TextChunk(text=" \n" * 10),
}
"""Said again and again until the other side goes."""


def _call(arguments: str, number: int = 1, name: str = "find") -> ToolRequested:
    return ToolRequested(call=ToolCallPart(call_id=f"call-{number}", name=name, arguments=arguments))


WHOLE: dict[str, list[ModelChunk]] = {
    "ok": [TextChunk(text=word) for word in WORDS],
    "empty": [],
    "big": [TextChunk(text=text) for text in MORE_THAN_A_MILLION],
    "osc52": [TextChunk(text=f"Look: {OSC_52}")],
    "loop": [_call('{"query": "again"}')],
    "arguments": [_call(MALFORMED_ARGUMENTS)],
    "long-arguments": [_call(json.dumps({"query": "a" * 5_000_000}), name="find_excerpts")],
    "many-calls": [_call(json.dumps({"query": f"q{n}"}), n, "find_excerpts") for n in range(1_000)],
    "digits": [_call(json.dumps({"query": "sleep"})[:-1] + ', "limit": ' + "9" * 6_000 + "}", name="find_excerpts")],
    "nested": [_call('{"query": ' + "[" * 50_000 + "]" * 50_000 + "}", name="find_excerpts")],
    "unclosed": [TextChunk(text="<think>Seven "), TextChunk(text="hours.")],
    "large-list": [TextChunk(text="- word [[Sleep]] `x`\n" * 80_000)] * 3,
    "large-line": [TextChunk(text="word " * 380_000)] * 3,
    "large-code": [TextChunk(text="```python\n" + "word = [1, 2]\n" * 130_000)] * 3,
    "huge-chunk": [TextChunk(text="words"), TextChunk(text="huge " * 10_000_000)],
}
TALKATIVE = ("long-arguments", "many-calls", "digits", "nested")
AFTER_TOOLS = "Seven hours."
"""What a model that calls tools at length says once it was given the results."""


@dataclass
class FaultServer(Loopback):
    counts: Counter[str] = field(default_factory=Counter)
    """How often each model was asked."""

    async def serve(self, request: Request, connection: Connection) -> None:
        protocol = PROTOCOLS.get(request.path)
        if protocol is None:
            listed = {"object": "list", "data": []}
            return await connection.reply(200, self.shown() if request.path == "/api/show" else listed)
        model = str(request.body["model"])
        self.counts[model] += 1
        fault, _, number = model.partition("@")
        if fault in IN_THE_MIDDLE:
            return await self._break_in_the_middle(fault, int(number), _Answer(protocol, request, connection))
        if number and self.counts[model] > int(number):
            fault = "ok"
        if fault in REFUSALS:
            return await _refuse(fault, protocol, request, connection)
        if fault in BEFORE_THE_ANSWER:
            return await self._break_before_the_answer(fault, connection)
        return await _Answer(protocol, request, connection).of(fault)

    async def _break_before_the_answer(self, fault: str, connection: Connection) -> None:
        await connection.write(BEFORE_THE_ANSWER[fault])
        if fault == "silent":
            await self._until_gone(connection)
        elif fault == "reset":
            await connection.reset()

    async def _break_in_the_middle(self, fault: str, number: int, answer: "_Answer") -> None:
        await answer.begin(WORDS[:number])
        if data := IN_THE_MIDDLE[fault]:
            await answer.connection.piece(answer.protocol.garbled(data))
        if fault == "stall":
            await self._until_gone(answer.connection)
        elif fault == "rst":
            await answer.connection.reset()
        elif fault == "halved":
            await answer.byte_by_byte([TextChunk(text=HALVED), Finish()])
        if fault in ("nodone", "halved"):  # of the others the last, empty chunk is missing
            await answer.connection.end()

    async def _until_gone(self, connection: Connection) -> None:
        await connection.hang()
        self.gone.set()


async def _refuse(fault: str, protocol: WireProtocol, request: Request, connection: Connection) -> None:
    status = int(fault) if fault.isdecimal() else 429
    said = f"{REFUSALS[fault]} ({request.headers.get('authorization', 'no key')})"
    headers = {
        "wait-an-hour": {"Retry_After": "3600"},
        "no-wait": {"Retry_After": "0"},
        "307": {"Location": "http://elsewhere.invalid/"},
    }
    await connection.reply(status, protocol.error(said), **headers.get(fault, {}))


@dataclass
class _Answer:
    protocol: WireProtocol
    request: Request
    connection: Connection

    async def begin(self, words: tuple[str, ...] = ()) -> None:
        await self.connection.begin(self.protocol.content_type)
        for data in self.protocol.answer([TextChunk(text=word) for word in words], self.request):
            await self.connection.piece(data)

    async def whole(self, chunks: list[ModelChunk]) -> None:
        await self.begin()
        for data in self.protocol.answer([*chunks, Finish()], self.request):
            await self.connection.piece(data)
        await self.connection.end(self.protocol.last)

    async def of(self, fault: str) -> None:
        results = '"tool_result"' in json.dumps(self.request.body) or any(
            message["role"] == "tool" for message in self.request.body["messages"]
        )
        if fault == "packed":
            await self.packed()
        elif fault in ENDLESS:
            await self.again_and_again(ENDLESS[fault])
        elif fault in TALKATIVE and results:
            await self.whole([TextChunk(text=AFTER_TOOLS)])
        else:
            await self.whole(WHOLE[fault])

    async def again_and_again(self, chunk: ModelChunk) -> None:
        await self.begin()
        while True:
            for data in self.protocol.answer([chunk] * 100, self.request):
                await self.connection.piece(data)

    async def packed(self) -> None:
        """Much more than the bytes that are sent, and packed although nobody asked for that."""
        packed = gzip.compress(
            b"".join(self.protocol.answer([TextChunk(text="a" * 50_000_000), Finish()], self.request))
        )
        head = f"Content-Type: {self.protocol.content_type}\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}"
        await self.connection.write(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n".encode() + packed)

    async def byte_by_byte(self, chunks: list[ModelChunk]) -> None:
        """Every character of more than one byte is cut at a chunk's edge."""
        for data in self.protocol.answer(chunks, self.request):
            for position in range(len(data)):
                await self.connection.piece(data[position : position + 1])
                await asyncio.sleep(0)  # so that each byte is sent by itself
