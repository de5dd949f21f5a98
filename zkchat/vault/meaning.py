"""Search by meaning: sections get vectors little by little, and questions are compared with those there are."""

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from zkchat.ports import Embedder, VectorIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from zkchat.vault.postings import Numbers
    from zkchat.vault.similarity import Scores, Sections

    Packed = NDArray[np.int8]

_AT_ONCE = 256
"""Sections that get their vectors in one step, some tens of milliseconds of work."""

_NEAR_ENOUGH = 0.3
"""The cosine above which a section is shown for its meaning alone; questions on nothing in a vault stay below."""


class Meaning:
    """Knows how near sections are to a question. Every thread may use it."""

    def __init__(self, vectors: VectorIndex, embedder: Embedder) -> None:
        self._index = vectors
        self._embedder = embedder
        self._lock = Lock()
        self._loaded: tuple[Numbers, Packed] | None = None
        self._aligned: tuple[Numbers, Sections] | None = None

    def embed(self, keep_on: Callable[[int], bool]) -> int:
        """Give vectors to sections that have none, until all have one or `keep_on`, told how many so far, says no."""
        from zkchat.vault.similarity import packed

        self._index.begin(self._embedder.name)
        done = 0
        while keep_on(done) and (sections := self._index.missing(_AT_ONCE)):
            # The text of a section begins with its heading; the title of its note is what it does not say.
            vectors = self._embedder.embed([f"{section.title}\n{section.text}" for section in sections])
            self._index.add((section.id, packed(row[None])) for section, row in zip(sections, vectors, strict=True))
            done += len(sections)
        if done:
            with self._lock:
                self._aligned = None
        return done

    def scores(self, question: str, sections: "Numbers", *, alone: bool) -> "Scores":
        """From 0 to 1 for each of these sections; all 0 where nothing is known yet.

        `alone` says that no section holds a word of the question. Then only those count that are near beyond doubt.
        """
        import numpy as np

        from zkchat.vault.similarity import stretched

        cosines = self._aligned_with(sections).scores(self._embedder.embed([question])[0])
        near = stretched(cosines)
        return np.where(cosines >= _NEAR_ENOUGH, near, np.float32(0)) if alone else near

    def _aligned_with(self, sections: "Numbers") -> "Sections":
        """The vectors in the order of `sections`, which the caller keeps for as long as nothing changes."""
        import numpy as np

        from zkchat.vault.similarity import Sections, common_direction

        with self._lock:
            if self._aligned is None or self._aligned[0] is not sections:
                numbers, vectors = self._load()
                rows = np.zeros((len(sections), self._embedder.dimensions), dtype=np.float32)
                places = np.searchsorted(numbers, sections)
                found = places < len(numbers)
                found[found] = numbers[places[found]] == sections[found]
                rows[found] = vectors[places[found]]
                self._aligned = sections, Sections(rows, common_direction(rows))
            return self._aligned[1]

    def _load(self) -> "tuple[Numbers, Packed]":
        """What is stored; only what was added since is read, for sections are numbered upwards and never change."""
        import numpy as np

        size = self._embedder.dimensions
        numbers, vectors = self._loaded or (np.zeros(0, dtype=np.int64), np.zeros((0, size), dtype=np.int8))
        added = self._index.after(self._embedder.name, int(numbers[-1]) if len(numbers) else 0)
        if added:
            packed = np.frombuffer(b"".join(vector for _, vector in added), dtype=np.int8).reshape(-1, size)
            numbers = np.concatenate([numbers, np.array([number for number, _ in added], dtype=np.int64)])
            vectors = np.concatenate([vectors, packed])
        self._loaded = numbers, vectors
        return self._loaded
