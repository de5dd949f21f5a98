"""The vectors of one method by section, and how similar vectors are."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from zkchat.core import DIGEST_BYTES, NOTHING_KNOWN, SimilarityTraits, StoredVectors, VectorPosition
from zkchat.index.note_index import SqliteVectors
from zkchat.index.search.postings import distinct, ranges
from zkchat.index.search.ranking import Numbers

Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]
Scores = NDArray[np.float32]
Signs = NDArray[np.uint64]
"""A row for each vector: which of its numbers are above 0, 64 of them in one."""
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]
Near = tuple[Places, Scores]
"""Places of sections, and what is told of each."""

_INT8_MAX = 127
_MIN_SAMPLE = 16
"""Of fewer sections one cannot tell what all texts share from what these say."""
_ROUNDING = 1e-5
"""A smaller part of a vector's square is rounding error."""
_MAX_ITERATIONS = 200
_MAX_COMPARED = 64
"""Vectors of which each is compared with each other."""
_DEFAULT_COSINE = 0.5
"""What is assumed of a method of whose vectors there are too few to learn from."""
_DEVIATIONS = 3.0
_LEAST_COSINE = 0.25
_MOST_COSINE = 0.6
_BLOCK_SECTIONS = 1 << 16
"""Sections whose signs are compared at a time, so that what comes of it need not go through the memory."""
_OVERSAMPLING = 4
"""So many times as many sections, found by counting signs that differ, are compared by what each sign stands for."""


def packed(vectors: Vectors) -> bytes:
    """One byte for each number: measured, four rank no better. Directions are kept, lengths are not."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    return np.rint(vectors * (_INT8_MAX / np.where(largest > 0, largest, 1))).astype(np.int8).tobytes()


def unpacked(data: bytes, dimensions: int) -> Vectors:
    return np.frombuffer(data, dtype=np.int8).reshape(-1, dimensions).astype(np.float32)


def signs(vectors: NDArray[np.int8] | Vectors) -> Signs:
    """An eighth of the packed form, and still enough to tell which vectors may be near each other."""
    bits = np.packbits(vectors > 0, axis=1)
    whole = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
    whole[:, : bits.shape[1]] = bits
    return whole.view(np.uint64)


def common_direction(vectors: Vectors) -> Vector:
    """What texts share whatever they say: the first principal component of a sample. Zero if there are few."""
    sample = vectors[vectors.any(axis=1)]
    if len(sample) < _MIN_SAMPLE:
        return np.zeros(vectors.shape[1], dtype=np.float32)
    sample /= np.linalg.norm(sample, axis=1, keepdims=True)
    # By power iteration, and without a product of matrices: for that OpenBLAS waits for the other core.
    direction: Vector = sample.mean(axis=0)
    for _ in range(_MAX_ITERATIONS):
        before, direction = direction, np.einsum("i,ij->j", np.vecdot(sample, direction), sample)
        direction /= np.linalg.norm(direction) or 1
        if np.abs(direction - before).max() < _ROUNDING:
            break
    return direction


def unusual_cosine(vectors: Vectors, common: Vector) -> float:
    """A cosine that hardly any two of these texts have, which are about different things for the most part."""
    sample = vectors[vectors.any(axis=1)]
    if len(sample) < _MIN_SAMPLE:
        return _DEFAULT_COSINE
    sample = sample[:: -(-len(sample) // _MAX_COMPARED)]
    own = sample - np.vecdot(sample, common)[:, None] * common
    own /= np.maximum(np.linalg.norm(own, axis=1, keepdims=True), _ROUNDING)
    cosines = np.vecdot(own[:, None], own[None])[np.triu_indices(len(own), 1)]
    return float(np.clip(cosines.mean() + _DEVIATIONS * cosines.std(), _LEAST_COSINE, _MOST_COSINE))


class Sketches:
    """The signs of the sections' vectors: a first look at all of them, cheap in time and memory."""

    def __init__(self, signs: Signs) -> None:
        self._columns = np.ascontiguousarray(signs.T)
        self.known: Mask = np.any(signs, axis=1)

    def likely(self, asked: Vector, among: Mask, count: int) -> Places:
        """The places of those whose signs fit the question best, at most `count`."""
        eligible = self.known & among
        if not (asked.any() and eligible.any()):
            return np.zeros(0, dtype=np.int64)
        differing = np.zeros(len(eligible), dtype=np.uint16)
        for start in range(0, len(eligible), _BLOCK_SECTIONS):
            some = slice(start, start + _BLOCK_SECTIONS)
            for column, sign in zip(self._columns, signs(asked[None])[0], strict=True):
                differing[some] += np.bitwise_count(column[some] ^ sign)
        differing[~eligible] = np.iinfo(np.uint16).max
        last = min(_OVERSAMPLING * count, int(np.count_nonzero(eligible))) - 1
        places = np.flatnonzero(differing <= np.partition(differing, last)[last])
        bits = np.unpackbits(np.ascontiguousarray(self._columns[:, places].T).view(np.uint8), axis=1, count=len(asked))
        return places[nearest(np.vecdot(bits.astype(np.float32), asked), count)]


def cosines(vectors: Vectors, common: Vector, asked: Vector) -> Scores:
    """Of the question with each vector, without what is common to all; 0 where nothing is known of either."""
    own = _scales(asked, common) * (asked - np.dot(asked, common) * common)
    # The question's own part is at right angles to the common one, so that the vectors need not be changed.
    # vecdot uses one core: on a busy machine, waiting for the others takes longer than their help saves.
    found: Scores = _scales(vectors, common) * np.vecdot(vectors, own)
    return found


def relative(scores: Scores) -> Scores:
    """1 for the highest, and 0 for those that are not above 0."""
    above = np.maximum(scores, np.float32(0))
    highest = above.max(initial=0)
    return above / highest if highest else above


def nearest(scores: Scores, count: int) -> list[int]:
    """The places of the highest scores, highest first, and of equals the first first."""
    places = np.arange(len(scores))
    if count < len(scores):
        places = np.flatnonzero(scores >= np.partition(scores, -count)[-count])
    best: list[int] = places[np.argsort(-scores[places], kind="stable")][:count].tolist()
    return best


def _scales(vectors: Vectors, common: Vector) -> Scores:
    """What brings the part of each vector that is not common to the length of 1; 0 if there is none."""
    whole = np.vecdot(vectors, vectors)
    own = whole - np.square(np.vecdot(vectors, common))
    has_own = own > _ROUNDING * whole
    return np.where(has_own, 1 / np.sqrt(np.where(has_own, own, 1)), 0).astype(np.float32)


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

    def __init__(self, index: SqliteVectors) -> None:
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


def stored_digests(index: SqliteVectors, method: str) -> tuple[Digests, VectorPosition]:
    """Which passages have a vector of a method, in the order in which they got it, and up to where that is known."""
    stored = index.read(method)
    if stored is None:
        return digests_of(b""), NOTHING_KNOWN
    return digests_of(b"".join([each.digests for each in stored.blocks])), stored.position


class _Stored(Struct, frozen=True, eq=False, kw_only=True):
    """The vectors that are stored, one for each passage."""

    vector_bytes: int
    digests: Digests
    places: Places
    sketches: Signs
    data: memoryview


class MethodVectors:
    """What is stored of one method. Not for several threads at once; what it returns is."""

    def __init__(self, index: SqliteVectors, known: SectionDigests, method: str, traits: SimilarityTraits) -> None:
        self._index = index
        self._known = known
        self._method = method
        self._traits = traits
        self._position: VectorPosition = NOTHING_KNOWN
        self._stamp: object = None
        self._stored: _Stored | None = None
        self._aligned: tuple[Numbers, AlignedVectors] | None = None
        self._learned: _Learned | None = None

    def aligned(self, sections: Numbers) -> "AlignedVectors":
        """In the order of `sections`, an array that the caller keeps for as long as nothing changes."""
        has_new = self._catch_up()
        if has_new or self._aligned is None or self._aligned[0] is not sections:
            self._aligned = sections, self._align(sections)
        return self._aligned[1]

    def learned(self) -> "_Learned | None":
        """What all vectors tell, also where nothing was searched for yet; None where there are none."""
        if self._learned is None:
            self._catch_up()
            if self._stored is None or not len(self._stored.places):
                return None
            self._known.catch_up()
            rows = find_digests(self._stored.digests, self._known.digests)
            return self._learn(self._stored, rows[rows >= 0])
        return self._learned

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

    def likenesses(self, asked: Vector, rows: Vectors) -> list[float]:
        """The cosine of the question with each vector: 1 for the same, 0 for what is as far away as all on average."""
        learned = self.learned()
        usual = float(np.dot(learned.mean, asked)) if learned else 0.0
        found: list[float] = ((np.vecdot(rows, asked) - usual) / (1 - usual)).tolist()
        return found

    def _align(self, sections: Numbers) -> "AlignedVectors":
        stored = self._stored
        if stored is None or not len(stored.places):
            return AlignedVectors.empty(len(sections))
        self._known.catch_up()
        rows = find_digests(stored.digests, self._known.of(sections))
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
            weight=self._traits.weight,
        )

    def _learn(self, stored: _Stored, rows: NDArray[np.intp]) -> "_Learned":
        """What the vectors of these rows share, learned anew when there are twice as many of them."""
        if self._learned is None or len(rows) >= 2 * self._learned.number:
            sample = np.linspace(0, len(rows) - 1, min(len(rows), _SAMPLE_VECTORS)).astype(np.intp)
            vectors = _vectors_at(stored.data, stored.places[rows[sample]], stored.vector_bytes)
            common = np.zeros(stored.vector_bytes, dtype=np.float32)
            if self._traits.has_common_direction:
                common = common_direction(vectors)
            min_cosine = self._traits.min_cosine
            if min_cosine is None:
                min_cosine = unusual_cosine(vectors, common)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            mean = (vectors / np.where(lengths > 0, lengths, 1)).sum(axis=0) / max(1, len(vectors))
            self._learned = _Learned(len(rows), common, min_cosine, mean)
        return self._learned


class _Learned(NamedTuple):
    """What so many vectors of a vault tell of their method."""

    number: int
    common: Vector
    min_cosine: float
    mean: Vector
    """Of their directions: its product with another one is the mean of the cosines."""

    def compared(self, asked: Vector, texts: Sequence[Vector], unknown: float) -> list[float]:
        """The cosine of the question with each text, without what all share; `unknown` where nothing is known."""
        rows = np.array(texts)
        known = rows.any(axis=1) & asked.any()
        found: list[float] = np.where(known, cosines(rows, self.common, asked), unknown).tolist()
        return found


class AlignedVectors(Struct, frozen=True, eq=False, kw_only=True):
    """The vectors of sections, in their order."""

    sketches: Sketches
    places: Places
    """Where the vector of each begins; -1 where it has none."""
    dimensions: int
    data: memoryview
    common: Vector
    min_cosine: float
    weight: float = 1.0
    """How much similarities count, beside those by other methods."""

    @classmethod
    def empty(cls, count: int) -> "AlignedVectors":
        return cls(
            sketches=Sketches(np.zeros((count, 1), dtype=np.uint64)),
            places=np.full(count, NONE, dtype=np.int64),
            dimensions=0,
            data=memoryview(b""),
            common=np.zeros(0, dtype=np.float32),
            min_cosine=0,
        )

    def similar(self, asked: Vector, text: Scores, allowed: Mask) -> Near:
        """Places of sections, and how near each is, the weight for the nearest."""
        slots, found = self.near(asked, text, allowed)
        near = relative(found)
        return slots, near if self.weight == 1 else near * self.weight

    def similar_by_both(
        self, base: "AlignedVectors", asked: tuple[Vector, Vector], text: Scores, allowed: Mask
    ) -> Near:
        """The same by these vectors, those of a server, and by those that stand behind it, added up: measured, both
        together find more than either alone.

        By each method the nearest has 1. A section without a vector of the server's counts by the other alone, as if
        the server found it as near.
        """
        own, behind = self.near(asked[0], text, allowed), base.near(asked[1], text, allowed)
        slots = np.union1d(own[0], behind[0]).astype(np.int64, copy=False)
        near = np.zeros(len(slots), dtype=np.float32)
        other = np.zeros_like(near)
        near[np.searchsorted(slots, own[0])] = relative(own[1])
        other[np.searchsorted(slots, behind[0])] = relative(behind[1])
        unknown = ~self.sketches.known[slots]
        near[unknown] = other[unknown]
        near *= self.weight
        near += other
        return slots, near

    def near(self, asked: Vector, text: Scores, allowed: Mask) -> Near:
        """The places of sections that are likely to be near, and of those with the best texts; the cosine of each.

        Where no text has anything in common with the question, those that are not near beyond doubt have 0.
        """
        answering = np.flatnonzero(text > 0)
        best = answering[nearest(text[answering], _MAX_CANDIDATES)]
        if len(asked) != self.dimensions:
            return best, np.zeros(len(best), dtype=np.float32)
        slots = distinct(np.append(self.sketches.likely(asked, allowed, _MAX_CANDIDATES), best))
        vectors = _vectors_at(self.data, self.places[slots], self.dimensions)
        found = cosines(vectors, self.common, asked)
        if not len(answering):
            found[found < self.min_cosine] = 0
        return slots, found

    def nearest(self, asked: Vector, allowed: Mask, count: int) -> Near:
        """The places of the nearest sections, and the cosine of each, the nearest first."""
        if len(asked) != self.dimensions:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        slots = self.sketches.likely(asked, allowed, _MAX_CANDIDATES)
        vectors = _vectors_at(self.data, self.places[slots], self.dimensions)
        found = cosines(vectors, np.zeros_like(asked), asked)
        best = nearest(found, count)
        return slots[best], found[best]


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
    return _Stored(vector_bytes=read.vector_bytes, digests=digests, places=places, sketches=sketches, data=read.data)
