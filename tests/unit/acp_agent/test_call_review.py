import asyncio
import json
import os
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from zkchat.acp.agent import StdioTransport
from zkchat.acp.session import AskingSurface, ClientCallReviewer
from zkchat.chat.tools.server_tools import MAY_LEAK, ServerCall
from zkchat.core.changes import ChangeSet, FileWrite
from zkchat.core.environment import Channel
from zkchat.core.tool_server import ServerDefinition, ServerTool


@dataclass
class Answering:
    answer: str
    asked: list[tuple[Any, list[Any]]] = field(default_factory=list)

    def ask(self, call: Any, options: list[Any]) -> str:
        self.asked.append((call, options))
        return self.answer


def call(warning: str = "") -> ServerCall:
    return ServerCall(
        definition=ServerDefinition(name="calendar", command="x"),
        tool=ServerTool(server="calendar", name="add", description="", parameters={}),
        arguments={"title": "Tea\x1b[2J"},
        warning=warning,
    )


@pytest.mark.parametrize(
    ("chosen", "answer"), [("apply", "yes"), ("apply-always", "always"), ("reject", "no"), ("", "no")]
)
def test_the_user_is_asked_with_what_is_sent(chosen: str, answer: str) -> None:
    client = Answering(chosen)
    assert ClientCallReviewer(cast("Any", client)).review(call()) == answer
    ((asked, options),) = client.asked
    assert asked.title == "add of the MCP server calendar (may send data elsewhere)"
    assert asked.raw_input == {"title": "Tea␛[2J"}
    assert [option.kind for option in options] == ["allow_once", "allow_always", "reject_once"]


def test_a_call_that_may_send_local_notes_is_never_allowed_for_good() -> None:
    client = Answering("apply-always")
    assert ClientCallReviewer(cast("Any", client)).review(call(MAY_LEAK)) == "no"
    ((asked, options),) = client.asked
    assert asked.content[0].content.text == MAY_LEAK
    assert [option.kind for option in options] == ["allow_once", "reject_once"]


def test_lines_below_each_other_stay_so_and_changes_are_a_patch() -> None:
    shown = AskingSurface(cast("Any", None))
    shown.print("One sentence.")
    assert shown.take() == "One sentence."
    shown.print("a")
    shown.print_dimmed("b ``` c")
    shown.print_markdown("# Title\x1b[2J")
    assert shown.take() == "````text\na\nb ``` c\n````\n\n# Title␛[2J"
    shown.print_changes(ChangeSet(title="x", writes=(FileWrite(path="A.md", before=b"a\n", after=b"b\n"),)))
    patch = shown.take()
    assert patch.startswith("```diff\n")
    assert "-a\n+b\n```" in patch
    assert shown.take() == ""


def test_what_is_no_message_is_answered_as_such_and_the_rest_goes_on() -> None:
    written: list[bytes] = []

    async def talk() -> list[Any]:
        pieces = [b'nonsense\n\n[1]\n{"id": NaN, "method": "x"}\n{"id": 2, "method": null}\n{"id": 1}\n']
        transport = StdioTransport(Channel(lambda _: pieces.pop() if pieces else b"", written.append))
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
