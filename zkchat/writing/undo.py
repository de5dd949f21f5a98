"""Undoing changes of the journal: which ones, what that does to each file, and in which order."""

from zkchat.errors import UsageError
from zkchat.model.change import ChangeRecord, ChangeSet, FileWrite
from zkchat.model.patch import path_before
from zkchat.model.text import counted
from zkchat.ports import ChangeStore


def changes_to_undo(store: ChangeStore, count: int = 1) -> list[ChangeRecord]:
    """The last changes that are in force, the latest first. Raises `UsageError` where there are not so many."""
    found: list[ChangeRecord] = []
    for limit in (4 * count, None):  # the journal holds all that the files ever were
        records = store.records(limit=limit)
        found = [record for record in records if record.state == "applied"][:count]
        if len(found) == count or len(records) < 4 * count:
            break
    if not found:
        raise UsageError("There is nothing to undo.", hint="zkchat changed nothing in this vault, or all is undone.")
    if len(found) < count:
        raise UsageError(f"Only {counted(len(found), 'change')} can be undone.", hint="zkchat changes lists them.")
    return found


def find_change(store: ChangeStore, number: int) -> ChangeRecord:
    """A change by its number in the journal. Raises `UsageError` for one that is not there."""
    found = next((record for record in store.records() if record.id == number), None)
    if found is None:
        raise UsageError(f"There is no change {number}.", hint="zkchat changes lists them.")
    return found


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
