"""Text as stores hold it: whether a file holds some, and text that no packing makes short."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from string import ascii_letters

from zkchat.sessions.rows import unpack


def incompressible(size: int) -> str:
    """As many letters, always the same ones: packed they take at least half of that."""
    return "".join(random.Random(7).choices(ascii_letters, k=size))


def files_holding(folder: Path, text: str) -> list[Path]:
    """The files below the folder that hold a text, as it is or packed in a table."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return [file for file in files if text.encode() in file.read_bytes() or any(text in each for each in _packed(file))]


def _packed(file: Path) -> Iterator[str]:
    if not file.read_bytes().startswith(b"SQLite format 3"):
        return
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        for value in _values(connection):
            if isinstance(value, bytes):
                with suppress(ValueError):
                    yield unpack(value)


def _values(connection: sqlite3.Connection) -> Iterator[object]:
    with suppress(sqlite3.Error):  # a damaged file
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                yield from row
