"""The rows of a database file that may be damaged, as far as SQLite can still read them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from zkchat.storage.database import PAGE_SIZE, open_read_only
from zkchat.storage.database_errors import DATABASE_SUFFIXES, sibling

Row = tuple[str | bytes | int | float | None, ...]
_DAMAGE: Final = (sqlite3.Error, ValueError, OverflowError, MemoryError)
"""What SQLite and its module raise for a damaged file, names and sizes in it included."""
_HEADER_BYTES: Final = 100
_HEADER: Final = (
    *(b"SQLite format 3\0", PAGE_SIZE.to_bytes(2), bytes((1, 1, 0, 64, 32, 32)), bytes(20)),
    *((4).to_bytes(4), bytes(8), (1).to_bytes(4), bytes(40)),
)
"""Of every database of ours, without what is counted in it: SQLite counts pages itself where none are told."""


def read_rows(database: Path) -> Iterator[Row]:
    """Every whole row of every table, most of them twice: tables are read from both ends, up to what is damaged.

    Nothing is read of a table whose root page is damaged, or of a file whose schema is: backups hold what they held.
    """
    # What else has that name may never end; and SQLite deletes the log of an empty file.
    if not database.is_file() or not database.stat().st_size:
        return
    with suppress(*_DAMAGE), closing(_opened(database)) as connection:
        connection.execute("PRAGMA writable_schema = ON")  # so that one bad statement does not hide all tables
        connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for (table,) in tables:
            for order in ("ASC", "DESC"):
                with suppress(*_DAMAGE):
                    rows = connection.execute(f'SELECT * FROM "{table}" ORDER BY rowid {order}')  # noqa: S608
                    yield from filter(_is_whole, rows)


def _is_whole(row: Row) -> bool:
    """Whether what should be text is text: a backup may hold the row as it was."""
    try:
        "".join(value for value in row if isinstance(value, str)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _opened(database: Path) -> sqlite3.Connection:
    """With its log where that is a file; with another header in memory where its own is no header."""
    files = (sibling(database, suffix) for suffix in DATABASE_SUFFIXES)
    is_alone = any((file.exists() or file.is_symlink()) and not file.is_file() for file in files)
    connection = open_read_only(database, is_immutable=is_alone)
    try:
        connection.execute("PRAGMA schema_version")
    except sqlite3.Error:
        connection.close()
        connection = sqlite3.connect(":memory:")
        connection.deserialize(b"".join(_HEADER) + database.read_bytes()[_HEADER_BYTES:])
    return connection
