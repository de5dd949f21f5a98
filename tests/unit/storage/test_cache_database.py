"""A cache that several threads use, and one of them throws away."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from zkchat.errors import StorageDamaged
from zkchat.storage.cache_database import CacheDatabase

CROWD = """
import sys, threading
from pathlib import Path
from zkchat.storage.cache_database import CacheDatabase

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
for _ in range(100):
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


@pytest.fixture
def words(tmp_path: Path) -> Iterator[CacheDatabase]:
    with closing(open_words(tmp_path)) as cache:
        yield cache


def open_words(folder: Path) -> CacheDatabase:
    return CacheDatabase(folder / "cache.db", schema=("CREATE TABLE words (word TEXT)",), version=1)


def add_word(cache: CacheDatabase) -> None:
    with cache.writing() as database:
        database.execute("INSERT INTO words VALUES ('a')")


def count_words(database: sqlite3.Connection) -> int:
    counted: int = database.execute("SELECT count(*) FROM words").fetchone()[0]
    return counted


def by_another_thread(cache: CacheDatabase, _: Path) -> None:
    with ThreadPoolExecutor(1) as threads:
        threads.submit(add_word, cache).result()


def by_another_process(_: CacheDatabase, folder: Path) -> None:
    with closing(open_words(folder)) as other:  # SQLite tells connections apart, not processes
        add_word(other)


@pytest.mark.parametrize("write", [lambda cache, _: add_word(cache), by_another_thread, by_another_process])
def test_what_was_read_is_kept_until_anybody_writes(
    tmp_path: Path, words: CacheDatabase, write: Callable[[CacheDatabase, Path], None]
) -> None:
    reads: list[int] = []

    def counted(database: sqlite3.Connection) -> int:
        reads.append(count_words(database))
        return reads[-1]

    assert [words.kept("count", counted) for _ in range(5)] == [0] * 5
    write(words, tmp_path)
    assert [words.kept("count", counted) for _ in range(5)] == [1] * 5
    assert reads == [0, 1]


def test_nothing_is_kept_of_a_cache_that_was_thrown_away(words: CacheDatabase) -> None:
    add_word(words)
    assert words.kept("count", count_words) == 1
    words.reset()
    assert words.kept("count", count_words) == 0


def test_what_a_write_read_before_it_failed_is_not_kept(words: CacheDatabase) -> None:
    def fail() -> None:
        with words.writing() as database:
            database.execute("INSERT INTO words VALUES ('a')")
            assert count_words(database) == 1
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert words.kept("count", count_words) == 0


def test_nothing_can_be_kept_inside_a_write_that_may_still_fail(words: CacheDatabase) -> None:
    def keep_inside() -> None:
        with words.writing() as database:
            database.execute("INSERT INTO words VALUES ('a')")
            words.kept("count", count_words)

    with pytest.raises(StorageDamaged):
        keep_inside()
    assert words.kept("count", count_words) == 0


def test_what_cannot_be_read_is_asked_for_again(words: CacheDatabase) -> None:
    with pytest.raises(StorageDamaged):
        words.kept("count", lambda database: int(database.execute("SELECT 'many'").fetchone()[0]))
    assert words.kept("count", count_words) == 0
