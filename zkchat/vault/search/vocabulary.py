"""Term ids: texts as lists of numbered terms. What many texts share is tokenized and stemmed only once.

Needs NumPy: import this module where it is used.
"""

from array import array
from collections.abc import Sequence
from threading import local
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zkchat.vault.search.terms import END, are_all_queried, pieces, stem, words

Numbers = NDArray[np.int64]

_MAX_PIECES = 1 << 17


class TermLists(NamedTuple):
    """The terms of texts, one text after the other."""

    terms: Numbers
    ends: Numbers
    """One more than texts, since it begins with the end of nothing: 0."""

    @property
    def lengths(self) -> Numbers:
        return np.diff(self.ends)

    @property
    def places(self) -> Numbers:
        """For each term the number of its text."""
        return np.repeat(np.arange(len(self.ends) - 1), self.lengths)

    def of(self, texts: Numbers) -> "TermLists":
        """Those of some texts, each as often as it is named."""
        lengths = self.lengths[texts]
        return TermLists(self.terms[ranges(self.ends[texts], lengths)], np.concatenate(([0], np.cumsum(lengths))))

    def followed_by(self, lists: Sequence[Sequence[int]]) -> "TermLists":
        more = np.array([term for terms in lists for term in terms], dtype=np.int64)
        ends = self.ends[-1] + np.cumsum(np.array([*map(len, lists)], dtype=np.int64))
        return TermLists(np.concatenate((self.terms, more)), np.concatenate((self.ends, ends)))


class Vocabulary(dict[bytes, int]):
    """The numbers of pieces of text. One that is met for the first time is read."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        """Of terms."""
        self._terms = array("I")
        self._ends = array("I", [0])
        self._wordy = array("B")
        self._end = self[END]

    def __missing__(self, piece: bytes) -> int:
        found = [piece.decode()] if piece.isascii() else words(piece.decode(errors="ignore"))
        self._terms.extend(self.terms(found))
        self._ends.append(len(self._terms))
        self._wordy.append(not are_all_queried(found))
        self[piece] = number = len(self)
        return number

    def terms(self, found: Sequence[str]) -> list[int]:
        """The numbers of the terms that words count as."""
        return [self.numbers.setdefault(stem(word), len(self.numbers)) for word in found]

    def read(self, texts: Sequence[str]) -> Numbers:
        """The pieces of texts, each text closed by one more."""
        return np.fromiter(map(self.__getitem__, pieces(texts).split()), dtype=np.int64)

    def lists(self, read: Numbers) -> TermLists:
        of_pieces = TermLists(as_numbers(self._terms), as_numbers(self._ends)).of(read)
        return TermLists(of_pieces.terms, of_pieces.ends[np.append(0, np.flatnonzero(read == self._end) + 1)])

    def wordy(self, read: Numbers) -> Numbers:
        """Which of the texts hold more than a question would ask for."""
        return np.unique(np.cumsum(read == self._end)[as_numbers(self._wordy)[read] == 1])


def ranges(starts: Numbers, counts: Numbers) -> Numbers:
    """From each start on so many numbers, one range after the other."""
    numbers = np.repeat(starts - np.cumsum(counts) + counts, counts)
    return numbers + np.arange(len(numbers))


def as_numbers(values: "array[int]") -> Numbers:
    return np.array(values, dtype=np.int64)


_OF_THREAD = local()


def vocabulary() -> Vocabulary:
    """The one of this thread, or a new one in its place if it has grown large."""
    known: Vocabulary | None = getattr(_OF_THREAD, "vocabulary", None)
    if known is None or len(known) > _MAX_PIECES:
        known = _OF_THREAD.vocabulary = Vocabulary()
    return known
