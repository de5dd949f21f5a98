"""The transport by itself: its streams, what it waits for at the end, and where it gives up."""

import asyncio
import json
import os
import threading
from collections.abc import Callable
from typing import Any

import mcp_types as types
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.server.lowlevel import Server
from msgspec.structs import replace

from tests.support.mcp_lines import modern
from zkchat.core.environment import Channel
from zkchat.hosting.vault import VaultThread as Worker
from zkchat.mcp.server import NoMessage, StdioTransport, dumped, parsed


class Pipe:
    """A client at the other end: it writes lines and reads what comes."""

    def __init__(self) -> None:
        self.input, self._typed = os.pipe()
        self.written: list[bytes] = []

    def type(self, *lines: str) -> None:
        if lines:
            os.write(self._typed, "".join(f"{line}\n" for line in lines).encode())

    def end(self) -> None:
        os.close(self._typed)

    @property
    def channel(self) -> Channel:
        return Channel(lambda size: os.read(self.input, size), self.written.append)


def server_that(act: Callable[[str], Any]) -> "Server[Any]":
    """Answers calls of any tool with its name, after whatever `act` does."""

    async def call(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        await act(params.name)
        return types.CallToolResult(content=[types.TextContent(text=params.name)])

    return Server("test", on_call_tool=call)


def serve(pipe: Pipe, act: Callable[[str], Any], *typed: str, **channel: Any) -> None:
    async def serving() -> None:
        pipe.type(*typed)
        await asyncio.wait_for(StdioTransport(replace(pipe.channel, **channel)).serve(server_that(act)), 20)

    asyncio.run(serving())


def call(number: int, name: str) -> str:
    return modern(number, "tools/call", name=name, arguments={})


def cancelled(number: int) -> str:
    return f'{{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {{"requestId": {number}}}}}'


def test_a_call_that_is_cancelled_is_not_answered_and_not_waited_for() -> None:
    pipe, begun, ended = Pipe(), asyncio.Event(), asyncio.Event()

    async def act(name: str) -> None:
        if name == "quick":
            pipe.type(cancelled(1))
            await ended.wait()
            pipe.end()
            return
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    serve(pipe, act, call(1, "endless"), call(2, "quick"))
    (answer,) = pipe.written
    assert b'"id":2' in answer


def test_a_slow_call_keeps_no_other_from_its_answer_and_is_answered_after_the_end_of_input() -> None:
    pipe, worker, gate = Pipe(), Worker(), threading.Event()

    async def act(name: str) -> None:
        if name == "slow":
            assert await worker.run(lambda: gate.wait(20))
        else:
            asyncio.get_running_loop().call_later(0.05, gate.set)

    pipe.type(call(1, "slow"), call(2, "quick"))
    pipe.end()
    serve(pipe, act)
    assert [b'"id":2' in pipe.written[0], b'"id":1' in pipe.written[1]] == [True, True]


def test_it_ends_where_nobody_reads_the_answers() -> None:
    pipe = Pipe()

    async def act(_: str) -> None:
        return None

    def broken(_: bytes) -> None:
        raise BrokenPipeError

    serve(pipe, act, call(1, "any"), write=broken)
    pipe.end()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda below: st.lists(below) | st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params"]), below),
    max_leaves=8,
)


@settings(max_examples=50)
@given(line=st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_whatever_a_line_says_it_is_a_message_or_has_an_answer(line: bytes) -> None:
    try:
        message = parsed(line)
    except NoMessage as refused:
        message = refused.answer
    assert dumped(message).startswith(b'{"jsonrpc":"2.0",')


@settings(max_examples=50)
@given(text=st.text(st.characters() | st.just("\ud800")), number=st.integers())
def test_what_is_sent_is_one_line_of_utf_8(text: str, number: int) -> None:
    sent = dumped(types.JSONRPCResponse(jsonrpc="2.0", id=number, result={"text": text}))
    assert sent.count(b"\n") == 1
    assert json.loads(sent)["result"]["text"].encode(errors="replace") == text.encode(errors="replace")


def test_work_that_is_cancelled_before_its_turn_is_not_done() -> None:
    worker, gate, done = Worker(), threading.Event(), []

    async def act() -> None:
        first = asyncio.ensure_future(worker.run(lambda: gate.wait(20)))
        second = asyncio.ensure_future(worker.run(lambda: done.append("second")))
        third = asyncio.ensure_future(worker.run(lambda: done.append("third")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        gate.set()
        await asyncio.gather(first, third)

    asyncio.run(act())
    worker.close(lambda: done.append("last"))
    assert done == ["third", "last"]
