"""How sessions and their entries become rows, and rows entries."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, Final, NamedTuple, assert_never

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
from zkchat.model.session import Session
from zkchat.model.stored_forms import read_body, read_json_body, stored_body
from zkchat.model.values import InvalidValue, from_json, from_plain, to_json, to_plain
from zkchat.storage.durable_database import UnreadableRow, timestamp
from zkchat.storage.packed_text import Packed, pack, unpack
from zkchat.storage.request_items import ItemReader, ItemWriter

_SEVERAL: Final = '{"kind":"content","bodies":['
"""How a row begins that holds several contents."""


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


def plain_bodies(row: EntryRow) -> list[Any]:
    """What is stored of the entries of a row. Raises `ValueError`."""
    return _plain_bodies(unpack(row.body))


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
