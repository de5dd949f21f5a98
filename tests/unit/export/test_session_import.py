"""Conversations from files that other programs, older versions, or nobody in particular wrote."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.sessions import NOON, SessionsInMemory
from zkchat.core.errors import SessionError
from zkchat.core.message import ChatMessage, DocumentReference, ImagePart, TextPart
from zkchat.core.session import DraftEntry, Entry, EntryBody, HeadEntry, MessageEntry, TitleEntry
from zkchat.core.session_history import History, messages_of, thread_of
from zkchat.sessions.note_export import as_json
from zkchat.sessions.session_import import Imported, ImportedFile, read_conversations


def read_all(value: Any) -> ImportedFile:
    return read_conversations(value if isinstance(value, str) else json.dumps(value), now=NOON)


def read(value: Any) -> Imported:
    (imported,) = read_all(value).conversations
    return imported


def messages(value: Any) -> list[ChatMessage]:
    return [body.message for body in read(value).bodies if isinstance(body, MessageEntry)]


def title(value: Any) -> str:
    (entry,) = (body for body in read(value).bodies if isinstance(body, TitleEntry))
    return entry.title


def stored(*bodies: EntryBody) -> tuple[SessionsInMemory, list[Entry]]:
    store = SessionsInMemory()
    return store, store.append(store.create().id, bodies)


def message(id_: str, parent: str | None, text: str, **more: Any) -> MessageEntry:
    fields: dict[str, Any] = {"role": "user", "parts": (TextPart(text=text),), "created_at": NOON, **more}
    return MessageEntry(message=ChatMessage(id=id_, session_id="s1", parent_id=parent, **fields))


def exported_and_imported(*bodies: EntryBody) -> tuple[list[Entry], list[Entry]]:
    """The entries of a session, and those of the session that its export becomes."""
    store, entries = stored(*bodies)
    imported = read(as_json(store.get("s1"), entries))
    session = store.create()
    return entries, store.append(session.id, imported.bodies_for(session.id))


def test_a_plain_list_becomes_a_conversation() -> None:
    asked = {"role": "user", "content": "What is sleep?", "name": "Caroline", "id": "D1:3"}
    first, second = messages([asked, {"role": "assistant", "content": {"type": "refusal", "refusal": "No."}}])
    assert (first.role, first.text, first.parent_id, first.created_at) == ("user", "What is sleep?", None, NOON)
    assert (first.name, first.external_id) == ("Caroline", "D1:3")
    assert (second.role, second.text, second.parent_id) == ("assistant", "No.", first.id)
    assert first.id != second.id


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2023-05-08", datetime(2023, 5, 8, tzinfo=UTC)),
        ("2023-05-08T13:56:00", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2023-05-08T13:56:00+02:00", datetime(2023, 5, 8, 11, 56, tzinfo=UTC)),
        (1683554160, datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        (1683554160000, datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        (None, NOON),
    ],
)
def test_times_are_read_in_the_forms_that_programs_write(written: Any, meant: datetime) -> None:
    assert messages([{"role": "user", "content": "Hi", "timestamp": written}])[0].created_at == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [("human", "user"), ("AI", "assistant"), ("model", "assistant"), ("developer", "system"), ("System", "system")],
)
def test_roles_of_other_programs_are_understood(written: str, meant: str) -> None:
    assert messages([{"role": written, "content": "Hi"}])[0].role == meant


def test_a_session_is_titled_by_its_file_or_by_what_the_user_said_first() -> None:
    greeting = {"role": "assistant", "content": "Hello!"}
    assert title([greeting, {"role": "user", "content": "What\nis  sleep?"}]) == "What is sleep?"
    assert title([{"role": "user", "content": "x" * 100}]) == "x" * 59 + "…"
    assert title([greeting]) == ""
    assert title({"title": "x " * 200, "messages": [greeting]}) == "x " * 99 + "x…"
    for named in ({"title": "Rest"}, {"session": {"title": "Rest"}}):
        assert title({**named, "messages": [greeting]}) == "Rest"


def test_messages_of_an_older_zkchat_take_defaults_for_what_they_lack() -> None:
    text = {"kind": "text", "text": "Hi"}
    first, second = messages({"messages": [{"role": "user", "parts": [text]}, {"role": "assistant", "parts": []}]})
    assert (first.text, first.created_at, first.priority) == ("Hi", NOON, 5)
    assert second.parent_id == first.id


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ('[{"role": "user",\n "content": }]', "not JSON: Expecting value at line 2, column 13"),
        ("", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ({"notes": []}, "no conversation"),
        ('"text"', "no conversation"),
        ([], "It has no messages"),
        ({"entries": []}, "It has no messages"),
        ([{"content": "Hi"}, {"content": "Hi"}], "Message 1 does not say who wrote it (no role)"),
        ([{"role": 5, "content": "Hi"}], "Message 1 has the role 5"),
        ([{"role": "user"}], "Message 1 has no content"),
        ([{"role": "user", "content": 5}], "Message 1 has the content 5, which is not text"),
        ([{"role": "user", "content": [5]}], "no messages that can be read; 1 part left out: 1 'int' part"),
        ([{"role": "user", "content": [{"type": "input_audio"}]}], "no messages that can be read; 1 part left out"),
        ([{"role": "assistant", "content": "", "tool_calls": [{}]}], "1 part left out: 1 internal record"),
        ([{"role": "assistant", "content": "", "tool_calls": {}}, 5], "Message 2 is not an object"),
        ([{"role": "king", "parts": []}], "Message 1 cannot be used: role: "),
        ({"entries": [5]}, "Entry 1 of the file is no conversation"),
        ({"entries": [{"body": {"kind": "pin"}}]}, "Entry 1 of the file cannot be used: body.message_id: "),
        ({"entries": [{"body": {"kind": {"a": 1}}}]}, "Entry 1 of the file cannot be used: body.kind: "),
        (
            {"entries": [{"body": {"kind": "message", "message": {"parts": [{"kind": ["text"]}]}}}]},
            "Entry 1 of the file cannot be used: body.message.parts[0].kind: ",
        ),
        ({"version": 99, "entries": []}, "A newer zkchat wrote this file"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_understood_is_shown_with_its_place(value: Any, sentence: str) -> None:
    with pytest.raises(SessionError) as caught:
        read(value)
    assert sentence in caught.value.message


def test_an_answer_that_was_stored_late_does_not_move_the_conversation_there() -> None:
    before, after = exported_and_imported(
        message("q1", None, "What is sleep?"),
        DraftEntry(message_id="a1", parent_id="q1", text="Re"),
        HeadEntry(message_id="q1"),
        message("a1", "q1", "Rest.", role="assistant"),
    )
    assert History(before).head == History(after).head == "q1"
    assert messages_of(after)["a1"].text == "Rest."


def test_a_number_that_json_does_not_know_becomes_nothing() -> None:
    odd = DocumentReference(wikilink="[[Sleep]]", score=float("nan"))
    _, after = exported_and_imported(message("q1", None, "Why?", references=(odd,)))
    assert thread_of(after)[0].references[0].score is None


def test_an_image_keeps_its_place_in_the_vault_and_none_outside() -> None:
    inside = ImagePart(name="bed.png", media_type="image/png", digest="d1", width=4, height=3)
    outside = replace(inside, name="photo.jpg", file="/home/ann/photo.jpg")
    _, (entry,) = exported_and_imported(message("m1", None, "Look", parts=(inside, outside)))
    assert isinstance(entry.body, MessageEntry)
    assert entry.body.message.parts == (inside, replace(outside, file="", digest=""))
