"""How relevant short texts, such as descriptions and facts, are to a message."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from math import log, sqrt
from threading import Thread
from typing import TYPE_CHECKING

from msgspec import Struct

from zkchat.errors import ProviderError, StorageError
from zkchat.ports.embeddings import TextEmbedder, VectorCache
from zkchat.vault.search.terms import query_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Relevance:
    """Scores texts from 0 to 1. Their vectors are computed once and kept in `cache` by digest, where there is one.

    Without an embedder, or with one that fails, words alone count.
    """

    def __init__(self, embedder: TextEmbedder | None = None, cache: VectorCache | None = None) -> None:
        self._embedder = embedder
        self._cache = cache
        self._terms: dict[str, frozenset[str]] = {}
        self._vectors: dict[str, bytes] = {}

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """One for each text: similarity by words and by meaning, combined as the probability that either holds."""
        if not texts:
            return []
        import numpy as np

        prepared = _prepared(self._terms_of(texts), self._vectors_of(texts))
        by_words = prepared.by_words(frozenset(query_terms(question)))
        by_meaning = np.zeros_like(by_words)
        if prepared.vectors is not None and (asked := self._embedded([question])) is not None:
            # vecdot uses one core: on a busy machine, waiting for the others takes longer than their help saves.
            by_meaning = np.clip(np.vecdot(prepared.vectors, asked[0]), 0, 1)
        scores: list[float] = (1 - (1 - by_words) * (1 - by_meaning)).round(4).tolist()
        return scores

    def preload(self) -> Callable[[], None]:
        """Load the embedder in the background before it is needed; the function returned waits for that."""
        thread = Thread(target=self._embedded, args=(["."],), name="zkchat-relevance", daemon=True)
        thread.start()
        return thread.join

    def _embedded(self, texts: Sequence[str]) -> "NDArray[np.float32] | None":
        """Their vectors, or none from now on if there is no way to make them."""
        with suppress(ProviderError):
            return self._embedder.embed(texts) if self._embedder else None
        self._embedder = None
        return None

    def _terms_of(self, texts: Sequence[str]) -> list[frozenset[str]]:
        for text in texts:
            if text not in self._terms:
                self._terms[text] = frozenset(query_terms(text))
        return [self._terms[text] for text in texts]

    def _vectors_of(self, texts: Sequence[str]) -> "NDArray[np.float32] | None":
        if self._embedder is None:
            return None
        import numpy as np

        from zkchat.vault.search.similarity import unpacked

        name, size = self._embedder.name, self._embedder.dimensions
        digests = [_digest(text) for text in texts]
        if not self._make_missing(dict(zip(digests, texts, strict=True)), name, size):
            return None
        vectors = unpacked(b"".join(self._vectors[digest] for digest in digests), size)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, 1)
        return vectors

    def _make_missing(self, texts: dict[str, str], method: str, size: int) -> bool:
        """Compute the vectors that are missing, by digest; False if they cannot be computed."""
        from zkchat.vault.search.similarity import packed

        if self._cache is not None and (missing := [digest for digest in texts if digest not in self._vectors]):
            with suppress(StorageError):  # what was not kept is made again
                stored = self._cache.vectors(method, missing)
                self._vectors |= {digest: data for digest, data in stored.items() if len(data) == size}
        missing = [digest for digest in texts if digest not in self._vectors]
        rows = self._embedded([texts[digest] for digest in missing]) if missing else ()
        if rows is None:
            return False
        made = {digest: packed(row[None]) for digest, row in zip(missing, rows, strict=True)}
        self._vectors |= made
        if self._cache is not None and made:
            with suppress(StorageError):
                self._cache.keep_vectors(method, made)
        return True


class _PreparedTexts(Struct, frozen=True):
    """Texts prepared for comparison with many questions."""

    postings: "dict[str, NDArray[np.int64]]"
    """The numbers of the texts that hold a term."""
    lengths: "NDArray[np.float32]"
    vectors: "NDArray[np.float32] | None"

    def by_words(self, asked: frozenset[str]) -> "NDArray[np.float32]":
        """The cosine of the sets of terms, each term weighted by its idf among the texts."""
        import numpy as np

        scores = np.zeros(len(self.lengths), dtype=np.float32)
        for term in asked & self.postings.keys():
            scores[self.postings[term]] += self._weight(term) ** 2
        length = sqrt(sum(self._weight(term) ** 2 for term in asked))
        return np.clip(scores / (self.lengths * length), 0, 1) if length else scores

    def _weight(self, term: str) -> float:
        return _idf(len(self.lengths), len(self.postings.get(term, ())))


def _prepared(terms: Sequence[frozenset[str]], vectors: "NDArray[np.float32] | None") -> _PreparedTexts:
    import numpy as np

    places: dict[str, list[int]] = {}
    for place, held in enumerate(terms):
        for term in held:
            places.setdefault(term, []).append(place)
    weights = {term: _idf(len(terms), len(found)) for term, found in places.items()}
    lengths = [sqrt(sum(weights[term] ** 2 for term in held)) or 1.0 for held in terms]
    return _PreparedTexts(
        {term: np.array(found) for term, found in places.items()}, np.array(lengths, dtype=np.float32), vectors
    )


def _idf(texts: int, holding: int) -> float:
    return log(1 + texts / (holding or 0.5))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
