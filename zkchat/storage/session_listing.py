"""What lists of sessions show and no trigger counts: the first words, the model, and whether a session is listed."""

import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from zkchat.model.entries import EntryBody, ListingEntry, MessageEntry
from zkchat.model.message import ChatMessage
from zkchat.model.stored_forms import read_message
from zkchat.model.text import shorten
from zkchat.model.values import from_json
from zkchat.storage.database import execute_all

_FIRST_WORDS_LENGTH: Final = 200


def add_listing_columns(connection: sqlite3.Connection) -> None:
    """A migration: the columns, filled from the messages that are there. Sessions that exist are listed."""
    execute_all(
        connection,
        "ALTER TABLE sessions ADD COLUMN listed INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE sessions ADD COLUMN first_words TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE sessions ADD COLUMN model TEXT NOT NULL DEFAULT ''",
    )
    for (session_id,) in connection.execute("SELECT id FROM sessions").fetchall():
        ends = (_message(connection, session_id, "user", "ASC"), _message(connection, session_id, "assistant", "DESC"))
        update_listing(connection, session_id, [MessageEntry(message=message) for message in ends if message])


def _message(connection: sqlite3.Connection, session_id: str, role: str, order: str) -> ChatMessage | None:
    """The first or the last message of that role; None if there is none, or it cannot be read."""
    row = connection.execute(
        "SELECT body FROM entries WHERE session_id = ? AND kind = 'message' AND role = ? "  # noqa: S608
        f"ORDER BY sequence {order} LIMIT 1",
        (session_id, role),
    ).fetchone()
    with suppress(ValueError, KeyError, TypeError):
        return read_message(from_json(row[0])["message"])
    return None


def update_listing(connection: sqlite3.Connection, session_id: str, bodies: Iterable[EntryBody]) -> None:
    """Keep in the row of a session what these entries say; its first words are those of the first question."""
    first_words, model, listed = "", "", None
    for body in bodies:
        if isinstance(body, ListingEntry):
            listed = body.listed
        elif isinstance(body, MessageEntry) and body.message.role == "user":
            first_words = first_words or shorten(" ".join(body.message.text.split()), _FIRST_WORDS_LENGTH)
        elif isinstance(body, MessageEntry) and body.message.provider:
            model = f"{body.message.provider}:{body.message.model}".removesuffix(":")
    if first_words or model or listed is not None:
        connection.execute(
            """UPDATE sessions SET
                first_words = CASE first_words WHEN '' THEN ? ELSE first_words END,
                model = CASE ? WHEN '' THEN model ELSE ? END,
                listed = COALESCE (?, listed)
            WHERE id = ?""",
            (first_words, model, model, listed, session_id),
        )
