"""Vector search: sections are embedded in batches, and a query is compared with those that have a vector.

In memory are only the signs of the vectors. They tell which sections may be near a question; the vectors of those few
are read to know how near.
"""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from zkchat.ports import Embedder, VectorIndex

if TYPE_CHECKING:
    from zkchat.vault.search.ranking import Numbers
    from zkchat.vault.search.similarity import Mask, Places, Scores, Signs, Sketches, Vector, Vectors

_BATCH_SECTIONS = 256
"""Sections that get their vectors in one step, some tens of milliseconds of work."""
_LOAD_BATCH = 8_192
_SAMPLE_VECTORS = 1_024
"""Vectors that tell what all have in common."""
_MAX_CANDIDATES = 128
"""Sections whose vectors are read because they may be near, and as many because their text answers best."""

_MIN_COSINE = 0.3
"""The cosine above which a section is shown for its meaning alone; questions on nothing in a vault stay below."""


UNKNOWN_SIMILARITY = 0.3
"""What is assumed of a text and a question where nothing is known about the meaning of either."""


class VectorSearch:
    """Knows how near sections are to a question. Every thread may use it."""

    def __init__(self, vectors: VectorIndex, embedder: Embedder) -> None:
        self._index = vectors
        self._embedder = embedder
        self._lock = Lock()
        self._loaded: tuple[Numbers, Signs] | None = None
        self._aligned: tuple[Numbers, Sketches, Vector] | None = None
        self._common: tuple[int, Vector] | None = None
        """What all vectors have in common, and how many there were when it was learned."""

    def embed(self, keep_on: Callable[[int], bool]) -> int:
        """Give vectors to sections that have none, until all have one or `keep_on`, told how many so far, says no."""
        from zkchat.vault.search.similarity import packed

        self._index.begin(self._embedder.name)
        size = self._embedder.dimensions
        done = 0
        while keep_on(done) and (sections := self._index.missing(_BATCH_SECTIONS)):
            # The text of a section begins with its heading; the title of its note is what it does not say.
            vectors = packed(self._embedder.embed([f"{section.title}\n{section.text}" for section in sections]))
            rows = (vectors[start : start + size] for start in range(0, len(vectors), size))
            self._index.add(zip([section.id for section in sections], rows, strict=True))
            done += len(sections)
        if done:
            with self._lock:
                self._aligned = None
        return done

    def reset(self) -> None:
        """The index is begun anew, and so are the numbers of its sections."""
        with self._lock:
            self._loaded = self._aligned = self._common = None

    def similarities(
        self, question: str, sections: "Numbers", text: "Scores", allowed: "Mask"
    ) -> "tuple[Places, Scores]":
        """Places of these sections, and how near each is, 1 for the nearest. All others are not near.

        Only sections that are `allowed` count, and where no `text` has anything in common with the question, only
        those that are near beyond doubt. Looked at are those that are likely to be near, and those with the best texts.
        """
        import numpy as np

        from zkchat.vault.search.similarity import Sections, nearest, relative

        asked = self._embedder.embed([question])[0]
        sketches, common = self._aligned_with(sections)
        answering = np.flatnonzero(text > 0)
        best = answering[nearest(text[answering], _MAX_CANDIDATES)]
        slots = np.union1d(sketches.likely(asked, allowed, _MAX_CANDIDATES), best)
        cosines = Sections(self._vectors_of(sections[slots]), common).scores(asked)
        if not len(answering):
            cosines[cosines < _MIN_COSINE] = 0
        return slots, relative(cosines)

    def compare(self, question: str, texts: Sequence[str]) -> list[float]:
        """The cosine of each text with the question, without what all have in common."""
        import numpy as np

        from zkchat.vault.search.similarity import Sections

        asked, *said = self._embedder.embed([question, *texts])
        if not said:
            return []
        if self._common is None or not self._common[1].any():
            return [UNKNOWN_SIMILARITY] * len(said)  # what all share would make them pass for near
        rows = np.array(said)
        known = rows.any(axis=1) & asked.any()
        cosines: list[float] = np.where(
            known, Sections(rows, self._common[1]).scores(asked), UNKNOWN_SIMILARITY
        ).tolist()
        return cosines

    def _aligned_with(self, sections: "Numbers") -> "tuple[Sketches, Vector]":
        """The signs in the order of `sections`, which the caller keeps for as long as nothing changes."""
        import numpy as np

        from zkchat.vault.search.similarity import Sketches

        with self._lock:
            if self._aligned is None or self._aligned[0] is not sections:
                numbers, signs = self._load()
                places = np.searchsorted(numbers, sections)
                found = places < len(numbers)
                found[found] = numbers[places[found]] == sections[found]
                columns = np.zeros((signs.shape[1], len(sections)), dtype=np.uint64)
                for column, known in zip(columns, signs.T, strict=True):
                    column[found] = known[places[found]]
                self._aligned = sections, Sketches(columns.T), self._learned_common(numbers)
            return self._aligned[1:]

    def _load(self) -> "tuple[Numbers, Signs]":
        """What is stored; only what was added since is read, for sections are numbered upwards and never change."""
        import numpy as np

        from zkchat.vault.search.similarity import signs

        size = self._embedder.dimensions
        parts = [self._loaded or (np.zeros(0, dtype=np.int64), signs(np.zeros((0, size), dtype=np.int8)))]
        last = int(parts[0][0][-1]) if len(parts[0][0]) else 0
        while added := self._index.after(self._embedder.name, last, _LOAD_BATCH):
            packed = np.frombuffer(b"".join(vector for _, vector in added), dtype=np.int8).reshape(-1, size)
            parts.append((np.array([number for number, _ in added], dtype=np.int64), signs(packed)))
            last = added[-1][0]
        if len(parts) > 1 or self._loaded is None:
            numbers, rows = (np.concatenate(column) for column in zip(*parts, strict=True))
            self._loaded = numbers, rows
        return self._loaded

    def _learned_common(self, sections: "Numbers") -> "Vector":
        """What the vectors of these sections share, learned anew when there are twice as many of them."""
        import numpy as np

        from zkchat.vault.search.similarity import common_direction

        if self._common is None or len(sections) >= 2 * self._common[0]:
            sample = np.linspace(0, len(sections) - 1, min(len(sections), _SAMPLE_VECTORS)).astype(np.intp)
            self._common = len(sections), common_direction(self._vectors_of(sections[sample]))
        return self._common[1]

    def _vectors_of(self, sections: "Numbers") -> "Vectors":
        """A row for each; 0 where none is stored."""
        from zkchat.vault.search.similarity import unpacked

        stored = dict(self._index.of(self._embedder.name, sections.tolist()))
        unknown = bytes(self._embedder.dimensions)
        data = b"".join([stored.get(number, unknown) for number in sections.tolist()])
        return unpacked(data, self._embedder.dimensions)
