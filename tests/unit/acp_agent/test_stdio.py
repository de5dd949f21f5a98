import asyncio
import json
import os
from typing import Any

from zkchat.acp.agent import StdioTransport
from zkchat.app.protocol_streams import Channel


def test_what_is_no_message_is_answered_as_such_and_the_rest_goes_on() -> None:
    written: list[bytes] = []

    async def talk() -> list[Any]:
        pieces = [b'nonsense\n\n[1]\n{"id": NaN, "method": "x"}\n{"id": 2, "method": null}\n{"id": 1}\n']
        channel = Channel(lambda _: pieces.pop() if pieces else b"", written.append)
        transport = StdioTransport(channel)
        received = [await transport.receive(), await transport.receive()]
        await transport.send({"name": "\udcff"})
        return received

    assert asyncio.run(talk()) == [{"id": 1}, None]
    assert [b"-32700" in line for line in written] == [True, True, True, False, False]
    assert json.loads(written[3])["id"] == 2
    assert json.loads(written[3])["error"]["code"] == -32600
    assert written[-1] == b'{"name":"?"}\n'


def test_a_client_that_reads_no_more_ends_the_conversation() -> None:
    def broken(_: bytes) -> None:
        raise BrokenPipeError

    reader, writer = os.pipe()

    async def talk() -> object:
        transport = StdioTransport(Channel(lambda size: os.read(reader, size), broken))
        await transport.send({})
        received = await transport.receive()
        os.close(writer)
        return received

    assert asyncio.run(talk()) is None
