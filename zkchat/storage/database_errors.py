"""What may be wrong with the files of a database, as our errors: damage, a full disk, another program, no locks."""

import errno
import os
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from zkchat.errors import StorageDamaged, StorageError, StorageFull

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
    """The error to raise for a file whose contents make no sense."""
    return StorageDamaged(
        f"{path} is damaged.", hint="Start zkchat again: it keeps the damaged file and saves what can be read."
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
    ):  # what cannot be written fails elsewhere
        try:
            fcntl.lockf(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StorageError(
                f"{path} cannot be locked: {(error.strerror or str(error)).lower()}.",
                hint="Some network file systems offer no locks. Set XDG_DATA_HOME and XDG_CACHE_HOME to folders on a "
                "local disk.",
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
