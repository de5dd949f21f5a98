"""Sessions in SQLite: append-only, shared by processes, on disk when `append` returns; opened lazily, recovered."""

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, assert_never

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json

from zkchat.errors import SessionNotFound, StorageError, StorageFull
from zkchat.model.message import OMIT_DEFAULTS
from zkchat.model.session import (
    AgentEntry,
    ChangesEntry,
    ContentEntry,
    DraftEntry,
    Entry,
    EntryBody,
    EntryFilter,
    GoalEntry,
    HeadEntry,
    ItemsEntry,
    ListingEntry,
    MessageEntry,
    ModelEntry,
    PinEntry,
    PriorityEntry,
    RestoreEntry,
    Session,
    TitleEntry,
    UnknownEntry,
    sessions_called,
)
from zkchat.model.text import counted
from zkchat.ports import SessionStore
from zkchat.storage.database import execute_all, sibling
from zkchat.storage.durable_database import (
    DurableDatabase,
    LazyStore,
    UnreadableRow,
    keep_reserve,
    release_reserve,
    timestamp,
)
from zkchat.storage.recovery import Recovered, open_recovered
from zkchat.storage.session_listing import add_listing_columns, update_listing
from zkchat.storage.session_locks import SessionLocks
from zkchat.storage.sqlite_pages import Row, read_rows


def _create_tables(connection: sqlite3.Connection) -> None:
    execute_all(
        connection,
        """CREATE TABLE sessions (
            id TEXT PRIMARY KEY, title TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
            message_count INTEGER NOT NULL)""",
        """CREATE TABLE entries (
            session_id TEXT NOT NULL REFERENCES sessions (id), sequence INTEGER NOT NULL, kind TEXT NOT NULL,
            role TEXT, message_id TEXT, parent_id TEXT, title TEXT, at TEXT NOT NULL, body TEXT NOT NULL,
            UNIQUE (session_id, sequence))""",
        """CREATE INDEX entries_by_message ON entries (session_id, message_id, sequence, kind, role, at)
            WHERE message_id IS NOT NULL""",
        # The sessions that the user deleted: their entries may go, and no recovery brings them back.
        "CREATE TABLE doomed (session_id TEXT PRIMARY KEY, at TEXT NOT NULL)",
        """CREATE TRIGGER entries_stay_as_written BEFORE UPDATE ON entries
            BEGIN SELECT RAISE (ABORT, 'entries are append-only'); END""",
        """CREATE TRIGGER entries_stay BEFORE DELETE ON entries
            WHEN NOT EXISTS (SELECT 1 FROM doomed WHERE session_id = OLD.session_id)
            BEGIN SELECT RAISE (ABORT, 'entries are append-only'); END""",
        """CREATE TRIGGER sessions_follow_entries AFTER INSERT ON entries BEGIN
            UPDATE sessions SET
                updated_at = MAX (updated_at, NEW.at),
                title = COALESCE (NEW.title, title),
                message_count = message_count + (NEW.kind = 'message' AND NOT EXISTS (
                    SELECT 1 FROM entries WHERE session_id = NEW.session_id AND message_id = NEW.message_id
                        AND kind = 'message' AND sequence <> NEW.sequence))
            WHERE id = NEW.session_id; END""",
    )


# Without the index: where that is damaged, a session is still found.
_SESSIONS = f"SELECT {', '.join(Session.model_fields)} FROM sessions NOT INDEXED"  # noqa: S608

# The row of a session's last entry: rows are numbered as they come, whatever the clock says.
_LAST_ENTRY = """COALESCE ((
    SELECT entries.rowid FROM entries WHERE session_id = sessions.id ORDER BY sequence DESC LIMIT 1), 0)"""

_ENTRIES = """
    SELECT session_id, sequence, kind, role, message_id, parent_id, title, at, body
    FROM entries WHERE session_id = :session AND sequence > :after
        AND (kind = 'priority' OR (
            (:role IS NULL OR role = :role)
            AND (:since IS NULL OR at >= :since)
            AND (:until IS NULL OR at <= :until)))
    ORDER BY sequence"""

_LAST_MESSAGES = """
    WITH newest AS (
        SELECT message_id, MIN (sequence) AS first FROM entries
        WHERE session_id = :session AND sequence > :after AND message_id IS NOT NULL AND kind IN ('message', 'draft')
            AND (:role IS NULL OR role = :role)
            AND (:since IS NULL OR at >= :since)
            AND (:until IS NULL OR at <= :until)
        GROUP BY message_id ORDER BY first DESC LIMIT :last)
    SELECT session_id, sequence, kind, role, message_id, parent_id, title, at, body
    FROM entries WHERE session_id = :session AND sequence >= (SELECT MIN (first) FROM newest)
        AND message_id IN (SELECT message_id FROM newest)
        AND (kind = 'priority' OR (
            kind IN ('message', 'draft')
            AND (:role IS NULL OR role = :role)
            AND (:since IS NULL OR at >= :since)
            AND (:until IS NULL OR at <= :until)))
    ORDER BY sequence"""


_BEFORE_ALL: Final = -(1 << 63)


class EntryRow(NamedTuple):
    """An entry as it lies in its table."""

    session_id: str
    sequence: int
    kind: str
    role: str | None
    message_id: str | None
    parent_id: str | None
    title: str | None
    at: str
    body: str


class SqliteSessions(DurableDatabase):
    """Implements `ports.SessionStore`: the sessions of one vault."""

    migrations = (_create_tables, add_listing_columns)

    def __init__(self, path: Path, *, now: Callable[[], datetime], new_id: Callable[[], str]) -> None:
        super().__init__(path, now=now, new_id=new_id)
        self._locks = SessionLocks(path)

    def close(self) -> None:
        self._locks.release_all()
        super().close()

    def enter(self, session_id: str) -> bool:
        """Say that a session is open here, until the store is closed. False if another process has it open."""
        with suppress(StorageError):
            self._begin_log()
        return self._locks.acquire(session_id)

    def _begin_log(self) -> None:
        """Create the write-ahead log now, so that the first message does not wait for that."""
        log = sibling(self._path, "-wal")
        if not log.exists() or not log.stat().st_size:
            with self._writing() as connection:
                connection.execute(f"PRAGMA user_version = {len(self.migrations)}")

    def create(self, title: str = "") -> Session:
        created = self._retry_without_reserve(lambda: self._create(title))
        keep_reserve(self._path)
        return created

    def _create(self, title: str) -> Session:
        session_id, at = self._new_id(), self._now()
        with self._writing() as connection:
            _insert_session(
                connection,
                {"id": session_id, "title": "", "created_at": timestamp(at), "updated_at": timestamp(at)},
            )
            rows = [_row(session_id, 1, at, *_storable(TitleEntry(title=title)))] if title else []
            _insert_entries(connection, rows)
        return self.get(session_id)

    def add(self, session_id: str, bodies: Sequence[EntryBody]) -> bool:
        """Add a session that was held elsewhere, under this id and with the times of its messages, all or nothing.

        False if there is one of that id, or was one that the user deleted.
        """
        added = self._retry_without_reserve(lambda: self._add(session_id, bodies))
        keep_reserve(self._path)
        return added

    def _add(self, session_id: str, bodies: Sequence[EntryBody]) -> bool:
        now = self._now()
        times = [min(body.message.created_at, now) if isinstance(body, MessageEntry) else None for body in bodies]
        first = min((at for at in times if at), default=now)
        with self._writing() as connection:
            ids = "SELECT id FROM sessions UNION SELECT session_id FROM doomed"
            if connection.execute(f"SELECT 1 FROM ({ids}) WHERE id = ?", (session_id,)).fetchone():  # noqa: S608
                return False
            at = timestamp(first)
            _insert_session(connection, {"id": session_id, "title": "", "created_at": at, "updated_at": at})
            stored = [*zip(times, map(_storable, bodies), strict=True)]
            rows = [_row(session_id, number, at or first, *each) for number, (at, each) in enumerate(stored, start=1)]
            _insert_entries(connection, rows)
            update_listing(connection, session_id, (body for _, (body, _) in stored))
        return True

    def append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        """Add entries in order, all or none; they are on disk when this returns."""
        return self._retry_without_reserve(lambda: self._append(session_id, bodies))

    def _append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        at = self._now().astimezone(UTC)
        with self._writing() as connection:
            self.get(session_id)
            (following,) = connection.execute(
                "SELECT COALESCE (MAX (sequence), 0) + 1 FROM entries WHERE session_id = ?", (session_id,)
            ).fetchone()
            stored = [*enumerate(map(_storable, bodies), start=following)]
            _insert_entries(connection, [_row(session_id, number, at, *each) for number, each in stored])
            update_listing(connection, session_id, (body for _, (body, _) in stored))
        return [Entry(session_id=session_id, sequence=number, at=at, body=body) for number, (body, _) in stored]

    def entries(self, session_id: str, wanted: EntryFilter | None = None) -> list[Entry]:
        """The entries that all conditions of the filter let through, in order.

        `role` and `last` leave only messages and drafts, with the priorities that the user set, and `last` counts a
        message once, however often it was stored. What is not wanted is not read.
        """
        self.get(session_id)
        wanted = wanted or EntryFilter()
        parameters = {
            "session": session_id,
            "role": wanted.role,
            "since": timestamp(wanted.since) if wanted.since else None,
            "until": timestamp(wanted.until) if wanted.until else None,
            "last": wanted.last,
            "after": _BEFORE_ALL if wanted.after is None else wanted.after,
        }
        with self._reading() as connection:
            statement = _ENTRIES if wanted.last is None else _LAST_MESSAGES
            return [_entry_of(EntryRow(*row)) for row in connection.execute(statement, parameters)]

    def sessions(self) -> list[Session]:
        """All of them, the last used first."""
        with self._reading() as connection:
            rows = connection.execute(f"{_SESSIONS} ORDER BY {_LAST_ENTRY} DESC, rowid DESC")
            return [_session_of(row) for row in rows]

    def get(self, session_id: str) -> Session:
        with self._reading() as connection:
            row = connection.execute(f"{_SESSIONS} WHERE id = ?", (session_id,)).fetchone()
            if row is None:
                raise no_session(session_id)
            return _session_of(row)

    def find(self, name: str) -> Session:
        """By id, the beginning of an id, or title. Raises `SessionNotFound` with the closest ones as a hint."""
        sessions = self.sessions()
        called = sessions_called(name, sessions)
        if len(called) != 1:
            raise _ambiguous(name, called) if called else no_session(name, sessions)
        return called[0]

    def delete(self, session_id: str) -> None:
        """Remove a session permanently, from the backups too, and every damaged file that was kept."""
        self.get(session_id)
        self._erase_permanently(lambda connection: _erase(connection, session_id, timestamp(self._now())))

    def verify(self) -> None:
        self.sessions()

    def verify_every_row(self) -> None:
        for session in self.sessions():
            self.entries(session.id)

    def describe_content(self) -> str:
        sessions = self.sessions()
        messages = sum(session.message_count for session in sessions)
        return f"{counted(len(sessions), 'session')} with {counted(messages, 'message')}" if sessions else ""

    @staticmethod
    def restore(connection: sqlite3.Connection, sources: Iterable[Path]) -> None:
        found = _RecoveredRows()
        for file in sources:
            found.read(file)
        found.insert_into(connection)


def _insert_session(connection: sqlite3.Connection, values: Mapping[str, object]) -> None:
    """Add a session without messages; a trigger counts those that are added."""
    columns, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
    connection.execute(f"INSERT INTO sessions ({columns}, message_count) VALUES ({marks}, 0)", values)  # noqa: S608


def _insert_entries(connection: sqlite3.Connection, rows: Iterable[EntryRow]) -> None:
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _mark_deleted(connection: sqlite3.Connection, times: Mapping[str, str]) -> None:
    """Record that these sessions were deleted, and when."""
    connection.executemany("INSERT OR IGNORE INTO doomed VALUES (?, ?)", times.items())


def _session_of(row: Sequence[object]) -> Session:
    try:
        return Session.model_validate(dict(zip(Session.model_fields, row, strict=True)))
    except ValueError as error:
        raise UnreadableRow from error


def _entry_of(row: EntryRow) -> Entry:
    """The entry of a row; what a newer zkchat wrote in a way that we do not understand comes as an unknown one."""
    try:
        body = from_json(row.body)
        head = {"session_id": row.session_id, "sequence": row.sequence, "at": row.at}
        try:
            return Entry.model_validate({**head, "body": body})
        except ValidationError:
            return Entry.model_validate({**head, "body": {"kind": "unreadable", "original": body}})
    except (ValueError, TypeError) as error:
        raise UnreadableRow from error


def _storable(body: EntryBody) -> tuple[EntryBody, str]:
    """What can be kept of a body, which is nearly always all of it, and the same as it is written."""
    try:
        return body, body.model_dump_json(context=OMIT_DEFAULTS)
    except PydanticSerializationError:
        # Half of a surrogate pair, which UTF-8 cannot hold: better one replaced character than a lost message.
        text = json.dumps(body.model_dump(mode="json", context=OMIT_DEFAULTS), ensure_ascii=False)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return type(body).model_validate_json(text), text


def _row(session_id: str, sequence: int, at: datetime, body: EntryBody, text: str) -> EntryRow:
    return EntryRow(session_id, sequence, body.kind, *_columns_of(body), timestamp(at), text)


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


def _erase(connection: sqlite3.Connection, session_id: str, at: str) -> None:
    _mark_deleted(connection, {session_id: at})
    connection.execute("DELETE FROM entries WHERE session_id = ?", (session_id,))
    connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))


def no_session(name: str, sessions: Sequence[Session] = ()) -> SessionNotFound:
    from difflib import get_close_matches

    names = {session.title.casefold(): session for session in sessions} | {s.id: s for s in sessions}
    closest = [names[match] for match in get_close_matches(name.casefold(), names, n=3, cutoff=0.5)]
    hint = f"Closest: {_listed(closest)}." if closest else "zkchat sessions list shows those that are there."
    return SessionNotFound(f"There is no session {name!r}.", hint=hint)


def _ambiguous(name: str, sessions: Sequence[Session]) -> SessionNotFound:
    return SessionNotFound(
        f"{name!r} could be any of {len(sessions)} sessions.", hint=f"Say which one by its id: {_listed(sessions[:5])}."
    )


def _listed(sessions: Iterable[Session]) -> str:
    return ", ".join(f"{session.id} ({session.title or 'untitled'})" for session in sessions)


@dataclass(slots=True)
class _RecoveredRows:
    """The rows of all tables that could be read, the newest version of each."""

    sessions: dict[str, dict[str, object]] = field(default_factory=dict)
    entries: dict[tuple[str, int], EntryRow] = field(default_factory=dict)
    deleted: dict[str, str] = field(default_factory=dict)

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
                str(body),
            ):
                entry = EntryRow(id_, sequence, kind, role, own, parent, title, at, body)
                _entry_of(entry)
                self.entries.setdefault((entry.session_id, entry.sequence), entry)
            case (str(id_), str(), str(), str(), int(), *_):
                values: dict[str, object] = dict(zip(Session.model_fields, row, strict=False))
                Session.model_validate(values)
                del values["message_count"]
                self.sessions.setdefault(id_, values)
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
            _insert_session(connection, values)
        _insert_entries(connection, kept)
        _mark_deleted(connection, self.deleted)


def open_sessions(path: Path, *, now: Callable[[], datetime], new_id: Callable[[], str]) -> Recovered[SqliteSessions]:
    """Open the sessions, after a recovery if they are damaged or missing. On a full disk the reserve is released."""
    try:
        opened = open_recovered(SqliteSessions, path, now=now, new_id=new_id)
    except StorageFull:
        if not release_reserve(path):
            raise
        opened = open_recovered(SqliteSessions, path, now=now, new_id=new_id)
    if opened.store.sessions():
        keep_reserve(path)
    return opened


class _SessionsProxy(ABC):
    """What `LazySessions` and `UnavailableSessions` share: every request goes to a store that is opened late."""

    @abstractmethod
    def _writable(self) -> SessionStore: ...

    @abstractmethod
    def _holding(self, name: str, /) -> SessionStore:
        """The store that may hold a session of that name or id."""

    def create(self, title: str = "") -> Session:
        return self._writable().create(title)

    def add(self, session_id: str, bodies: Sequence[EntryBody]) -> bool:
        return self._writable().add(session_id, bodies)

    def append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        return self._holding(session_id).append(session_id, bodies)

    def entries(self, session_id: str, wanted: EntryFilter | None = None) -> list[Entry]:
        return self._holding(session_id).entries(session_id, wanted)

    def get(self, session_id: str) -> Session:
        return self._holding(session_id).get(session_id)

    def find(self, name: str) -> Session:
        return self._holding(name).find(name)

    def delete(self, session_id: str) -> None:
        self._holding(session_id).delete(session_id)


class LazySessions(LazyStore[SqliteSessions], _SessionsProxy):
    """Implements `ports.SessionStore` for a vault without sessions; the file is made with the first one."""

    def sessions(self) -> list[Session]:
        store = self._existing()
        return store.sessions() if store else []

    def enter(self, session_id: str) -> bool:
        store = self._existing()
        return store.enter(session_id) if store else True

    def _not_found(self, name: str) -> SessionNotFound:
        return no_session(name)


class UnavailableSessions(_SessionsProxy):
    """Implements `ports.SessionStore` where the disk is full or the folder cannot be written.

    Every request raises the reason, so that the conversation warns and goes on in memory. A full disk may have space
    again: then the store is opened, and what waits in memory is written.
    """

    def __init__(self, reason: StorageError, reopen: Callable[[], SessionStore]) -> None:
        self._reason = reason
        self._reopen = reopen
        self._reopened: SessionStore | None = None

    def sessions(self) -> list[Session]:
        return self._writable().sessions()

    def enter(self, session_id: str) -> bool:
        return self._reopened.enter(session_id) if self._reopened else True

    def _writable(self) -> SessionStore:
        if self._reopened is None:
            if not isinstance(self._reason, StorageFull):
                raise self._reason
            self._reopened = self._reopen()
        return self._reopened

    def _holding(self, _name: str, /) -> SessionStore:
        return self._writable()
