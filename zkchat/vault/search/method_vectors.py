"""The vectors of one method, by section: which section has which vector, and how near it is to a question.

In memory are only sketches of the vectors. They tell which sections may be near; the vectors of those few are read from
the mapped file to know how near. Needs NumPy: import this module where it is used.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from zkchat.model.embeddings import (
    DIGEST_BYTES,
    NOTHING_KNOWN,
    SimilarityTraits,
    StoredVectors,
    VectorBlock,
    VectorPosition,
)
from zkchat.ports.embeddings import VectorIndex
from zkchat.vault.search.ranking import Numbers
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
from zkchat.vault.search.vocabulary import ranges

Digests = NDArray[np.uint64]
"""A row of two numbers for each."""
Rows = NDArray[np.intp]
"""Places among the stored vectors; -1 for none."""

NONE = -1
_SAMPLE_VECTORS = 1_024
"""Vectors that tell what all have in common."""
_MAX_CANDIDATES = 128
"""Sections whose vectors are read because they may be near, and as many because their text answers best."""


def digests_of(packed: bytes) -> Digests:
    return np.frombuffer(packed, dtype=np.uint64).reshape(-1, 2)


def each_digest(digests: Digests) -> list[bytes]:
    packed = digests.tobytes()
    return [packed[start : start + DIGEST_BYTES] for start in range(0, len(packed), DIGEST_BYTES)]


def find_digests(known: Digests, wanted: Digests) -> Rows:
    """For each that is wanted its place among those that are known, the first of several; -1 where it is not there.

    Half of a digest decides: of two that have it in common one counts as missing.
    """
    keys, asked = known[:, 0], wanted[:, 0]
    if not (len(keys) and len(asked)):
        return np.full(len(wanted), NONE, dtype=np.intp)
    order, sought = np.argsort(keys, kind="stable"), np.argsort(asked)
    places = np.empty(len(asked), dtype=np.intp)
    places[sought] = order[np.minimum(np.searchsorted(keys[order], asked[sought]), len(keys) - 1)]
    return np.where((known[places] == wanted).all(axis=1), places, NONE)


class SectionDigests:
    """The digests of all sections, by number; only what was added since is read, for sections never change."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index
        self._forget()

    def _forget(self) -> None:
        self.epoch: int | None = None
        self.numbers: Numbers = np.zeros(0, dtype=np.int64)
        self.digests: Digests = digests_of(b"")

    def catch_up(self) -> None:
        """Those of sections that are gone meanwhile stay; nobody asks for them."""
        added = self._index.passages(int(self.numbers[-1]) if len(self.numbers) else 0)
        if self.epoch not in {None, added.epoch}:
            self._forget()
            added = self._index.passages()
        self.epoch = added.epoch
        if added.notes:
            digests = digests_of(b"".join([packed for _, packed in added.notes]))
            counts = np.array([len(packed) // DIGEST_BYTES for _, packed in added.notes])
            firsts = np.array([first for first, _ in added.notes], dtype=np.int64)
            self.numbers = np.concatenate([self.numbers, ranges(firsts, counts)])
            self.digests = np.concatenate([self.digests, digests])

    def of(self, sections: Numbers) -> Digests:
        """The digests of these sections; of one that is not known, one that nothing has."""
        at = np.minimum(np.searchsorted(self.numbers, sections), max(len(self.numbers) - 1, 0))
        found = np.zeros((len(sections), 2), dtype=np.uint64)
        is_known = self.numbers[at] == sections if len(self.numbers) else np.zeros(len(sections), dtype=np.bool_)
        found[is_known] = self.digests[at[is_known]]
        return found


class StoredDigests(Struct, frozen=True, eq=False):
    """Which passages have a vector of a method, in the order in which they got it."""

    digests: Digests
    position: VectorPosition
    blocks: Sequence[VectorBlock] = ()

    @classmethod
    def of(cls, index: VectorIndex, method: str) -> "StoredDigests":
        stored = index.read(method)
        if stored is None:
            return cls(digests_of(b""), NOTHING_KNOWN)
        return cls(digests_of(b"".join([each.digests for each in stored.blocks])), stored.position, stored.blocks)


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
        self._learned: _Learned | None = None

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
            known.catch_up()
            rows = find_digests(self._stored.digests, known.digests)
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
            self._stored = self._learned = None
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
            return AlignedVectors.empty(len(sections))
        known.catch_up()
        rows = find_digests(stored.digests, known.of(sections))
        has_vector = rows >= 0
        sketches = np.zeros((len(sections), stored.sketches.shape[1]), dtype=np.uint64)
        sketches[has_vector] = stored.sketches[rows[has_vector]]
        learned = self._learn(stored, rows[has_vector])
        return AlignedVectors(
            sketches=Sketches(sketches),
            places=np.where(has_vector, stored.places[rows], NONE),
            dimensions=stored.vector_bytes,
            data=stored.data,
            common=learned.common,
            min_cosine=learned.min_cosine,
        )

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
        slots = np.unique(np.append(self.sketches.likely(asked, allowed, _MAX_CANDIDATES), best))
        vectors = _vectors_at(self.data, self.places[slots], self.dimensions)
        cosines = Sections(vectors, self.common).scores(asked)
        if not len(answering):
            cosines[cosines < self.min_cosine] = 0
        return slots, cosines


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
