"""The vectors of one method, by section: which section has which vector, and how near it is to a question.

In memory are only sketches of the vectors. They tell which sections may be near; the vectors of those few are read from
the mapped file to know how near. Needs NumPy: import this module where it is used.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from zkchat.model.embeddings import DIGEST_BYTES, NOTHING_KNOWN, SimilarityTraits, StoredVectors, VectorPosition
from zkchat.ports.embeddings import VectorIndex
from zkchat.vault.search.ranking import Numbers
from zkchat.vault.search.section_rows import NONE, Digests, KeptRows, SectionDigests, digests_of, find_digests
from zkchat.vault.search.similarity import (
    Mask,
    Places,
    Scores,
    Sections,
    Signs,
    Sketches,
    Vector,
    Vectors,
    common_direction,
    nearest,
    unpacked,
    unusual_cosine,
)
from zkchat.vault.search.vocabulary import distinct

_SAMPLE_VECTORS = 1_024
"""Vectors that tell what all have in common."""
_MAX_CANDIDATES = 128
"""Sections whose vectors are read because they may be near, and as many because their text answers best."""


class _Stored(Struct, frozen=True, eq=False, kw_only=True):
    """The vectors that are stored, one for each passage."""

    vector_bytes: int
    digests: Digests
    places: Places
    """Where each begins in the data."""
    sketches: Signs
    data: memoryview


class MethodVectors:
    """What is stored of one method. Not for several threads at once; what it returns is."""

    def __init__(self, index: VectorIndex, method: str, traits: SimilarityTraits) -> None:
        self._index = index
        self._method = method
        self._traits = traits
        self._position: VectorPosition = NOTHING_KNOWN
        self._stamp: object = None
        self._stored: _Stored | None = None
        self._aligned: tuple[Numbers, AlignedVectors] | None = None
        self._rows: _Rows | None = None
        self._learned: _Learned | None = None
        self._kept: KeptRows | None = None
        self._has_looked = False
        """For rows that another process kept."""

    def aligned(self, known: SectionDigests, sections: Numbers) -> "AlignedVectors":
        """In the order of `sections`, an array that the caller keeps for as long as nothing changes."""
        has_new = self._catch_up()
        if has_new or self._aligned is None or self._aligned[0] is not sections:
            self._aligned = sections, self._align(known, sections)
        return self._aligned[1]

    def common(self, known: SectionDigests) -> Vector:
        """What all vectors have in common, also where nothing was searched for yet."""
        if self._learned is None:
            self._catch_up()
            if self._stored is None or not len(self._stored.places):
                return np.zeros(0, dtype=np.float32)
            kept = self._kept_rows(self._stored, known)
            rows = kept.rows if kept else find_digests(self._stored.digests, known.digests)
            return self._learn(self._stored, rows[rows >= 0]).common
        return self._learned.common

    def _catch_up(self) -> bool:
        """Read what was added; whether anything was."""
        stamp = self._index.stamp(self._method)
        if stamp == self._stamp:
            return False
        read = self._index.read(self._method, self._position)
        self._stamp = stamp
        if read is None or read.is_new:
            self._stored = self._learned = self._rows = self._kept = None
            self._has_looked = False
        if read is None:
            self._position = NOTHING_KNOWN
            return True
        self._position = read.position
        if read.blocks or read.is_new:
            self._stored = _joined(self._stored, read)
        return bool(read.blocks) or read.is_new

    def _align(self, known: SectionDigests, sections: Numbers) -> "AlignedVectors":
        stored = self._stored
        if stored is None or not len(stored.places):
            self._rows = None
            if stored:
                self._kept_rows(stored, known)  # which does not fit, and is forgotten
            return AlignedVectors.empty(len(sections))
        rows = self._rows = self._found_rows(stored, known, sections)
        learned = self._learn(stored, rows.row_of[rows.row_of >= 0])
        return AlignedVectors(
            sketches=Sketches(rows.columns.T),
            places=np.where(rows.row_of >= 0, stored.places[rows.row_of], NONE),
            dimensions=stored.vector_bytes,
            data=stored.data,
            common=learned.common,
            min_cosine=learned.min_cosine,
        )

    def _found_rows(self, stored: _Stored, known: SectionDigests, sections: Numbers) -> "_Rows":
        """Most of what was found for the sections before still holds: after a change only a few are looked for."""
        row_of = np.full(len(sections), NONE, dtype=np.intp)
        columns = np.zeros((stored.sketches.shape[1], len(sections)), dtype=np.uint64)
        kept, before = self._kept_rows(stored, known), self._rows
        if before and before.epoch == known.epoch:
            same = _common_length(before.sections, sections)
            row_of[:same] = before.row_of[:same]
            columns[:, :same] = before.columns[:, :same]
        open_slots = np.flatnonzero(row_of < 0)
        if kept:
            row_of[open_slots] = kept.of(sections[open_slots])
        unknown = open_slots[row_of[open_slots] < 0]
        row_of[unknown] = find_digests(stored.digests, known.of(sections[unknown]))
        new = open_slots[row_of[open_slots] >= 0]
        columns[:, new] = stored.sketches[row_of[new]].T
        return _Rows(known.epoch, sections, row_of, columns)

    def _kept_rows(self, stored: _Stored, known: SectionDigests) -> KeptRows | None:
        """What another process found, if it fits; `known` then needs no more than the sections that came since."""
        if not self._has_looked:
            self._has_looked = True
            self._kept = KeptRows.fitting(self._index, self._method, self._position, stored.places)
        known.catch_up(self._kept.last if self._kept else 0)
        if self._kept and self._kept.epoch != known.epoch:
            self._kept = None
            known.catch_up()
        return self._kept

    def _learn(self, stored: _Stored, rows: NDArray[np.intp]) -> "_Learned":
        """What the vectors of these rows share, learned anew when there are twice as many of them."""
        if self._learned is None or len(rows) >= 2 * self._learned.count:
            sample = np.linspace(0, len(rows) - 1, min(len(rows), _SAMPLE_VECTORS)).astype(np.intp)
            vectors = _vectors_at(stored.data, stored.places[rows[sample]], stored.vector_bytes)
            common = np.zeros(stored.vector_bytes, dtype=np.float32)
            if self._traits.has_common_direction:
                common = common_direction(vectors)
            min_cosine = self._traits.min_cosine
            if min_cosine is None:
                min_cosine = unusual_cosine(vectors, common)
            self._learned = _Learned(len(rows), common, min_cosine)
        return self._learned


class _Rows(Struct, frozen=True, eq=False):
    """Which of the stored vectors the sections have."""

    epoch: int | None
    sections: Numbers
    row_of: NDArray[np.intp]
    """By section; -1 where it has none."""
    columns: Signs
    """The sketches of the sections, 64 numbers of each in a row."""


class _Learned(Struct, frozen=True):
    """What the vectors of a vault tell of their method."""

    count: int
    """How many there were."""
    common: Vector
    min_cosine: float


class AlignedVectors(Struct, frozen=True, eq=False, kw_only=True):
    """The vectors of sections, in their order."""

    sketches: Sketches
    places: Places
    """Where the vector of each begins; -1 where it has none."""
    dimensions: int
    data: memoryview
    common: Vector
    min_cosine: float

    @classmethod
    def empty(cls, count: int) -> "AlignedVectors":
        """Of sections of which none has a vector."""
        return cls(
            sketches=Sketches(np.zeros((count, 1), dtype=np.uint64)),
            places=np.full(count, NONE, dtype=np.int64),
            dimensions=0,
            data=memoryview(b""),
            common=np.zeros(0, dtype=np.float32),
            min_cosine=0,
        )

    @property
    def known(self) -> Mask:
        """Which sections have a vector that says something."""
        return self.sketches.known

    def has_all(self, allowed: Mask) -> bool:
        """Whether each of these sections has a vector, be it one that says nothing."""
        return bool((self.places[allowed] >= 0).all())

    def near(self, asked: Vector, text: Scores, allowed: Mask) -> tuple[Places, Scores]:
        """The places of sections that are likely to be near, and of those with the best texts; the cosine of each.

        Where no text has anything in common with the question, those that are not near beyond doubt have 0.
        """
        answering = np.flatnonzero(text > 0)
        best = answering[nearest(text[answering], _MAX_CANDIDATES)]
        if len(asked) != self.dimensions:
            return best, np.zeros(len(best), dtype=np.float32)
        slots = distinct(np.append(self.sketches.likely(asked, allowed, _MAX_CANDIDATES), best))
        vectors = _vectors_at(self.data, self.places[slots], self.dimensions)
        cosines = Sections(vectors, self.common).scores(asked)
        if not len(answering):
            cosines[cosines < self.min_cosine] = 0
        return slots, cosines


def _common_length(one: Numbers, other: Numbers) -> int:
    """How many of the first are the same in both."""
    length = min(len(one), len(other))
    differing = one[:length] != other[:length]
    return int(differing.argmax()) if differing.any() else length


def _vectors_at(data: memoryview, places: Places, size: int) -> Vectors:
    """A row for each; 0 where none is stored."""
    unknown = bytes(size)
    return unpacked(
        b"".join([data[place : place + size] if place >= 0 else unknown for place in places.tolist()]), size
    )


def _joined(before: _Stored | None, read: StoredVectors) -> _Stored:
    digests = digests_of(b"".join([block.digests for block in read.blocks]))
    width = read.sketch_bytes // 8
    sketches = np.frombuffer(b"".join([block.sketches for block in read.blocks]), dtype=np.uint64).reshape(-1, width)
    counts = np.array([len(block.digests) // DIGEST_BYTES for block in read.blocks], dtype=np.int64)
    starts = np.array([block.start for block in read.blocks], dtype=np.int64)
    within = np.arange(len(digests)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.repeat(starts, counts) + within * read.vector_bytes
    if before:
        digests = np.concatenate([before.digests, digests])
        places = np.concatenate([before.places, places])
        sketches = np.concatenate([before.sketches, sketches])
    return _Stored(
        vector_bytes=read.vector_bytes,
        digests=digests,
        places=places,
        sketches=sketches,
        data=read.data,
    )
