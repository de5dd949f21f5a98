"""SQLite files: opening, transactions and migrations. No table is known here."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from zkchat.errors import StorageDamaged, StorageError, StorageTooNew
from zkchat.files import make_private
from zkchat.storage.database_errors import damaged, require_locks, require_regular_files, result_code, storage_errors

Synchronous = Literal["FULL", "NORMAL"]
"""FULL: a commit survives a power cut (some milliseconds each). NORMAL: it survives a crash of the program."""

Migration = Callable[[sqlite3.Connection], object]
"""Leads from one version of a schema to the next; the first of a list makes the tables of version 1."""

BUSY_SECONDS = 10.0

PAGE_SIZE = 4096


def open_database(path: Path, *, synchronous: Synchronous) -> sqlite3.Connection:
    """Open or create a database that several processes may use at once, readable by its owner alone.

    Transactions are begun by `transaction`, never implicitly. The connection may pass between threads as long as
    only one of them uses it at a time.
    """
    with storage_errors(path):
        make_private(path.parent)
        require_regular_files(path)
        require_locks(path)
        if not path.exists():
            path.touch(mode=0o600)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            _harden(connection)
            connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            _use_wal(connection)
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
        return connection


def open_read_only(path: Path, *, is_immutable: bool = False) -> sqlite3.Connection:
    """Open an existing database so that not a byte of it, or of its write-ahead log, changes.

    One that is immutable is read without its log, and no file is made beside it.
    """
    address = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_immutable else ''}"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    _harden(connection)
    return connection


def _harden(connection: sqlite3.Connection) -> None:
    """Do not trust the file: no function of its schema runs, no size in it is believed."""
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {pragma}")


def last_written(path: Path) -> datetime:
    """When something last went into a database or its log."""
    log = path.with_name(f"{path.name}-wal")
    times = [file.stat().st_mtime for file in (path, log) if file.exists() and file.stat().st_size]
    return datetime.fromtimestamp(max(times), UTC)


def _use_wal(connection: sqlite3.Connection) -> None:
    # Processes that meet on a new file refuse each other this switch at once, whatever the busy time-out says.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if result_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing. The right to write is taken at the beginning, so that no other writer can get in between."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has already rolled back
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration], *, backup: Path | None) -> None:
    """Bring the schema to version `len(migrations)`. A database that holds something is first copied to `backup`."""
    if _version_of(connection) == len(migrations):
        return
    with transaction(connection):
        version = _version_of(connection)  # again: another process may have migrated while we waited
        if not 0 <= version <= len(migrations):
            raise _beyond(connection, version, migrations)
        if 0 < version < len(migrations) and backup is not None:
            back_up(_file_of(connection), backup)
        try:
            for migration in migrations[version:]:
                migration(connection)
        except sqlite3.OperationalError as error:
            if result_code(error) != sqlite3.SQLITE_ERROR:
                raise
            raise damaged(_file_of(connection)) from error  # its tables are not those of its version
        connection.execute(f"PRAGMA user_version = {len(migrations)}")


def execute_all(connection: sqlite3.Connection, *statements: str) -> None:
    for statement in statements:
        connection.execute(statement)


def has_schema(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> bool:
    """Whether all that the migrations make is there, word for word, and nothing else but what SQLite adds itself."""
    ideal, found = _schema_after(migrations), _schema_of(connection)
    return ideal <= found and all(name.startswith("sqlite_") for name, _ in found - ideal)


def _schema_after(migrations: Sequence[Migration]) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as ideal:
        migrate(ideal, migrations, backup=None)
        return _schema_of(ideal)


def _schema_of(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    return set(connection.execute("SELECT name, sql FROM sqlite_schema"))


def _version_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _file_of(connection: sqlite3.Connection) -> Path:
    return Path(connection.execute("PRAGMA database_list").fetchone()[2])


def _beyond(connection: sqlite3.Connection, version: int, migrations: Sequence[Migration]) -> StorageError:
    path = _file_of(connection)
    if not 0 < version < 1000 or _schema_of(connection) == _schema_after(migrations):
        return damaged(path)  # nobody is that far ahead, or ahead with the same tables: the number is garbage
    return StorageTooNew(
        f"{path} was written by a newer zkchat (version {version} of its tables; this one knows {len(migrations)}).",
        hint="Update zkchat, or set XDG_DATA_HOME to start with an empty folder.",
    )


def back_up(source: Path, target: Path) -> None:
    """Copy a database that may be in use to `target`, which is then either the whole copy or what it was before."""
    with storage_errors(target):
        make_private(target.parent)
        part = target.with_name(f"{target.stem}.part-{os.getpid()}")
        try:
            part.touch(mode=0o600)
            # A reader of its own: SQLite refuses to copy through a connection that is writing.
            with closing(open_read_only(source)) as original, closing(sqlite3.connect(part)) as copy:
                original.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")  # one file, whoever opens it
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


def is_sound(path: Path, migrations: Sequence[Migration] = ()) -> bool:
    """Whether SQLite finds the file in order, its indexes included, with the tables of its version. It is only read."""
    try:
        with storage_errors(path):
            require_regular_files(path)
            with closing(open_read_only(path)) as connection:
                if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                    return False
                is_current = bool(migrations) and _version_of(connection) == len(migrations)
                return has_schema(connection, migrations) if is_current else True
    except StorageDamaged:
        return False
