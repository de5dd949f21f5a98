"""The tool that finds what was said earlier."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime

from zkchat.chat.message_search import FoundMessage
from zkchat.chat.tools.memory import PAGE_CHARS, recall_tools
from zkchat.core.ports import ToolOutcome
from zkchat.core.session import IndexedMessage

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def said(text: str) -> FoundMessage:
    message = IndexedMessage(
        session="s",
        id=text[:5],
        place=1,
        changed=1,
        role="user",
        name="Anna",
        time=NOON,
        text=text,
        said=b"",
        labels=b"",
        features=b"",
    )
    return FoundMessage(message, 0.5)


def call(found: Sequence[FoundMessage], **arguments: object) -> ToolOutcome:
    (tool,) = recall_tools(lambda query, limit: found[:limit] if query == "the heron" else [])
    assert tool.spec.name == "search_conversation"
    return asyncio.run(tool.call(json.dumps(arguments)))


def test_what_was_said_is_given_as_data_with_speaker_and_date() -> None:
    outcome = call([said("The heron is called Konrad."), said("He eats fish.")], query="the heron")
    assert outcome.text == (
        "<message user Anna 2026-03-01>The heron is called Konrad.</message>\n\n"
        "<message user Anna 2026-03-01>He eats fish.</message>"
    )
    assert outcome.summary == "2 messages"


def test_there_are_at_most_as_many_as_were_asked_for() -> None:
    assert call([said("One."), said("Two.")], q="the heron", limit=1).summary == "1 message"


def test_long_messages_share_the_page() -> None:
    long = " ".join(f"Sentence number {n} is about Konrad's house." for n in range(1000))
    outcome = call([said(long), said(long)], query="the heron")
    assert PAGE_CHARS // 2 < len(outcome.text) <= PAGE_CHARS + 200
