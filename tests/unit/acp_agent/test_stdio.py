import asyncio
import io
import os
from typing import Any

from zkchat.acp_agent import stdio


def test_lines_come_as_they_are_written_and_the_last_needs_no_end() -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader) as stream:
        lines = stdio.input_lines(stream)
        os.write(writer, b'{"a": 1}\n{"b"')
        assert next(lines) == b'{"a": 1}'
        os.write(writer, b": 2}")
        os.close(writer)
        assert list(lines) == [b'{"b": 2}']


def test_a_line_that_is_too_long_ends_the_input(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(stdio, "MAX_MESSAGE_BYTES", 10)
    reader, writer = os.pipe()
    os.write(writer, b"ok\n" + b"x" * 30 + b"\nnever read\n")
    os.close(writer)
    with os.fdopen(reader) as stream:
        assert next(stdio.input_lines(stream)) == b"ok"
    reader, writer = os.pipe()
    os.write(writer, b"x" * 30)
    with os.fdopen(reader) as stream:
        assert list(stdio.input_lines(stream)) == []
    os.close(writer)
    assert "too long" in capsys.readouterr().err


def test_what_is_no_message_is_answered_as_such_and_the_rest_goes_on() -> None:
    written: list[bytes] = []

    async def talk() -> list[Any]:
        transport = stdio.StdioTransport(iter([b"nonsense", b"", b"[1]", b'{"id": 1}']), written.append)
        received = [await transport.receive(), await transport.receive()]
        await transport.send({"name": "\udcff"})
        return received

    assert asyncio.run(talk()) == [{"id": 1}, None]
    assert [b"-32700" in line for line in written] == [True, True, False]
    assert written[-1] == b'{"name":"?"}\n'


def test_a_client_that_reads_no_more_ends_the_conversation() -> None:
    def broken(_: bytes) -> None:
        raise BrokenPipeError

    reader, writer = os.pipe()

    async def talk() -> object:
        with os.fdopen(reader) as stream:
            transport = stdio.StdioTransport(stdio.input_lines(stream), broken)
            await transport.send({})
            received = await transport.receive()
            os.close(writer)
            return received

    assert asyncio.run(talk()) is None


def test_streams_in_memory_are_read_and_written_too() -> None:
    assert list(stdio.input_lines(io.StringIO("a\nb"))) == [b"a\n", b"b"]
