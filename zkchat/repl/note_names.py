"""Names for completion: notes, folders and tags, kept while the user types."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from zkchat.core import ChatMessage, lazy_pattern, may_hold_text, without_suffix
from zkchat.index import Library
from zkchat.notes import folders_of, is_folder

_ACCENTS: Final = lazy_pattern("[\u0300-\u036f]")
_ALIKE: Final = str.maketrans({"-": " ", "_": " ", "\n": " ", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})
_MIN_EXACT: Final = 5
"""With fewer names that contain the query, names that match loosely are searched too."""
_MAX_MATCHES: Final = 40
_MAX_OTHERS: Final = 10
"""Files and folders that are offered before anything is typed."""
_MAX_NEAR: Final = 200


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
        self._files = Counter(normalize_name(_file(note.path)) for note in self._notes)
        self._names = [
            (normalize_name(name), name, number)
            for number, note in enumerate(self._notes)
            for name in dict.fromkeys((note.title, _file(note.path), *note.aliases))
        ]
        stems = [without_suffix(note.path) for note in self._notes]
        self._paths = [(normalize_name(stem), stem, number) for number, stem in enumerate(stems)]

    def find(self, typed: str, *, first: Sequence[str] = (), limit: int = _MAX_MATCHES) -> list[NameMatch]:
        """The best matches, each note once. Notes at the paths `first` are preferred, in this order.

        They rank better by one, and so never before an exact name.
        """
        query = " ".join(normalize_name(typed).split())
        preferred = {path: place for place, path in enumerate(first)}
        if not query:
            notes = sorted(self._notes, key=lambda note: preferred.get(note.path, len(preferred)))
            return [NameMatch(note=note, name=note.title) for note in notes[:limit]]
        best: dict[int, tuple[int, int, str]] = {}
        by_path = "/" in query
        for names, is_meant in ((self._names, not by_path), (self._paths, by_path)):
            if len(best) >= _MIN_EXACT:
                break
            for name_rank, name, number in _ranked(query, names, loosely=is_meant):
                path = self._notes[number].path
                rank = (name_rank - (path in preferred), preferred.get(path, len(preferred) + number))
                if number not in best or rank < best[number][:2]:  # of equal ranks the first: the title
                    best[number] = (*rank, name)
        chosen = sorted(best, key=best.__getitem__)[:limit]
        return [NameMatch(note=self._notes[number], name=best[number][2], rank=best[number][0]) for number in chosen]

    def link(self, path: str) -> str:
        """The link target for this note: its name, or its path where the name is ambiguous."""
        name = _file(path)
        return name if self._files[normalize_name(name)] == 1 else without_suffix(path)


def _file(path: str) -> str:
    return without_suffix(path).rpartition("/")[2]


def _ranked(query: str, names: Sequence[tuple[str, str, int]], *, loosely: bool) -> list[tuple[int, str, int]]:
    """The names that match with their ranks, smaller is better.

    If few contain the query, names with its words apart or its letters in order match too.
    """
    exact = [(_exact_rank(query, known), name, number) for known, name, number in names if query in known]
    if len(exact) >= _MIN_EXACT or not loosely:
        return exact
    words = query.split()
    # The character classes leave one way to match, so there is no backtracking.
    letters = re.compile("".join(f"[^{letter}]*{letter}" for letter in map(re.escape, query.replace(" ", ""))))
    others = [each for each in names if query not in each[0]]
    apart = [(4, name, number) for known, name, number in others if all(word in known for word in words)]
    return [*exact, *apart, *((5, name, number) for known, name, number in others if letters.match(known))]


def _exact_rank(query: str, name: str) -> int:
    if name.startswith(query):
        return int(name != query)
    return 2 if f" {query}" in name or f"/{query}" in name else 3


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
    return tuple(dict.fromkeys((*used, *linked)))[:_MAX_NEAR]
