import errno
import fcntl
import os
import sqlite3
from pathlib import Path

import pytest

from tests.support.odd_files import KINDS, replace_with_kind
from zkchat.core.errors import StorageDamaged, StorageError, StorageFull
from zkchat.storage.database import CacheDatabase, open_database, storage_errors


def fault(name: str) -> sqlite3.OperationalError:
    """As SQLite reports it: with an extended result code."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{name}")
    return error


def told(path: Path, error: Exception) -> StorageError:
    with pytest.raises(StorageError) as caught, storage_errors(path):
        raise error
    return caught.value


FAILURES = [
    *map(fault, ("IOERR_WRITE", "IOERR_READ", "IOERR_FSYNC", "IOERR")),
    OSError(errno.EIO, "Input/output error"),
]


@pytest.mark.parametrize("failure", FAILURES, ids=repr)
def test_a_disk_that_fails_is_not_called_full(tmp_path: Path, failure: Exception) -> None:
    error = told(tmp_path / "words.db", failure)
    assert type(error) is StorageError
    assert "words.db cannot be read or written: the disk reports an error" in error.message
    assert "health" in error.hint


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_file_that_has_no_room_means_a_full_disk(tmp_path: Path, number: int) -> None:
    assert isinstance(told(tmp_path / "words.db", OSError(number, os.strerror(number))), StorageFull)


def test_a_write_that_a_limit_refuses_is_told_as_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def over_quota(_descriptor: int) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "fsync", over_quota)
    assert isinstance(told(tmp_path / "words.db", fault("IOERR_WRITE")), StorageFull)


@pytest.mark.parametrize(
    "error",
    [
        UnicodeDecodeError("utf-8", b"\xdd", 0, 1, "invalid"),
        OverflowError("too large"),
        MemoryError(),
        fault("ERROR"),
        fault("CORRUPT"),
        fault("NOTADB"),
        fault("FORMAT"),
        fault("MISUSE"),
        fault("MISMATCH"),
        fault("TOOBIG"),
        fault("IOERR_SHORT_READ"),
    ],
    ids=repr,
)
def test_whatever_tells_of_the_content_is_damage(tmp_path: Path, error: Exception) -> None:
    assert isinstance(told(tmp_path / "words.db", error), StorageDamaged)


def test_a_file_system_without_locks_is_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", no_locks)
    with pytest.raises(StorageError, match=r"words\.db cannot be locked: no locks available") as caught:
        open_database(tmp_path / "words.db", synchronous="FULL")
    assert "XDG_DATA_HOME" in caught.value.hint


@pytest.mark.parametrize("kind", KINDS)
def test_a_cache_begins_anew_in_the_place_of_what_is_no_file(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "cache.db"
    replace_with_kind(file, kind)
    cache = CacheDatabase(file, schema=["CREATE TABLE words (word TEXT)"], version=1)
    with cache.writing() as database:
        database.execute("INSERT INTO words VALUES ('first')")
    cache.close()
    assert file.is_file()
    assert not file.is_symlink()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "cache.db" / "inner").mkdir(parents=True)
    cache = CacheDatabase(tmp_path / "cache.db", schema=["CREATE TABLE words (word TEXT)"], version=1)
    with pytest.raises(StorageError), cache.writing():
        pass
    assert (tmp_path / "cache.db" / "inner").is_dir()
