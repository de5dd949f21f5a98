"""What the commands over the vault share: the notes, the numbered list shown last, and the note that is being read."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from msgspec import Struct, field

from zkchat.model.choices import OpenWith
from zkchat.render.numbered_rows import Place
from zkchat.repl.note_pages import Position
from zkchat.vault.daily_notes import DailyNoteSettings
from zkchat.vault.library import Library

_MAX_REFRESH_SECONDS: Final = 0.5
"""How long a command waits for notes that changed; the rest goes on beside it."""


class VaultView:
    """The list and the note that were shown last; both count until another answer comes."""

    def __init__(self) -> None:
        self._listed: tuple[str, Sequence[Place]] = ("", ())
        self._reading: tuple[str, tuple[Place, str, Position]] | None = None

    def show_list(self, answer_id: str, places: Sequence[Place]) -> None:
        """Remember a list that was shown after this answer."""
        self._listed = (answer_id, places)

    def forget_list(self) -> None:
        """The documents of the answer are what is numbered again."""
        self._listed = ("", ())

    def listed(self, answer_id: str) -> Sequence[Place]:
        """The list shown since this answer; empty if none was."""
        return self._listed[1] if self._listed[0] == answer_id else ()

    def show_note(self, answer_id: str, place: Place, path: str, position: Position) -> None:
        """Remember how far a note was shown after this answer."""
        self._reading = (answer_id, (place, path, position))

    @property
    def reading(self) -> tuple[Place, str, Position] | None:
        """The place shown last, its path, and how far it was shown."""
        return self._reading[1] if self._reading else None

    def current(self, answer_id: str) -> Place | None:
        """The note shown last, if it was shown since this answer."""
        return self._reading[1][0] if self._reading and self._reading[0] == answer_id else None


class DocumentEditor(Protocol):
    """The user's editor, for documents of the vault."""

    @property
    def name(self) -> str:
        """What the user calls it; empty where none is set."""
        ...

    def edit(self, path: str, line: int | None) -> None:
        """Open a document at a line, and wait until the editor is closed. Raises `UsageError` if it cannot start."""
        ...


class VaultBrowser(Struct, frozen=True, kw_only=True):
    """The vault as its owner sees it on the own screen. Nothing of it goes to a model."""

    library: Library
    """All notes, private ones too."""
    view: VaultView = field(default_factory=VaultView)
    editor: DocumentEditor
    open_with: OpenWith = "auto"
    daily_notes: Callable[[], DailyNoteSettings]

    def refreshed(self) -> Library:
        """The notes, as they are now as far as that is known in a moment."""
        self.library.refresh_within(_MAX_REFRESH_SECONDS)
        return self.library
