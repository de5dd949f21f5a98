"""A cache of the sentences in which models summarised documents."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from zkchat.storage.cache_database import CacheDatabase

VERSION: Final = 1
SCHEMA: Final = (
    """CREATE TABLE sentences (
        path TEXT NOT NULL, anchor TEXT NOT NULL, fingerprint BLOB NOT NULL, sentence TEXT NOT NULL,
        PRIMARY KEY (path, anchor)) WITHOUT ROWID""",
)


class SqliteSummaries:
    """Implements `chat.document_summaries.SummaryCache`. There is no file until there is a sentence."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = CacheDatabase(path, schema=SCHEMA, version=VERSION)

    def close(self) -> None:
        self._file.close()

    def find(self, path: str, anchor: str, fingerprint: bytes) -> str:
        """The sentence for this text of a document, or of a section; empty where there is none."""
        if not self._path.exists():
            return ""
        query = "SELECT sentence FROM sentences WHERE path = ? AND anchor = ? AND fingerprint = ?"
        with self._file.reading() as database:
            row = database.execute(query, (path, anchor, fingerprint)).fetchone()
            return str(row[0]) if row else ""

    def keep(self, path: str, anchor: str, fingerprint: bytes, sentence: str) -> None:
        """Replaces the sentence for an earlier text."""
        with self._file.writing() as database:
            database.execute(
                "INSERT OR REPLACE INTO sentences VALUES (?, ?, ?, ?)", (path, anchor, fingerprint, sentence)
            )

    def described(self) -> list[tuple[str, bytes]]:
        """Path and fingerprint of every document that something is said of."""
        if not self._path.exists():
            return []
        with self._file.reading() as database:
            return database.execute("SELECT DISTINCT path, fingerprint FROM sentences").fetchall()

    def forget(self, documents: Iterable[tuple[str, bytes]]) -> None:
        with self._file.writing() as database:
            database.executemany("DELETE FROM sentences WHERE path = ? AND fingerprint = ?", documents)
