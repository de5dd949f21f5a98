"""Facts opened, after a rescue if their file is damaged or gone."""

from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from zkchat.model.memory import Fact
from zkchat.storage.database import migrate, open_database, transaction
from zkchat.storage.memories import STEPS, SqliteMemories
from zkchat.storage.pages import Row, stored_rows
from zkchat.storage.rescue import Rescuable, counted, open_rescued


class _FactRow(NamedTuple):
    id: str
    text: str
    source: str
    at: str
    session_id: str
    uses: int
    used_at: str | None
    replaced_by: str | None
    local: int


def open_memories(path: Path, *, now: Callable[[], datetime], new_id: Callable[[], str]) -> tuple[SqliteMemories, str]:
    """The facts, and what happened to their file, if anything."""
    kind = Rescuable(
        steps=STEPS,
        open=lambda: SqliteMemories(path, now=now, new_id=new_id),
        read=_read,
        build=_build,
        content=_content,
    )
    return open_rescued(path, kind, now())


def _read(store: SqliteMemories, _everything: bool) -> None:
    store.facts()


def _content(store: SqliteMemories) -> str:
    return counted(len(store.facts()), "fact") if store.facts() else ""


def _build(sources: Iterable[Path], path: Path) -> None:
    """A new database with the facts that are found, each in its newest form."""
    found: dict[str, _FactRow] = {}
    for source in sources:
        for row in stored_rows(source):
            with suppress(ValueError):
                if fact := _fact_row(row):
                    found.setdefault(fact.id, fact)
    with closing(open_database(path, synchronous="FULL")) as connection:
        migrate(connection, STEPS, backup=None)
        with transaction(connection):
            connection.executemany(
                "INSERT INTO facts (id, text, source, at, session_id, uses, used_at, replaced_by, local) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)",
                [(*fact[:7], fact.local) for fact in found.values()],
            )
            connection.executemany(
                "UPDATE facts SET replaced_by = ? WHERE id = ?",
                [(fact.replaced_by, fact.id) for fact in found.values() if fact.replaced_by in found],
            )


def _fact_row(row: Row) -> _FactRow | None:
    """The row of a fact, if it is one; those of the first version say nothing of where the fact may go."""
    match row:
        case (
            None,
            str(id_),
            str(text),
            str(source),
            str(at),
            str(session_id),
            int(uses),
            str() | None as used_at,
            str() | None as replaced_by,
            *local,
        ) if all(isinstance(each, int) for each in local[:1]):
            stays = int(bool(local and local[0]))
            Fact.model_validate({"id": id_, "text": text, "source": source, "at": at, "used_at": used_at})
            return _FactRow(id_, text, source, at, session_id, uses, used_at, replaced_by, stays)
    return None
