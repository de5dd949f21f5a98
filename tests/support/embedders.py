"""Embedders at the port: what they are sent is recorded, and they fail as they are told to."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from zkchat.core.errors import TextKeptHere
from zkchat.core.index import OpenText, SimilarityTraits
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.vector_files import VectorFiles

DIMENSIONS = 64


class RecordingEmbedder:
    """Implements `ports.embeddings.Embedder` as a server's: every text has a direction of its own."""

    needs_server = True
    is_in_process = False
    traits = SimilarityTraits(min_cosine=0.3, has_common_direction=False)

    def __init__(self, name: str = "server", *, on_this_machine: bool = True, batch_size: int = 4) -> None:
        self.name = name
        self.dimensions = DIMENSIONS
        self.is_on_this_machine = on_this_machine
        self.batch_size = batch_size
        self.texts: list[str] = []
        self.questions: list[str] = []
        self.before: Callable[[Sequence[str]], None] = lambda _: None
        """Called with each batch before it is embedded; may raise."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._require_open(texts)
        self.before(texts)
        self.texts.extend(texts)
        return np.stack([self.direction(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self._require_open([text])
        self.before([text])
        self.questions.append(text)
        return self.direction(text)

    def _require_open(self, texts: Sequence[str]) -> None:
        if not (self.is_on_this_machine or all(isinstance(text, OpenText) for text in texts)):
            raise TextKeptHere("It stays here.")

    def direction(self, text: str) -> NDArray[np.float32]:
        seed = int.from_bytes(hashlib.sha256(f"{self.name}\n{text}".encode()).digest()[:8])
        vector = np.random.default_rng(seed).standard_normal(self.dimensions).astype(np.float32)
        normed: NDArray[np.float32] = vector / np.linalg.norm(vector)
        return normed


class StaticEmbedder(RecordingEmbedder):
    """One that needs no server."""

    needs_server = False

    def __init__(self, name: str = "static") -> None:
        super().__init__(name, batch_size=256)


def stored_vectors(vectors: VectorFiles, method: str) -> list[tuple[bytes, bytes]]:
    """The digest of each passage that has a vector of a method, and the vector."""
    stored = vectors.read(method)
    if stored is None:
        return []
    size = stored.vector_bytes
    return [
        (block.digests[16 * row : 16 * row + 16], bytes(stored.data[block.start + row * size :][:size]))
        for block in stored.blocks
        for row in range(len(block.digests) // 16)
    ]


def vectors_of(index: SqliteNoteIndex, method: str) -> dict[bytes, bytes]:
    """The same by digest, of which each is there once."""
    stored = stored_vectors(index.vectors, method)
    assert len(dict(stored)) == len(stored)
    return dict(stored)
