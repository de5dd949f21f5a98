"""The JSON of a session holds its messages twice, and makes them once."""

import json
from datetime import UTC, datetime

import pytest

from zkchat.core.message import ChatMessage, TextPart
from zkchat.core.session import DraftEntry, Entry, EntryBody, MessageEntry, PriorityEntry, Session
from zkchat.core.values import to_plain
from zkchat.sessions import note_export as session_json
from zkchat.sessions.note_export import as_json

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEY = "sk-proj-1234567890abcdef"


def said(id_: str, parent: str | None, text: str) -> MessageEntry:
    message = ChatMessage(id=id_, parent_id=parent, role="user", parts=(TextPart(text=text),), created_at=NOON)
    return MessageEntry(message=message)


def test_entries_and_messages_say_the_same_and_each_message_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies: list[EntryBody] = [
        said("m1", None, f'The "key" is {KEY}.'),
        DraftEntry(message_id="m2", parent_id="m1", text="Se"),
        said("m2", "m1", "Seven."),
        PriorityEntry(message_id="m1", priority=9),
    ]
    written: list[str] = []

    def watched(value: object) -> object:
        written.extend([value.id] if isinstance(value, ChatMessage) else [])
        return to_plain(value)

    monkeypatch.setattr(session_json, "to_plain", watched)
    entries = [Entry(session_id="s", sequence=number, at=NOON, body=body) for number, body in enumerate(bodies, 1)]
    text = as_json(Session(id="s", created_at=NOON, updated_at=NOON), entries)
    assert written == ["m1", "m2"]
    assert KEY not in text
    exported = json.loads(text)
    assert [entry["sequence"] for entry in exported["entries"]] == [1, 2, 4]
    assert exported["entries"][0]["at"] == "2026-03-01T12:00:00Z"
    messages = [entry["body"]["message"] for entry in exported["entries"][:2]]
    assert [message["priority"] for message in messages] == [9, 5]
    contents = ['The "key" is [redacted].', "Seven."]
    assert exported["messages"] == [
        {**message, "content": content} for message, content in zip(messages, contents, strict=True)
    ]
