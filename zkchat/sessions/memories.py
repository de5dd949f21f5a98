"""Facts in SQLite beside the sessions of their vault."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Final

from zkchat.core import Fact, FactSource, UsageError, counted, from_plain
from zkchat.storage import (
    DurableDatabase,
    LazyStore,
    Recovered,
    Row,
    UnreadableRow,
    execute_all,
    open_recovered,
    read_rows,
    timestamp,
)


def _create_tables(connection: sqlite3.Connection) -> None:
    execute_all(
        connection,
        """CREATE TABLE facts (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, source TEXT NOT NULL,
            at TEXT NOT NULL, session_id TEXT NOT NULL, uses INTEGER NOT NULL DEFAULT 0, used_at TEXT,
            replaced_by TEXT REFERENCES facts (id))""",
        "CREATE INDEX facts_by_successor ON facts (replaced_by) WHERE replaced_by IS NOT NULL",
        """CREATE TABLE vectors (
            method TEXT NOT NULL, digest TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (method, digest))
            WITHOUT ROWID""",
    )


_FACTS: Final = """
    SELECT id, text, source, at, session_id, uses, used_at, COALESCE ((
        SELECT GROUP_CONCAT (text, '; ') FROM facts AS old WHERE old.replaced_by = facts.id), '') AS replaces,
        local, agent
    FROM facts WHERE replaced_by IS NULL ORDER BY number"""


class SqliteMemories(DurableDatabase):
    """Implements `MemoryStore`."""

    migrations = (
        _create_tables,
        lambda connection: connection.execute("ALTER TABLE facts ADD COLUMN local INTEGER NOT NULL DEFAULT 0"),
        lambda connection: connection.execute("ALTER TABLE facts ADD COLUMN agent TEXT NOT NULL DEFAULT ''"),
    )

    def facts(self) -> tuple[Fact, ...]:
        with self._reading() as connection:
            try:
                rows = connection.execute(_FACTS)
                return tuple(from_plain(Fact, dict(zip(Fact.__struct_fields__, row, strict=True))) for row in rows)
            except ValueError as error:
                raise UnreadableRow from error

    def add(
        self,
        text: str,
        source: FactSource,
        session_id: str = "",
        replaces: Sequence[str] = (),
        *,
        local: bool = False,
        agent: str = "",
    ) -> Fact:
        fact_id = self._new_id()
        text = text.encode("utf-8", "replace").decode()  # half of a surrogate pair has no UTF-8 form
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO facts (id, text, source, at, session_id, local, agent) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (fact_id, text, source, timestamp(self._now()), session_id, local, agent),
            )
            connection.executemany(
                "UPDATE facts SET replaced_by = ? WHERE id = ?", [(fact_id, old) for old in replaces]
            )
        return self.find(fact_id)

    def confirm(self, fact_id: str) -> Fact:
        with self._writing() as connection:
            connection.execute("UPDATE facts SET at = ? WHERE id = ?", (timestamp(self._now()), fact_id))
        return self.find(fact_id)

    def used(self, fact_ids: Sequence[str]) -> None:
        at = timestamp(self._now())
        with self._writing() as connection:
            connection.executemany(
                "UPDATE facts SET uses = uses + 1, used_at = ? WHERE id = ?", [(at, fact_id) for fact_id in fact_ids]
            )

    def forget(self, fact_id: str) -> None:
        """Remove a fact and those that it replaced permanently, from the backups too."""
        self._erase_permanently(lambda connection: _erase(connection, fact_id))

    def find(self, name: str) -> Fact:
        """By id or the beginning of one. Raises `UsageError` if there is none, or more than one."""
        facts = self.facts()
        found = [fact for fact in facts if fact.id == name] or [
            fact for fact in facts if name and fact.id.startswith(name)
        ]
        if len(found) != 1:
            raise no_fact(name, len(found))
        return found[0]

    def verify(self) -> None:
        self.facts()

    def describe_content(self) -> str:
        return counted(len(self.facts()), "fact") if self.facts() else ""

    @staticmethod
    def restore(connection: sqlite3.Connection, sources: Iterable[Path]) -> None:
        """Each fact in its newest version."""
        found: dict[object, dict[str, object]] = {}
        for row in chain.from_iterable(map(read_rows, sources)):
            with suppress(ValueError):
                fact = _stored_fact(row)
                found.setdefault(fact["id"], fact)
        connection.executemany(
            "INSERT INTO facts (id, text, source, at, session_id, uses, used_at, local, agent) "
            "VALUES (:id, :text, :source, :at, :session_id, :uses, :used_at, :local, :agent)",
            found.values(),
        )
        replaced = [fact for fact in found.values() if fact["replaced_by"] in found]
        connection.executemany("UPDATE facts SET replaced_by = :replaced_by WHERE id = :id", replaced)


def no_fact(name: str, candidates: int = 0) -> UsageError:
    problem = f"{name!r} could be any of {candidates} facts." if candidates else f"There is no fact {name!r}."
    return UsageError(problem, hint="zkchat memory list shows them with their ids.")


def _erase(connection: sqlite3.Connection, fact_id: str) -> None:
    older = connection.execute("SELECT id FROM facts WHERE replaced_by = ?", (fact_id,)).fetchall()
    for (old,) in older:
        _erase(connection, old)
    connection.execute("DELETE FROM facts WHERE id = ?", (fact_id,))
    connection.execute("DELETE FROM vectors")  # which earlier versions kept; one of them knows what the fact was about


def _stored_fact(row: Row) -> dict[str, object]:
    """The columns of a row; those of earlier versions say nothing of where the fact may go, or to which agent.

    Raises `ValueError` for rows of other tables.
    """
    names = ("number", "id", "text", "source", "at", "session_id", "uses", "used_at", "replaced_by", "local", "agent")
    found: dict[str, object] = {"local": 0, "agent": "", **dict(zip(names, row, strict=False))}
    from_plain(Fact, {name: value for name, value in found.items() if name in Fact.__struct_fields__})
    return found


def open_memories(path: Path, *, now: Callable[[], datetime], new_id: Callable[[], str]) -> Recovered[SqliteMemories]:
    return open_recovered(SqliteMemories, path, now=now, new_id=new_id)


class LazyMemories(LazyStore[SqliteMemories]):
    """Implements `MemoryStore` for a vault without facts.

    The database is made with the first one.
    """

    not_found = no_fact

    def facts(self) -> tuple[Fact, ...]:
        store = self._existing()
        return store.facts() if store else ()

    def add(
        self,
        text: str,
        source: FactSource,
        session_id: str = "",
        replaces: Sequence[str] = (),
        *,
        local: bool = False,
        agent: str = "",
    ) -> Fact:
        return self._writable().add(text, source, session_id, replaces, local=local, agent=agent)

    def confirm(self, fact_id: str) -> Fact:
        return self._holding(fact_id).confirm(fact_id)

    def used(self, fact_ids: Sequence[str]) -> None:
        if fact_ids:
            self._writable().used(fact_ids)

    def forget(self, fact_id: str) -> None:
        self._holding(fact_id).forget(fact_id)

    def find(self, name: str) -> Fact:
        return self._holding(name).find(name)
