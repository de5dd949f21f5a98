"""Scores of sections and notes: a weighted sum of what their words, and their names, have in common with a question.

Words are compared by BM25F in its simple form: the names of a note and the heading path count double, in the frequency
of a term as in the length of a section. A note counts by its best section and as a whole. Needs NumPy: import this
module where it is used.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from zkchat.core import SegmentHead, TermPostings
from zkchat.index.search.postings import distinct, name_postings, ranges, section_postings, unpacked
from zkchat.index.search.terms import MAX_VARIANTS, VARIANT_WEIGHT, idf, rank_variants

Numbers = NDArray[np.int64]
Scores = NDArray[np.float32]
Mask = NDArray[np.bool_]

K1 = 1.2
B = 0.75
NAME_WEIGHT = 1.6
WHOLE_SHARE = 0.5
"""Of a note's score by words, so much is that of the whole note; the rest is that of its best section."""
VECTOR_WEIGHT = 0.3

_PACKED_BYTES = 4
"""Of each number in a segment: a section, a posting, one of the three of a name."""


class Match(Struct, frozen=True):
    query_frequency: int
    idf: float
    slots: Numbers
    frequencies: Scores
    names: Numbers
    variants: tuple[str, ...] = ()
    """Other terms that count as this one, at less than its weight."""


class Signals(Struct, frozen=True):
    """What sections have in common with a question, 1 for all of it."""

    words: Scores
    """By slot: its share of the highest BM25F score."""
    names: Scores
    """By slot: what the best of the note's names says."""


class TextRanking:
    """The sections of one generation of the index, by slot: segments one after the other."""

    def __init__(self, segments: Sequence[SegmentHead], dead: Sequence[int]) -> None:
        # As one: to unpack them by the hundred takes longer, and leaves the memory in pieces.
        whole = unpacked(
            SegmentHead(
                id=0,
                slots=sum(segment.slots for segment in segments),
                sections=b"".join([segment.sections for segment in segments]),
                lengths=b"".join([segment.lengths for segment in segments]),
                names=b"".join([segment.names for segment in segments]),
            )
        )
        names = [len(segment.names) // (3 * _PACKED_BYTES) for segment in segments]
        starts = [*accumulate((len(segment.sections) // _PACKED_BYTES for segment in segments), initial=0)]
        self._offsets = {
            segment.id: (slot, name)
            for segment, slot, name in zip(segments, starts, accumulate(names, initial=0), strict=False)
        }
        self.sections: Numbers = whole.sections
        self._names = whole.names.astype(np.int32)
        self._names[:, 0] += np.repeat(np.array(starts[:-1], dtype=np.int32), names)
        self._is_heading = whole.is_heading
        self._note_starts = distinct(self._names[~self._is_heading, 0])
        """The first slot of each note; those of its other sections follow."""
        self.alive: Mask = ~np.isin(self.sections, np.array(dead, dtype=np.int64))
        self._all_alive = bool(self.alive.all())
        self._count = int(self.alive.sum())
        self._length_norm = _length_norm(whole.lengths, self.alive)
        counts = np.diff(self._note_starts, append=len(self.sections))
        self._note_of = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        lengths = np.bincount(self._note_of, weights=whole.lengths, minlength=len(counts))
        self._note_norm = _length_norm(lengths, self.alive[self._note_starts])

    def signals(self, matches: Sequence[Match]) -> Signals:
        return Signals(_shares(self.bm25f(matches)), self.name_scores(matches))

    def section_scores(self, found: Signals) -> Scores:
        scores: Scores = found.words + NAME_WEIGHT * found.names
        return scores

    def note_scores(self, matches: Sequence[Match], found: Signals, similarities: Scores, allowed: Mask) -> Scores:
        """For every note how well it answers, of its sections only those that are allowed; 0 if there is none."""
        section, near = self._highest_of_note(found.words * allowed), self._highest_of_note(similarities)
        words = (1 - WHOLE_SHARE) * section + WHOLE_SHARE * _shares(self.note_bm25(matches))
        names = NAME_WEIGHT * found.names[self._note_starts]
        # Names are part of the words, so that a note has something in common by words or by meaning, or has nothing.
        return np.where((section > 0) | (near > 0), words + names + VECTOR_WEIGHT * near, np.float32(0))

    def matches(
        self, asked: Mapping[str, int], postings: Iterable[TermPostings], varied: Collection[str] = ()
    ) -> list[Match]:
        """Of the terms that stand anywhere; in the question's order, so that sums come out the same every time.

        Those that are `varied` count with their variants among all terms that have postings.
        """
        rows_of = _by_term(postings)
        found: list[Match] = []
        for term, times in asked.items():
            match = self._match(times, rows_of.get(term, ()))
            others = rank_variants(term, rows_of.keys() - asked.keys()) if term in varied else ()
            standing = ((other, each) for other in others if len((each := self._match(1, rows_of[other])).slots))
            if variants := dict(islice(standing, MAX_VARIANTS)):
                match = self._with_variants(match, variants)
            if len(match.slots):
                found.append(match)
        return found

    def _match(self, times: int, rows: Sequence[TermPostings]) -> Match:
        slots, frequencies = self._section_postings(rows)
        starts, packed = self._joined((row.segment, row.names) for row in rows)
        return Match(times, self._idf(len(slots)), slots, frequencies, name_postings(packed) + starts[:, 1])

    def _with_variants(self, term: Match, variants: Mapping[str, Match]) -> Match:
        """The term as if its variants were occurrences of it, at a part of their frequency."""
        others = variants.values()
        slots, place = np.unique(np.concatenate([term.slots, *(each.slots for each in others)]), return_inverse=True)
        each = np.concatenate([term.frequencies, *(VARIANT_WEIGHT * each.frequencies for each in others)])
        return replace(
            term,
            idf=term.idf if len(term.slots) else self._idf(len(slots)),
            slots=slots,
            frequencies=np.bincount(place, weights=each).astype(np.float32),
            names=distinct(np.concatenate([term.names, *(each.names for each in others)])),
            variants=tuple(variants),
        )

    def bm25f(self, matches: Iterable[Match]) -> Scores:
        scores = np.zeros(len(self.sections), dtype=np.float32)
        for term in matches:
            length_norm = self._length_norm[term.slots]
            scores[term.slots] += term.query_frequency * term.idf * term.frequencies / (term.frequencies + length_norm)
        return scores

    def note_bm25(self, matches: Iterable[Match]) -> Scores:
        scores = np.zeros(len(self._note_starts), dtype=np.float32)
        alive = int(self.alive[self._note_starts].sum())
        for term in matches:
            notes = self._note_of[term.slots]
            firsts = np.flatnonzero(np.append(True, notes[1:] != notes[:-1]))
            notes, frequencies = notes[firsts], np.add.reduceat(term.frequencies, firsts)
            weight = term.query_frequency * idf(alive, len(notes))
            scores[notes] += weight * frequencies / (frequencies + self._note_norm[notes])
        return scores

    def name_scores(self, matches: Sequence[Match]) -> Scores:
        """For every slot how much the best name of its note says: the share of the question that the name holds × the
        cube of the share of itself that the question holds. Headings, which count as words, say no more."""
        best = np.zeros(len(self.sections), dtype=np.float32)
        if not matches:
            return best
        idfs = np.array([term.idf for term in matches])
        names, place = np.unique(np.concatenate([term.names for term in matches]), return_inverse=True)
        mass = np.bincount(place, weights=np.repeat(idfs, [len(term.names) for term in matches]))
        first, count, words = self._names[names].T
        said = (mass / idfs.sum() * (np.bincount(place) / words) ** 3).astype(np.float32)
        of_note = ~self._is_heading[names]
        slots = ranges(first[of_note], count[of_note])
        np.maximum.at(best, slots, np.repeat(said[of_note], count[of_note]))
        return best * self.alive

    def idf(self, postings: Iterable[TermPostings]) -> dict[str, float]:
        counts = {term: len(self._section_postings(rows)[0]) for term, rows in _by_term(postings).items()}
        return {term: self._idf(count) for term, count in counts.items() if count}

    def holding(self, postings: Iterable[TermPostings]) -> Mask:
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

    @staticmethod
    def best(scores: Scores, count: int) -> list[tuple[int, float]]:
        """The places of scores above 0, highest first: `count` of them, and all that equal the last."""
        places = np.flatnonzero(scores > 0)
        if count < len(places):
            places = places[scores[places] >= np.partition(scores[places], -count)[-count]]
        places = places[np.argsort(-scores[places], kind="stable")]
        return [*zip(places.tolist(), scores[places].tolist(), strict=True)]

    def sections_of(self, note: int, scores: Scores) -> list[int]:
        start, *end = self._note_starts[note : note + 2].tolist()
        of_note = scores[start : end[0] if end else None]
        return [int(self.sections[start + place]) for place, _ in self.best(of_note, len(of_note))]

    def _highest_of_note(self, scores: Scores) -> Scores:
        best = np.zeros(len(self._note_starts), dtype=np.float32)
        slots = np.flatnonzero(scores > 0)
        np.maximum.at(best, self._note_of[slots], scores[slots])
        return best

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


def _length_norm(lengths: NDArray[Any], alive: Mask) -> Scores:
    """K1, scaled by the length of each: the term frequency that earns half of a term's weight."""
    mean = max(int(lengths[alive].sum()) / max(int(alive.sum()), 1), 1.0)
    return (K1 * (1 - B + B * lengths / mean)).astype(np.float32)


def _shares(scores: Scores) -> Scores:
    return scores / (scores.max(initial=0) or 1)


def _by_term(postings: Iterable[TermPostings]) -> dict[str, list[TermPostings]]:
    rows: dict[str, list[TermPostings]] = {}
    for row in postings:
        rows.setdefault(row.term, []).append(row)
    return rows
