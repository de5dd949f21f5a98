"""The files of a vault, to be changed."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from zkchat.errors import FilesChanged
from zkchat.model.change import ChangeOrigin, ChangeRecord, ChangeSet, FileMove

BringToPresent = Callable[[ChangeSet, FilesChanged], ChangeSet]
"""Makes the same changes of what the files hold now. Raises `FilesChanged` where that cannot be done."""


class ChangeableFiles(Protocol):
    """The files of a vault to the last byte, as a change needs them. Raises `OutsideVault` for a path that leads out,
    and `VaultError` for one that no change may touch: hidden files and folders, those of `vault.exclude`."""

    def read_bytes(self, path: str) -> bytes | None:
        """What a file holds; None where there is none. Raises `NoteUnreadable`."""

    def is_taken(self, path: str) -> bool:
        """Whether a file, folder or link has this path; where names ignore case, also one that differs only in it."""


class ChangeStore(ChangeableFiles, Protocol):
    """The files of a vault, changed so that every change is in the journal first and can be undone."""

    def apply(self, changes: ChangeSet, origin: ChangeOrigin, bring: BringToPresent | None = None) -> ChangeRecord:
        """Make all of the changes or none, as the record tells them.

        Where a file is not what `before` says, `bring` makes them anew while no other process changes files. Raises
        `FilesChanged` where it cannot, or there is none, `VaultError` for a target that is taken or out of
        reach, `StorageError` where the disk refuses; nothing is changed then.
        """

    def undo(self, record_id: int) -> ChangeRecord:
        """Restore what a change replaced, to the last byte. Raises `FilesChanged` where a file changed since."""

    def records(
        self, *, since: datetime | None = None, limit: int | None = None, with_contents: bool = True
    ) -> list[ChangeRecord]:
        """The journal, the latest change first. Without contents, what files held is empty in it."""

    def record(self, record_id: int) -> ChangeRecord:
        """One change of the journal. Raises `UsageError` where there is none of this number."""

    def last_move(self, move: FileMove) -> ChangeSet | None:
        """The last change set in force that made this move."""
