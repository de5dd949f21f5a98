import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from tests.support.sessions import NOON
from tests.unit.storage.test_migrations import old_database
from zkchat.core.errors import StorageDamaged, UsageError
from zkchat.sessions.memories import SqliteMemories, open_memories


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "memories.db"


def opened(path: Path, prefix: str = "f") -> SqliteMemories:
    numbers = count(1)
    return SqliteMemories(path, now=lambda: NOON, new_id=lambda: f"{prefix}{next(numbers)}")


@pytest.fixture
def store(path: Path) -> Iterator[SqliteMemories]:
    with opened(path) as store:
        yield store


def texts(store: SqliteMemories) -> list[str]:
    return [fact.text for fact in store.facts()]


def test_a_fact_that_gave_way_is_not_listed_and_its_words_are_kept_with_the_new_one(store: SqliteMemories) -> None:
    new = store.add("My colour is green", "user", replaces=[store.add("My colour is blue", "user").id])
    assert store.facts() == (new,)
    assert new.replaces == "My colour is blue"


def test_a_fact_is_forgotten_with_what_it_took_the_place_of_down_to_the_last_byte(path: Path) -> None:
    with opened(path) as store:
        middle = store.add("the middle-secret", "user", replaces=[store.add("the oldest-secret", "user").id])
        new = store.add("the newest-secret", "user", replaces=[middle.id])
        store.add("I like tea", "user")
    with opened(path, "g") as store:  # the first close left a copy in backups/
        store.forget(new.id)
        assert texts(store) == ["I like tea"]
        files = [file for file in path.parent.rglob("*") if file.is_file()]
        assert len(files) > 2  # the database, its log and the copy
        assert not [file.name for file in files if b"-secret" in file.read_bytes()]


def test_a_fact_is_found_by_its_id_or_the_beginning_of_it(path: Path) -> None:
    ids = iter(["abc1", "abd2", "x"])
    with SqliteMemories(path, now=lambda: NOON, new_id=lambda: next(ids)) as store:
        for text in ("one", "two", "three"):
            store.add(text, "user")
        assert store.find("abc").text == "one"
        assert store.find("x").text == "three"
        with pytest.raises(UsageError, match="could be any of 2 facts"):
            store.find("ab")
        for unknown in ("q", ""):
            with pytest.raises(UsageError, match="There is no fact"):
                store.find(unknown)


def test_facts_of_a_damaged_file_come_back_as_they_were_last(path: Path) -> None:
    with opened(path) as store:
        store.add("I like coffee", "user", replaces=[store.add("I like tea", "user").id])
        store.add("I sleep late", "model", local=True, agent="writer")
    shutil.rmtree(path.parent / "backups")
    path.write_bytes(b"garbage!" * 12 + path.read_bytes()[96:])
    store, notices = open_memories(path, now=lambda: NOON, new_id=lambda: "g1")
    with store:
        assert [(fact.text, fact.replaces, fact.local, fact.agent) for fact in store.facts()] == [
            ("I like coffee", "I like tea", False, ""),
            ("I sleep late", "", True, "writer"),
        ]
    assert "2 facts could be recovered" in notices[0]


def test_of_a_fact_that_several_files_hold_the_newest_version_comes_back(path: Path, tmp_path: Path) -> None:
    with opened(path) as store:
        fact = store.add("I like tea", "user")
    older = tmp_path / "older.db"
    shutil.copy(path, older)
    with opened(path) as store:
        store.used([fact.id])
    with opened(tmp_path / "new" / "memories.db") as store:
        with store._writing() as connection:
            SqliteMemories.restore(connection, [path, older])
        assert [each.uses for each in store.facts()] == [1]


@pytest.mark.parametrize("version", [1, 2])
def test_facts_of_an_earlier_version_are_restored_with_what_it_knew_of_them(tmp_path: Path, version: int) -> None:
    old = old_database(tmp_path, "memories", version)
    with opened(tmp_path / "new" / "memories.db") as store:
        with store._writing() as connection:
            SqliteMemories.restore(connection, [old])
        assert [(fact.local, fact.agent) for fact in store.facts()] == [(version > 1, "")]


def test_a_row_that_makes_no_sense_is_damage(path: Path) -> None:
    with opened(path) as store:
        store.add("I like tea", "user")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE facts SET at = 'yesterday'")
    with opened(path) as store, pytest.raises(StorageDamaged):
        store.facts()
    store, notices = open_memories(path, now=lambda: NOON, new_id=lambda: "g1")
    with store:
        assert texts(store) == ["I like tea"]
    assert "was damaged" in notices[0]
