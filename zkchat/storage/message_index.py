"""The index over the messages of a vault's sessions: a cache in SQLite."""

from collections.abc import Collection, Sequence
from datetime import datetime
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from msgspec.structs import asdict

from zkchat.model.session import IndexedMessage, IndexedUpTo, MessageRow
from zkchat.storage.cache_database import CacheDatabase
from zkchat.storage.durable_database import timestamp

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

_COLUMNS: Final = (
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
    """Implements `ports.sessions.MessageIndex`. Two processes may add the same messages: they come out once."""

    def __init__(self, path: Path) -> None:
        self._file = CacheDatabase(path, schema=SCHEMA, version=VERSION)

    def close(self) -> None:
        self._file.close()

    def reset(self) -> None:
        self._file.reset()

    def known(self) -> dict[str, IndexedUpTo]:
        with self._file.reading() as database:
            rows = database.execute("SELECT id, sequence, at, vectors FROM sessions")
            return {id_: IndexedUpTo(number, datetime.fromisoformat(at), vectors) for id_, number, at, vectors in rows}

    def add(self, session: str, messages: Sequence[IndexedMessage], up_to: IndexedUpTo) -> None:
        with self._file.writing() as database:
            database.executemany(_ADD, [_row(message) for message in messages])
            database.execute(_REACHED, (session, up_to.sequence, timestamp(up_to.at), up_to.vectors))

    def rows(self, session: str, after: int) -> list[MessageRow]:
        with self._file.reading() as database:
            return [*starmap(MessageRow, database.execute(_ROWS, (session, after)))]

    def messages(self, session: str, ids: Collection[str]) -> list[IndexedMessage]:
        with self._file.reading() as database:
            return [_message(row) for id_ in ids for row in database.execute(_MESSAGE, (session, id_))]

    def forget(self, session: str) -> None:
        with self._file.writing() as database:
            database.execute("DELETE FROM messages WHERE session = ?", (session,))
            database.execute("DELETE FROM sessions WHERE id = ?", (session,))
        self._file.vacuum()


def _row(message: IndexedMessage) -> list[object]:
    text = message.text.encode("utf-8", "replace").decode()  # half of a surrogate pair has no UTF-8 form
    stored = {**asdict(message), "time": message.time.isoformat(), "text": text}
    return [stored[column] for column in _COLUMNS]


def _message(row: Sequence[Any]) -> IndexedMessage:
    stored = dict(zip(_COLUMNS, row, strict=True))
    return IndexedMessage(**{**stored, "time": datetime.fromisoformat(stored["time"])})
