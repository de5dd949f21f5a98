"""Names for completion: notes, folders and tags, kept while the user types."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from heapq import nsmallest
from itertools import accumulate, chain, compress, islice, repeat
from operator import and_
from string import ascii_lowercase
from typing import Final

from msgspec import Struct

from zkchat.core import ChatMessage, lazy_pattern, may_hold_text, without_suffix
from zkchat.index import Library
from zkchat.notes import folders_of, is_folder

_ACCENTS: Final = lazy_pattern("[\u0300-\u036f]")
_ALIKE: Final = str.maketrans({"-": " ", "_": " ", "\n": " ", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})
_MAX_COMPARED: Final = 400
"""Names that are ranked at most. Recently changed notes come first, and are among them."""
_MIN_EXACT: Final = 5
"""With fewer names that contain the query, names that match loosely are searched too."""
_PREFERENCE: Final = 1
"""By how much a note of the current conversation ranks better; never better than an exact name."""
_MAX_MATCHES: Final = 40
_MAX_OTHERS: Final = 10
"""Files and folders that are offered before anything is typed."""


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


class NoteNames:
    """An immutable index of names, built from notes in the order in which they are suggested."""

    def __init__(self, notes: Iterable[NamedNote]) -> None:
        self._notes = list(notes)
        self._by_path = {note.path: number for number, note in enumerate(self._notes)}
        self._files = Counter(normalize_name(_file(note.path)) for note in self._notes)
        self._names = _Names(
            (name, number)
            for number, note in enumerate(self._notes)
            for name in dict.fromkeys((note.title, _file(note.path), *note.aliases))
        )
        self._names.count_letters()
        self._paths = _Names((without_suffix(note.path), number) for number, note in enumerate(self._notes))

    def find(self, typed: str, *, first: Sequence[str] = (), limit: int = _MAX_MATCHES) -> list[NameMatch]:
        """The best matches, each note once. Notes at the paths `first` are preferred, in this order."""
        query = " ".join(normalize_name(typed).split())
        preferred = {self._by_path[path]: place for place, path in enumerate(first) if path in self._by_path}
        if not query:
            numbers = islice(dict.fromkeys(chain(preferred, range(len(self._notes[:limit])))), limit)
            return [NameMatch(note=self._notes[number], name=self._notes[number].title) for number in numbers]
        best: dict[int, tuple[int, int, str]] = {}
        by_path = "/" in query
        for source, is_meant in ((self._names, not by_path), (self._paths, by_path)):
            if len(best) >= _MIN_EXACT:
                break
            for name, number, name_rank in source.find(query, preferred, min_exact=_MIN_EXACT if is_meant else 0):
                place = preferred.get(number, len(preferred) + number)
                rank = (name_rank - (_PREFERENCE if number in preferred else 0), place)
                if number not in best or rank < best[number][:2]:  # of equal ranks the first: the title
                    best[number] = (*rank, name)
        chosen = nsmallest(limit, best, key=best.__getitem__)
        return [NameMatch(note=self._notes[number], name=best[number][2], rank=best[number][0]) for number in chosen]

    def link(self, path: str) -> str:
        """The link target for this note: its name, or its path where the name is ambiguous."""
        name = _file(path)
        return name if self._files[normalize_name(name)] == 1 else without_suffix(path)


class _Names:
    """Names of numbered notes, one per line. Every scan over all names is one call that runs in C."""

    def __init__(self, names: Iterable[tuple[str, int]]) -> None:
        self._named = list(names)
        self._lines = [normalize_name(name) for name, _ in self._named]
        self._text = "\n".join((*self._lines, ""))
        self._starts = [*accumulate((len(line) + 1 for line in self._lines), initial=0)]
        self._sorted = sorted(range(len(self._lines)), key=self._lines.__getitem__)
        self._letter_counts: dict[str, bytes] = {}
        self._having_letters: dict[tuple[str, int], int] = {}
        self._with_query = self._with_word = self._with_letters = _Narrowed("", None)

    def count_letters(self) -> None:
        """Prepare what a loose search needs, while nobody waits for it."""
        for letter in ascii_lowercase:
            self._counts_of(letter)

    def find(self, query: str, preferred: Iterable[int], *, min_exact: int) -> list[tuple[str, int, int]]:
        """Names with the numbers of their notes and their ranks.

        If fewer than `min_exact` contain the query, names with its words apart or its letters in order match too.
        """
        ranks: dict[int, int] = {}
        letters = _letters_in_order(query)
        for way, enough in (
            (self._of(preferred), _MAX_COMPARED),
            (self._starting_with(query), _MAX_COMPARED),
            (self._containing(query), _MAX_COMPARED),
            (chain(self._with_words(query), self._with_letters_in_order(query, letters)), min_exact),
        ):
            if len(ranks) < enough:
                for line in islice(way, _MAX_COMPARED):
                    if (rank := _rank(query, letters, self._lines[line])) is not None:
                        ranks[line] = rank
        return [(*self._named[line], rank) for line, rank in sorted(ranks.items())]

    def _of(self, numbers: Iterable[int]) -> Iterator[int]:
        return (line for number in numbers for line in self._lines_of.get(number, ()))

    @cached_property
    def _lines_of(self) -> dict[int, list[int]]:
        lines: dict[int, list[int]] = {}
        for line, (_, number) in enumerate(self._named):
            lines.setdefault(number, []).append(line)
        return lines

    def _starting_with(self, query: str) -> list[int]:
        first = bisect_left(self._sorted, query, key=self._lines.__getitem__)
        last = bisect_left(self._sorted, query + "\U0010ffff", lo=first, key=self._lines.__getitem__)
        return nsmallest(_MAX_COMPARED, self._sorted[first:last])

    def _containing(self, query: str) -> Iterator[int]:
        before = self._with_query.lines_for(query)
        found: list[int] = []
        for line in self._scan(query) if before is None else [line for line in before if query in self._lines[line]]:
            found.append(line)
            yield line
        self._with_query = _Narrowed(query, found)
        if " " not in query:
            self._with_word = self._with_query

    def _scan(self, text: str) -> Iterator[int]:
        at = self._text.find(text)
        while at >= 0:
            line = bisect_right(self._starts, at) - 1
            yield line
            at = self._text.find(text, self._starts[line + 1])

    def _with_words(self, query: str) -> Iterator[int]:
        """Lines that contain the words in any order; the longest is looked for, which the fewest contain."""
        words = query.split()
        if len(words) < 2:
            return
        longest = max(words, key=len)
        before = self._with_word.lines_for(longest)
        if before is None:
            before = [*self._scan(longest)]
            self._with_word = _Narrowed(longest, before)
        yield from (line for line in before if all(word in self._lines[line] for word in words))

    def _with_letters_in_order(self, query: str, letters: re.Pattern[str]) -> Iterator[int]:
        before = self._with_letters.lines_for(query)
        lines = self._with_all_letters(query) if before is None else before
        found: list[int] = []
        for line in compress(lines, map(letters.match, map(self._lines.__getitem__, lines))):
            found.append(line)
            yield line
        self._with_letters = _Narrowed(query, found)

    def _with_all_letters(self, query: str) -> Sequence[int]:
        """The lines that hold each letter of a query as often as the query does."""
        wanted = Counter(query.replace(" ", ""))
        marks = reduce(and_, (self._having(letter, min(count, 255)) for letter, count in wanted.items()))
        return [*compress(range(len(self._lines)), marks.to_bytes(len(self._lines), "big"))]

    def _having(self, letter: str, times: int) -> int:
        """A byte for each line that says whether the letter stands in it so often, as an integer for fast AND."""
        if (letter, times) not in self._having_letters:
            at_least = bytes(times) + b"\1" * (256 - times)
            marks = self._counts_of(letter).translate(at_least)
            self._having_letters[letter, times] = int.from_bytes(marks, "big")
        return self._having_letters[letter, times]

    def _counts_of(self, letter: str) -> bytes:
        """How often each line holds a letter, up to 255 times."""
        if letter not in self._letter_counts:
            counts = map(str.count, self._lines, repeat(letter))
            longest = max(map(len, self._lines), default=0)
            self._letter_counts[letter] = bytes(map(min, counts, repeat(255)) if longest > 255 else counts)
        return self._letter_counts[letter]


class _Narrowed(Struct, frozen=True):
    """All lines that match a query. Those that match what is typed after it are among them."""

    query: str
    lines: list[int] | None

    def lines_for(self, query: str) -> list[int] | None:
        """None where any line may match."""
        return self.lines if self.query and query.startswith(self.query) else None


def _letters_in_order(query: str) -> re.Pattern[str]:
    """A pattern of letters in order. The character classes leave one way to match, so there is no backtracking."""
    letters = [re.escape(letter) for letter in query if letter != " "]
    return re.compile("".join(f"[^{letter}]*{letter}" for letter in letters))


def _rank(query: str, letters: re.Pattern[str], name: str) -> int | None:
    """The rank of a name for a query, smaller is better; None without a match."""
    if name.startswith(query):
        return 0 if len(name) == len(query) else 1
    if query in name:
        return 2 if f" {query}" in name or f"/{query}" in name else 3
    if all(word in name for word in query.split()):
        return 4
    return 5 if letters.match(name) else None


def _file(path: str) -> str:
    return without_suffix(path).rpartition("/")[2]


class FolderNames:
    """An immutable index of documents and folders (whose paths end in a slash) by the folder that they are in."""

    def __init__(self, documents: Iterable[NamedNote] = ()) -> None:
        self._inside: dict[str, list[tuple[str, NamedNote]]] = {}
        for document in documents:
            folder, _, name = document.path.rstrip("/").rpartition("/")
            if folder:
                self._inside.setdefault(normalize_name(folder), []).append((normalize_name(name), document))

    def find(self, typed: str, *, limit: int = _MAX_MATCHES) -> list[NameMatch]:
        """What is in the folder before the last slash and contains what comes after it; folders first, then by name.

        Empty if there is no such folder, or nothing in it matches.
        """
        folder, _, rest = normalize_name(typed).rpartition("/")
        found = [(name, document) for name, document in self._inside.get(folder, ()) if rest in name]
        found.sort(key=lambda each: (not each[0].startswith(rest), not each[1].path.endswith("/"), each[0]))
        return [NameMatch(note=document, name=document.path) for _, document in found[:limit]]


class TagNames:
    """An immutable list of tags, those of most notes first. `a` is there where only `a/b` is used, too."""

    def __init__(self, tags: Mapping[str, Collection[str]] | None = None) -> None:
        notes: dict[str, set[str]] = {}
        for name, paths in (tags or {}).items():
            parts = name.split("/")
            for count in range(1, len(parts) + 1):
                notes.setdefault("/".join(parts[:count]), set()).update(paths)
        counted = sorted((-len(paths), tag) for tag, paths in notes.items())
        self._tags = [(normalize_name(tag), tag, -count) for count, tag in counted]

    def find(self, typed: str, *, limit: int = _MAX_MATCHES) -> list[tuple[str, int]]:
        """Those that contain what was typed, without `#`, and how many notes have each or one below it.

        First those that begin with it, then those with a part that does.
        """
        query = normalize_name(typed)
        found = [(known, tag, count) for known, tag, count in self._tags if query in known]
        found.sort(key=lambda each: 0 if each[0].startswith(query) else 1 if f"/{query}" in each[0] else 2)
        return [(tag, count) for _, tag, count in found[:limit]]


class NameCache:
    """Answers at once from its last refresh. `refresh` may be slow, and is called from the background thread."""

    def __init__(self) -> None:
        self._names = NoteNames(())
        self._others = NoteNames(())
        """Files that hold text and are no notes, and folders."""
        self._folders = FolderNames()
        self._tags = TagNames()
        self._generation: int | None = None
        self._near: tuple[str, ...] = ()

    def refresh(self, library: Library, messages: Sequence[ChatMessage]) -> None:
        """Load the names if the vault changed, and the notes that the conversation is about."""
        generation = library.generation()
        if self._generation != generation:
            notes, others = _by_last_change(library), [*_others(library)]
            self._names, self._others = NoteNames(notes), NoteNames(others)
            self._folders, self._tags = FolderNames([*notes, *others]), TagNames(library.tags())
            self._generation = generation
        self._near = _near(library, messages)

    def find(self, typed: str) -> list[NameMatch]:
        """Notes whose names match, those of the conversation and their neighbours first."""
        return self._names.find(typed, first=self._near)

    def find_documents(self, typed: str) -> list[NameMatch]:
        """The same among notes, other files and folders; after a folder and a slash, what is in that folder."""
        if inside := self._folders.find(typed):
            return inside
        notes, others = self.find(typed), self._others.find(typed, limit=_MAX_MATCHES if typed else _MAX_OTHERS)
        if not typed:
            return [*notes[: _MAX_MATCHES - len(others)], *others]
        return sorted([*notes, *others], key=lambda match: (match.rank, not is_folder(match.note.path)))[:_MAX_MATCHES]

    def find_tags(self, typed: str) -> list[tuple[str, int]]:
        """Tags that match with how many notes have them, those of most notes first."""
        return self._tags.find(typed)

    def link(self, path: str) -> str:
        return self._names.link(path)


def _by_last_change(library: Library) -> list[NamedNote]:
    stamps = library.stamps()
    unknown = (0, 0, False)
    rows = sorted(library.indexed(), key=lambda row: -stamps.get(row.path, unknown)[1])
    return [
        NamedNote(path=row.path, title=row.title, aliases=row.aliases, size=stamps.get(row.path, unknown)[0])
        for row in rows
    ]


def _others(library: Library) -> Iterator[NamedNote]:
    """Folders and files that hold text, those near the root first."""
    paths = [row.path for row in library.files()]
    files = (path for path in paths if may_hold_text(path) and not library.is_indexed(path))
    for path in sorted([*folders_of(paths), *files], key=lambda path: (path.rstrip("/").count("/"), path)):
        name = path.rstrip("/").rpartition("/")[2]
        yield NamedNote(path=path, title=f"{name}/" if path.endswith("/") else name)


def _near(library: Library, messages: Iterable[ChatMessage]) -> tuple[str, ...]:
    """The notes of a conversation, most recently used first, then their neighbours in the graph."""
    newest_first = reversed([reference for message in messages for reference in message.references])
    used = dict.fromkeys(reference.relative_path for reference in newest_first if reference.relative_path)
    if not used:
        return ()
    linked = (path for edge in library.edges([*used]) for path in edge)
    return tuple(dict.fromkeys((*used, *linked)))[:200]
