"""Undoing changes of the journal: which ones, what that does to each file, and in which order."""

from collections.abc import Iterator, Sequence

from zkchat.errors import UsageError
from zkchat.model.change import ChangeRecord, ChangeSet, FileWrite
from zkchat.model.change_summary import file_changes
from zkchat.model.patch import path_before
from zkchat.ports import ChangeStore


def changes_to_undo(store: ChangeStore, count: int = 1) -> list[ChangeRecord]:
    """The last changes that are in force, the latest first. Raises `UsageError` where there are not so many."""
    found = [record for record in store.records() if record.state == "applied"][:count]
    if not found:
        raise UsageError("There is nothing to undo: zkchat changed nothing in this vault, or all of it is undone.")
    if len(found) < count:
        raise UsageError(f"Only {len(found)} changes can be undone, not {count}.", hint="zkchat changes lists them.")
    return found


def change_to_undo(store: ChangeStore, number: int) -> ChangeRecord:
    """A change by its number in the journal. Raises `UsageError` for one that is not there, or is undone already."""
    found = next((record for record in store.records() if record.id == number), None)
    if found is None:
        raise UsageError(f"There is no change {number}.", hint="zkchat changes lists them.")
    if found.state == "undone":
        raise UsageError(f"Change {number} is undone already.", hint="zkchat changes lists them.")
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


def undone_lines(records: Sequence[ChangeRecord]) -> Iterator[str]:
    """What became of each file, as a line."""
    for record in records:
        for each in file_changes(record.changes):
            match each.action:
                case "created":
                    yield f"{each.path} is gone again."
                case "edited":
                    yield f"{path_before(record.changes, each.path)} is as it was."
                case "moved":
                    yield f"{each.moved_from} is back; it was {each.path}."
                case "trashed":
                    yield f"{each.moved_from} is back from the trash."
