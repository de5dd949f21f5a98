"""A cache of the names of all notes, files, folders and tags for completion, refreshed in the background."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from zkchat.model.message import ChatMessage
from zkchat.model.note import may_hold_text
from zkchat.repl.folder_names import FolderNames
from zkchat.repl.note_names import NamedNote, NameMatch, NoteNames
from zkchat.repl.tag_names import CountedTag, TagNames
from zkchat.vault.library import Library
from zkchat.vault.links.folders import folders_of, is_folder

_MAX_MATCHES: Final = 40
_MAX_OTHERS: Final = 10
"""Files and folders that are offered before anything is typed."""


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


_MAX_NEAR = 200


def _near(library: Library, messages: Iterable[ChatMessage]) -> tuple[str, ...]:
    """The notes of a conversation, most recently used first, then their neighbours in the graph."""
    newest_first = reversed([reference for message in messages for reference in message.references])
    used = dict.fromkeys(reference.relative_path for reference in newest_first if reference.relative_path)
    if not used:
        return ()
    linked = (path for edge in library.edges([*used]) for path in edge)
    return tuple(dict.fromkeys((*used, *linked)))[:_MAX_NEAR]
