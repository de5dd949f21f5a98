"""Any session comes back from its export: message for message, with its branches, pins and compactions."""

import json
from datetime import UTC, datetime

import jsonschema  # type: ignore[import-untyped]
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.properties.test_values import of_type, of_value
from tests.support.sessions import SessionsInMemory
from zkchat.core.message import ChatMessage, ImagePart
from zkchat.core.session import DraftEntry, EntryBody, HeadEntry, MessageEntry, PinEntry, PriorityEntry
from zkchat.core.session_history import History
from zkchat.sessions.note_export import as_json, export_schema
from zkchat.sessions.session_import import read_conversations

NOW = datetime(2026, 3, 1, tzinfo=UTC)
IDS = ["m0", "m1", "m2", "m3"]
SCHEMA = jsonschema.Draft202012Validator(export_schema())


others: st.SearchStrategy[EntryBody] = of_type(EntryBody).filter(
    lambda body: not isinstance(body, MessageEntry | DraftEntry)
)


@st.composite
def sessions(draw: st.DrawFn) -> list[EntryBody]:
    """Entries that speak of the same few messages; each message follows one that is there, with a smaller number."""
    bodies: list[EntryBody] = [MessageEntry(message=ChatMessage(id="m0", role="user", created_at=NOW))]
    known = {"m0"}
    for _ in range(draw(st.integers(0, 8))):
        number = draw(st.integers(1, 3))
        id_, parent = IDS[number], draw(st.sampled_from([None, *sorted(known.intersection(IDS[:number]))]))
        kind = draw(st.sampled_from(["message", "draft", "head", "pin", "priority", "other"]))
        if kind == "message":
            message = replace(draw(of_value(ChatMessage)), id=id_, parent_id=parent)
            bodies.append(MessageEntry(message=message))
            known.add(id_)
        elif kind == "draft":
            bodies.append(replace(draw(of_value(DraftEntry)), message_id=id_, parent_id=parent))
            known.add(id_)
        elif kind == "head":
            bodies.append(HeadEntry(message_id=draw(st.sampled_from([None, *sorted(known)]))))
        elif kind == "pin":
            bodies.append(PinEntry(message_id=draw(st.sampled_from(sorted(known))), pinned=draw(st.booleans())))
        elif kind == "priority":
            chosen = draw(st.integers(1, 10))
            bodies.append(PriorityEntry(message_id=draw(st.sampled_from(sorted(known))), priority=chosen))
        else:
            bodies.append(draw(others))
    return bodies


def without_session(messages: list[ChatMessage]) -> list[ChatMessage]:
    return [replace(message, session_id="") for message in messages]


def without_files(message: ChatMessage) -> ChatMessage:
    """As an import leaves it: the places of images outside a vault stay behind."""
    parts = tuple(
        replace(part, file="", digest="") if isinstance(part, ImagePart) and part.file else part
        for part in message.parts
    )
    return replace(message, parts=parts)


@given(written=sessions())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_session_comes_back_from_its_export(written: list[EntryBody]) -> None:
    store = SessionsInMemory()
    entries = store.append(store.create().id, written)
    text = as_json(store.get("s1"), entries)
    assert text.isascii()
    SCHEMA.validate(json.loads(text))
    (imported,) = read_conversations(text, now=NOW).conversations
    copy = store.create()
    before, after = History(entries), History(store.append(copy.id, imported.bodies_for(copy.id)))
    assert imported.message_count == len(before.messages)
    assert without_session(after.thread) == [*map(without_files, without_session(before.thread))]
    assert {m.id: m for m in without_session([*after.messages.values()])} == {
        m.id: without_files(m) for m in without_session([*before.messages.values()])
    }
    assert after.window.pinned == before.window.pinned
    for kind in ("live", "compactions"):
        left = [[each.id for each in getattr(history.window, kind)] for history in (before, after)]
        assert left[0] == left[1]
    assert after.items == before.items
    kept = [entry.body for entry in entries if not isinstance(entry.body, MessageEntry | DraftEntry)]
    assert [body for body in imported.bodies if not isinstance(body, MessageEntry)] == kept
