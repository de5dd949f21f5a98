"""Texts as lists of numbered terms. What is the same in many texts is split into words, and stemmed, only once.

Needs NumPy: import this module where it is used.
"""

from array import array
from collections.abc import Iterable, Sequence
from threading import local
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zkchat.vault.terms import END, are_all_asked, pieces, stem, words

Numbers = NDArray[np.int64]

_MOST_PIECES = 1 << 17


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
        ends = np.concatenate(([0], np.cumsum(self.lengths[texts])))
        shifts = np.repeat(self.ends[texts] - ends[:-1], np.diff(ends))
        return TermLists(self.terms[shifts + np.arange(len(shifts))], ends)

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
        number = self[piece] = len(self)
        found = words(piece.decode(errors="ignore"))
        self._terms.extend(self.terms(found))
        self._ends.append(len(self._terms))
        self._wordy.append(not are_all_asked(found))
        return number

    def terms(self, found: Iterable[str]) -> list[int]:
        """The numbers of the terms that words count as."""
        numbers = self.numbers
        return [numbers.setdefault(stem(word), len(numbers)) for word in found]

    def read(self, texts: Sequence[str]) -> "array[int]":
        """The pieces of texts, each text closed by one more."""
        return array("I", map(self.__getitem__, pieces(texts)))

    def lists(self, read: "array[int]") -> TermLists:
        found = as_numbers(read)
        of_pieces = TermLists(as_numbers(self._terms), as_numbers(self._ends)).of(found)
        return TermLists(of_pieces.terms, of_pieces.ends[np.append(0, np.flatnonzero(found == self._end) + 1)])

    def wordy(self, read: "array[int]") -> Numbers:
        """Which of the texts hold more than a question would ask for."""
        found = as_numbers(read)
        return np.unique(np.cumsum(found == self._end)[as_numbers(self._wordy)[found] == 1])


def as_numbers(values: "array[int]") -> Numbers:
    return np.array(values, dtype=np.int64)


_OF_THREAD = local()


def vocabulary() -> Vocabulary:
    """The one of this thread, or a new one in its place if it has grown large."""
    known: Vocabulary | None = getattr(_OF_THREAD, "vocabulary", None)
    if known is None or len(known) > _MOST_PIECES:
        known = _OF_THREAD.vocabulary = Vocabulary()
    return known
