"""Which tools go into a request: by their modes and the room there is, and what a model without them gets instead."""

from typing import Any

import pytest

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.sessions import SessionsInMemory
from zkchat.chat.conversation import Conversation
from zkchat.chat.tools.registry import CORE_TOOLS
from zkchat.core.events import TurnFinished
from zkchat.core.message import RequestContext, RequestItem
from zkchat.core.profile import ProfileFile
from zkchat.index.library import Library

NOTES = {
    "Rye bread.md": "# Rye bread\n\nRye bread takes two days: the sourdough rests for a night.\n",
    "Harbour.md": "# Harbour\n\n" + "Ships lie in the harbour. " * 400,
}
ALL = [
    "read_document",
    "find_excerpts",
    "find_documents",
    "resolve_wikilink",
    "find_backlinks",
    "find_forward_links",
    "find_related",
    "list_documents",
    "get_current_datetime",
]
QUESTION = "How long does rye bread take?"
EVIDENCE = "the sourdough rests for a night"
POINTER = "read_document"


def talk_over(library: Library, modes: str = "", *, window: int = 32_768, **more: Any) -> tuple[Conversation, Reciting]:
    provider = Reciting(window=window, calls_tools=True)
    text = f"---\ntools:\n{modes}\n---\nAnswer from the notes.\n" if modes else "Answer from the notes.\n"
    agent = ProfileFile(kind="agent", name="default", origin="user", path="default.md", text=text)
    return conversation_over(library, SessionsInMemory(), provider, profiles=(agent,), **more), provider


def record_of(talk: Conversation, text: str) -> RequestContext:
    finished = events_of(talk.say(text))[-1]
    assert isinstance(finished, TurnFinished)
    assert finished.message.request_context
    return finished.message.request_context


def left_out(record: RequestContext, why: str) -> set[str]:
    return {left.item.name for left in record.left_out if left.item.type == "tool" and left.why == why}


@pytest.mark.parametrize("name", ["read_document"])
def test_a_tool_that_is_manual_is_sent_once_the_user_adds_it(library: Library, name: str) -> None:
    talk, provider = talk_over(library, f"  {name}: manual")
    record_of(talk, QUESTION)
    assert [spec.name for spec in provider.requests[-1].tools] == [each for each in ALL if each != name]
    talk.add(RequestItem(type="tool", name=name))
    record_of(talk, QUESTION)
    assert {spec.name for spec in provider.requests[-1].tools} == {*ALL}


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("find_backlinks", "Find the backlinks: list notes that link to this title."),
        ("read_document", "Read the document with this title, passages are not enough."),
    ],
)
def test_a_tool_of_the_mode_agent_is_sent_with_a_message_on_its_subject(
    library: Library, name: str, asked: str
) -> None:
    talk, provider = talk_over(library, f"  {name}: agent")
    for message, is_there in (("Good morning!", False), (asked, True)):
        record_of(talk, message)
        assert (name in {spec.name for spec in provider.requests[-1].tools}) is is_there, message


@pytest.mark.parametrize("name", sorted(CORE_TOOLS))
def test_a_model_that_misses_a_core_tool_is_handed_evidence(library: Library, name: str) -> None:
    for modes, is_handed in (("", False), (f"  {name}: manual", True)):
        talk, provider = talk_over(library, modes)
        assert record_of(talk, QUESTION).can_read is not is_handed
        assert (EVIDENCE in provider.requests[-1].messages[-1].text) is is_handed


def test_where_the_share_is_short_the_least_relevant_tools_are_left_out_and_recorded(library: Library) -> None:
    talk, provider = talk_over(library, window=4096, tools=0.12)
    record = record_of(talk, "Which notes link to this one? Find its backlinks.")
    names = {spec.name for spec in provider.requests[-1].tools}
    assert CORE_TOOLS < names < {*ALL}
    assert "find_backlinks" in names
    assert left_out(record, "budget") == {*ALL} - names
    assert record.can_read


@pytest.mark.parametrize(("window", "shares"), [(1024, {}), (4096, {"tools": 0.0}), (32_768, {"tools": 0.001})])
def test_without_room_for_the_core_tools_the_model_is_handed_evidence_as_one_without_tools(
    library: Library, window: int, shares: dict[str, Any]
) -> None:
    talk, provider = talk_over(library, window=window, **shares)
    record = record_of(talk, f"{QUESTION} And what does [[Harbour]] say?")
    assert provider.requests[-1].tools == ()
    assert not record.can_read
    assert left_out(record, "budget") == {*ALL}
    assert EVIDENCE in provider.requests[-1].messages[-1].text
    assert POINTER not in provider.requests[-1].messages[-1].text
