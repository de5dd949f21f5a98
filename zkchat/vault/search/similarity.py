"""Cosine similarity of sections and a query, by quantized vectors and sketches of their signs.

Needs NumPy: import this module where it is used.
"""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]
Scores = NDArray[np.float32]
Signs = NDArray[np.uint64]
"""A row for each vector: which of its numbers are above 0, 64 of them in one."""
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]

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
        places = self._least_differing(asked, eligible, _OVERSAMPLING * count)
        bits = np.unpackbits(np.ascontiguousarray(self._columns[:, places].T).view(np.uint8), axis=1, count=len(asked))
        return places[nearest(np.vecdot(bits.astype(np.float32), asked), count)]

    def _least_differing(self, asked: Vector, eligible: Mask, count: int) -> Places:
        """Those whose signs differ least from the question's own: `count`, and all that equal the last."""
        differing = np.zeros(len(eligible), dtype=np.uint16)
        for start in range(0, len(eligible), _BLOCK_SECTIONS):
            some = slice(start, start + _BLOCK_SECTIONS)
            for column, sign in zip(self._columns, signs(asked[None])[0], strict=True):
                differing[some] += np.bitwise_count(column[some] ^ sign)
        differing[~eligible] = np.iinfo(np.uint16).max
        last = min(count, int(np.count_nonzero(eligible))) - 1
        return np.flatnonzero(differing <= np.partition(differing, last)[last])


class Sections:
    """The vectors of sections, to be compared with questions without what is common to all."""

    def __init__(self, vectors: Vectors, common: Vector) -> None:
        self._vectors = vectors
        self._common = common
        self._scales = _scales(vectors, common)

    def scores(self, asked: Vector) -> Scores:
        """The cosine of the question with each section; 0 where nothing is known of either."""
        own = _scales(asked, self._common) * (asked - np.dot(asked, self._common) * self._common)
        # The question's own part is at right angles to the common one, so that the sections need not be changed.
        # vecdot uses one core: on a busy machine, waiting for the others takes longer than their help saves.
        cosines: Scores = self._scales * np.vecdot(self._vectors, own)
        return cosines


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
