from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from zkchat.acp.reviewer import ClientCallReviewer
from zkchat.chat.tools.server_tools import MAY_LEAK, ServerCall
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
    assert asked.title == "add of the MCP server calendar (not declared local)"
    assert asked.raw_input == {"title": "Tea␛[2J"}
    assert [option.kind for option in options] == ["allow_once", "allow_always", "reject_once"]


def test_a_call_that_may_send_local_notes_is_never_allowed_for_good() -> None:
    client = Answering("apply-always")
    assert ClientCallReviewer(cast("Any", client)).review(call(MAY_LEAK)) == "no"
    ((asked, options),) = client.asked
    assert asked.content[0].content.text == MAY_LEAK
    assert [option.kind for option in options] == ["allow_once", "reject_once"]
