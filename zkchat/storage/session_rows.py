"""How sessions and their entries become rows, and rows entries; also those that a recovery found."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple, assert_never

from msgspec import Struct, field

from zkchat.model.entries import (
    AgentEntry,
    ChangesEntry,
    ContentEntry,
    DraftEntry,
    Entry,
    EntryBody,
    GoalEntry,
    HeadEntry,
    ItemsEntry,
    ListingEntry,
    MessageEntry,
    ModelEntry,
    PinEntry,
    PriorityEntry,
    RestoreEntry,
    TitleEntry,
    UnknownEntry,
)
from zkchat.model.message import ChatMessage
from zkchat.model.session import Session
from zkchat.model.stored_forms import read_body, read_json_body, read_message, stored_body
from zkchat.model.text import shorten
from zkchat.model.values import InvalidValue, from_json, from_plain, to_json, to_plain
from zkchat.storage.database import execute_all
from zkchat.storage.durable_database import UnreadableRow, timestamp
from zkchat.storage.packed_text import Packed, pack, unpack
from zkchat.storage.request_items import MAX_ITEMS, ItemReader, ItemsRow, ItemWriter, holds_items, insert_items
from zkchat.storage.sqlite_pages import Row, read_rows

_SEVERAL: Final = '{"kind":"content","bodies":['
"""How a row begins that holds several contents."""
_FIRST_WORDS_LENGTH: Final = 200


class EntryRow(NamedTuple):
    """An entry as it lies in its table, or several contents: these have the place of the last of them."""

    session_id: str
    sequence: int
    kind: str
    role: str | None
    message_id: str | None
    parent_id: str | None
    title: str | None
    at: str
    body: Packed


def insert_session(connection: sqlite3.Connection, values: Mapping[str, object]) -> None:
    """Add a session without messages; a trigger counts those that are added."""
    columns, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
    connection.execute(f"INSERT INTO sessions ({columns}, message_count) VALUES ({marks}, 0)", values)  # noqa: S608


def insert_entries(connection: sqlite3.Connection, rows: Iterable[EntryRow]) -> None:
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def mark_deleted(connection: sqlite3.Connection, times: Mapping[str, str]) -> None:
    """Record that these sessions were deleted, and when."""
    connection.executemany("INSERT OR IGNORE INTO doomed VALUES (?, ?)", times.items())


def session_of(row: Sequence[object]) -> Session:
    try:
        return from_plain(Session, dict(zip(Session.__struct_fields__, row, strict=True)))
    except ValueError as error:
        raise UnreadableRow from error


def entries_of(row: EntryRow, items: ItemReader | None = None) -> list[Entry]:
    """The entries of a row; what a newer zkchat wrote in a way that we do not understand comes as unknown ones.

    Without `items` request records come without theirs.
    """
    try:
        at, bodies = datetime.fromisoformat(row.at), _bodies_of(unpack(row.body), items)
        first = row.sequence - len(bodies) + 1
        return [
            Entry(session_id=row.session_id, sequence=number, at=at, body=body)
            for number, body in enumerate(bodies, start=first)
        ]
    except (ValueError, TypeError) as error:
        raise UnreadableRow from error


def _bodies_of(text: str, items: ItemReader | None) -> list[EntryBody]:
    if not text.startswith(_SEVERAL):
        try:
            return [read_json_body(text, items.read if items else None)]
        except InvalidValue:
            pass
    return [_body_of(each, items) for each in _plain_bodies(text)]


def _body_of(plain: Any, items: ItemReader | None) -> EntryBody:
    try:
        return read_body(plain, items.read if items else None)
    except InvalidValue:
        return UnknownEntry(fields={"kind": "unreadable", "original": plain})


def _plain_bodies(text: str) -> list[Any]:
    plain = from_json(text)
    return plain["bodies"] if text.startswith(_SEVERAL) else [plain]


def storable(body: EntryBody, items: ItemWriter | None = None) -> tuple[EntryBody, str]:
    """What can be kept of a body, which is nearly always all of it, and the same as it is written."""
    try:
        return body, to_json(stored_body(body, items.write) if items else to_plain(body))
    except UnicodeEncodeError:
        # Half of a surrogate pair, which UTF-8 cannot hold: better one replaced character than a lost message.
        text = json.dumps(to_plain(body), ensure_ascii=False)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return read_body(from_json(text)), text


class Storable(NamedTuple):
    """An entry that is about to become a row."""

    sequence: int
    at: datetime
    body: EntryBody
    text: str
    """The body as it is written."""


def rows_of(session_id: str, entries: Iterable[Storable]) -> Iterator[EntryRow]:
    """Entries as rows, in their order. Contents that came with one request share a row."""
    for _, group in groupby(entries, key=_row_key):
        together = [*group]
        sequence, at, body, text = together[-1]
        if len(together) > 1:
            text = f"{_SEVERAL}{','.join(each.text for each in together)}]}}"
        yield EntryRow(session_id, sequence, body.kind, *_columns_of(body), timestamp(at), pack(text))


def _row_key(entry: Storable) -> tuple[datetime, int]:
    return entry.at, 0 if isinstance(entry.body, ContentEntry) else entry.sequence


def _columns_of(body: EntryBody) -> tuple[str | None, str | None, str | None, str | None]:
    """Role, message id, parent id and title, where there are any: what SQL needs to know of a body."""
    match body:
        case MessageEntry(message=message):
            return message.role, message.id, message.parent_id, None
        case DraftEntry():
            return "assistant", body.message_id, body.parent_id, None
        case HeadEntry() | PinEntry() | PriorityEntry() | ChangesEntry():
            return None, body.message_id, None, None
        case TitleEntry():
            return None, None, None, body.title
        case ItemsEntry() | RestoreEntry() | ContentEntry():
            return None, None, None, None
        case AgentEntry() | ModelEntry() | ListingEntry() | GoalEntry() | UnknownEntry():
            return None, None, None, None
        case _:
            assert_never(body)


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


class RecoveredRows(Struct):
    """The rows of all tables that could be read, the newest version of each."""

    sessions: dict[str, dict[str, object]] = field(default_factory=dict)
    entries: dict[tuple[str, int], EntryRow] = field(default_factory=dict)
    deleted: dict[str, str] = field(default_factory=dict)
    items: dict[tuple[str, int], Packed] = field(default_factory=dict)

    def read(self, database: Path) -> None:
        for row in read_rows(database):
            try:
                self._add(row)
            except ValueError:
                continue

    def _add(self, row: Row) -> None:
        """Keep a row that validates; its columns tell which table it is from. Older versions may have fewer."""
        match row:
            case (
                str(id_),
                int(sequence),
                str(kind),
                str() | None as role,
                str() | None as own,
                str() | None as parent,
                str() | None as title,
                str(at),
                str() | bytes() as body,
            ):
                entry = EntryRow(id_, sequence, kind, role, own, parent, title, at, body)
                entries_of(entry)
                self.entries.setdefault((entry.session_id, entry.sequence), entry)
            case (str(id_), str(), str(), str(), int(), *_):
                values: dict[str, object] = dict(zip(Session.__struct_fields__, row, strict=False))
                from_plain(Session, values)
                del values["message_count"]
                self.sessions.setdefault(id_, values)
            case (str(id_), int(number), str() | bytes() as item) if not item or holds_items(item):
                self.items.setdefault((id_, number), item)
            case (str(id_), str(at)):
                datetime.fromisoformat(at)
                self.deleted.setdefault(id_, at)

    def insert_into(self, connection: sqlite3.Connection) -> None:
        """Everything but the sessions that the user had deleted."""
        used = {entry.session_id: entry.at for _, entry in sorted(self.entries.items())}
        kept = [entry for entry in self.entries.values() if entry.session_id not in self.deleted]
        kept.sort(key=lambda entry: (used[entry.session_id], entry.session_id, entry.sequence))
        sessions = {id_: values for id_, values in self.sessions.items() if id_ not in self.deleted}
        for entry in kept:
            times = {"created_at": entry.at, "updated_at": entry.at}
            sessions.setdefault(entry.session_id, {"id": entry.session_id, "title": "", **times})
        for values in sessions.values():
            insert_session(connection, values)
        insert_entries(connection, kept)
        insert_items(connection, self._numbered_items(kept))
        mark_deleted(connection, self.deleted)

    def _numbered_items(self, kept: Sequence[EntryRow]) -> Iterator[ItemsRow]:
        """The items of the sessions. An empty row after them leaves room for all that may be lost, so that no new item
        gets a number that a record knows for another."""
        last = {entry.session_id: -1 for entry in kept}
        for (id_, number), items in sorted(self.items.items()):
            if id_ in last:
                yield id_, number, items
                last[id_] = number
        yield from ((id_, number + MAX_ITEMS, "") for id_, number in last.items())
