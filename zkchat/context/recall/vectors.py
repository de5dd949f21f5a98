"""Vectors of messages, to tell how near they are to a question in meaning; none where they cannot be made."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from zkchat.errors import ProviderError
from zkchat.ports.embeddings import TextEmbedder

if TYPE_CHECKING:
    from zkchat.vault.search.similarity import Vector, Vectors

MAX_CHARACTERS = 4_000
"""Of a message that are embedded: the vector of a longer text says little of any of its sentences."""


class MessageVectors:
    """Without an embedder, or with one that fails, there are no vectors, and messages are ordered without them."""

    def __init__(self, embedder: TextEmbedder | None) -> None:
        self._embedder = embedder

    @property
    def method(self) -> str:
        """How vectors are made; empty if they cannot be."""
        return self._embedder.name if self._embedder else ""

    def packed(self, texts: Sequence[str]) -> list[bytes]:
        """A vector for each text as it is stored, or nothing for any."""
        from zkchat.vault.search.similarity import packed

        rows = self._embedded(texts) if texts else None
        if rows is None:
            return [b""] * len(texts)
        data, size = packed(rows), rows.shape[1]
        return [data[start : start + size] for start in range(0, len(data), size)]

    def of_question(self, question: str) -> "Vector | None":
        rows = self._embedded([question])
        return None if rows is None else rows[0]

    def _embedded(self, texts: Sequence[str]) -> "Vectors | None":
        with suppress(ProviderError):
            return self._embedder.embed([text[:MAX_CHARACTERS] for text in texts]) if self._embedder else None
        self._embedder = None
        return None
