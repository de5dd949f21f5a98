"""Databases of every released version open with what is in them. `old_schemas/` holds one of each.

After adding a migration, `python -m tests.unit.storage.old_schemas` writes the dump of the new version.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.sessions import NOON
from zkchat.sessions.memories import SqliteMemories
from zkchat.sessions.store import SqliteSessions
from zkchat.storage.database import has_schema, open_read_only
from zkchat.storage.durable_database import DurableDatabase
from zkchat.writing.changes.journal import SqliteChangeJournal

STORES: dict[str, type[DurableDatabase]] = {
    "sessions": SqliteSessions,
    "memories": SqliteMemories,
    "changes": SqliteChangeJournal,
}
VERSIONS = [(name, version) for name, store in STORES.items() for version in range(1, len(store.migrations) + 1)]


def old_database(folder: Path, name: str, version: int) -> Path:
    path = folder / f"{name}.db"
    script = Path(__file__).parent / "old_schemas" / f"{name}-{version}.sql"
    assert script.exists(), "run: python -m tests.unit.storage.old_schemas"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script.read_text(encoding="utf-8"))
    return path


@pytest.mark.parametrize(("name", "version"), VERSIONS)
def test_a_dump_has_the_schema_of_its_version(tmp_path: Path, name: str, version: int) -> None:
    with closing(open_read_only(old_database(tmp_path, name, version))) as connection:
        assert has_schema(connection, STORES[name].migrations[:version])


@pytest.mark.parametrize(("name", "version"), VERSIONS)
def test_an_old_database_is_migrated_and_a_copy_of_it_kept(tmp_path: Path, name: str, version: int) -> None:
    path, store = old_database(tmp_path, name, version), STORES[name]
    with store(path, now=lambda: NOON, new_id=lambda: "new") as opened:
        opened.verify_every_row()
        assert opened.describe_content().startswith("1 ")
    with closing(open_read_only(path)) as connection:
        assert has_schema(connection, store.migrations)
    current = len(store.migrations)
    assert (path.parent / "backups" / f"{name}.before-version-{current}.db").exists() is (version < current)


@pytest.mark.parametrize("version", range(1, len(SqliteSessions.migrations) + 1))
def test_sessions_of_every_version_are_read(tmp_path: Path, version: int) -> None:
    path = old_database(tmp_path, "sessions", version)
    with SqliteSessions(path, now=lambda: NOON, new_id=lambda: "new") as store:
        assert [(session.title, session.message_count) for session in store.sessions()] == [("Tea", 1)]
        assert [entry.body.kind for entry in store.entries("s1")] == ["title", "message"]
        assert [(session.listed, session.first_words) for session in store.sessions()] == [(True, "I like tea.")]


@pytest.mark.parametrize("version", range(1, len(SqliteMemories.migrations) + 1))
def test_facts_of_every_version_are_read_with_what_it_knew_of_them(tmp_path: Path, version: int) -> None:
    """Before version 2 they were open, before version 3 for all agents."""
    path = old_database(tmp_path, "memories", version)
    with SqliteMemories(path, now=lambda: NOON, new_id=lambda: "new") as store:
        (fact,) = store.facts()
        assert (fact.text, fact.local, fact.agent) == ("I like tea", version > 1, "writer" if version > 2 else "")
