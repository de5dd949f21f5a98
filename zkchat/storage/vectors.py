"""Vectors of sections, in the file of the note index: a section and its vector go together."""

from collections.abc import Iterable

from zkchat.model.index import StoredSection
from zkchat.storage.cache_file import CacheFile
from zkchat.storage.note_rows import section_of

_MISSING = """SELECT sections.id, path, title, aliases, heading_path, first_line, last_line, text
    FROM sections JOIN notes ON notes.id = note LEFT JOIN vectors ON vectors.section = sections.id
    WHERE vectors.section IS NULL ORDER BY sections.id LIMIT ?"""


class SqliteVectors:
    """Implements `ports.VectorIndex`."""

    def __init__(self, file: CacheFile) -> None:
        self._file = file

    def begin(self, method: str) -> None:
        with self._file.writing() as database:
            if database.execute("SELECT name FROM vector_method").fetchall() != [(method,)]:
                database.execute("DELETE FROM vectors")
                database.execute("DELETE FROM vector_method")
                database.execute("INSERT INTO vector_method VALUES (?)", (method,))

    def missing(self, limit: int) -> list[StoredSection]:
        with self._file.reading() as database:
            return [section_of(row) for row in database.execute(_MISSING, (limit,))]

    def add(self, vectors: Iterable[tuple[int, bytes]]) -> None:
        with self._file.writing() as database:
            # A section may have gone while its vector was made.
            database.executemany(
                "INSERT OR REPLACE INTO vectors SELECT id, ?2 FROM sections WHERE id = ?1", list(vectors)
            )

    def after(self, method: str, section: int) -> list[tuple[int, bytes]]:
        with self._file.reading() as database:
            if database.execute("SELECT name FROM vector_method").fetchall() != [(method,)]:
                return []
            return database.execute(
                "SELECT section, vector FROM vectors WHERE section > ? ORDER BY section", (section,)
            ).fetchall()
