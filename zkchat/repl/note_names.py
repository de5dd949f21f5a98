"""The names of all notes, and those that fit what was typed so far: quick enough to be asked at every key."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from heapq import nsmallest
from itertools import accumulate, chain, compress, islice, repeat
from operator import and_, contains
from typing import Final

from zkchat.model.note import without_suffix

_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_ALIKE: Final = str.maketrans({"-": " ", "_": " ", "\n": " ", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})
_ENOUGH: Final = 400
"""Names that are compared with each other, at most. Those of notes changed lately stand first, and are among them."""
_FEW: Final = 5
"""Names that hold what was typed. Where there are fewer, it may have been spelled otherwise."""
_HEAD_START: Final = 1
"""By how much a note of the conversation at hand fits better than another one; never better than its very name."""


def folded(name: str) -> str:
    """The same for names that differ in case, accents, width of letters, or in how they join their words."""
    if not name.isascii():
        bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", name.casefold()))
        name = unicodedata.normalize("NFKC", bare)
    return name.lower().translate(_ALIKE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedNote:
    """What is known of a note without reading it."""

    path: str
    title: str
    aliases: tuple[str, ...] = ()
    size: int = 0
    """In bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """A note, and the name of it that fits: its title, an alias or its path."""

    note: NamedNote
    name: str


class NoteNames:
    """Made once for a state of the vault, from notes in the order in which they are to be offered."""

    def __init__(self, notes: Iterable[NamedNote]) -> None:
        self._notes = list(notes)
        self._by_path = {note.path: number for number, note in enumerate(self._notes)}
        self._files = Counter(folded(_file(note.path)) for note in self._notes)
        self._names = _Names(
            (name, number)
            for number, note in enumerate(self._notes)
            for name in dict.fromkeys((note.title, _file(note.path), *note.aliases))
        )
        self._paths = _Names((_stem(note.path), number) for number, note in enumerate(self._notes))

    def fitting(self, typed: str, *, first: Sequence[str] = (), limit: int = 40) -> list[Fitting]:
        """The notes that fit best, each once. Those at the paths `first` have a head start, in their order."""
        asked = " ".join(folded(typed).split())
        preferred = {self._by_path[path]: place for place, path in enumerate(first) if path in self._by_path}
        if not asked:
            numbers = islice(dict.fromkeys(chain(preferred, range(len(self._notes[:limit])))), limit)
            return [Fitting(note=self._notes[number], name=self._notes[number].title) for number in numbers]
        best: dict[int, tuple[int, int, str]] = {}
        by_path = "/" in asked
        for source, loosely in ((self._names, 0 if by_path else _FEW), (self._paths, _FEW if by_path else 0)):
            for name, number, fit in source.fitting(asked, preferred, loosely=loosely) if len(best) < _FEW else ():
                place = preferred.get(number, len(preferred) + number)
                rank = (fit - (_HEAD_START if number in preferred else 0), place)
                if number not in best or rank < best[number][:2]:  # of names that fit alike the first: the title
                    best[number] = (*rank, name)
        chosen = nsmallest(limit, best, key=best.__getitem__)
        return [Fitting(note=self._notes[number], name=best[number][2]) for number in chosen]

    def link(self, path: str) -> str:
        """What to write between brackets to mean this note: its name, or its path where others have that name too."""
        name = _file(path)
        return name if self._files[folded(name)] == 1 else _stem(path)


class _Names:
    """Names of numbered notes, a line for each. Whatever has to look at all of them is one call that runs in C."""

    def __init__(self, names: Iterable[tuple[str, int]]) -> None:
        self._named = list(names)
        self._lines = [folded(name) for name, _ in self._named]
        self._text = "\n".join((*self._lines, ""))
        self._starts = [*accumulate((len(line) + 1 for line in self._lines), initial=0)]
        self._sorted = sorted(range(len(self._lines)), key=self._lines.__getitem__)
        self._with_letter: dict[str, int] = {}

    def fitting(self, asked: str, preferred: Iterable[int], *, loosely: int) -> list[tuple[str, int, int]]:
        """Names with the numbers of their notes and how well they fit.

        Where fewer than `loosely` hold what was asked for, they may hold its words apart, or its letters.
        """
        fits: dict[int, int] = {}
        letters = _letters_in_order(asked)
        for way, enough in (
            (self._of(preferred), _ENOUGH),
            (self._beginning_with(asked), _ENOUGH),
            (self._holding(asked), _ENOUGH),
            (self._spelled(asked, letters), loosely),
        ):
            if len(fits) < enough:
                for line in islice(way, _ENOUGH):
                    if (fit := _fit(asked, letters, self._lines[line])) is not None:
                        fits[line] = fit
        return [(*self._named[line], fit) for line, fit in sorted(fits.items())]

    def _of(self, numbers: Iterable[int]) -> Iterator[int]:
        return (line for number in numbers for line in self._lines_of.get(number, ()))

    @cached_property
    def _lines_of(self) -> dict[int, list[int]]:
        lines: dict[int, list[int]] = {}
        for line, (_, number) in enumerate(self._named):
            lines.setdefault(number, []).append(line)
        return lines

    def _beginning_with(self, asked: str) -> list[int]:
        first = bisect_left(self._sorted, asked, key=self._lines.__getitem__)
        last = bisect_left(self._sorted, asked + "\U0010ffff", lo=first, key=self._lines.__getitem__)
        return nsmallest(_ENOUGH, self._sorted[first:last])

    def _holding(self, asked: str) -> Iterator[int]:
        at = self._text.find(asked)
        while at >= 0:
            line = bisect_right(self._starts, at) - 1
            yield line
            at = self._text.find(asked, self._starts[line + 1])

    def _spelled(self, asked: str, letters: re.Pattern[str]) -> Iterator[int]:
        """Lines that hold the words in any order, then those that hold the letters in this one."""
        marks = reduce(and_, map(self._marks, set(asked) - {" "})).to_bytes(len(self._lines), "big")
        numbers, lines = [*compress(range(len(marks)), marks)], [*compress(self._lines, marks)]
        words = asked.split()
        if len(words) > 1:
            each = (map(contains, lines, repeat(word)) for word in words)
            yield from compress(numbers, map(min, *each))
        yield from compress(numbers, map(letters.match, lines))

    def _marks(self, letter: str) -> int:
        """A byte for each line that says whether it holds the letter; as a number, of which two are quickly joined."""
        if letter not in self._with_letter:
            marks = bytes(map(contains, self._lines, repeat(letter)))
            self._with_letter[letter] = int.from_bytes(marks, "big")
        return self._with_letter[letter]


def _letters_in_order(asked: str) -> re.Pattern[str]:
    """Each letter somewhere after the one before. The classes leave but one way to match, so that it is quick."""
    letters = [re.escape(letter) for letter in asked if letter != " "]
    return re.compile("".join(f"[^{letter}]*{letter}" for letter in letters))


def _fit(asked: str, letters: re.Pattern[str], name: str) -> int | None:
    """How a name fits what was typed: the smaller, the better."""
    if name.startswith(asked):
        return 0 if len(name) == len(asked) else 1
    if asked in name:
        return 2 if f" {asked}" in name or f"/{asked}" in name else 3
    if all(word in name for word in asked.split()):
        return 4
    return 5 if letters.match(name) else None


def _stem(path: str) -> str:
    return without_suffix(path)


def _file(path: str) -> str:
    return _stem(path).rpartition("/")[2]
