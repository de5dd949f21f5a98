"""The vectors of the sections of a note index: which passages there are, and the files that hold their vectors."""

import json
from collections.abc import Sequence
from pathlib import Path

from zkchat.model.embeddings import DIGEST_BYTES, PassageDigests
from zkchat.model.index import StoredSection
from zkchat.storage.cache_database import CacheDatabase
from zkchat.storage.note_schema import SECTIONS, section_of, typed
from zkchat.storage.vector_files import VectorFiles


class SqliteVectors(VectorFiles):
    """Implements `ports.embeddings.VectorIndex`. The files stay when the index is built anew."""

    def __init__(self, file: CacheDatabase, index: Path) -> None:
        super().__init__(index)
        self._file = file

    def passages(self, after: int = 0) -> PassageDigests:
        with self._file.reading() as database:
            ((epoch,),) = typed(database.execute("SELECT value FROM state WHERE name = 'epoch'"), int)
            query = "SELECT first_section, digests FROM passages WHERE first_section > ? ORDER BY first_section"
            notes = typed(database.execute(query, (after,)), int, bytes)
            if any(len(digests) % DIGEST_BYTES for _, digests in notes):
                raise ValueError("digests that are cut short")
            return PassageDigests(epoch=epoch, notes=notes)

    def sections(self, numbers: Sequence[int]) -> list[StoredSection]:
        with self._file.reading() as database:
            return [section_of(row) for row in database.execute(SECTIONS, (json.dumps([*numbers]),))]
