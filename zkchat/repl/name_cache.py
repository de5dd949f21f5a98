"""A cache of the names of all notes for completion, refreshed in the background."""

from collections.abc import Iterable, Sequence

from zkchat.model.message import ChatMessage
from zkchat.repl.note_names import NamedNote, NameMatch, NoteNames
from zkchat.vault.library import Library


class NameCache:
    """Answers at once from its last refresh. `refresh` may be slow, and is called from the background thread."""

    def __init__(self) -> None:
        self._names = NoteNames(())
        self._generation: int | None = None
        self._near: tuple[str, ...] = ()

    def refresh(self, library: Library, messages: Sequence[ChatMessage]) -> None:
        """Load the names if the vault changed, and the notes that the conversation is about."""
        generation = library.generation()
        if self._generation != generation:
            self._names, self._generation = NoteNames(_by_last_change(library)), generation
        self._near = _near(library, messages)

    def find(self, typed: str) -> list[NameMatch]:
        """Notes whose names match, those of the conversation and their neighbours first."""
        return self._names.find(typed, first=self._near)

    def link(self, path: str) -> str:
        return self._names.link(path)


def _by_last_change(library: Library) -> list[NamedNote]:
    stamps = library.stamps()
    unknown = (0, 0, False)
    rows = sorted(library.notes(), key=lambda row: -stamps.get(row.path, unknown)[1])
    return [
        NamedNote(path=row.path, title=row.title, aliases=row.aliases, size=stamps.get(row.path, unknown)[0])
        for row in rows
    ]


_MAX_NEAR = 200


def _near(library: Library, messages: Iterable[ChatMessage]) -> tuple[str, ...]:
    """The notes of a conversation, most recently used first, then their neighbours in the graph."""
    newest_first = reversed([reference for message in messages for reference in message.references])
    used = dict.fromkeys(reference.relative_path for reference in newest_first if reference.relative_path)
    if not used:
        return ()
    linked = (path for edge in library.edges([*used]) for path in edge)
    return tuple(dict.fromkeys((*used, *linked)))[:_MAX_NEAR]
