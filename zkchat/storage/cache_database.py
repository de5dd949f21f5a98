"""A database that may be deleted at any time, because everything in it can be made again."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock, local

from zkchat.errors import StorageDamaged
from zkchat.storage.database import DATABASE_SUFFIXES, open_database, sibling, storage_errors, transaction

_PAGE_CACHE_KIB = 16_384
_LOGGED_PAGES = 4_000
"""In the write-ahead log before they are copied into the file: 16 MB, so that many writes of a page become one."""


@dataclass(eq=False)
class ThreadConnection:
    """The connection of one thread. SQLite crashes if another closes it in the middle of a statement."""

    database: sqlite3.Connection
    in_use: RLock = field(default_factory=RLock)
    is_closed: bool = False

    def close(self) -> None:
        """Wait until its thread does not use it, and close it."""
        with self.in_use:
            self.is_closed = True
            self.database.close()


class CacheDatabase:
    """Opened on first use. A file of another version, or that is no database, is begun anew without a word.

    Each thread has its own connection, so that nobody waits for a writer in order to read.
    """

    def __init__(self, path: Path, *, schema: Sequence[str], version: int) -> None:
        self._path = path
        self._schema = schema
        self._version = version
        self._of_thread = local()
        self._connections: list[ThreadConnection] = []
        self._opening = RLock()

    def close(self) -> None:
        with self._opening:
            for opened in self._connections:
                opened.close()
            self._connections.clear()

    def reset(self) -> None:
        """Throw everything away."""
        with self._opening, storage_errors(self._path):
            self.close()
            for suffix in DATABASE_SUFFIXES:
                _remove(sibling(self._path, suffix))

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One state of the database, whatever others write meanwhile. Rows are to be understood within."""
        with self._guarded(), self._connection() as database:
            database.execute("BEGIN")
            try:
                yield database
            except (ValueError, TypeError, LookupError) as error:
                raise self._damaged() from error  # what was written is not what is read
            finally:
                with suppress(sqlite3.Error):
                    database.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A change that takes effect whole or not at all."""
        with self._guarded(), self._connection() as database, transaction(database):
            yield database

    def vacuum(self) -> None:
        """Write the file anew, so that nothing is left of what was deleted or changed, in the log neither."""
        with self._guarded(), self._connection() as database:
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint (TRUNCATE)")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            with storage_errors(self._path):
                yield
        except StorageDamaged as error:
            raise self._damaged() from error

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """The connection of this thread, which stays open meanwhile."""
        while True:
            opened = self._opened()
            with opened.in_use:
                if not opened.is_closed:
                    yield opened.database
                    return

    def _opened(self) -> ThreadConnection:
        opened: ThreadConnection | None = getattr(self._of_thread, "opened", None)
        if opened is None or opened.is_closed:
            with self._opening:
                try:
                    opened = self._connected()
                except StorageDamaged:
                    self.reset()
                    opened = self._connected()
                self._of_thread.opened = opened
        return opened

    def _connected(self) -> ThreadConnection:
        with self._guarded():
            database = open_database(self._path, synchronous="NORMAL")
            opened = ThreadConnection(database)
            self._connections.append(opened)
            try:
                database.execute(f"PRAGMA cache_size = -{_PAGE_CACHE_KIB}")
                database.execute(f"PRAGMA wal_autocheckpoint = {_LOGGED_PAGES}")
                if _version(database) != self._version:
                    self._begin(database)
            except (ValueError, TypeError, sqlite3.ProgrammingError) as error:  # a schema that is no text
                raise self._damaged() from error
        return opened

    def _begin(self, database: sqlite3.Connection) -> None:
        """Put our empty tables in the place of whatever is there, under the eyes of others who have the file open."""
        with transaction(database):
            if _version(database) == self._version:  # another process was quicker
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


def _remove(file: Path) -> None:
    """Also an empty folder that has the name of a file; what is in another is not ours to delete."""
    if file.is_dir() and not file.is_symlink():
        file.rmdir()
    else:
        file.unlink(missing_ok=True)
