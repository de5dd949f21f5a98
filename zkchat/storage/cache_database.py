"""A cache in SQLite: it may be deleted at any time, because everything in it can be computed again."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock, local

from msgspec import Struct, field

from zkchat.core import StorageDamaged
from zkchat.storage.database import DATABASE_SUFFIXES, open_database, remove_file, sibling, storage_errors, transaction

_PAGE_CACHE_KIB = 16_384
_WAL_PAGES = 4_000
"""Pages in the write-ahead log before a checkpoint: 16 MB, so that many writes of a page become one."""


class ThreadConnection(Struct, eq=False):
    """The connection of one thread, with a lock: SQLite crashes if another thread closes it during a statement."""

    database: sqlite3.Connection
    in_use: RLock = field(default_factory=RLock)
    is_closed: bool = False

    def close(self) -> None:
        with self.in_use:
            self.is_closed = True
            self.database.close()


class CacheDatabase:
    """Opened lazily. A file of another version, or that is no database, is replaced by an empty one.

    Each thread has its own connection, so that readers do not wait for a writer.
    """

    def __init__(self, path: Path, *, schema: Sequence[str], version: int) -> None:
        self._path = path
        self._schema = schema
        self._version = version
        self._local = local()
        self._connections: list[ThreadConnection] = []
        self._lock = RLock()
        self.was_damaged = False
        """Whether a file that is no database was replaced, until somebody sets this to False."""

    def close(self) -> None:
        with self._lock:
            for opened in self._connections:
                opened.close()
            self._connections.clear()

    def reset(self) -> None:
        with self._lock, storage_errors(self._path):
            self.close()
            for suffix in DATABASE_SUFFIXES:
                remove_file(sibling(self._path, suffix))

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A read transaction. Rows are to be decoded within: what cannot be decoded counts as damage."""
        with self._errors(), self._connection() as database:
            database.execute("BEGIN")
            try:
                yield database
            except (ValueError, TypeError, LookupError) as error:
                raise self._damaged() from error  # not what was written
            finally:
                with suppress(sqlite3.Error):
                    database.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        with self._errors(), self._connection() as database, transaction(database):
            yield database

    def vacuum(self) -> None:
        """Rewrite the file, so that nothing deleted is left in it or in its log."""
        with self._errors(), self._connection() as database:
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint (TRUNCATE)")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with storage_errors(self._path):
                yield
        except StorageDamaged as error:
            raise self._damaged() from error

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """The connection of this thread, which is not closed meanwhile."""
        while True:
            opened = self._thread_connection()
            with opened.in_use:
                if not opened.is_closed:
                    yield opened.database
                    return

    def _thread_connection(self) -> ThreadConnection:
        opened: ThreadConnection | None = getattr(self._local, "opened", None)
        if opened is None or opened.is_closed:
            with self._lock:
                try:
                    opened = self._connect()
                except StorageDamaged:
                    self.was_damaged = True
                    self.reset()
                    opened = self._connect()
                self._local.opened = opened
        return opened

    def _connect(self) -> ThreadConnection:
        with self._errors():
            database = open_database(self._path, synchronous="NORMAL")
            opened = ThreadConnection(database)
            self._connections.append(opened)
            try:
                database.execute(f"PRAGMA cache_size = -{_PAGE_CACHE_KIB}")
                database.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
                if _version(database) != self._version:
                    self._create_schema(database)
            except (ValueError, TypeError, sqlite3.ProgrammingError) as error:  # a schema that is no text
                raise self._damaged() from error
        return opened

    def _create_schema(self, database: sqlite3.Connection) -> None:
        """Replace all tables by our empty ones in one transaction: other processes may have the file open."""
        with transaction(database):
            if _version(database) == self._version:  # another process was faster
                return
            for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                if not name.startswith("sqlite_"):
                    database.execute(f'DROP TABLE "{name}"')
            for statement in self._schema:
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {self._version}")

    def _damaged(self) -> StorageDamaged:
        return StorageDamaged(f"{self._path} is damaged.", hint="It is only a cache: delete it, and it comes back.")


def _version(database: sqlite3.Connection) -> int:
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    return version
