"""The inverted index in packed form, and the numbering of its terms."""

from array import array
from collections.abc import Sequence
from itertools import accumulate, count, islice
from threading import local
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zkchat.core import Note, Section, Segment, SegmentHead, TermPostings, file_title
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search.terms import END, are_all_queried, pieces, query_words, stems, words

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
        self._terms = array("I")
        self._ends = array("I", [0])
        self._wordy = array("B")
        self._learn([END])

    def _learn(self, pieces: Sequence[bytes]) -> None:
        """Read pieces that were never met. Of many at once each takes a fraction of the time of one."""
        self.update(zip(pieces, count(len(self)), strict=False))
        found = [[piece.decode()] if piece.isascii() else words(piece.decode(errors="ignore")) for piece in pieces]
        self._terms.extend(self.terms([word for each in found for word in each]))
        self._ends.extend(islice(accumulate(map(len, found), initial=self._ends[-1]), 1, None))
        self._wordy.extend([not are_all_queried(each) for each in found])

    def terms(self, found: Sequence[str]) -> list[int]:
        numbers = self.numbers
        return [numbers.setdefault(term, len(numbers)) for term in stems(found)]

    def read(self, texts: Sequence[str]) -> Numbers:
        """The pieces of texts, each text closed by one more."""
        found = pieces(texts).split()
        self._learn([piece for piece in dict.fromkeys(found) if piece not in self])
        return np.fromiter(map(self.__getitem__, found), np.int64, len(found))

    def lists(self, read: Numbers) -> TermLists:
        of_pieces = TermLists(as_numbers(self._terms), as_numbers(self._ends)).of(read)
        return TermLists(of_pieces.terms, of_pieces.ends[np.append(0, np.flatnonzero(read == self[END]) + 1)])

    def wordy(self, read: Numbers) -> Numbers:
        """Which of the texts hold more than a question would ask for."""
        return np.unique(np.cumsum(read == self[END])[as_numbers(self._wordy)[read] == 1])


def ranges(starts: Numbers, counts: Numbers) -> Numbers:
    """From each start on so many numbers, one range after the other."""
    numbers = np.repeat(starts - np.cumsum(counts) + counts, counts)
    return numbers + np.arange(len(numbers))


def distinct(values: Numbers) -> Numbers:
    """In order. Counted too: without that NumPy loads its masked arrays, which takes longer than many a search."""
    return np.unique(values, return_counts=True)[0]


def as_numbers(values: "array[int]") -> Numbers:
    return np.array(values, dtype=np.int64)


_OF_THREAD = local()


def vocabulary() -> Vocabulary:
    """The one of this thread, or a new one in its place if it has grown large."""
    known: Vocabulary | None = getattr(_OF_THREAD, "vocabulary", None)
    if known is None or len(known) > _MAX_PIECES:
        known = _OF_THREAD.vocabulary = Vocabulary()
    return known


Mask = NDArray[np.bool_]

MAX_SLOTS = 1 << 24
NAME_FIELD_WEIGHT = 2
"""Of the field of names in BM25F: each occurrence there counts as two in the text."""

_MAX_NAME_CHARACTERS = 2_000
"""Characters of all names of a note by which it is searched. Links find it by any."""
_FREQUENCY_BITS = 8
_MAX_FREQUENCY = (1 << _FREQUENCY_BITS) - 1
_SLOT_BITS = 24
_MAX_LENGTH = 0xFFFF
_HEADING_BIT = 1 << 31
"""In the number of a name's words: it is a heading."""
_MERGE_FACTOR = 8
"""So many segments of about the same size become one."""
_MAX_MERGED_SLOTS = 2_048
"""Slots of a segment that is still worth merging; larger ones are few, and costly to rewrite."""
_MIN_DEAD = 1_000
_MIN_DEAD_SHARE = 0.3
_WORD = np.dtype("<u4")
_SHORT = np.dtype("<u2")


class Head(NamedTuple):
    """A segment's sections and names, by slot."""

    sections: Numbers
    lengths: Numbers
    names: Numbers
    """A row each: the first slot it names, how many, and how many words it has."""
    is_heading: Mask
    """Which names are headings; the others are those of a note, and each note has at least one."""


class SegmentBuilder:
    """Collects sections, note by note; `build` makes the segment."""

    def __init__(self) -> None:
        self._vocabulary = vocabulary()
        self._texts: list[str] = []
        self._names: dict[str, int] = {}
        self._runs: list[int] = []
        """By fours: a name, the first slot it names, how many, and whether it is a heading."""

    @property
    def slots(self) -> int:
        return len(self._texts)

    def add(self, note: Note, sections: Sequence[Section]) -> None:
        first = self.slots
        self._texts += [section.text for section in sections]
        self._end([(name, first) for name in _names(note)], self.slots, is_heading=False)
        above: tuple[str, ...] = ()
        open_runs: list[tuple[str, int]] = []
        for slot, section in enumerate(sections, start=first):
            path = section.heading_path
            if path != above:
                shared = 0
                while shared < len(above) and path[: shared + 1] == above[: shared + 1]:
                    shared += 1
                self._end(open_runs[shared:], slot, is_heading=True)
                open_runs[shared:] = [(heading, slot) for heading in path[shared:]]
                above = path
        self._end(open_runs, self.slots, is_heading=True)

    def _end(self, runs: Sequence[tuple[str, int]], slot: int, *, is_heading: bool) -> None:
        names = self._names
        for name, start in runs:
            self._runs += names.setdefault(name, len(names)), start, slot - start, is_heading

    def build(self) -> Segment:
        """The segment, its sections numbered from 0."""
        names = [*self._names]
        read = self._vocabulary.read(names)
        texts, of_names = self._vocabulary.lists(self._vocabulary.read(self._texts)), self._vocabulary.lists(read)
        runs = np.array(self._runs, dtype=np.int64).reshape(-1, 4)
        name, start, count, is_heading = runs.T
        above = of_names.of(np.repeat(name, count))
        slot_above = ranges(start, count)[above.places]
        terms = np.concatenate((texts.terms, np.repeat(above.terms, NAME_FIELD_WEIGHT)))
        slots = np.concatenate((texts.places, np.repeat(slot_above, NAME_FIELD_WEIGHT)))

        wordy = self._vocabulary.wordy(read)
        asked = of_names.followed_by([self._vocabulary.terms(query_words(names[place])) for place in wordy])
        asked_of_name = np.arange(len(names))
        asked_of_name[wordy] = len(names) + np.arange(len(wordy))
        telling = asked.of(asked_of_name[name])

        every = [*self._vocabulary.numbers]
        seen = np.flatnonzero(np.bincount(np.concatenate((terms, telling.terms))))
        used = sorted(seen.tolist(), key=every.__getitem__)
        rank = np.zeros(len(every), dtype=np.int64)
        rank[used] = np.arange(len(used))
        keys, frequencies = np.unique(_keys(rank[terms], slots), return_counts=True)
        name_keys = _distinct(np.sort(_keys(rank[telling.terms], telling.places)))
        distinct = np.bincount(name_keys & (MAX_SLOTS - 1), minlength=len(runs))
        head = Head(
            sections=np.arange(self.slots),
            lengths=np.bincount(slots, minlength=self.slots),
            names=np.column_stack((start, count, distinct)),
            is_heading=is_heading == 1,
        )
        return _packed([every[number] for number in used], head, keys, frequencies, name_keys)


def merged(
    segments: Sequence[tuple[SegmentHead, Sequence[TermPostings]]], dead: Sequence[int]
) -> tuple[Segment, list[int]]:
    """Several segments as one, without the sections that are dead, and which those were."""
    vocabulary = sorted({row.term for _, rows in segments for row in rows})
    number = {term: place for place, term in enumerate(vocabulary)}
    heads: list[Head] = []
    section_keys: list[Numbers] = []
    frequencies: list[Numbers] = []
    name_keys: list[Numbers] = []
    dropped: list[int] = []
    for packed_head, rows in segments:
        head = unpacked(packed_head)
        alive = ~np.isin(head.sections, np.array(dead, dtype=np.int64))
        dropped += head.sections[~alive].tolist()
        names_alive = alive[head.names[:, 0]]
        new_slot = sum(len(each.sections) for each in heads) + np.cumsum(alive) - 1
        new_name = sum(len(each.names) for each in heads) + np.cumsum(names_alive) - 1
        head.names[:, 0] = new_slot[head.names[:, 0]]
        heads.append(
            Head(head.sections[alive], head.lengths[alive], head.names[names_alive], head.is_heading[names_alive])
        )
        numbers = [number[row.term] for row in rows]
        slot, frequency = section_postings(b"".join(row.sections for row in rows))
        term = np.repeat(numbers, [len(row.sections) // _WORD.itemsize for row in rows])
        kept = alive[slot]
        section_keys.append(_keys(term[kept], new_slot[slot[kept]]))
        frequencies.append(frequency[kept])
        name = name_postings(b"".join(row.names for row in rows))
        term = np.repeat(numbers, [len(row.names) // _WORD.itemsize for row in rows])
        kept = names_alive[name]
        name_keys.append(_keys(term[kept], new_name[name[kept]]))
    keys = np.concatenate(section_keys)
    order = np.argsort(keys)
    segment = _packed(
        vocabulary,
        Head(*map(np.concatenate, zip(*heads, strict=True))),
        keys[order],
        np.concatenate(frequencies)[order],
        np.sort(np.concatenate(name_keys)),
    )
    return segment, dropped


def unpacked(head: SegmentHead) -> Head:
    names = np.frombuffer(head.names, _WORD).astype(np.int64).reshape(-1, 3)
    is_heading = names[:, 2] >= _HEADING_BIT
    names[:, 2] &= _HEADING_BIT - 1
    return Head(
        sections=np.frombuffer(head.sections, _WORD).astype(np.int64),
        lengths=np.frombuffer(head.lengths, _SHORT).astype(np.int64),
        names=names,
        is_heading=is_heading,
    )


def section_postings(postings: bytes) -> tuple[Numbers, Numbers]:
    """The slots of a packed row, and the term frequency in each."""
    numbers = np.frombuffer(postings, _WORD).astype(np.int64)
    return numbers >> _FREQUENCY_BITS, numbers & _MAX_FREQUENCY


def name_postings(postings: bytes) -> Numbers:
    return np.frombuffer(postings, _WORD).astype(np.int64)


def _names(note: Note) -> list[str]:
    """What a note is called: its title, the name of its file where that is another one, its aliases.

    Each of its sections is found by them, so that names without measure would outweigh the text: they are cut.
    """
    file = file_title(note.path)
    title = note.title[:_MAX_NAME_CHARACTERS]
    is_title = file == title or words(file) == words(title)
    names = [title, *([] if is_title else [file]), *note.aliases]
    ends = accumulate(map(len, names))
    return [name for name, end in zip(names, ends, strict=True) if end <= _MAX_NAME_CHARACTERS]


def _packed(vocabulary: Sequence[str], head: Head, keys: Numbers, frequencies: Numbers, name_keys: Numbers) -> Segment:
    """From sorted keys, whose upper part is the term's place in the vocabulary."""
    slots = keys & (MAX_SLOTS - 1)
    packed = slots << _FREQUENCY_BITS | np.minimum(frequencies, _MAX_FREQUENCY)
    used = _distinct(keys >> _SLOT_BITS)
    return Segment(
        slots=len(head.sections),
        sections=head.sections.astype(_WORD).tobytes(),
        lengths=np.minimum(head.lengths, _MAX_LENGTH).astype(_SHORT).tobytes(),
        names=(head.names + head.is_heading[:, None] * [0, 0, _HEADING_BIT]).astype(_WORD).tobytes(),
        terms=[vocabulary[place] for place in used.tolist()],
        section_postings=packed.astype(_WORD).tobytes(),
        section_ends=_ends(keys, used),
        name_postings=(name_keys & (MAX_SLOTS - 1)).astype(_WORD).tobytes(),
        name_ends=_ends(name_keys, used),
    )


def _ends(keys: Numbers, terms: Numbers) -> list[int]:
    """Where, in bytes of packed numbers, the part of each term ends."""
    ends: list[int] = (np.searchsorted(keys >> _SLOT_BITS, terms, side="right") * _WORD.itemsize).tolist()
    return ends


def _distinct(ordered: Numbers) -> Numbers:
    return ordered[np.diff(ordered, prepend=-1) > 0]


def _keys(term: Numbers, place: Numbers) -> Numbers:
    return term << _SLOT_BITS | place


def merge_segments(index: SqliteNoteIndex) -> None:
    """Merge small segments, and rewrite those of which much is dead."""
    while small := _of_one_size(index.segment_sizes()):
        _rewrite(index, small)
    dead = np.array(index.dead_sections(), dtype=np.int64)
    if len(dead) > max(_MIN_DEAD, _MIN_DEAD_SHARE * sum(index.segment_sizes().values())):
        for head in index.segment_heads():
            if np.isin(unpacked(head).sections, dead).sum() > _MIN_DEAD_SHARE * head.slots:
                _rewrite(index, [head.id])


def _of_one_size(sizes: dict[int, int]) -> list[int]:
    """Segments of the first magnitude, in powers of eight, that has enough of them."""
    magnitudes: dict[int, list[int]] = {}
    for segment, slots in sizes.items():
        if slots < _MAX_MERGED_SLOTS:
            magnitudes.setdefault(slots.bit_length() // 3, []).append(segment)
    return next((found for _, found in sorted(magnitudes.items()) if len(found) >= _MERGE_FACTOR), [])


def _rewrite(index: SqliteNoteIndex, segments: Sequence[int]) -> None:
    parts, dead = index.load_segments(segments)
    if len(parts) == len(segments):  # else another process was quicker
        index.replace_segments(segments, *merged(parts, dead))
