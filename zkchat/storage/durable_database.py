"""A database that must not be lost: what is committed is on disk, what is deleted is gone, and there are copies."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Final, Generic, Self, TypeVar

from zkchat.errors import StorageDamaged, StorageError
from zkchat.storage.database import (
    Step,
    back_up_daily,
    beside,
    copies_of,
    damaged,
    damaged_copies_of,
    guarded,
    has_schema,
    migrate,
    open_database,
    transaction,
)


class UnreadableRow(ValueError):
    """A row that SQLite gave back and that makes no sense."""


def suspicion_of(path: Path) -> Path:
    """The file that says: this database was seen damaged, look at every row."""
    return beside(path, ".suspect")


class DurableDatabase:
    """What the stores of sessions and of facts have in common. Threads may share one; processes open their own."""

    def __init__(self, path: Path, steps: Sequence[Step], *, now: Callable[[], datetime]) -> None:
        self._path = path
        self._now = now
        self._lock = RLock()
        self._written = False
        self._connection = open_database(path, synchronous="FULL")
        try:
            with guarded(path):
                backup = path.parent / "backups" / f"{path.stem}.before-version-{len(steps)}.db"
                migrate(self._connection, steps, backup=backup)
                if not has_schema(self._connection, steps):
                    raise damaged(path)
                self._connection.execute("PRAGMA secure_delete = ON")  # deleted is deleted
                self._identity = _identity_of(path)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and, once a day, leave a copy of it in `backups/`."""
        with self._lock:
            if self._written:
                self._written = False
                with suppress(StorageError), self._reading():  # all is stored; the next close tries again
                    back_up_daily(self._path, at=self._now())
            self._connection.close()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """The connection for one thread at a time. A file found damaged is marked for the next start."""
        try:
            with self._lock, guarded(self._path):
                yield self._connection
        except (UnreadableRow, StorageDamaged) as error:
            with suppress(OSError):
                suspicion_of(self._path).touch(mode=0o600)
            raise damaged(self._path) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A change that takes effect whole or not at all."""
        with self._reading() as connection:
            with transaction(connection):
                yield connection
            self._written = True
            if _identity_of(self._path) != self._identity:
                raise damaged(self._path)  # what was just written is in a file that was set aside, or deleted

    def _erase_for_good(self, erase: Callable[[sqlite3.Connection], None]) -> None:
        """Run a deletion here and in every copy. Torn copies and damaged files cannot be changed: they are deleted."""
        with self._writing() as connection:
            erase(connection)
        with self._reading() as connection:
            connection.execute("PRAGMA wal_checkpoint (TRUNCATE)")
        for copy in copies_of(self._path):
            try:
                with guarded(copy), closing(sqlite3.connect(copy)) as connection, connection:
                    connection.execute("PRAGMA secure_delete = ON")
                    erase(connection)
            except StorageError:
                _remove(copy)
        torn = (self._path.parent / "backups").glob(f"{self._path.stem}*.part-*")
        for file in (*torn, *damaged_copies_of(self._path)):
            _remove(file)


Store = TypeVar("Store", bound=DurableDatabase)


class LazyStore(Generic[Store]):
    def __init__(self, is_there: Callable[[], bool], open_store: Callable[[], Store]) -> None:
        """`is_there` tells whether something is stored by now, by another process; `open_store` makes the store."""
        self._is_there = is_there
        self._open: Callable[[], Store] = open_store
        self._store: Store | None = None
        self._lock = RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._store is not None:
                self._store.close()

    def _existing(self) -> Store | None:
        return self._to_write() if self._store is not None or self._is_there() else None

    def _to_write(self) -> Store:
        with self._lock:
            if self._store is None:
                self._store = self._open()
            return self._store


def _remove(file: Path) -> None:
    with guarded(file):
        if file.is_dir() and not file.is_symlink():
            file.rmdir()
        else:
            file.unlink(missing_ok=True)


def _identity_of(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


RESERVE_BYTES: Final = 1 << 20
_LEFT_FOR_OTHERS: Final = 32 * RESERVE_BYTES
"""A disk with less room than this has none for a reserve."""
_FOR_A_MESSAGE: Final = 64 * 1024


def keep_reserve(path: Path) -> None:
    """Take up the space beside a database, unless it is taken or there is little left."""
    file = beside(path, ".reserve")
    with suppress(OSError):
        if file.exists() or shutil.disk_usage(path.parent).free < _LEFT_FOR_OTHERS:
            return
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, os.urandom(RESERVE_BYTES))  # zeros may take no space
        finally:
            os.close(descriptor)


def is_full(path: Path) -> bool:
    """Whether there is too little room for a message beside a database: asking takes less time than trying in vain."""
    try:
        return shutil.disk_usage(path.parent).free < _FOR_A_MESSAGE
    except OSError:
        return False


def give_up_reserve(path: Path) -> bool:
    """Free the space; False if there is none to free."""
    try:
        beside(path, ".reserve").unlink()
    except OSError:
        return False
    return True
