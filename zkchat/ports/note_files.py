"""The files of a vault, to be read."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from zkchat.model.folder import FolderListing


class NoteFiles(Protocol):
    """The files of one vault, and nothing outside it."""

    def read(self, path: str) -> str:
        """The text of a note. Raises `NoteNotFound`, `NoteUnreadable` or `OutsideVault`."""

    def read_whole(self, path: str) -> tuple[str, bool]:
        """The same, and whether every byte of it was text; what is none is shown as U+FFFD."""

    def read_data(self, path: str, most: int) -> bytes:
        """What any file holds. Raises `NoteUnreadable` where that are more than `most` bytes, else as `read`."""

    def identity(self, path: str) -> object | None:
        """A value that is another one after every change of the file; None where that cannot be promised."""

    def linked(self, paths: Iterable[str]) -> dict[str, str]:
        """Those of the paths that are symbolic links, or go through one, and where in the vault they lead."""

    def shared(self, path: str) -> object | None:
        """What is the same for all names of a file (hard links); None where it has no other name."""


class ListedFiles(NoteFiles, Protocol):
    """The files of one vault, which can also be listed."""

    def folders(self) -> Iterable[FolderListing]:
        """Every folder of the vault, each once, in no particular order."""

    def changed_folders(self, unsettled: Iterable[str]) -> Sequence[FolderListing] | None:
        """The folders in which files changed since the last look, and those that are unsettled.

        None where that is not known: then all are to be listed, and what changes meanwhile is told at the next call.
        """
