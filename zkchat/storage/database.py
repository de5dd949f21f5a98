"""SQLite files: opening, writing, migrating and backing them up. No table is known here."""

import errno
import os
import sqlite3
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal

from zkchat.errors import StorageDamaged, StorageError, StorageFull, StorageTooNew
from zkchat.files import make_private

Synchronous = Literal["FULL", "NORMAL"]
"""FULL: a commit survives a power cut (some milliseconds each). NORMAL: it survives a crash of the program."""

Step = Sequence[str]
"""The statements that lead from one version of a schema to the next."""

BUSY_SECONDS = 10.0

PAGE_SIZE = 4096


def open_database(path: Path, *, synchronous: Synchronous) -> sqlite3.Connection:
    """Open or create a database that several processes may use at once, readable by its owner alone.

    Transactions are begun by `transaction`, never implicitly. The connection may pass between threads as long as
    only one of them uses it at a time.
    """
    with guarded(path):
        make_private(path.parent)
        require_regular_files(path)
        require_locks(path)
        if not path.exists():
            path.touch(mode=0o600)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            _distrust(connection)
            connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            _use_wal(connection)
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
        return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open an existing database so that not a byte of it, or of its write-ahead log, changes."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    _distrust(connection)
    return connection


def _distrust(connection: sqlite3.Connection) -> None:
    """Take nothing that a file says of itself for granted: no function of a schema acts, no size is believed."""
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
            if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
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


def migrate(connection: sqlite3.Connection, steps: Sequence[Step], *, backup: Path | None) -> None:
    """Bring the schema to version `len(steps)`. A database that holds something is first copied to `backup`."""
    if _version_of(connection) == len(steps):
        return
    with transaction(connection):
        version = _version_of(connection)  # again: another process may have migrated while we waited
        if not 0 <= version <= len(steps):
            raise _beyond(connection, version, steps)
        if 0 < version < len(steps) and backup is not None:
            back_up(_file_of(connection), backup)
        try:
            for step in steps[version:]:
                for statement in step:
                    connection.execute(statement)
        except sqlite3.OperationalError as error:
            if code_of(error) != sqlite3.SQLITE_ERROR:
                raise
            raise damaged(_file_of(connection)) from error  # its tables are not those of its version
        connection.execute(f"PRAGMA user_version = {len(steps)}")


def has_schema(connection: sqlite3.Connection, steps: Sequence[Step]) -> bool:
    """Whether everything that the steps make is there, word for word, and nothing else but what SQLite adds itself."""
    ideal, found = _schema_after(steps), _schema_of(connection)
    return ideal <= found and all(name.startswith("sqlite_") for name, _ in found - ideal)


def _schema_after(steps: Sequence[Step]) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as ideal:
        migrate(ideal, steps, backup=None)
        return _schema_of(ideal)


def _schema_of(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    return set(connection.execute("SELECT name, sql FROM sqlite_schema"))


def _version_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _file_of(connection: sqlite3.Connection) -> Path:
    return Path(connection.execute("PRAGMA database_list").fetchone()[2])


def _beyond(connection: sqlite3.Connection, version: int, steps: Sequence[Step]) -> StorageError:
    path = _file_of(connection)
    if not 0 < version < 1000 or _schema_of(connection) == _schema_after(steps):
        return damaged(path)  # nobody is that far ahead, or ahead with the same tables: the number is garbage
    return StorageTooNew(
        f"{path} was written by a newer zkchat (version {version} of its tables; this one knows {len(steps)}).",
        hint="Update zkchat, or set XDG_DATA_HOME to start with an empty folder.",
    )


def back_up(source: Path, target: Path) -> None:
    """Copy a database that may be in use to `target`, which is then either the whole copy or what it was before."""
    with guarded(target):
        make_private(target.parent)
        part = target.with_name(f"{target.stem}.part-{os.getpid()}")
        try:
            part.touch(mode=0o600)
            # A reader of its own: SQLite refuses to copy through a connection that is writing.
            with closing(open_for_reading(source)) as original, closing(sqlite3.connect(part)) as copy:
                original.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")  # one file, whoever opens it
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


def backups_of(path: Path) -> list[Path]:
    """The daily copies of a database, the newest first."""
    return sorted((path.parent / "backups").glob(f"{path.stem}-*Z.db"), reverse=True)


def copies_of(path: Path) -> list[Path]:
    """All the copies of a database, the newest first."""
    copies = (copy for copy in (path.parent / "backups").glob(f"{path.stem}*.db") if copy.is_file())
    return sorted(copies, key=lambda copy: copy.stat().st_mtime, reverse=True)


def damaged_copies_of(path: Path) -> list[Path]:
    """Every file that was set aside because this database was damaged, with its log."""
    return sorted(path.parent.glob(f"{path.name}.damaged-*"))


def back_up_daily(path: Path, *, at: datetime) -> None:
    """Copy a database unless that was done within a day; keep the three newest copies.

    A copy that is not sound is not kept, for it would push out a good one; then the database is damaged.
    """
    day = timedelta(days=1)
    # A copy from a future that a wrong clock made does not count.
    if any(_backup(path, at - day) < copy < _backup(path, at + day) for copy in backups_of(path)):
        return
    copy = _backup(path, at)
    back_up(path, copy)
    if not is_sound(copy):
        copy.unlink()
        raise damaged(path)
    torn = [part for part in copy.parent.glob(f"{path.stem}-*.part-*") if part < _backup(path, at - day)]
    for outdated in (*backups_of(path)[3:], *torn):
        outdated.unlink(missing_ok=True)


def _backup(path: Path, at: datetime) -> Path:
    return path.parent / "backups" / f"{path.stem}-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}.db"


def is_sound(path: Path, steps: Sequence[Step] = ()) -> bool:
    """Whether SQLite finds the file in order, its indexes included, with the tables of its version. It is only read."""
    try:
        with guarded(path):
            require_regular_files(path)
            with closing(open_for_reading(path)) as connection:
                if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                    return False
                return not steps or _version_of(connection) != len(steps) or has_schema(connection, steps)
    except StorageDamaged:
        return False


if sys.platform != "win32":
    import fcntl
    import resource

COMPANIONS: Final = ("", "-wal", "-shm", "-journal")
"""What a database consists of: the file, its logs, and the log's index."""

_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
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
"""Result codes that tell of the surroundings. All others tell of the content: we ask for what fits our tables."""
_TORN: Final = frozenset({sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS, sqlite3.SQLITE_IOERR_DATA})
_SPARE_BYTES: Final = 65_536


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Turn every fault of SQLite and of the file system into a `StorageError` that names the file and a way out."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise _named(error, path) from error
    except (UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise damaged(path) from error  # names in a damaged schema may be no text, and sizes beyond all measure


def damaged(path: Path) -> StorageDamaged:
    """The error to raise for a file whose contents make no sense."""
    return StorageDamaged(
        f"{path} is damaged.", hint="Start zkchat again: it keeps the damaged file and saves what can be read."
    )


def require_regular_files(path: Path) -> None:
    """Raise `StorageDamaged` for a folder, a pipe or a device in the place of a database: SQLite would wait for it."""
    for suffix in COMPANIONS:
        file = beside(path, suffix)
        try:
            mode = file.stat().st_mode
        except FileNotFoundError:
            if file.is_symlink():
                raise StorageError(
                    f"{file} is a link to a file that is not there.",
                    hint="Mount the disk that it leads to, or remove the link.",
                ) from None
            continue
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise damaged(path) from error
        if not stat.S_ISREG(mode):
            raise damaged(path)


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def code_of(error: BaseException) -> int | None:
    """The primary result code; None for an error that did not come from SQLite itself."""
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def _named(error: sqlite3.Error | OSError, path: Path) -> StorageError:
    if _means_no_room(error, path):
        return StorageFull(
            f"The disk is full, or over your quota: {path} could not be written.",
            hint="Free some space; what was stored before is safe.",
        )
    if _means_damage(error, path):
        return damaged(path)
    if code_of(error) in _BUSY:
        return StorageError(
            f"{path} is in use: another program has been writing to it for too long.",
            hint="Close that program, or try again.",
        )
    if code_of(error) == sqlite3.SQLITE_IOERR or getattr(error, "errno", None) == errno.EIO:
        return StorageError(
            f"{path} cannot be read or written: the disk reports an error ({error}).",
            hint="Look at the disk's health and its cable or network; then start zkchat again.",
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
    ):  # what cannot be written has other troubles
        try:
            fcntl.lockf(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StorageError(
                f"{path} cannot be locked: {(error.strerror or str(error)).lower()}.",
                hint="Some network file systems offer no locks. Set XDG_DATA_HOME and XDG_CACHE_HOME to folders on a "
                "local disk.",
            ) from error


def _means_no_room(error: BaseException, path: Path) -> bool:
    if getattr(error, "errno", None) in _NO_ROOM or code_of(error) == sqlite3.SQLITE_FULL:
        return True
    # SQLite knows a full disk, and calls a quota, a limit and a broken disk alike: a write that failed.
    is_refused = getattr(error, "sqlite_errorcode", None) in {
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_TRUNCATE,
    }
    return is_refused and (_is_at_limit(path) or not _has_room(path.parent))


def _is_at_limit(path: Path) -> bool:
    """Whether a file of the database is about as large as this process may make one."""
    if sys.platform == "win32":
        return False
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit == resource.RLIM_INFINITY:
        return False
    sizes = [file.stat().st_size for suffix in COMPANIONS if (file := beside(path, suffix)).is_file()]
    return max(sizes, default=0) + _SPARE_BYTES >= limit


def _has_room(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(_SPARE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        return error.errno not in _NO_ROOM
    return True


def _means_damage(error: BaseException, path: Path) -> bool:
    full_code, code = getattr(error, "sqlite_errorcode", None), code_of(error)
    if full_code in _TORN:
        return True
    if full_code == sqlite3.SQLITE_READONLY:  # if we may write it, its header claims a format that is not for writing
        return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    if code is None:
        return str(error).startswith("Could not decode to UTF-8")
    return code not in _BUSY | _UNUSABLE
