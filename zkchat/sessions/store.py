"""Sessions in SQLite: append-only, shared by processes, on disk when `append` returns."""

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from difflib import get_close_matches
from hashlib import sha256
from heapq import merge
from itertools import starmap
from operator import attrgetter
from pathlib import Path
from typing import Final

from msgspec.structs import asdict

from zkchat.core import (
    Entry,
    EntryBody,
    EntryFilter,
    IndexedMessage,
    IndexedUpTo,
    LockBusy,
    MessageEntry,
    MessageRow,
    Session,
    SessionNotFound,
    SessionStore,
    StorageError,
    StorageFull,
    TitleEntry,
    counted,
    locked,
    read_bounded,
    sessions_called,
)
from zkchat.sessions.rows import (
    EntryRow,
    ItemReader,
    ItemWriter,
    RecoveredRows,
    Storable,
    add_listing_columns,
    create_items_table,
    entries_of,
    insert_entries,
    insert_items,
    insert_session,
    mark_deleted,
    pack_rows,
    rows_of,
    session_of,
    storable,
    update_listing,
)
from zkchat.storage import (
    CacheDatabase,
    DurableDatabase,
    LazyStore,
    Recovered,
    execute_all,
    keep_reserve,
    open_recovered,
    release_reserve,
    sibling,
    timestamp,
)


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
_SESSIONS = f"SELECT {', '.join(Session.__struct_fields__)} FROM sessions NOT INDEXED"  # noqa: S608

# The row of a session's last entry: rows are numbered as they come, whatever the clock says.
_LAST_ENTRY = """COALESCE ((
    SELECT entries.rowid FROM entries WHERE session_id = sessions.id ORDER BY sequence DESC LIMIT 1), 0)"""

# Whether nothing was said in a session since its import, whose last entry has the time of its first message.
_IMPORTED = """COALESCE ((
    SELECT kind = 'model' AND at = created_at FROM entries WHERE session_id = sessions.id
    ORDER BY sequence DESC LIMIT 1), 0)"""
_last_used: Final = attrgetter("updated_at")

_COLUMNS: Final = ", ".join(EntryRow._fields)
_WANTED: Final = """(:role IS NULL OR role = :role)
    AND (:since IS NULL OR at >= :since) AND (:until IS NULL OR at <= :until)"""
_ENTRIES: Final = f"""
    SELECT {_COLUMNS} FROM entries
    WHERE session_id = :session AND sequence > :after AND (kind = 'priority' OR ({_WANTED}))
    ORDER BY sequence"""  # noqa: S608 - only our own text
_LAST_MESSAGES: Final = f"""
    WITH newest AS (
        SELECT message_id, MIN (sequence) AS first FROM entries
        WHERE session_id = :session AND sequence > :after AND message_id IS NOT NULL AND kind IN ('message', 'draft')
            AND {_WANTED}
        GROUP BY message_id ORDER BY first DESC LIMIT :last)
    SELECT {_COLUMNS} FROM entries
    WHERE session_id = :session AND sequence >= (SELECT MIN (first) FROM newest)
        AND message_id IN (SELECT message_id FROM newest)
        AND (kind = 'priority' OR (kind IN ('message', 'draft') AND {_WANTED}))
    ORDER BY sequence"""  # noqa: S608
_BEFORE_ALL: Final = -(1 << 63)


class SessionLocks:
    """Advisory locks on open sessions, one locked file each, free when the process ends."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._held: dict[str, ExitStack] = {}

    def acquire(self, session_id: str) -> bool:
        """Lock a session, once. False while another process has it; where the file system has no locks, True."""
        if session_id in self._held:
            return True
        name = sha256(session_id.encode("utf-8", "replace")).hexdigest()[:16]  # an id may be no name of a file
        file = sibling(self._database, f".open-{name}")
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(file, seconds=0))
                stack.callback(file.unlink, missing_ok=True)
                file.write_text(str(os.getpid()), "ascii")
            except LockBusy:
                with suppress(OSError):  # it may be a conversation that is just being left for this one
                    return read_bounded(file, max_bytes=20) == str(os.getpid()).encode()
                return False
            except (StorageError, OSError):
                return True
            self._held[session_id] = stack.pop_all()
        return True

    def release_all(self) -> None:
        for stack in self._held.values():
            with suppress(OSError):
                stack.close()
        self._held.clear()


class SqliteSessions(DurableDatabase):
    """Implements `SessionStore`: the sessions of one vault."""

    migrations = (_create_tables, add_listing_columns, create_items_table, pack_rows)

    def __init__(self, path: Path, *, now: Callable[[], datetime], new_id: Callable[[], str]) -> None:
        super().__init__(path, now=now, new_id=new_id)
        self._locks = SessionLocks(path)
        self.enter = self._locks.acquire
        self._items: ItemWriter | None = None
        """Of the session that was last written to."""

    def close(self) -> None:
        self._locks.release_all()
        super().close()

    def create(self, title: str = "") -> Session:
        created = self._retry_without_reserve(lambda: self._create(title))
        keep_reserve(self._path)
        return created

    def _create(self, title: str) -> Session:
        session_id, at = self._new_id(), self._now()
        with self._writing() as connection:
            insert_session(
                connection,
                {"id": session_id, "title": "", "created_at": timestamp(at), "updated_at": timestamp(at)},
            )
            entries = [Storable(1, at, *storable(TitleEntry(title=title)))] if title else []
            insert_entries(connection, rows_of(session_id, entries))
        return self.get(session_id)

    def add(self, session_id: str, bodies: Sequence[EntryBody]) -> bool:
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
            insert_session(connection, {"id": session_id, "title": "", "created_at": at, "updated_at": at})
            items = ItemWriter(session_id)
            timed = enumerate(zip(times, bodies, strict=True), start=1)
            stored = [Storable(number, at or first, *storable(body, items)) for number, (at, body) in timed]
            _insert(connection, stored, items)
        return True

    def append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        return self._retry_without_reserve(lambda: self._append(session_id, bodies))

    def _append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        at = self._now().astimezone(UTC)
        items, self._items = self._items, None  # it is not known any more where the disk refuses
        if items is None or items.session_id != session_id:
            items = ItemWriter(session_id)
        with self._writing() as connection:
            self.get(session_id)
            items.catch_up(connection)
            (following,) = connection.execute(
                "SELECT COALESCE (MAX (sequence), 0) + 1 FROM entries WHERE session_id = ?", (session_id,)
            ).fetchone()
            numbered = enumerate(bodies, start=following)
            stored = [Storable(number, at, *storable(body, items)) for number, body in numbered]
            _insert(connection, stored, items)
        self._items = items
        return [Entry(session_id=session_id, sequence=each.sequence, at=at, body=each.body) for each in stored]

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
            items = ItemReader(connection, session_id)
            rows = connection.execute(statement, parameters)
            return [entry for row in rows for entry in entries_of(EntryRow(*row), items)]

    def sessions(self) -> list[Session]:
        with self._reading() as connection:
            used = connection.execute(f"{_SESSIONS} WHERE NOT {_IMPORTED} ORDER BY {_LAST_ENTRY} DESC, rowid DESC")
            imported = connection.execute(f"{_SESSIONS} WHERE {_IMPORTED} ORDER BY updated_at DESC, rowid DESC")
            return [*merge(map(session_of, used), map(session_of, imported), key=_last_used, reverse=True)]

    def get(self, session_id: str) -> Session:
        with self._reading() as connection:
            row = connection.execute(f"{_SESSIONS} WHERE id = ?", (session_id,)).fetchone()
            if row is None:
                raise no_session(session_id)
            return session_of(row)

    def find(self, name: str) -> Session:
        sessions = self.sessions()
        called = sessions_called(name, sessions)
        if not called:
            raise no_session(name, sessions)
        if len(called) > 1:
            raise SessionNotFound(
                f"{name!r} could be any of {len(called)} sessions.",
                hint=f"Give the id of the one you mean: {_listed(called[:5])}.",
            )
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
        found = RecoveredRows()
        for file in sources:
            found.read(file)
        found.insert_into(connection)


def _insert(connection: sqlite3.Connection, stored: Sequence[Storable], items: ItemWriter) -> None:
    """Add entries of one session, and the items that their records name for the first time."""
    insert_items(connection, items.new_rows())
    insert_entries(connection, rows_of(items.session_id, stored))
    update_listing(connection, items.session_id, (each.body for each in stored))


def _erase(connection: sqlite3.Connection, session_id: str, at: str) -> None:
    mark_deleted(connection, {session_id: at})
    connection.execute("DELETE FROM entries WHERE session_id = ?", (session_id,))
    connection.execute("DELETE FROM request_items WHERE session_id = ?", (session_id,))
    connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))


def no_session(name: str, sessions: Sequence[Session] = ()) -> SessionNotFound:
    names = {session.title.casefold(): session for session in sessions} | {s.id: s for s in sessions}
    closest = [names[match] for match in get_close_matches(name.casefold(), names, n=3, cutoff=0.5)]
    hint = f"Closest: {_listed(closest)}." if closest else "zkchat sessions list shows all of them."
    return SessionNotFound(f"There is no session {name!r}.", hint=hint)


def _listed(sessions: Iterable[Session]) -> str:
    return ", ".join(f"{session.id} ({session.title or 'untitled'})" for session in sessions)


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


class LazySessions(LazyStore[SessionStore]):
    """Implements `SessionStore` for a vault without sessions; the file is made with the first one."""

    not_found = no_session

    def create(self, title: str = "") -> Session:
        return self._writable().create(title)

    def add(self, session_id: str, bodies: Sequence[EntryBody]) -> bool:
        return self._writable().add(session_id, bodies)

    def append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        return self._holding(session_id).append(session_id, bodies)

    def entries(self, session_id: str, wanted: EntryFilter | None = None) -> list[Entry]:
        return self._holding(session_id).entries(session_id, wanted)

    def sessions(self) -> list[Session]:
        store = self._existing()
        return store.sessions() if store else []

    def get(self, session_id: str) -> Session:
        return self._holding(session_id).get(session_id)

    def find(self, name: str) -> Session:
        return self._holding(name).find(name)

    def delete(self, session_id: str) -> None:
        self._holding(session_id).delete(session_id)

    def enter(self, session_id: str) -> bool:
        return self._store.enter(session_id) if self._store else True


class UnavailableSessions(LazySessions):
    """Implements `SessionStore` where the disk is full or the folder cannot be written.

    Every request raises the reason, so that the conversation warns and goes on in memory. A full disk may have space
    again: then the store is opened, and what waits in memory is written.
    """

    def __init__(self, reason: StorageError, reopen: Callable[[], SessionStore]) -> None:
        def opened() -> SessionStore:
            if not isinstance(reason, StorageFull):
                raise reason
            return reopen()

        super().__init__(lambda: True, opened)


VERSION: Final = 3
SCHEMA: Final = (
    "CREATE TABLE sessions (id TEXT PRIMARY KEY, sequence INTEGER NOT NULL, at TEXT NOT NULL, vectors TEXT NOT NULL)",
    # The text stands last: what is read of every message comes before it.
    """CREATE TABLE messages (
        session TEXT NOT NULL, id TEXT NOT NULL, place INTEGER NOT NULL, changed INTEGER NOT NULL,
        said BLOB NOT NULL, labels BLOB NOT NULL, features BLOB NOT NULL, vector BLOB NOT NULL,
        external_id TEXT NOT NULL, role TEXT NOT NULL, name TEXT NOT NULL, time TEXT NOT NULL, text TEXT NOT NULL,
        PRIMARY KEY (session, id))""",
    "CREATE INDEX messages_by_change ON messages (session, changed)",
)

_MESSAGE_INDEX_COLUMNS: Final = (
    *("session", "id", "place", "changed", "said", "labels", "features", "vector"),
    *("external_id", "role", "name", "time", "text"),
)

_ADD = """
    INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (session, id) DO UPDATE SET
        changed = excluded.changed, said = excluded.said, labels = excluded.labels,
        features = excluded.features, vector = excluded.vector,
        external_id = excluded.external_id, role = excluded.role, name = excluded.name, time = excluded.time,
        text = excluded.text
    WHERE excluded.changed > changed"""

_REACHED = """
    INSERT INTO sessions VALUES (?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
        sequence = MAX (sequence, excluded.sequence), at = MAX (at, excluded.at), vectors = excluded.vectors"""

_ROWS = """
    SELECT session, id, place, changed, said, labels, features, vector FROM messages
    WHERE session = ? AND changed > ? ORDER BY place"""

_MESSAGE = "SELECT * FROM messages WHERE session = ? AND id = ?"


class SqliteMessageIndex:
    """Implements `MessageIndex`. Two processes may add the same messages: they come out once."""

    def __init__(self, path: Path) -> None:
        self._file = CacheDatabase(path, schema=SCHEMA, version=VERSION)
        self.close = self._file.close

    def reset(self) -> None:
        self._file.reset()

    def known(self) -> dict[str, IndexedUpTo]:
        with self._file.reading() as database:
            rows = database.execute("SELECT id, sequence, at, vectors FROM sessions")
            return {id_: IndexedUpTo(number, datetime.fromisoformat(at), vectors) for id_, number, at, vectors in rows}

    def add(self, session: str, messages: Sequence[IndexedMessage], up_to: IndexedUpTo) -> None:
        """All or nothing. A message that is already there keeps its place."""
        with self._file.writing() as database:
            stored = [{**asdict(each), "time": each.time.isoformat()} for each in messages]
            for row in stored:  # half of a surrogate pair has no UTF-8 form
                row["text"] = row["text"].encode("utf-8", "replace").decode()
            database.executemany(_ADD, [[row[column] for column in _MESSAGE_INDEX_COLUMNS] for row in stored])
            database.execute(_REACHED, (session, up_to.sequence, timestamp(up_to.at), up_to.vectors))

    def rows(self, session: str, after: int) -> list[MessageRow]:
        """The messages that changed after that entry, by place."""
        with self._file.reading() as database:
            return [*starmap(MessageRow, database.execute(_ROWS, (session, after)))]

    def messages(self, session: str, ids: Collection[str]) -> list[IndexedMessage]:
        with self._file.reading() as database:
            rows = [row for id_ in ids for row in database.execute(_MESSAGE, (session, id_))]
            stored = [dict(zip(_MESSAGE_INDEX_COLUMNS, row, strict=True)) for row in rows]
            return [IndexedMessage(**{**row, "time": datetime.fromisoformat(row["time"])}) for row in stored]

    def forget(self, session: str) -> None:
        with self._file.writing() as database:
            database.execute("DELETE FROM messages WHERE session = ?", (session,))
            database.execute("DELETE FROM sessions WHERE id = ?", (session,))
        self._file.vacuum()
