"""The names of the vault's notes for completion, kept up to date away from the prompt."""

from collections.abc import Iterable, Sequence

from zkchat.model.message import ChatMessage
from zkchat.repl.note_names import Fitting, NamedNote, NoteNames
from zkchat.vault.library import Library


class NameCache:
    """Answers at once from what was last put on it. `renew` may take long, and is called from another thread."""

    def __init__(self) -> None:
        self._names = NoteNames(())
        self._generation: int | None = None
        self._near: tuple[str, ...] = ()

    def renew(self, library: Library, messages: Sequence[ChatMessage]) -> None:
        """Take over what changed in the vault, and which notes the conversation is about."""
        generation = library.generation()
        if self._generation != generation:
            self._names, self._generation = NoteNames(_by_last_change(library)), generation
        self._near = _near(library, messages)

    def fitting(self, typed: str) -> list[Fitting]:
        """Notes whose names fit, those of the conversation and their neighbours first."""
        return self._names.fitting(typed, first=self._near)

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


_MOST_NEAR = 200


def _near(library: Library, messages: Iterable[ChatMessage]) -> tuple[str, ...]:
    """The notes of a conversation, the last used first, and after them those that they are linked with."""
    newest_first = reversed([reference for message in messages for reference in message.references])
    used = dict.fromkeys(reference.relative_path for reference in newest_first if reference.relative_path)
    if not used:
        return ()
    linked = (path for edge in library.edges([*used]) for path in edge)
    return tuple(dict.fromkeys((*used, *linked)))[:_MOST_NEAR]
