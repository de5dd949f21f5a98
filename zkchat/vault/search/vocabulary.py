"""Term ids: texts as lists of numbered terms. What many texts share is tokenized and stemmed only once.

It is found again by its first bytes: with a dictionary alone the first indexing takes a tenth longer.
Needs NumPy: import this module where it is used.
"""

from array import array
from collections.abc import Sequence
from itertools import accumulate, count, islice
from threading import local
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zkchat.vault.search.terms import END, are_all_queried, pieces, stems, words

Numbers = NDArray[np.int64]

_MAX_PIECES = 1 << 17

_BATCH_TEXTS = 512
"""Texts that are read together: few enough to be worked on without leaving the processor's cache."""

_HALF = 8
"""Bytes that are compared as one number; two such halves tell most pieces apart."""
_BITS = [(1 << 8 * count) - 1 for count in range(_HALF + 1)]
_BITS_OF_FIRST = np.array([*_BITS, *[_BITS[-1]] * _HALF, 0], dtype="<u8")
_BITS_OF_SECOND = np.array([*[0] * _HALF, *_BITS, 0], dtype="<u8")
"""Those that belong to a piece, by its length; none, if it is longer than two halves."""
_SLOT_BITS = 20
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
        self._firsts = array("Q")
        self._seconds = array("Q")
        """The halves of each piece; 0 of a long one."""
        self._in_slot = np.zeros(1 << _SLOT_BITS, dtype=np.int64)
        """The piece that was last looked up of those whose halves lead to a slot."""
        self._end = self[END]

    def __missing__(self, piece: bytes) -> int:
        self._learn([piece])
        return self[piece]

    def _learn(self, pieces: Sequence[bytes]) -> None:
        """Read pieces that were never met. Of many at once each takes a fraction of the time of one."""
        self.update(zip(pieces, count(len(self)), strict=False))
        nothing = bytes(2 * _HALF)
        padded = [piece.ljust(2 * _HALF, b"\0") if len(piece) <= 2 * _HALF else nothing for piece in pieces]
        halves = np.frombuffer(b"".join(padded), "<u8")
        self._firsts.frombytes(halves[::2].tobytes())
        self._seconds.frombytes(halves[1::2].tobytes())
        found = [[piece.decode()] if piece.isascii() else words(piece.decode(errors="ignore")) for piece in pieces]
        self._terms.extend(self.terms([word for each in found for word in each]))
        self._ends.extend(islice(accumulate(map(len, found), initial=self._ends[-1]), 1, None))
        self._wordy.extend([not are_all_queried(each) for each in found])

    def terms(self, found: Sequence[str]) -> list[int]:
        """The numbers of the terms that words count as."""
        numbers = self.numbers
        return [numbers.setdefault(term, len(numbers)) for term in stems(found)]

    def read(self, texts: Sequence[str]) -> Numbers:
        """The pieces of texts, each text closed by one more."""
        read = [self._read(texts[at : at + _BATCH_TEXTS]) for at in range(0, len(texts), _BATCH_TEXTS)]
        return np.concatenate((*read, np.empty(0, dtype=np.int64)))

    def _read(self, texts: Sequence[str]) -> Numbers:
        """Most pieces are known by their slot; those that are new, long or in the slot of another are looked up."""
        text = pieces(texts)
        starts, ends = _edges(text)
        first, second = _halves(text, starts, ends)
        slots = (first + second * _MIXING) * _MIXING >> np.uint64(64 - _SLOT_BITS)
        numbers: Numbers = self._in_slot[slots]
        differs = (np.frombuffer(self._firsts, "<u8")[numbers] != first) | (first == 0)
        differs |= np.frombuffer(self._seconds, "<u8")[numbers] != second
        others = np.flatnonzero(differs)
        spans = zip(starts[others].tolist(), ends[others].tolist(), strict=True)
        found = [text[start:end] for start, end in spans]
        self._learn([*dict.fromkeys([piece for piece in found if piece not in self])])
        numbers[others] = [self[piece] for piece in found]
        self._in_slot[slots[others]] = numbers[others]
        return numbers

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


def _halves(text: bytes, starts: Numbers, ends: Numbers) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The first and the second eight bytes of each piece as numbers, or twice 0 if it has more."""
    lengths = np.minimum(ends - starts, 2 * _HALF + 1)
    eights: NDArray[np.uint64] = np.ndarray(len(text) + _HALF, "<u8", text + bytes(2 * _HALF), strides=1)
    return eights[starts] & _BITS_OF_FIRST[lengths], eights[starts + _HALF] & _BITS_OF_SECOND[lengths]


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
