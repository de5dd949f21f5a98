"""How near short texts, such as descriptions and facts, are to a question: by meaning and by words."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from math import log, sqrt
from threading import Thread
from typing import TYPE_CHECKING

from zkchat.errors import ProviderError, StorageError
from zkchat.ports import Embedder, VectorCache
from zkchat.vault.search.terms import query_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LISTS_REMEMBERED = 4


class Relevance:
    """Scores from 0 to 1. Vectors of texts are made once, kept by digest where there is a place for them.

    Without an embedder, or with one that fails, words alone count.
    """

    def __init__(self, embedder: Embedder | None = None, kept: VectorCache | None = None) -> None:
        self._embedder = embedder
        self._kept = kept
        self._terms: dict[str, frozenset[str]] = {}
        self._vectors: dict[str, bytes] = {}
        self._shelves: dict[tuple[str, ...], _Shelf] = {}

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """One for each text. Two weak signs of nearness count more than either, two strong ones not more than 1."""
        if not texts:
            return []
        import numpy as np

        shelf = self._shelf(tuple(texts))
        by_words = shelf.by_words(frozenset(query_terms(question)))
        by_meaning = np.zeros_like(by_words)
        if shelf.vectors is not None and (asked := self._embedded([question])) is not None:
            # vecdot uses one core: on a busy machine, waiting for the others takes longer than their help saves.
            by_meaning = np.clip(np.vecdot(shelf.vectors, asked[0]), 0, 1)
        scores: list[float] = (1 - (1 - by_words) * (1 - by_meaning)).round(4).tolist()
        return scores

    def warm_soon(self) -> Callable[[], None]:
        """Have the embedder ready before it is needed, in the background; what is returned waits for that."""
        thread = Thread(target=self._embedded, args=(["."],), name="zkchat-relevance", daemon=True)
        thread.start()
        return thread.join

    def _embedded(self, texts: Sequence[str]) -> "NDArray[np.float32] | None":
        """Their vectors, or none from now on if there is no way to make them."""
        with suppress(ProviderError):
            return self._embedder.embed(texts) if self._embedder else None
        self._embedder = None
        return None

    def _shelf(self, texts: tuple[str, ...]) -> "_Shelf":
        shelf = self._shelves.pop(texts, None) or _shelf(self._terms_of(texts), self._vectors_of(texts))
        self._shelves[texts] = shelf
        while len(self._shelves) > _LISTS_REMEMBERED:
            del self._shelves[next(iter(self._shelves))]
        return shelf

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
        """Have a vector for each text, by digest; whether that is so now."""
        from zkchat.vault.search.similarity import packed

        if self._kept is not None and (missing := [digest for digest in texts if digest not in self._vectors]):
            with suppress(StorageError):  # what was not kept is made again
                stored = self._kept.vectors(method, missing)
                self._vectors |= {digest: data for digest, data in stored.items() if len(data) == size}
        missing = [digest for digest in texts if digest not in self._vectors]
        rows = self._embedded([texts[digest] for digest in missing]) if missing else ()
        if rows is None:
            return False
        made = {digest: packed(row[None]) for digest, row in zip(missing, rows, strict=True)}
        self._vectors |= made
        if self._kept is not None and made:
            with suppress(StorageError):
                self._kept.keep_vectors(method, made)
        return True


@dataclass(frozen=True)
class _Shelf:
    """Texts made ready to be compared with many questions."""

    places: "dict[str, NDArray[np.int64]]"
    """The texts that hold a term."""
    lengths: "NDArray[np.float32]"
    vectors: "NDArray[np.float32] | None"

    def by_words(self, asked: frozenset[str]) -> "NDArray[np.float32]":
        """The cosine of the sets of terms, each term weighted by its rarity among the texts."""
        import numpy as np

        scores = np.zeros(len(self.lengths), dtype=np.float32)
        for term in asked & self.places.keys():
            scores[self.places[term]] += self._weight(term) ** 2
        length = sqrt(sum(self._weight(term) ** 2 for term in asked))
        return np.clip(scores / (self.lengths * length), 0, 1) if length else scores

    def _weight(self, term: str) -> float:
        return _rarity(len(self.lengths), len(self.places.get(term, ())))


def _shelf(terms: Sequence[frozenset[str]], vectors: "NDArray[np.float32] | None") -> _Shelf:
    import numpy as np

    places: dict[str, list[int]] = {}
    for place, held in enumerate(terms):
        for term in held:
            places.setdefault(term, []).append(place)
    weights = {term: _rarity(len(terms), len(found)) for term, found in places.items()}
    lengths = [sqrt(sum(weights[term] ** 2 for term in held)) or 1.0 for held in terms]
    return _Shelf(
        {term: np.array(found) for term, found in places.items()}, np.array(lengths, dtype=np.float32), vectors
    )


def _rarity(texts: int, holding: int) -> float:
    return log(1 + texts / (holding or 0.5))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
