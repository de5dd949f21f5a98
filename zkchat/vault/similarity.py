"""How near sections are in meaning to a question, by their vectors.

Needs NumPy: import this module where it is used.
"""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]
Scores = NDArray[np.float32]

_LARGEST = 127
_SAMPLE = 1024
_ENOUGH = 16
"""Of fewer sections one cannot tell what all texts share from what these say."""
_ROUNDING = 1e-5
"""A smaller part of a vector's square is rounding error."""


def packed(vectors: Vectors) -> bytes:
    """One byte for each number: measured, four rank no better. Directions are kept, lengths are not."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    return np.rint(vectors * (_LARGEST / np.where(largest > 0, largest, 1))).astype(np.int8).tobytes()


def unpacked(data: bytes, dimensions: int) -> Vectors:
    return np.frombuffer(data, dtype=np.int8).reshape(-1, dimensions).astype(np.float32)


def common_direction(vectors: Vectors) -> Vector:
    """What texts share whatever they say: the first principal component of a sample. Zero if there are few."""
    known = np.flatnonzero(vectors.any(axis=1))
    if len(known) < _ENOUGH:
        return np.zeros(vectors.shape[1], dtype=np.float32)
    sample = vectors[known[np.linspace(0, len(known) - 1, min(len(known), _SAMPLE)).astype(np.intp)]]
    sample /= np.linalg.norm(sample, axis=1, keepdims=True)
    strengths, directions = np.linalg.eigh(sample.T @ sample)
    return directions[:, strengths.argmax()].astype(np.float32)


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


def stretched(scores: Scores) -> Scores:
    """From 0 for the lowest to 1 for the highest; all 0 if they are equal."""
    if not len(scores) or scores.min() == scores.max():
        return np.zeros_like(scores)
    between_0_and_1: Scores = (scores - scores.min()) / (scores.max() - scores.min())
    return between_0_and_1


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
