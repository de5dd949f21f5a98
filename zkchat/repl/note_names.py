"""Fuzzy search over the names of all notes."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from itertools import chain, islice
from typing import Final, NamedTuple

from msgspec import Struct

from zkchat.model.note import without_suffix

_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_ALIKE: Final = str.maketrans({"-": " ", "_": " ", "\n": " ", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})
_MIN_EXACT: Final = 5
"""With fewer names that contain the query, names that match loosely are found too, as those of the conversation are."""
_PREFERENCE: Final = 1
"""By how much a note of the current conversation ranks better; never better than an exact name."""


def normalize_name(name: str) -> str:
    """Normalize case, accents, letter width and word separators."""
    if not name.isascii():
        bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", name.casefold()))
        name = unicodedata.normalize("NFKC", bare)
    return name.lower().translate(_ALIKE)


class NamedNote(Struct, frozen=True, kw_only=True):
    """What the index knows of a note."""

    path: str
    title: str
    aliases: tuple[str, ...] = ()
    size: int = 0
    """In bytes."""


class NameMatch(Struct, frozen=True, kw_only=True):
    """A note, and the name that matches: its title, an alias or its path."""

    note: NamedNote
    name: str
    rank: int = 0
    """Smaller is better."""


class _Name(NamedTuple):
    name: str
    normalized: str
    number: int
    """Of its note."""


class NoteNames:
    """An immutable index of names, built from notes in the order in which they are suggested."""

    def __init__(self, notes: Iterable[NamedNote]) -> None:
        self._notes = list(notes)
        self._by_path = {note.path: number for number, note in enumerate(self._notes)}
        self._files = Counter(normalize_name(_file(note.path)) for note in self._notes)
        self._names = [
            _Name(name, normalize_name(name), number)
            for number, note in enumerate(self._notes)
            for name in dict.fromkeys((note.title, _file(note.path), *note.aliases))
        ]
        self._paths = [
            _Name(without_suffix(note.path), normalize_name(without_suffix(note.path)), number)
            for number, note in enumerate(self._notes)
        ]

    def find(self, typed: str, *, first: Sequence[str] = (), limit: int = 40) -> list[NameMatch]:
        """The best matches, each note once. Notes at the paths `first` are preferred, in this order."""
        query = " ".join(normalize_name(typed).split())
        preferred = {self._by_path[path]: place for place, path in enumerate(first) if path in self._by_path}
        if not query:
            numbers = islice(dict.fromkeys(chain(preferred, range(len(self._notes[:limit])))), limit)
            return [NameMatch(note=self._notes[number], name=self._notes[number].title) for number in numbers]
        best: dict[int, tuple[int, int, str]] = {}
        by_path = "/" in query
        for names, is_meant in ((self._names, not by_path), (self._paths, by_path)):
            if len(best) >= _MIN_EXACT:
                break
            found = [(each, _rank(query, each.normalized)) for each in names if query in each.normalized]
            is_enough = not is_meant or len(found) >= _MIN_EXACT
            compared = [each for each in names if each.number in preferred] if is_enough else names
            for each, name_rank in found + _loose_matches(compared, query):
                number = each.number
                place = preferred.get(number, len(preferred) + number)
                rank = (name_rank - (_PREFERENCE if number in preferred else 0), place)
                if number not in best or rank < best[number][:2]:  # of equal ranks the first: the title
                    best[number] = (*rank, each.name)
        chosen = nsmallest(limit, best, key=best.__getitem__)
        return [NameMatch(note=self._notes[number], name=best[number][2], rank=best[number][0]) for number in chosen]

    def link(self, path: str) -> str:
        """The link target for this note: its name, or its path where the name is ambiguous."""
        name = _file(path)
        return name if self._files[normalize_name(name)] == 1 else without_suffix(path)


def _loose_matches(names: Sequence[_Name], query: str) -> list[tuple[_Name, int]]:
    """Names that hold the words of the query apart, or its letters in order, with their ranks."""
    found: list[tuple[_Name, int]] = []
    if len(words := query.split()) > 1:
        found += [(each, 4) for each in names if all(word in each.normalized for word in words)]
    # The character classes leave one way to match, so there is no backtracking.
    letters = re.compile("".join(f"[^{letter}]*{letter}" for letter in map(re.escape, query.replace(" ", ""))))
    return found + [(each, 5) for each in names if letters.match(each.normalized)]


def _rank(query: str, name: str) -> int:
    """The rank of a name that contains the query, smaller is better."""
    if name.startswith(query):
        return 0 if len(name) == len(query) else 1
    return 2 if f" {query}" in name or f"/{query}" in name else 3


def _file(path: str) -> str:
    return without_suffix(path).rpartition("/")[2]
