"""What lists show of a session beside its title: first words, model, and whether it is listed."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.sessions import NOON
from tests.unit.storage.test_migrations import old_database
from zkchat.model.entries import ListingEntry, MessageEntry, TitleEntry
from zkchat.model.parts import TextPart
from zkchat.model.session import Session
from zkchat.model.stored_forms import read_message
from zkchat.storage.sessions import SqliteSessions


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteSessions]:
    ids = iter(["s1", "s2"])
    with SqliteSessions(tmp_path / "sessions.db", now=lambda: NOON, new_id=lambda: next(ids)) as store:
        yield store


def said(id_: str, role: str, text: str, model: str = "") -> MessageEntry:
    provider, _, name = model.partition(":")
    fields = {"id": id_, "role": role, "created_at": NOON, "parts": [TextPart(text=text)]}
    return MessageEntry(message=read_message({**fields, "provider": provider, "model": name}))


def listing(session: Session) -> tuple[bool, str, str]:
    return session.listed, session.first_words, session.model


def test_first_words_stay_and_the_last_model_counts(store: SqliteSessions) -> None:
    id_ = store.create("A title").id
    assert listing(store.get(id_)) == (True, "", "")
    store.append(id_, [said("m1", "user", "What  is\nsleep?"), said("m2", "assistant", "Rest.", "ollama:qwen3:8b")])
    store.append(id_, [said("m3", "user", "Sure?"), TitleEntry(title="Renamed")])
    assert listing(store.get(id_)) == (True, "What is sleep?", "ollama:qwen3:8b")
    store.append(id_, [said("m4", "assistant", "Yes.", "quote")])
    assert listing(store.get(id_)) == (True, "What is sleep?", "quote")


def test_a_session_is_not_listed_until_somebody_goes_on_with_it(store: SqliteSessions) -> None:
    id_ = store.create().id
    store.append(id_, [ListingEntry(listed=False), said("m1", "user", "Once?")])
    store.append(id_, [said("m2", "assistant", "Once.")])
    assert not store.get(id_).listed
    store.append(id_, [ListingEntry(listed=True), said("m3", "user", "Again?")])
    assert store.get(id_).listed


def test_a_session_from_elsewhere_has_the_same(store: SqliteSessions) -> None:
    store.add("x1", [said("m1", "user", "Hello"), said("m2", "assistant", "Hi.", "openai:gpt")])
    assert listing(store.get("x1")) == (True, "Hello", "openai:gpt")


def test_a_message_that_cannot_be_read_does_not_stop_the_migration(tmp_path: Path) -> None:
    path = old_database(tmp_path, "sessions", 1)
    with closing(sqlite3.connect(path)) as connection:
        (row,) = connection.execute("SELECT * FROM entries WHERE kind = 'message'").fetchall()
        broken = [*row[:1], 3, *row[2:-1], "{"]
        connection.execute("INSERT INTO sessions VALUES ('s2', '', ?, ?, 1)", (row[7], row[7]))
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", ["s2", *broken[1:]])
        connection.commit()
    with SqliteSessions(path, now=lambda: NOON, new_id=lambda: "new") as store:
        assert [listing(session) for session in store.sessions()] == [(True, "", ""), (True, "I like tea.", "")]
