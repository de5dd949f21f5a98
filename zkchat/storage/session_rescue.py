"""Sessions opened, after a rescue if they are damaged or gone."""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from zkchat.errors import StorageFull
from zkchat.storage.database import migrate, open_database, transaction
from zkchat.storage.pages import Row, stored_rows
from zkchat.storage.rescue import Rescuable, counted, open_rescued
from zkchat.storage.reserve import give_up_reserve, keep_reserve
from zkchat.storage.sessions import (
    STEPS,
    EntryRow,
    SqliteSessions,
    entry_of,
    insert_doomed,
    insert_entries,
    insert_session,
    session_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    store: SqliteSessions
    notices: tuple[str, ...] = ()
    """What the user should be told."""


def open_sessions(path: Path, *, now: Callable[[], datetime], new_id: Callable[[], str]) -> Opened:
    """Open the sessions, after a rescue if they are damaged or gone. Whole rows are true ones: none is ever changed."""
    kind = Rescuable(
        steps=STEPS,
        open=lambda: SqliteSessions(path, now=now, new_id=new_id),
        read=_read,
        build=_build,
        content=_content,
    )
    try:
        store, notice = open_rescued(path, kind, now())
    except StorageFull:
        if not give_up_reserve(path):
            raise
        store, notice = open_rescued(path, kind, now())
    if store.sessions():
        keep_reserve(path)
    return Opened(store=store, notices=(notice,) if notice else ())


def _read(store: SqliteSessions, everything: bool) -> None:
    for session in store.sessions():
        if everything:
            store.entries(session.id)


def _content(store: SqliteSessions) -> str:
    sessions = store.sessions()
    messages = sum(session.message_count for session in sessions)
    return f"{counted(len(sessions), 'session')} with {counted(messages, 'message')}" if sessions else ""


@dataclass(slots=True)
class _Found:
    """The rows of all tables that came to light."""

    sessions: dict[str, tuple[str, str, str, str]] = field(default_factory=dict)
    entries: dict[tuple[str, int], EntryRow] = field(default_factory=dict)
    doomed: dict[str, str] = field(default_factory=dict)

    def take_from(self, database: Path) -> None:
        for row in stored_rows(database):
            try:
                self._take(row)
            except ValueError:
                continue

    def _take(self, row: Row) -> None:
        """Keep a row that makes sense; the number of its columns tells which table it is from."""
        match row:
            case (
                str(id_),
                int(place),
                str(kind),
                str() | None as role,
                str() | None as own,
                str() | None as parent,
                str() | None as title,
                str(at),
                str(body),
            ):
                entry = EntryRow(id_, place, kind, role, own, parent, title, at, body)
                entry_of(entry)
                self.entries.setdefault((entry.session_id, entry.sequence), entry)
            case (str(id_), str(title), str(created), str(updated), int()):
                session_of(row)
                self.sessions.setdefault(id_, (id_, title, created, updated))
            case (str(id_), str(at)):
                datetime.fromisoformat(at)
                self.doomed.setdefault(id_, at)


def _found_in(databases: Iterable[Path]) -> _Found:
    found = _Found()
    for file in databases:
        found.take_from(file)
    return found


def _build(sources: Iterable[Path], path: Path) -> None:
    """A new database with the rows that are found, but for the sessions that the user had deleted."""
    found = _found_in(sources)
    used = {entry.session_id: entry.at for _, entry in sorted(found.entries.items())}
    kept = [entry for entry in found.entries.values() if entry.session_id not in found.doomed]
    kept.sort(key=lambda entry: (used[entry.session_id], entry.session_id, entry.sequence))
    sessions = {id_: session for id_, session in found.sessions.items() if id_ not in found.doomed}
    for entry in kept:
        sessions.setdefault(entry.session_id, (entry.session_id, "", entry.at, entry.at))
    with closing(open_database(path, synchronous="FULL")) as connection:
        migrate(connection, STEPS, backup=None)
        with transaction(connection):
            for session in sessions.values():
                insert_session(connection, session)
            insert_entries(connection, kept)
            insert_doomed(connection, found.doomed)
