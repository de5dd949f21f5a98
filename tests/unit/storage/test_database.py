import errno
import fcntl
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.odd_files import KINDS, replace_with_kind
from zkchat.core.errors import StorageDamaged, StorageError, StorageFull, StorageTooNew
from zkchat.storage.database import (
    CacheDatabase,
    back_up,
    has_schema,
    is_sound,
    migrate,
    open_database,
    open_read_only,
    storage_errors,
    transaction,
)
from zkchat.storage.durable_database import back_up_daily, backups_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def first(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE words (word TEXT PRIMARY KEY)")
    connection.execute("INSERT INTO words VALUES ('first')")


def second(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE words ADD COLUMN meaning TEXT")


def broken(connection: sqlite3.Connection) -> None:
    second(connection)
    connection.execute("ALTER TABLE nonsense ADD COLUMN x")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "er" / "words.db"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_database(path, synchronous="FULL")) as opened:
        yield opened


def pragma(connection: sqlite3.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def words(connection: sqlite3.Connection) -> list[str]:
    return [word for (word,) in connection.execute("SELECT word FROM words ORDER BY rowid")]


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_and_folders_are_for_their_owner_alone(path: Path, connection: sqlite3.Connection) -> None:
    migrate(connection, [first], backup=None)
    assert [mode_of(folder) for folder in (path.parent, path.parent.parent)] == [0o700, 0o700]
    assert {file.name: mode_of(file) for file in path.parent.iterdir()} == {
        "words.db": 0o600,
        "words.db-wal": 0o600,
        "words.db-shm": 0o600,
    }


def test_a_durable_database_syncs_every_commit_and_a_cache_does_not(path: Path, connection: sqlite3.Connection) -> None:
    with closing(open_database(path.with_name("cache.db"), synchronous="NORMAL")) as cache:
        assert (pragma(connection, "synchronous"), pragma(cache, "synchronous")) == (2, 1)


def test_a_transaction_that_fails_leaves_nothing(connection: sqlite3.Connection) -> None:
    migrate(connection, [first], backup=None)
    with pytest.raises(sqlite3.IntegrityError), transaction(connection):
        connection.executemany("INSERT INTO words VALUES (?)", [("second",), ("first",)])
    assert words(connection) == ["first"]
    with transaction(connection):
        connection.execute("INSERT INTO words VALUES ('third')")
    assert words(connection) == ["first", "third"]


def test_a_transaction_holds_the_right_to_write_from_its_beginning(path: Path, connection: sqlite3.Connection) -> None:
    other = sqlite3.connect(path, timeout=0, isolation_level=None)
    in_use = pytest.raises(StorageError, match=r"words\.db is in use")
    with closing(other), transaction(connection), in_use, storage_errors(path):
        other.execute("BEGIN IMMEDIATE")


def test_migration_takes_the_steps_that_are_missing_and_no_other(
    path: Path, connection: sqlite3.Connection, tmp_path: Path
) -> None:
    copy = tmp_path / "backups" / "before.db"
    migrate(connection, [first], backup=copy)
    assert not copy.exists()  # there was nothing to keep
    connection.execute("INSERT INTO words VALUES ('mine')")
    migrate(connection, [first, second], backup=copy)
    migrate(connection, [first, second], backup=copy)
    assert (words(connection), pragma(connection, "user_version")) == (["first", "mine"], 2)
    with closing(sqlite3.connect(copy)) as before:
        assert (words(before), pragma(before, "user_version")) == (["first", "mine"], 1)
        assert not has_schema(before, [first, second])
    assert mode_of(copy) == 0o600


def test_a_migration_that_fails_or_that_a_full_disk_stops_changes_nothing(
    path: Path, connection: sqlite3.Connection
) -> None:
    migrate(connection, [first], backup=None)
    with pytest.raises(StorageDamaged):
        migrate(connection, [first, broken], backup=path.with_name("copy.db"))
    connection.execute(f"PRAGMA max_page_count = {pragma(connection, 'page_count')}")
    with pytest.raises(StorageFull), storage_errors(path):
        migrate(connection, [first, lambda connection: connection.execute("CREATE TABLE more (x)")], backup=None)
    assert pragma(connection, "user_version") == 1
    assert has_schema(connection, [first])


def test_a_database_of_a_newer_zkchat_is_left_alone(path: Path, connection: sqlite3.Connection) -> None:
    migrate(connection, [first, second], backup=None)
    with pytest.raises(StorageTooNew, match=r"words\.db was written by a newer zkchat \(.*version 2; .* up to 1\)"):
        migrate(connection, [first], backup=None)


@pytest.mark.parametrize("version", [0, 2, -5])
def test_a_version_that_nobody_can_have_written_is_damage(connection: sqlite3.Connection, version: int) -> None:
    migrate(connection, [first], backup=None)
    connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(StorageDamaged):
        migrate(connection, [first], backup=None)
    assert words(connection) == ["first"]


def test_reading_leaves_a_file_and_its_log_as_they_are(path: Path, connection: sqlite3.Connection) -> None:
    migrate(connection, [first], backup=None)
    log = path.with_name("words.db-wal")
    before = (path.read_bytes(), log.read_bytes())
    copy = path.with_name("copied")
    copy.mkdir()
    (copy / "words.db").write_bytes(before[0])
    (copy / "words.db-wal").write_bytes(before[1])
    with closing(open_read_only(copy / "words.db")) as reader:
        assert words(reader) == ["first"]
        with pytest.raises(sqlite3.OperationalError):
            reader.execute("INSERT INTO words VALUES ('x')")
    assert ((copy / "words.db").read_bytes(), (copy / "words.db-wal").read_bytes()) == before


def test_a_database_is_copied_while_it_is_being_written(
    path: Path, connection: sqlite3.Connection, tmp_path: Path
) -> None:
    migrate(connection, [first], backup=None)
    copy = tmp_path / "copies" / "copy.db"
    with transaction(connection):
        connection.execute("INSERT INTO words VALUES ('not yet')")
        back_up(path, copy)
    assert is_sound(copy)
    with closing(open_read_only(copy)) as copied:
        assert words(copied) == ["first"]
    assert [file.name for file in copy.parent.iterdir()] == ["copy.db"]


def test_a_copy_that_fails_leaves_the_earlier_one(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_text("the earlier copy")
    with pytest.raises(StorageError):
        back_up(path, copy)
    assert copy.read_text() == "the earlier copy"
    assert list(tmp_path.iterdir()) == [copy]


def test_one_copy_a_day_is_made_and_three_are_kept(path: Path, connection: sqlite3.Connection) -> None:
    migrate(connection, [first], backup=None)
    torn = path.parent / "backups" / "words-20260228T120000Z.part-123"
    for hours in (0, 1, 23, 25, 40, 50, 80, 110):
        back_up_daily(path, at=NOON + timedelta(hours=hours))
        torn.touch()
    assert [copy.name[:17] for copy in backups_of(path)] == [
        "words-20260306T02", "words-20260304T20", "words-20260303T14"
    ]  # fmt: skip
    back_up_daily(path, at=NOON + timedelta(hours=200))
    assert not torn.exists()
    for days in (400, 402, 404, 20, 22):  # a clock that was wrong for a while pushes none of today's out
        back_up_daily(path, at=NOON + timedelta(days=days))
    assert [copy.name[:14] for copy in backups_of(path)] == ["words-20270409", "words-20260323", "words-20260321"]


def test_a_copy_of_a_damaged_database_does_not_push_out_a_good_one(path: Path) -> None:
    with closing(open_database(path, synchronous="FULL")) as connection:
        migrate(connection, [first], backup=None)
    for day in range(3):
        back_up_daily(path, at=NOON + timedelta(days=day))
    good = backups_of(path)
    spoil_the_tree(path)
    with pytest.raises(StorageDamaged):
        back_up_daily(path, at=NOON + timedelta(days=3))
    assert (len(good), backups_of(path)) == (3, good)


def spoil_the_tree(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:4104] = b"\xff" * 8  # the head of the first page after the schema
    path.write_bytes(data)


def test_soundness_is_seen_without_writing(path: Path) -> None:
    with closing(open_database(path, synchronous="FULL")) as connection:
        migrate(connection, [first], backup=None)
    assert is_sound(path)
    spoil_the_tree(path)
    assert not is_sound(path)
    path.write_bytes(b"This is not a database. " * 1000)
    assert not is_sound(path)
    with pytest.raises(StorageError), storage_errors(path):
        is_sound(path.with_name("nowhere.db"))


@pytest.mark.parametrize(("place", "value"), [(18, 77), (47, 0xFF)], ids=["it forbids writing", "an unknown format"])
def test_a_header_that_we_do_not_write_is_damage(path: Path, place: int, value: int) -> None:
    with closing(open_database(path, synchronous="FULL")) as connection:
        migrate(connection, [first], backup=None)
    data = bytearray(path.read_bytes())
    data[place] = value
    path.write_bytes(data)
    with pytest.raises(StorageDamaged), closing(sqlite3.connect(path)) as strange, storage_errors(path):
        strange.execute("INSERT INTO words VALUES ('x')")


def test_text_that_is_none_is_damage(path: Path, connection: sqlite3.Connection) -> None:
    migrate(connection, [first], backup=None)
    connection.execute("INSERT INTO words VALUES (CAST (x'fffe' AS TEXT))")
    with pytest.raises(StorageDamaged, match=r"words\.db is damaged") as raised, storage_errors(path):
        words(connection)
    assert "keeps the damaged file" in raised.value.hint


def test_a_file_is_not_trusted_in_what_it_says_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(open_database(path, synchronous="NORMAL")) as connection:
        connection.execute("CREATE VIEW evil AS SELECT load_extension('evil')")
        settings = ("trusted_schema", "mmap_size")
        assert [connection.execute(f"PRAGMA {name}").fetchall() for name in settings] == [[(0,)], [(0,)]]
        with pytest.raises(sqlite3.OperationalError):
            connection.execute("SELECT * FROM evil")
    with closing(open_read_only(path)) as connection:
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE evil (x)", "CREATE TRIGGER evil AFTER INSERT ON words BEGIN DELETE FROM words; END"]
)
def test_a_schema_with_more_than_ours_is_not_ours(connection: sqlite3.Connection, statement: str) -> None:
    migrate(connection, [first], backup=None)
    connection.execute("ANALYZE")
    assert has_schema(connection, [first])
    connection.execute(statement)
    assert not has_schema(connection, [first])


def fault(name: str) -> sqlite3.OperationalError:
    """As SQLite reports it: with an extended result code."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{name}")
    return error


def told(path: Path, error: Exception) -> StorageError:
    with pytest.raises(StorageError) as caught, storage_errors(path):
        raise error
    return caught.value


def test_a_disk_that_fails_is_told_from_one_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "words.db"
    for failure in (fault("IOERR_WRITE"), fault("IOERR"), OSError(errno.EIO, "Input/output error")):
        error = told(path, failure)
        assert type(error) is StorageError
        assert "words.db cannot be read or written: the disk reports an error" in error.message
        assert "health" in error.hint
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        assert isinstance(told(path, OSError(number, os.strerror(number))), StorageFull)

    def over_quota(_descriptor: int) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "fsync", over_quota)
    assert isinstance(told(path, fault("IOERR_WRITE")), StorageFull)


@pytest.mark.parametrize(
    "error",
    [
        UnicodeDecodeError("utf-8", b"\xdd", 0, 1, "invalid"),
        OverflowError("too large"),
        MemoryError(),
        fault("ERROR"),
        fault("CORRUPT"),
        fault("NOTADB"),
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
def test_a_cache_begins_anew_in_the_place_of_what_is_no_file_unless_that_holds_something(
    tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "cache.db"
    replace_with_kind(file, kind)
    cache = CacheDatabase(file, schema=["CREATE TABLE words (word TEXT)"], version=1)
    with cache.writing() as database:
        database.execute("INSERT INTO words VALUES ('first')")
    cache.close()
    assert file.is_file()
    assert not file.is_symlink()
    (tmp_path / "full.db" / "inner").mkdir(parents=True)
    full = CacheDatabase(tmp_path / "full.db", schema=["CREATE TABLE words (word TEXT)"], version=1)
    with pytest.raises(StorageError), full.writing():
        pass
    assert (tmp_path / "full.db" / "inner").is_dir()


CROWD = """
import sys, threading
from pathlib import Path
from zkchat.storage.database import CacheDatabase

cache = CacheDatabase(Path(sys.argv[1]), schema=("CREATE TABLE words (word TEXT)",), version=1)
over = threading.Event()
done = []

def use():
    while not over.is_set():
        with cache.writing() as database:
            database.execute("INSERT INTO words VALUES ('a')")
        with cache.reading() as database:
            done.append(len(database.execute("SELECT word FROM words").fetchall()))

threads = [threading.Thread(target=use) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(40):
    cache.reset()
over.set()
for thread in threads:
    thread.join()
cache.close()
print(len(done) > 10)
"""


@pytest.mark.outside
def test_a_cache_that_is_thrown_away_while_others_use_it_begins_anew_for_them(tmp_path: Path) -> None:
    """In a process of its own: SQLite ends the process if a connection is closed under a statement."""
    ran = subprocess.run(
        [sys.executable, "-c", CROWD, str(tmp_path / "cache.db")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "True\n", "")
