"""The text index in packed form: which terms stand where, built in segments and merged.

A segment numbers its sections by *slot*, and its names (titles, aliases, headings) likewise. A posting is one unsigned
32-bit number: the slot, and in its lowest byte how often the term stands there, where the names of the note and its
heading path count double. Needs NumPy: import this module where it is used.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zkchat.model.index import Segment, SegmentHead, TermPostings
from zkchat.model.note import Note, Section
from zkchat.vault.parse import file_title
from zkchat.vault.terms import asked_words, stem, words

Numbers = NDArray[np.int64]

MOST_SLOTS = 1 << 24
NAMED_WEIGHT = 2

_FREQUENCY_BITS = 8
_MOST_FREQUENT = (1 << _FREQUENCY_BITS) - 1
_SLOT_BITS = 24
_LONGEST = 0xFFFF
_WORD = np.dtype("<u4")
_SHORT = np.dtype("<u2")


class Head(NamedTuple):
    """A segment's sections and names, by slot."""

    sections: Numbers
    lengths: Numbers
    names: Numbers
    """A row each: the first slot it names, how many, and how many words it has."""


class _Name(NamedTuple):
    terms: "array[int]"
    telling: frozenset[int]
    """Those that are no stop words."""


class _TermNumbers(dict[str, int]):
    """The number of the term a word counts as. A word seen for the first time is stemmed, and its term numbered."""

    def __init__(self) -> None:
        self.vocabulary: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        number = self[word] = self.vocabulary.setdefault(stem(word), len(self.vocabulary))
        return number

    def of(self, found: Iterable[str]) -> "array[int]":
        return array("I", map(self.__getitem__, found))


class SegmentBuilder:
    """Collects sections, note by note; `build` makes the segment."""

    def __init__(self) -> None:
        self._numbers = _TermNumbers()
        self._known_names: dict[str, _Name] = {}
        self._occurrences = array("I")
        self._lengths = array("I")
        self._names = array("I")
        self._name_terms = array("I")

    @property
    def slots(self) -> int:
        return len(self._lengths)

    def add(self, note: Note, sections: Sequence[Section]) -> None:
        first = self.slots
        names = _names(note)
        for path, below in groupby(sections, key=attrgetter("heading_path")):
            named = array("I")
            for name in (*names, *path):
                named += self._name(name).terms * NAMED_WEIGHT
            for section in below:
                found = self._numbers.of(words(section.text))
                self._occurrences += found
                self._occurrences += named
                self._lengths.append(len(found) + len(named))
        for name in names:
            self._add_name(name, first, len(sections))
        for name, start, end in _runs(sections):
            self._add_name(name, first + start, end - start)

    def _name(self, name: str) -> _Name:
        if name not in self._known_names:
            telling = frozenset(self._numbers.of(asked_words(name)))
            self._known_names[name] = _Name(self._numbers.of(words(name)), telling)
        return self._known_names[name]

    def _add_name(self, name: str, first: int, slots: int) -> None:
        found = self._name(name).telling
        if found:
            self._names.extend((first, slots, len(found)))
            self._name_terms.extend(found)

    def build(self, first_section: int) -> Segment:
        """The segment, its sections numbered from `first_section`."""
        vocabulary = sorted(self._numbers.vocabulary)
        rank = np.empty(len(vocabulary), dtype=np.int64)
        rank[[self._numbers.vocabulary[term] for term in vocabulary]] = np.arange(len(vocabulary))
        head = Head(
            sections=np.arange(first_section, first_section + self.slots),
            lengths=_numbers(self._lengths),
            names=_numbers(self._names).reshape(-1, 3),
        )
        standing = _keys(rank[_numbers(self._occurrences)], np.repeat(np.arange(self.slots), head.lengths))
        naming = _keys(rank[_numbers(self._name_terms)], np.repeat(np.arange(len(head.names)), head.names[:, 2]))
        keys, frequencies = np.unique(standing, return_counts=True)
        return _packed(vocabulary, head, keys, frequencies, np.sort(naming))


def merged(
    segments: Sequence[tuple[SegmentHead, Sequence[TermPostings]]], dead: Sequence[int]
) -> tuple[Segment, list[int]]:
    """Several segments as one, without the sections that are dead, and which those were."""
    vocabulary = sorted({row.term for _, rows in segments for row in rows})
    number = {term: place for place, term in enumerate(vocabulary)}
    heads: list[Head] = []
    standing: list[Numbers] = []
    frequencies: list[Numbers] = []
    naming: list[Numbers] = []
    dropped: list[int] = []
    for packed_head, rows in segments:
        head = unpacked(packed_head)
        alive = ~np.isin(head.sections, np.array(dead, dtype=np.int64))
        dropped += head.sections[~alive].tolist()
        names_alive = alive[head.names[:, 0]]
        new_slot = sum(len(each.sections) for each in heads) + np.cumsum(alive) - 1
        new_name = sum(len(each.names) for each in heads) + np.cumsum(names_alive) - 1
        head.names[:, 0] = new_slot[head.names[:, 0]]
        heads.append(Head(head.sections[alive], head.lengths[alive], head.names[names_alive]))
        term, slot, frequency = _rows(rows, number)
        kept = alive[slot]
        standing.append(_keys(term[kept], new_slot[slot[kept]]))
        frequencies.append(frequency[kept])
        term, name = _name_rows(rows, number)
        kept = names_alive[name]
        naming.append(_keys(term[kept], new_name[name[kept]]))
    keys = np.concatenate(standing)
    order = np.argsort(keys)
    segment = _packed(
        vocabulary,
        Head(*map(np.concatenate, zip(*heads, strict=True))),
        keys[order],
        np.concatenate(frequencies)[order],
        np.sort(np.concatenate(naming)),
    )
    return segment, dropped


def count_dead(head: SegmentHead, dead: Sequence[int]) -> int:
    return int(np.isin(unpacked(head).sections, np.array(dead, dtype=np.int64)).sum())


def unpacked(head: SegmentHead) -> Head:
    return Head(
        sections=np.frombuffer(head.sections, _WORD).astype(np.int64),
        lengths=np.frombuffer(head.lengths, _SHORT).astype(np.int64),
        names=np.frombuffer(head.names, _WORD).astype(np.int64).reshape(-1, 3),
    )


def standing(postings: bytes) -> tuple[Numbers, Numbers]:
    """The slots of a packed row, and how often the term stands in each."""
    numbers = np.frombuffer(postings, _WORD).astype(np.int64)
    return numbers >> _FREQUENCY_BITS, numbers & _MOST_FREQUENT


def naming(postings: bytes) -> Numbers:
    """The names of a packed row."""
    return np.frombuffer(postings, _WORD).astype(np.int64)


def _names(note: Note) -> list[str]:
    """What a note is called: its title, the name of its file where that is another one, its aliases."""
    file = file_title(note.path)
    return [note.title, *([] if words(file) == words(note.title) else [file]), *note.aliases]


def _runs(sections: Sequence[Section]) -> Iterable[tuple[str, int, int]]:
    """Each heading with the sections, first and end, that stand under it."""
    above: tuple[str, ...] = ()
    starts: list[int] = []
    for place, path in enumerate([*(section.heading_path for section in sections), ()]):
        if path != above:
            same = [text == other for text, other in zip(path, above, strict=False)]
            shared = [*same, False].index(False)
            yield from ((text, start, place) for text, start in zip(above[shared:], starts[shared:], strict=True))
            starts[shared:] = [place] * (len(path) - shared)
            above = path


def _packed(vocabulary: Sequence[str], head: Head, keys: Numbers, frequencies: Numbers, naming: Numbers) -> Segment:
    """From sorted keys, whose upper part is the term's place in the vocabulary."""
    slots = keys & (MOST_SLOTS - 1)
    sections = (slots << _FREQUENCY_BITS | np.minimum(frequencies, _MOST_FREQUENT)).astype(_WORD).tobytes()
    names = (naming & (MOST_SLOTS - 1)).astype(_WORD).tobytes()
    section_ends, name_ends = (_ends(each, len(vocabulary)) for each in (keys, naming))
    postings = [
        (term, sections[start:end], names[name_start:name_end])
        for term, start, end, name_start, name_end in zip(
            vocabulary, [0, *section_ends], section_ends, [0, *name_ends], name_ends, strict=False
        )
        if end > start or name_end > name_start
    ]
    return Segment(
        slots=len(head.sections),
        sections=head.sections.astype(_WORD).tobytes(),
        lengths=np.minimum(head.lengths, _LONGEST).astype(_SHORT).tobytes(),
        names=head.names.astype(_WORD).tobytes(),
        postings=postings,
    )


def _ends(keys: Numbers, count: int) -> list[int]:
    """Where, in bytes of packed numbers, the row of each term ends."""
    ends: list[int] = (np.searchsorted(keys >> _SLOT_BITS, np.arange(count), side="right") * _WORD.itemsize).tolist()
    return ends


def _rows(rows: Sequence[TermPostings], number: Mapping[str, int]) -> tuple[Numbers, Numbers, Numbers]:
    slots, frequencies = standing(b"".join(row.sections for row in rows))
    counts = [len(row.sections) // _WORD.itemsize for row in rows]
    return np.repeat([number[row.term] for row in rows], counts), slots, frequencies


def _name_rows(rows: Sequence[TermPostings], number: Mapping[str, int]) -> tuple[Numbers, Numbers]:
    counts = [len(row.names) // _WORD.itemsize for row in rows]
    return np.repeat([number[row.term] for row in rows], counts), naming(b"".join(row.names for row in rows))


def _keys(term: Numbers, place: Numbers) -> Numbers:
    return term << _SLOT_BITS | place


def _numbers(values: "array[int]") -> Numbers:
    return np.frombuffer(values, dtype=np.uint32).astype(np.int64) if values else np.zeros(0, dtype=np.int64)
