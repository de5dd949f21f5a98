"""Names in the databases of a vault, read for the completion of shells: no file is made, migrated or changed."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from zkchat.model.index import CatalogRow
from zkchat.storage.database import open_read_only
from zkchat.storage.database_errors import sibling, storage_errors
from zkchat.storage.note_schema import CATALOG, KNOWN_NOTE, VERSION, known_note, names_of

_SESSIONS = "SELECT id, title, listed FROM sessions ORDER BY updated_at DESC"
_FACTS = "SELECT id, text FROM facts WHERE replaced_by IS NULL ORDER BY at DESC"


def read_notes(index: Path) -> list[CatalogRow]:
    """The notes of an index of this version; none of another. Raises `StorageError`."""
    with _reading(index, version=VERSION) as database:
        rows = database.execute(CATALOG) if database else ()
        return [CatalogRow(path=path, title=title, aliases=names_of(aliases)) for path, title, aliases, _ in rows]


def read_headings(index: Path, path: str) -> list[str]:
    """The headings of a note."""
    with _reading(index, version=VERSION) as database:
        row = database.execute(KNOWN_NOTE, (path,)).fetchone() if database else None
        return [heading.text for heading in known_note(*row).headings] if row else []


def read_tags(index: Path) -> list[str]:
    with _reading(index, version=VERSION) as database:
        return [tag for (tag,) in database.execute("SELECT DISTINCT tag FROM tags")] if database else []


def read_sessions(sessions: Path) -> list[tuple[str, str, bool]]:
    """Ids, titles, and whether they are in lists; the last used first."""
    with _reading(sessions) as database:
        return database.execute(_SESSIONS).fetchall() if database else []


def read_facts(memories: Path) -> list[tuple[str, str]]:
    """Ids and texts, the newest first."""
    with _reading(memories) as database:
        return database.execute(_FACTS).fetchall() if database else []


@contextmanager
def _reading(path: Path, *, version: int | None = None) -> Iterator[sqlite3.Connection | None]:
    """The database; None where there is none, or one of another version."""
    with storage_errors(path):
        if not path.is_file():
            yield None
            return
        # Where no other process has it open, SQLite would make the files of a log for us to read nothing from.
        is_in_use = sibling(path, "-shm").exists()
        with closing(open_read_only(path, is_immutable=not is_in_use)) as database:
            found = database.execute("PRAGMA user_version").fetchone()[0]
            yield database if version in {None, found} else None
