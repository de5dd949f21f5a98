"""What a change set does to each file, for lists and for scripts."""

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from zkchat.model.change import TRASH, ChangeRecord, ChangeSet, FileWrite
from zkchat.model.note import file_title, without_suffix
from zkchat.model.patch import direct_moves, path_before

FileAction = Literal["created", "edited", "moved", "trashed", "removed"]


class FileChange(Struct, frozen=True, kw_only=True):
    """A file, or a folder that was moved, and what a change set does to it."""

    path: str
    """Afterwards."""
    action: FileAction
    moved_from: str = ""
    """Where it was, of one that is moved or trashed."""
    is_edited: bool = False
    """Whether its content changes; always so of one that is edited or created."""


def file_changes(changes: ChangeSet) -> list[FileChange]:
    """The files of a change set: first those that are moved, then those that are only written."""
    written = {write.path for write in changes.writes}
    moved = [*_moves(changes, written)]
    also_moved = {each.path for each in moved}
    return [
        *moved,
        *(
            FileChange(path=write.path, action=_action(write), is_edited=True)
            for write in changes.writes
            if write.path not in also_moved
        ),
    ]


def _action(write: FileWrite) -> FileAction:
    if write.goes_away:
        return "removed"
    return "created" if write.before is None else "edited"


def touches(changes: ChangeSet, path: str) -> bool:
    """Whether a change set concerns a file, under its present path or an earlier one, or a folder above it."""
    named = {write.path for write in changes.writes}
    moved = {end for move in changes.moves for end in (move.source, move.target)}
    return path in named or any(path == each or path.startswith(f"{each}/") for each in moved)


def changes_of(records: Iterable[ChangeRecord], path: str) -> Iterator[ChangeRecord]:
    """The changes of a file, also those under its earlier paths; records come the latest first."""
    for record in records:
        if touches(record.changes, path):
            yield record
            if record.state == "applied":
                path = path_before(record.changes, path)


def last_path_named(records: Iterable[ChangeRecord], name: str) -> str:
    """The path that was changed last of those with this path or file name, with or without suffix; empty for none.

    A file that went to the trash is known by its path before that.
    """
    for record in records:
        writes, moves = record.changes.writes, record.changes.moves
        paths = [*(end for move in moves for end in (move.source, move.target)), *(write.path for write in writes)]
        for path in paths:
            names = {path, path.rpartition("/")[2], file_title(path), without_suffix(path)}
            if name in names and not path.startswith(f"{TRASH}/"):
                return path
    return ""


def _moves(changes: ChangeSet, written: set[str]) -> Iterator[FileChange]:
    for move in direct_moves(changes):
        is_trashed = move.target.startswith(f"{TRASH}/")
        yield FileChange(
            path=move.target,
            action="trashed" if is_trashed else "moved",
            moved_from=move.source,
            is_edited=move.target in written,
        )
