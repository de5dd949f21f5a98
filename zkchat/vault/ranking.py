"""Scores of sections: a weighted sum of what their words, and their names, have in common with a question.

Words are compared by BM25F in its simple form: the names of a note and the heading path count double, in the frequency
of a term as in the length of a section. Needs NumPy: import this module where it is used.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np
from numpy.typing import NDArray

from zkchat.model.index import SegmentHead, TermPostings
from zkchat.vault.postings import naming, standing, unpacked

Numbers = NDArray[np.int64]
Scores = NDArray[np.float32]
Mask = NDArray[np.bool_]

SATURATION = 1.2
LENGTH_SHARE = 0.75
NAMES_WEIGHT = 0.8
MEANING_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class Match:
    """One term of a question, and where it stands."""

    times: int
    """How often it is asked for."""
    rarity: float
    slots: Numbers
    frequencies: Scores
    """How often it stands in each of the slots."""
    names: Numbers
    """The names that it stands in."""


class TextIndex:
    """The sections of one generation of the index, by slot: segments one after the other."""

    def __init__(self, segments: Sequence[SegmentHead], dead: Sequence[int]) -> None:
        heads = [unpacked(segment) for segment in segments]
        self._offsets: dict[int, tuple[int, int]] = {}
        slots = names = 0
        for segment, head in zip(segments, heads, strict=True):
            self._offsets[segment.id] = slots, names
            head.names[:, 0] += slots
            slots += len(head.sections)
            names += len(head.names)
        self.sections: Numbers = np.concatenate([head.sections for head in heads] or [_NONE])
        self._names: Numbers = np.concatenate([head.names for head in heads] or [_NONE.reshape(0, 3)])
        self.alive: Mask = ~np.isin(self.sections, np.array(dead, dtype=np.int64))
        self._all_alive = bool(self.alive.all())
        self._count = int(self.alive.sum())
        lengths = np.concatenate([head.lengths for head in heads] or [_NONE])
        mean = max(int(lengths[self.alive].sum()) / max(self._count, 1), 1.0)
        self._resistance = (SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths / mean)).astype(np.float32)
        """How often a term must stand in a section to reach half of its weight."""

    def scores(self, asked: Mapping[str, int], postings: Iterable[TermPostings]) -> Scores:
        """For every slot how well it answers to the terms asked for, each with its frequency in the question."""
        matches = self.matches(asked, postings)
        total = _relative(self.words(matches)) + np.float32(NAMES_WEIGHT) * self.names(matches)
        return np.where(self.alive, total, np.float32(0))

    def matches(self, asked: Mapping[str, int], postings: Iterable[TermPostings]) -> list[Match]:
        """Of the terms that stand anywhere; in the question's order, so that sums come out the same every time."""
        rows_of = _by_term(postings)
        found: list[Match] = []
        for term, times in asked.items():
            slots, frequencies = self._standing(rows_of.get(term, ()))
            if len(slots):
                names = self._naming(rows_of[term])
                found.append(Match(times, self._rarity(len(slots)), slots, frequencies, names))
        return found

    def words(self, matches: Iterable[Match]) -> Scores:
        """What the words of each slot have in common with the question, by BM25F."""
        scores = np.zeros(len(self.sections), dtype=np.float32)
        for term in matches:
            resistance = self._resistance[term.slots]
            scores[term.slots] += term.times * term.rarity * term.frequencies / (term.frequencies + resistance)
        return scores

    def names(self, matches: Sequence[Match]) -> Scores:
        """For each slot the best of its names: the share of the question it holds × the cube of its own share held."""
        covered = np.zeros(len(self._names), dtype=np.float32)
        mass = np.zeros(len(self._names), dtype=np.float32)
        for term in matches:
            covered[term.names] += 1
            mass[term.names] += term.rarity
        scores = np.zeros(len(self.sections), dtype=np.float32)
        names = np.flatnonzero(covered > 0)
        asked_mass = sum(term.rarity for term in matches)
        if not len(names) or not asked_mass:
            return scores
        first, slots, words = self._names[names].T
        value = (mass[names] / asked_mass * (covered[names] / words) ** 3).astype(np.float32)
        starts = np.cumsum(slots) - slots
        places = np.arange(slots.sum()) - np.repeat(starts - first, slots)
        np.maximum.at(scores, places, np.repeat(value, slots))
        return scores

    def rarities(self, postings: Iterable[TermPostings]) -> dict[str, float]:
        """The inverse document frequency of each term that stands anywhere."""
        counts = {term: len(self._standing(rows)[0]) for term, rows in _by_term(postings).items()}
        return {term: self._rarity(count) for term, count in counts.items() if count}

    def holding(self, postings: Iterable[TermPostings]) -> Mask:
        """The slots in which any of the terms stands."""
        mask = np.zeros(len(self.sections), dtype=np.bool_)
        mask[self._standing(list(postings))[0]] = True
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

    def _standing(self, rows: Sequence[TermPostings]) -> tuple[Numbers, Scores]:
        found = [
            (standing(row.sections), self._offsets[row.segment][0]) for row in rows if row.segment in self._offsets
        ]
        slots = np.concatenate([slots + offset for (slots, _), offset in found] or [_NONE])
        frequencies = np.concatenate([frequencies for (_, frequencies), _ in found] or [_NONE]).astype(np.float32)
        if self._all_alive:
            return slots, frequencies
        alive = self.alive[slots]
        return slots[alive], frequencies[alive]

    def _naming(self, rows: Sequence[TermPostings]) -> Numbers:
        found = [naming(row.names) + self._offsets[row.segment][1] for row in rows if row.segment in self._offsets]
        return np.concatenate(found or [_NONE])

    def _rarity(self, count: int) -> float:
        return log(1 + (self._count - count + 0.5) / (count + 0.5))


_NONE: Numbers = np.zeros(0, dtype=np.int64)


def _by_term(postings: Iterable[TermPostings]) -> dict[str, list[TermPostings]]:
    rows: dict[str, list[TermPostings]] = {}
    for row in postings:
        rows.setdefault(row.term, []).append(row)
    return rows


def _relative(scores: Scores) -> Scores:
    best = scores.max(initial=0)
    return scores / best if best else scores
