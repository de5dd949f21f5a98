"""Files that are not what a change expects."""

from collections.abc import Sequence

from zkchat.errors import FileConflict, FilesChanged
from zkchat.storage.changes.plan import ContentChange


def conflict_of(change: ContentChange, found: bytes | None) -> FileConflict:
    return FileConflict(path=change.path, expected=change.before, wanted=change.after, found=found)


def files_changed(conflicts: Sequence[FileConflict]) -> FilesChanged:
    names = ", ".join(conflict.path for conflict in conflicts[:3])
    more = f" and {len(conflicts) - 3} more" if len(conflicts) > 3 else ""
    what = "is there already" if all(each.expected is None for each in conflicts) else "changed meanwhile"
    return FilesChanged(
        f"{names}{more} {what}. Nothing was written.",
        hint="Look at what is there now, and try again.",
        conflicts=conflicts,
    )
