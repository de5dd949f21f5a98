"""Scores of sections: a weighted sum of what their words, and their names, have in common with a question.

Words are compared by BM25F in its simple form: the names of a note and the heading path count double, in the frequency
of a term as in the length of a section. Needs NumPy: import this module where it is used.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from zkchat.model.index import SegmentHead, TermPostings
from zkchat.vault.search.postings import name_postings, section_postings, unpacked
from zkchat.vault.search.terms import idf

Numbers = NDArray[np.int64]
Scores = NDArray[np.float32]
Mask = NDArray[np.bool_]

K1 = 1.2
B = 0.75
NAME_WEIGHT = 0.8
VECTOR_WEIGHT = 0.3

_PACKED_BYTES = 4
"""Of each number in a segment: a section, a posting, one of the three of a name."""


@dataclass(frozen=True, slots=True)
class Match:
    """One term of a query, and its postings."""

    query_frequency: int
    idf: float
    """Inverse document frequency."""
    slots: Numbers
    frequencies: Scores
    """The term frequency in each of the slots."""
    names: Numbers
    """The names that contain it."""


class TextRanking:
    """The sections of one generation of the index, by slot: segments one after the other."""

    def __init__(self, segments: Sequence[SegmentHead], dead: Sequence[int]) -> None:
        whole = unpacked(_one_after_the_other(segments))
        names = [len(segment.names) // (3 * _PACKED_BYTES) for segment in segments]
        starts = [*accumulate((len(segment.sections) // _PACKED_BYTES for segment in segments), initial=0)]
        self._offsets = {
            segment.id: (slot, name)
            for segment, slot, name in zip(segments, starts, accumulate(names, initial=0), strict=False)
        }
        self.sections: Numbers = whole.sections
        self._names = whole.names.astype(np.int32)
        self._names[:, 0] += np.repeat(np.array(starts[:-1], dtype=np.int32), names)
        self.alive: Mask = ~np.isin(self.sections, np.array(dead, dtype=np.int64))
        self._all_alive = bool(self.alive.all())
        self._count = int(self.alive.sum())
        mean = max(int(whole.lengths[self.alive].sum()) / max(self._count, 1), 1.0)
        self._length_norm = (K1 * (1 - B + B * whole.lengths / mean)).astype(np.float32)
        """K1, scaled by the length of each section: the term frequency that earns half of a term's weight."""

    def scores(self, asked: Mapping[str, int], postings: Iterable[TermPostings]) -> Scores:
        """For every slot how well it answers to the terms asked for, each with its frequency in the question."""
        matches = self.matches(asked, postings)
        total = self.bm25f(matches)
        total /= total.max(initial=0) or 1
        named, share = self.name_scores(matches)
        total[named] += NAME_WEIGHT * share
        return total

    def matches(self, asked: Mapping[str, int], postings: Iterable[TermPostings]) -> list[Match]:
        """Of the terms that stand anywhere; in the question's order, so that sums come out the same every time."""
        rows_of = _by_term(postings)
        found: list[Match] = []
        for term, times in asked.items():
            slots, frequencies = self._section_postings(rows_of.get(term, ()))
            if len(slots):
                names = self._name_postings(rows_of[term])
                found.append(Match(times, self._idf(len(slots)), slots, frequencies, names))
        return found

    def bm25f(self, matches: Iterable[Match]) -> Scores:
        """The BM25F score of each slot."""
        scores = np.zeros(len(self.sections), dtype=np.float32)
        for term in matches:
            length_norm = self._length_norm[term.slots]
            scores[term.slots] += term.query_frequency * term.idf * term.frequencies / (term.frequencies + length_norm)
        return scores

    def name_scores(self, matches: Sequence[Match]) -> tuple[Numbers, Scores]:
        """The slots whose names have a word in common with the question, and how much the best of these names says.

        A name says the share of the question that it holds × the cube of the share of itself that the question holds.
        """
        if not matches:
            return _NONE, np.zeros(0, dtype=np.float32)
        idfs = np.array([term.idf for term in matches])
        names, place = np.unique(np.concatenate([term.names for term in matches]), return_inverse=True)
        mass = np.bincount(place, weights=np.repeat(idfs, [len(term.names) for term in matches]))
        first, count, words = self._names[names].T
        said = mass / idfs.sum() * (np.bincount(place) / words) ** 3
        every = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count - first, count)
        slots, place = np.unique(every, return_inverse=True)
        best = np.zeros(len(slots), dtype=np.float32)
        np.maximum.at(best, place, np.repeat(said, count).astype(np.float32))
        alive = self.alive[slots]
        return slots[alive], best[alive]

    def idf(self, postings: Iterable[TermPostings]) -> dict[str, float]:
        """The inverse document frequency of each term that occurs anywhere."""
        counts = {term: len(self._section_postings(rows)[0]) for term, rows in _by_term(postings).items()}
        return {term: self._idf(count) for term, count in counts.items() if count}

    def holding(self, postings: Iterable[TermPostings]) -> Mask:
        """The slots in which any of the terms stands."""
        mask = np.zeros(len(self.sections), dtype=np.bool_)
        mask[self._section_postings(list(postings))[0]] = True
        return mask

    def within(self, ranges: Sequence[tuple[int, int]]) -> Mask:
        """The slots whose sections lie in these ranges (first, count)."""
        order, numbers = self._in_order
        firsts = np.array([first for first, _ in ranges], dtype=np.int64)
        counts = np.array([count for _, count in ranges], dtype=np.int64)
        steps = np.zeros(len(numbers) + 1, dtype=np.int64)
        np.add.at(steps, np.searchsorted(numbers, firsts), 1)
        np.add.at(steps, np.searchsorted(numbers, firsts + counts), -1)
        mask = np.zeros(len(numbers), dtype=np.bool_)
        mask[order] = np.cumsum(steps[:-1]) > 0
        return mask

    def best(self, scores: Scores, count: int) -> list[tuple[int, float]]:
        """Sections with scores above 0, best first: `count` of them, and all that equal the last."""
        slots = np.flatnonzero(scores > 0)
        if count < len(slots):
            slots = slots[scores[slots] >= np.partition(scores[slots], -count)[-count]]
        slots = slots[np.argsort(-scores[slots], kind="stable")]
        return [*zip(self.sections[slots].tolist(), scores[slots].tolist(), strict=True)]

    @cached_property
    def _in_order(self) -> tuple[Numbers, Numbers]:
        order = np.argsort(self.sections)
        return order, self.sections[order]

    def _section_postings(self, rows: Sequence[TermPostings]) -> tuple[Numbers, Scores]:
        starts, packed = self._joined((row.segment, row.sections) for row in rows)
        slots, frequencies = section_postings(packed)
        slots += starts[:, 0]
        if not self._all_alive:
            alive = self.alive[slots]
            slots, frequencies = slots[alive], frequencies[alive]
        return slots, frequencies.astype(np.float32)

    def _name_postings(self, rows: Sequence[TermPostings]) -> Numbers:
        starts, packed = self._joined((row.segment, row.names) for row in rows)
        return name_postings(packed) + starts[:, 1]

    def _joined(self, rows: Iterable[tuple[int, bytes]]) -> tuple[Numbers, bytes]:
        """Packed rows of segments as one, and for each of its numbers the first slot and name of its segment.

        A term may stand in a hundred segments: to unpack them one by one takes longer than all the rest.
        """
        known = [(self._offsets[segment], row) for segment, row in rows if segment in self._offsets]
        offsets = np.array([offset for offset, _ in known], dtype=np.int64).reshape(-1, 2)
        counts = [len(row) // _PACKED_BYTES for _, row in known]
        return np.repeat(offsets, counts, axis=0), b"".join([row for _, row in known])

    def _idf(self, count: int) -> float:
        return idf(self._count, count)


_NONE: Numbers = np.zeros(0, dtype=np.int64)


def _one_after_the_other(segments: Sequence[SegmentHead]) -> SegmentHead:
    """As one: to unpack them by the hundred takes longer, and leaves the memory in pieces."""
    return SegmentHead(
        id=0,
        slots=sum(segment.slots for segment in segments),
        sections=b"".join([segment.sections for segment in segments]),
        lengths=b"".join([segment.lengths for segment in segments]),
        names=b"".join([segment.names for segment in segments]),
    )


def _by_term(postings: Iterable[TermPostings]) -> dict[str, list[TermPostings]]:
    rows: dict[str, list[TermPostings]] = {}
    for row in postings:
        rows.setdefault(row.term, []).append(row)
    return rows
