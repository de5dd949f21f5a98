"""SQLite files: opening, transactions, migrations, errors, caches, and the rows of a damaged one that can be read."""

import errno
import os
import sqlite3
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock, local
from typing import Final, Literal

from msgspec import Struct, field

from zkchat.core import StorageDamaged, StorageError, StorageFull, StorageTooNew, make_private

if sys.platform != "win32":
    import fcntl
    import resource

DATABASE_SUFFIXES: Final = ("", "-wal", "-shm", "-journal")
"""Of the files of a database: itself, its logs, and the index of the write-ahead log."""

_DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_UNUSABLE: Final = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOLFS,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
    }
)
"""Result codes that are about the environment. All others mean damage, because our statements fit our tables."""
_PARTIAL: Final = frozenset(
    {sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS, sqlite3.SQLITE_IOERR_DATA}
)
_SPARE_BYTES: Final = 65_536


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Raise every error of SQLite and of the file system as a `StorageError` that names the file and a way out."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise _storage_error(error, path) from error
    except (UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise damaged(path) from error  # names in a damaged schema may be no text, and sizes beyond all measure


def damaged(path: Path) -> StorageDamaged:
    return StorageDamaged(
        f"{path} is damaged.", hint="Restart zkchat: it keeps the damaged file and recovers what can be read."
    )


def require_regular_files(path: Path) -> None:
    """Raise `StorageDamaged` for a folder, a pipe or a device where a database should be: SQLite would wait for it."""
    for suffix in DATABASE_SUFFIXES:
        file = sibling(path, suffix)
        try:
            mode = file.stat().st_mode
        except FileNotFoundError:
            if file.is_symlink():
                raise StorageError(
                    f"{file} is a symbolic link to a file that is not there.",
                    hint="Mount the disk with that file, or remove the link.",
                ) from None
            continue
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise damaged(path) from error
        if not stat.S_ISREG(mode):
            raise damaged(path)


def sibling(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def remove_file(file: Path) -> None:
    """Remove a file, or an empty folder of that name; what is in another folder is not ours to delete."""
    if file.is_dir() and not file.is_symlink():
        file.rmdir()
    else:
        file.unlink(missing_ok=True)


def result_code(error: BaseException) -> int | None:
    """The primary result code; None for an error that did not come from SQLite itself."""
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def _storage_error(error: sqlite3.Error | OSError, path: Path) -> StorageError:
    if _is_disk_full(error, path):
        return StorageFull(
            f"The disk is full, or over your quota: {path} could not be written.",
            hint="Free some space; what was stored before is safe.",
        )
    if _is_damage(error, path):
        return damaged(path)
    if result_code(error) in _BUSY:
        return StorageError(
            f"{path} is in use: another program has been writing to it for too long.",
            hint="Close that program, or try again.",
        )
    if result_code(error) == sqlite3.SQLITE_IOERR or getattr(error, "errno", None) == errno.EIO:
        return StorageError(
            f"{path} cannot be read or written: the disk reports an error ({error}).",
            hint="Check the disk's health and its cable or network; then restart zkchat.",
        )
    return StorageError(
        f"{path} cannot be used: {error}.",
        hint="Check that you may read and write the file and its folder, and that the disk has room.",
    )


def require_locks(path: Path) -> None:
    """Raise `StorageError` where files beside this one cannot be locked, because SQLite would only wait."""
    if sys.platform == "win32":
        return
    with (
        suppress(OSError),
        tempfile.TemporaryFile(dir=path.parent) as probe,
    ):  # what cannot be written fails elsewhere
        try:
            fcntl.lockf(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StorageError(
                f"{path} cannot be locked: {(error.strerror or str(error)).lower()}.",
                hint="Some network file systems do not support locks. Set XDG_DATA_HOME and XDG_CACHE_HOME to "
                "folders on a local disk.",
            ) from error


def _is_disk_full(error: BaseException, path: Path) -> bool:
    if getattr(error, "errno", None) in _DISK_FULL or result_code(error) == sqlite3.SQLITE_FULL:
        return True
    # SQLite knows a full disk, and calls a quota, a limit and a broken disk alike: a write that failed.
    is_refused = getattr(error, "sqlite_errorcode", None) in {
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_TRUNCATE,
    }
    return is_refused and (_is_at_limit(path) or not _can_write(path.parent))


def _is_at_limit(path: Path) -> bool:
    """Whether a file of the database is about as large as this process may make one."""
    if sys.platform == "win32":
        return False
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit == resource.RLIM_INFINITY:
        return False
    sizes = [file.stat().st_size for suffix in DATABASE_SUFFIXES if (file := sibling(path, suffix)).is_file()]
    return max(sizes, default=0) + _SPARE_BYTES >= limit


def _can_write(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(_SPARE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        return error.errno not in _DISK_FULL
    return True


def _is_damage(error: BaseException, path: Path) -> bool:
    full_code, code = getattr(error, "sqlite_errorcode", None), result_code(error)
    if full_code in _PARTIAL:
        return True
    if full_code == sqlite3.SQLITE_READONLY:  # if we may write it, its header claims a format that is not for writing
        return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    if code is None:
        return str(error).startswith("Could not decode to UTF-8")
    return code not in _BUSY | _UNUSABLE


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
    times = [file.stat().st_mtime for file in (path, sibling(path, "-wal")) if file.exists() and file.stat().st_size]
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
        f"{path} was written by a newer zkchat (table version {version}; yours reads up to {len(migrations)}).",
        hint="Update zkchat. Or start anew beside your old data, with XDG_DATA_HOME set to an empty folder.",
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


Row = tuple[str | bytes | int | float | None, ...]
_DAMAGE: Final = (sqlite3.Error, ValueError, OverflowError, MemoryError)
"""What SQLite and its module raise for a damaged file, names and sizes in it included."""
_HEADER_BYTES: Final = 100
_HEADER: Final = (
    *(b"SQLite format 3\0", PAGE_SIZE.to_bytes(2), bytes((1, 1, 0, 64, 32, 32)), bytes(20)),
    *((4).to_bytes(4), bytes(8), (1).to_bytes(4), bytes(40)),
)
"""Of every database of ours, without what is counted in it: SQLite counts pages itself where none are told."""


def read_rows(database: Path) -> Iterator[Row]:
    """Every whole row of every table, most of them twice: tables are read from both ends, up to what is damaged.

    Nothing is read of a table whose root page is damaged, or of a file whose schema is: backups hold what they held.
    """
    # What else has that name may never end; and SQLite deletes the log of an empty file.
    if not database.is_file() or not database.stat().st_size:
        return
    with suppress(*_DAMAGE), closing(_opened(database)) as connection:
        connection.execute("PRAGMA writable_schema = ON")  # so that one bad statement does not hide all tables
        connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for (table,) in tables:
            for order in ("ASC", "DESC"):
                with suppress(*_DAMAGE):
                    rows = connection.execute(f'SELECT * FROM "{table}" ORDER BY rowid {order}')  # noqa: S608
                    yield from filter(_is_whole, rows)


def _is_whole(row: Row) -> bool:
    """Whether what should be text is text: a backup may hold the row as it was."""
    try:
        "".join(value for value in row if isinstance(value, str)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _opened(database: Path) -> sqlite3.Connection:
    """With its log where that is a file; with another header in memory where its own is no header."""
    files = (sibling(database, suffix) for suffix in DATABASE_SUFFIXES)
    is_alone = any((file.exists() or file.is_symlink()) and not file.is_file() for file in files)
    connection = open_read_only(database, is_immutable=is_alone)
    try:
        connection.execute("PRAGMA schema_version")
    except sqlite3.Error:
        connection.close()
        connection = sqlite3.connect(":memory:")
        connection.deserialize(b"".join(_HEADER) + database.read_bytes()[_HEADER_BYTES:])
    return connection


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
    """A cache. Opened lazily. A file of another version, or that is no database, is replaced by an empty one.

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
                database.execute("PRAGMA cache_size = -16384")
                database.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
                if _version_of(database) != self._version:
                    self._create_schema(database)
            except (ValueError, TypeError, sqlite3.ProgrammingError) as error:  # a schema that is no text
                raise self._damaged() from error
        return opened

    def _create_schema(self, database: sqlite3.Connection) -> None:
        """Replace all tables by our empty ones in one transaction: other processes may have the file open."""
        with transaction(database):
            if _version_of(database) == self._version:  # another process was faster
                return
            for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                if not name.startswith("sqlite_"):
                    database.execute(f'DROP TABLE "{name}"')
            for statement in self._schema:
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {self._version}")

    def _damaged(self) -> StorageDamaged:
        return StorageDamaged(f"{self._path} is damaged.", hint="It is only a cache: delete it, and it is rebuilt.")
