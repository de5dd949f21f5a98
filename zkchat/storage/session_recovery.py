"""What can be read of damaged session files, put into a new one."""

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct, field

from zkchat.model.session import Session
from zkchat.model.values import from_plain
from zkchat.storage.packed_text import Packed
from zkchat.storage.request_items import ItemsRow, highest_number, holds_items, insert_items
from zkchat.storage.session_rows import (
    EntryRow,
    entries_of,
    insert_entries,
    insert_session,
    mark_deleted,
    plain_bodies,
)
from zkchat.storage.sqlite_pages import Row, read_rows


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
            case (str(id_), int(number), str() | bytes() as item) if holds_items(item):
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
        """The items of the sessions. A lost one with the highest number leaves an empty row, so that no new item gets a
        number that a record knows for another."""
        named = {entry.session_id: -1 for entry in kept}
        for entry in kept:
            named[entry.session_id] = max(named[entry.session_id], _highest_item(entry))
        for (id_, number), items in sorted(self.items.items()):
            if id_ in named:
                yield id_, number, items
                named[id_] = named[id_] if named[id_] > number else -1
        for id_, highest in named.items():
            if highest >= 0:
                yield id_, highest, ""


def _highest_item(entry: EntryRow) -> int:
    """The highest number that the request record of a message names, also among what was left out; -1 if none."""
    named = (numbers for body in plain_bodies(entry) for numbers in _item_numbers(body))
    return max(map(highest_number, named), default=-1)


def _item_numbers(body: object) -> Iterator[str]:
    match body:
        case {"message": {"request_context": {"items": str(items), **rest}}}:
            yield items
            match rest.get("left_out"):
                case [*left_out]:
                    named = (numbers for left in left_out if isinstance(left, list) for numbers in left[1:])
                    yield from (each for each in named if isinstance(each, str))
