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

_HALF = 8
"""Bytes that are compared as one number; two such halves tell most words apart."""
_BITS_OF_HALF = np.array([(1 << 8 * length) - 1 for length in range(_HALF + 1)], dtype="<u8")
"""Those that belong to a piece, by how many of its bytes are in the half."""
_MIXING = np.uint64(0x9E3779B97F4A7C15)


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
        found = [piece.decode()] if piece.isascii() else words(piece.decode(errors="ignore"))
        self._terms.extend(self.terms(found))
        self._ends.append(len(self._terms))
        self._wordy.append(not are_all_asked(found))
        return number

    def terms(self, found: Iterable[str]) -> list[int]:
        """The numbers of the terms that words count as."""
        numbers = self.numbers
        return [numbers.setdefault(stem(word), len(numbers)) for word in found]

    def read(self, texts: Sequence[str]) -> Numbers:
        """The pieces of texts, each text closed by one more."""
        text = pieces(texts)
        starts, ends = _edges(text)
        examples = _examples(text, starts, ends)
        numbers = np.zeros(len(starts), dtype=np.int64)
        numbers[examples] = 1
        looked_up = np.flatnonzero(numbers)
        spans = zip(starts[looked_up].tolist(), ends[looked_up].tolist(), strict=True)
        numbers[looked_up] = [self[text[start:end]] for start, end in spans]
        return numbers[examples]

    def lists(self, read: Numbers) -> TermLists:
        of_pieces = TermLists(as_numbers(self._terms), as_numbers(self._ends)).of(read)
        return TermLists(of_pieces.terms, of_pieces.ends[np.append(0, np.flatnonzero(read == self._end) + 1)])

    def wordy(self, read: Numbers) -> Numbers:
        """Which of the texts hold more than a question would ask for."""
        return np.unique(np.cumsum(read == self._end)[as_numbers(self._wordy)[read] == 1])


def _edges(text: bytes) -> tuple[Numbers, Numbers]:
    """Where what stands between spaces begins, and where it ends."""
    letters = np.frombuffer(text, np.uint8) != ord(" ")
    edges = np.flatnonzero(np.diff(letters, prepend=False, append=False))
    return edges[::2], edges[1::2]


def _examples(text: bytes, starts: Numbers, ends: Numbers) -> Numbers:
    """For each piece the place of one that is the same, so that few of them have to be looked up.

    Sorted are numbers that hold a mixture of the two halves and, below it, the place. Pieces that are longer, or have
    the same mixture by chance, are examples of themselves.
    """
    lengths = ends - starts
    eights: NDArray[np.uint64] = np.ndarray(len(text) + _HALF, "<u8", text + bytes(2 * _HALF), strides=1)
    first, second = (eights[starts + at] & _BITS_OF_HALF[np.clip(lengths - at, 0, _HALF)] for at in (0, _HALF))
    place_bits = np.uint64(len(starts).bit_length())
    mixed = (first + second * _MIXING) * _MIXING >> place_bits
    ordered = np.sort(mixed << place_bits | np.arange(len(starts), dtype=np.uint64))
    places = (ordered & ((np.uint64(1) << place_bits) - np.uint64(1))).astype(np.int64)
    begins = np.diff(ordered >> place_bits, prepend=~np.uint64(0)) != 0
    examples = np.empty(len(starts), dtype=np.int64)
    examples[places] = places[begins][np.cumsum(begins) - 1]
    others = (lengths > 2 * _HALF) | (lengths[examples] != lengths)
    others |= (first[examples] != first) | (second[examples] != second)
    return np.where(others, np.arange(len(starts)), examples)


def as_numbers(values: "array[int]") -> Numbers:
    return np.array(values, dtype=np.int64)


_OF_THREAD = local()


def vocabulary() -> Vocabulary:
    """The one of this thread, or a new one in its place if it has grown large."""
    known: Vocabulary | None = getattr(_OF_THREAD, "vocabulary", None)
    if known is None or len(known) > _MOST_PIECES:
        known = _OF_THREAD.vocabulary = Vocabulary()
    return known
