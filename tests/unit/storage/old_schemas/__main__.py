"""Dump each durable database in its current version, where there is no dump yet.

    python -m tests.unit.storage.old_schemas

The dumps stay when the schema goes on: they are what users of that version have on disk.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.sessions import NOON
from zkchat.core.changes import ChangeOrigin, ChangeSet, FileWrite
from zkchat.core.message import ChatMessage, TextPart
from zkchat.core.session import MessageEntry
from zkchat.sessions.memories import SqliteMemories
from zkchat.sessions.store import SqliteSessions
from zkchat.writing.changes.journal import SqliteChangeJournal, plan_changes


def fill_sessions(path: Path) -> int:
    message = ChatMessage(id="m1", role="user", created_at=NOON, parts=(TextPart(text="I like tea."),))
    with SqliteSessions(path, now=lambda: NOON, new_id=lambda: "s1") as store:
        store.append(store.create("Tea").id, [MessageEntry(message=message)])
    return len(SqliteSessions.migrations)


def fill_memories(path: Path) -> int:
    with SqliteMemories(path, now=lambda: NOON, new_id=lambda: "f1") as store:
        store.add("I like tea", "user", local=True, agent="writer")
    return len(SqliteMemories.migrations)


def fill_changes(path: Path) -> int:
    changes = ChangeSet(
        title="Append to Tea.md", writes=(FileWrite(path="Tea.md", before=b"I like", after=b"I like tea."),)
    )
    plan = plan_changes(changes, lambda _: True)
    with SqliteChangeJournal(path, now=lambda: NOON, new_id=lambda: "c1") as journal:
        journal.mark(journal.begin(changes, plan, ChangeOrigin(command="note append")).id, "applied")
    return len(SqliteChangeJournal.migrations)


def dump(database: Path, version: int) -> str:
    with closing(sqlite3.connect(database)) as connection:
        return "\n".join([f"PRAGMA user_version = {version};", *connection.iterdump()]) + "\n"


if __name__ == "__main__":
    for name, fill in (("sessions", fill_sessions), ("memories", fill_memories), ("changes", fill_changes)):
        with TemporaryDirectory() as folder:
            database = Path(folder, f"{name}.db")
            version = fill(database)
            target = Path(__file__).with_name(f"{name}-{version}.sql")
            if not target.exists():
                target.write_text(dump(database, version), encoding="utf-8")
