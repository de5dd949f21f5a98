"""The mark on facts that stay on this machine, on disk."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.sessions import NOON
from zkchat.storage.memories import STEPS, SqliteMemories


def opened(path: Path) -> SqliteMemories:
    return SqliteMemories(path, now=lambda: NOON, new_id=lambda: "f1")


def test_a_fact_is_local_after_it_was_stored(tmp_path: Path) -> None:
    with opened(tmp_path / "memories.db") as store:
        assert store.add("The key is under the mat.", "user", local=True).local
    with opened(tmp_path / "memories.db") as store:
        assert [fact.local for fact in store.facts()] == [True]


def test_facts_of_an_earlier_zkchat_are_open(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in STEPS[0]:
            connection.execute(statement)
        connection.execute("PRAGMA user_version = 1")
        connection.execute(
            "INSERT INTO facts (id, text, source, at, session_id) VALUES ('old', 'I like tea', 'user', ?, '')",
            (NOON.isoformat(),),
        )
    with opened(path) as store:
        assert [(fact.text, fact.local) for fact in store.facts()] == [("I like tea", False)]
