"""A cache of the names of all notes, files, folders and tags for completion, refreshed in the background."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import Final

from msgspec import Struct

from zkchat.model.message import ChatMessage
from zkchat.model.note import may_hold_text
from zkchat.repl.note_names import NamedNote, NameMatch, NoteNames, normalize_name
from zkchat.vault.library import Library
from zkchat.vault.links.folders import folders_of, is_folder

_MAX_MATCHES: Final = 40
_MAX_OTHERS: Final = 10
"""Files and folders that are offered before anything is typed."""
_MAX_NEAR: Final = 200


class FolderNames:
    """An immutable index of documents and folders (whose paths end in a slash) by the folder that they are in."""

    def __init__(self, documents: Iterable[NamedNote] = ()) -> None:
        self._inside: dict[str, list[tuple[str, NamedNote]]] = {}
        for document in documents:
            folder, _, name = document.path.rstrip("/").rpartition("/")
            if folder:
                self._inside.setdefault(normalize_name(folder), []).append((normalize_name(name), document))

    def find(self, typed: str, *, limit: int = 40) -> list[NameMatch]:
        """What is in the folder before the last slash and contains what comes after it; folders first, then by name.

        Empty if there is no such folder, or nothing in it matches.
        """
        folder, slash, rest = normalize_name(typed).rpartition("/")
        if not slash:
            return []
        found = [(name, document) for name, document in self._inside.get(folder, ()) if rest in name]
        found.sort(key=lambda each: (not each[0].startswith(rest), not each[1].path.endswith("/"), each[0]))
        return [NameMatch(note=document, name=document.path) for _, document in found[:limit]]


class CountedTag(Struct, frozen=True):
    """A tag without its `#`."""

    name: str
    notes: int
    """How many notes have it or a tag below it."""


class TagNames:
    """An immutable list of tags, those of most notes first. `a` is there where only `a/b` is used, too."""

    def __init__(self, tags: Mapping[str, Collection[str]] | None = None) -> None:
        notes: dict[str, set[str]] = {}
        for name, paths in (tags or {}).items():
            for tag in _with_parents(name):
                notes.setdefault(tag, set()).update(paths)
        counted = sorted((-len(paths), tag) for tag, paths in notes.items())
        self._tags = [(normalize_name(tag), CountedTag(tag, -count)) for count, tag in counted]

    def find(self, typed: str, *, limit: int = 40) -> list[CountedTag]:
        """Those that contain what was typed: first those that begin with it, then those with a part that does."""
        query = normalize_name(typed)
        ranked = (
            (rank, place) for place, (name, _) in enumerate(self._tags) if (rank := _tag_rank(query, name)) is not None
        )
        return [self._tags[place][1] for _, place in nsmallest(limit, ranked)]


def _with_parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _tag_rank(query: str, name: str) -> int | None:
    if name.startswith(query):
        return 0
    if f"/{query}" in name:
        return 1
    return 2 if query in name else None


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
        if inside := self._folders.find(typed, limit=_MAX_MATCHES):
            return inside
        notes, others = self.find(typed), self._others.find(typed, limit=_MAX_MATCHES if typed else _MAX_OTHERS)
        if not typed:
            return [*notes[: _MAX_MATCHES - len(others)], *others]
        return sorted([*notes, *others], key=lambda match: (match.rank, not is_folder(match.note.path)))[:_MAX_MATCHES]

    def find_tags(self, typed: str) -> list[CountedTag]:
        """Tags that match, those of most notes first."""
        return self._tags.find(typed, limit=_MAX_MATCHES)

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
