"""Which folders of a vault the note index knows, and which of their files, as SQL over the note index."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from zkchat.model.folder import IndexedFiles, KnownFolder, folder_of
from zkchat.model.note import FileStamp
from zkchat.storage.note_schema import require_texts, typed

_AFTER_SLASH: Final = chr(ord("/") + 1)
_LAST: Final = chr(0x10FFFF)
_UNKNOWN: Final = b""
_STORE: Final = "INSERT OR REPLACE INTO folders VALUES (?, ?, ?)"


def known_folders(database: sqlite3.Connection) -> dict[str, KnownFolder]:
    rows = typed(database.execute("SELECT path, digest, notes FROM folders"), str, bytes, int)
    return {path: KnownFolder(digest, notes) for path, digest, notes in rows}


def store_known_folders(database: sqlite3.Connection, folders: Mapping[str, KnownFolder], gone: Iterable[str]) -> None:
    database.executemany("DELETE FROM folders WHERE path = ?", [(path,) for path in gone])
    database.executemany(_STORE, [(path, *known) for path, known in folders.items()])


def forget_listings(database: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Files changed: what their folders were when they were last listed does not tell any more what is indexed."""
    database.executemany(_STORE, [(folder, _UNKNOWN, 0) for folder in {*map(folder_of, paths)}])


def files_in(database: sqlite3.Connection, prefix: str) -> IndexedFiles:
    rows = _directly_in(database, "SELECT path, size, modified_ns, settled FROM notes", prefix)
    stamps = {path: FileStamp(path, size, modified_ns, settled == 1) for path, size, modified_ns, settled in rows}
    attachments = {path for (path,) in _directly_in(database, "SELECT path FROM attachments", prefix)}
    require_texts((*stamps, *attachments))
    return IndexedFiles(stamps, attachments)


def _directly_in(database: sqlite3.Connection, query: str, prefix: str) -> Iterator[tuple[Any, ...]]:
    """The rows whose path is in a folder itself. Those of the folders in it are skipped, folder by folder."""
    ordered = f"{query} WHERE path >= ? AND path < ? ORDER BY path"
    start: str | None = prefix
    end = prefix[:-1] + _AFTER_SLASH if prefix else _LAST
    while start is not None:
        rows, start = database.execute(ordered, (start, end)), None
        for row in rows:
            below, slash, _ = row[0][len(prefix) :].partition("/")
            if slash:
                start = f"{prefix}{below}{_AFTER_SLASH}"
                break
            yield row
