"""Undoing changes of the journal: which ones, what that does to each file, and why it cannot be done."""

from collections.abc import Sequence
from typing import Final

from zkchat.errors import FileConflict, FilesChanged, UsageError
from zkchat.model.change import ChangeRecord, ChangeSet, FileWrite
from zkchat.model.patch import path_before
from zkchat.model.text import counted
from zkchat.ports import ChangeStore

_MAX_NAMED: Final = 3
"""Files that changed since."""


def changes_to_undo(store: ChangeStore, count: int = 1) -> list[ChangeRecord]:
    """The last changes that are in force, the latest first. Raises `UsageError` where there are not so many."""
    found: list[ChangeRecord] = []
    for limit in (4 * count, None):  # the journal holds all that the files ever were
        records = store.records(limit=limit, with_contents=False)
        found = [record for record in records if record.state == "applied"][:count]
        if len(found) == count or len(records) < 4 * count:
            break
    if not found:
        raise UsageError("There is nothing to undo.", hint="zkchat changed nothing in this vault, or all is undone.")
    if len(found) < count:
        raise UsageError(f"Only {counted(len(found), 'change')} can be undone.", hint="zkchat changes lists them.")
    return [store.record(record.id) for record in found]


def reversal(changes: ChangeSet) -> ChangeSet:
    """What undoing does, to be shown: a file that goes away is one that becomes empty."""
    return ChangeSet(
        title=f"Undo: {changes.title}",
        moves=tuple(move.reversed() for move in reversed(changes.moves)),
        writes=tuple(
            FileWrite(path=path_before(changes, write.path), before=write.after, after=write.before or b"")
            for write in changes.writes
        ),
    )


def removed_paths(changes: ChangeSet) -> list[str]:
    """The files that a change set made, which go away when it is undone."""
    return [write.path for write in changes.writes if write.before is None]


def require_undoable(store: ChangeStore, record: ChangeRecord) -> None:
    """Raises `UsageError` for a change that is undone already, `FilesChanged` where it is the last one and a file that
    it wrote changed since. Of others the store knows whether a later change rests on them."""
    if record.state == "undone":
        raise UsageError(f"Change {record.id} is undone already.", hint="zkchat changes lists them.")
    if changes_to_undo(store) != [record]:
        return
    conflicts = [
        FileConflict(path=write.path, expected=write.after, wanted=write.before, found=found)
        for write in record.changes.writes
        if (found := store.read_bytes(write.path)) != write.after
    ]
    if conflicts:
        raise _refusal(record, conflicts)


def undo_change(store: ChangeStore, record: ChangeRecord) -> ChangeRecord:
    """Undo a change. Raises `FilesChanged` with the way out."""
    try:
        return store.undo(record.id)
    except FilesChanged as error:
        raise (_refusal(record, error.conflicts) if error.conflicts else error) from error


def _refusal(record: ChangeRecord, conflicts: Sequence[FileConflict]) -> FilesChanged:
    paths = ", ".join(conflict.path for conflict in conflicts[:_MAX_NAMED])
    more = f" and {len(conflicts) - _MAX_NAMED} more" if len(conflicts) > _MAX_NAMED else ""
    return FilesChanged(
        f"Change {record.id} ({record.changes.title}) is not undone: {paths}{more} changed since.",
        hint="Nothing was changed. The first diff shows what zkchat did: take that back in your editor.",
        conflicts=conflicts,
    )
