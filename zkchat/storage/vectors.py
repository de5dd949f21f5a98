"""Vectors of sections, in the file of the note index: a section and its vector go together."""

import json
from collections.abc import Iterable, Sequence

from zkchat.model.index import StoredSection
from zkchat.storage.cache_database import CacheFile
from zkchat.storage.note_rows import section_of, typed

_MISSING = """SELECT sections.id, path, title, aliases, heading_path, first_line, last_line, text
    FROM sections JOIN notes ON notes.id = note LEFT JOIN vectors ON vectors.section = sections.id
    WHERE sections.id > ? AND vectors.section IS NULL ORDER BY sections.id LIMIT ?"""
_AFTER = """SELECT section, vector FROM vectors
    WHERE section > ? AND (SELECT name FROM vector_method) = ? ORDER BY section LIMIT ?"""
_SOME = """SELECT section, vector FROM json_each(?) AS wanted CROSS JOIN vectors ON section = wanted.value
    WHERE (SELECT name FROM vector_method) = ?"""


class SqliteVectors:
    """Implements `ports.VectorIndex`."""

    def __init__(self, file: CacheFile) -> None:
        self._file = file
        self._done = 0
        """Up to this section all have one: who makes vectors by the hundred thousand does not begin from the start."""

    def begin(self, method: str) -> None:
        self._done = 0
        with self._file.writing() as database:
            if database.execute("SELECT name FROM vector_method").fetchall() != [(method,)]:
                database.execute("DELETE FROM vectors")
                database.execute("DELETE FROM vector_method")
                database.execute("INSERT INTO vector_method VALUES (?)", (method,))

    def missing(self, limit: int) -> list[StoredSection]:
        with self._file.reading() as database:
            return [section_of(row) for row in database.execute(_MISSING, (self._done, limit))]

    def add(self, vectors: Iterable[tuple[int, bytes]]) -> None:
        rows = [*vectors]
        with self._file.writing() as database:
            # A section may have gone while its vector was made.
            database.executemany("INSERT OR REPLACE INTO vectors SELECT id, ?2 FROM sections WHERE id = ?1", rows)
        self._done = max([self._done, *(section for section, _ in rows)])

    def after(self, method: str, section: int, limit: int) -> list[tuple[int, bytes]]:
        with self._file.reading() as database:
            return typed(database.execute(_AFTER, (section, method, limit)), int, bytes)

    def of(self, method: str, sections: Sequence[int]) -> list[tuple[int, bytes]]:
        with self._file.reading() as database:
            return typed(database.execute(_SOME, (json.dumps(sections), method)), int, bytes)
