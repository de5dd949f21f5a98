"""Changes of the journal as lines: in a list, when they are undone, and where a file changed since."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from zkchat.errors import FileConflict, FilesChanged
from zkchat.model.change import ChangeRecord, ChangeSet, FileWrite
from zkchat.model.change_summary import FileChange, file_changes
from zkchat.model.patch import patch_of, path_before
from zkchat.model.text import counted

_MAX_FILES: Final = 10
"""That are named when a change is undone."""


def headline(record: ChangeRecord, sessions: Mapping[str, str] | None = None) -> str:
    """`12  2026-03-14 09:30  Append to Inbox.md  (note append)`; `sessions` has their names by id."""
    origin = record.origin
    session = (sessions or {}).get(origin.session_id, "")
    made_by = " ".join(filter(None, [origin.command, f"in {session}" if session else ""]))
    about = ", ".join(filter(None, [made_by, _state(record)]))
    return f"{record.id:>3}  {record.at.astimezone():%Y-%m-%d %H:%M}  {record.changes.title}  ({about})"


def _state(record: ChangeRecord) -> str:
    if record.state == "undone":
        return "undone"
    return "" if record.has_contents else "too old to be undone"


def undone_lines(records: Sequence[ChangeRecord]) -> Iterator[str]:
    """What became of each file of changes that were undone, and of how many more."""
    for record in records:
        files = file_changes(record.changes)
        yield from (_undone(record, each) for each in islice(files, _MAX_FILES))
        if (more := len(files) - _MAX_FILES) > 0:
            yield f"… and {counted(more, 'more file')}."


def _undone(record: ChangeRecord, each: FileChange) -> str:
    match each.action:
        case "created":
            return f"{each.path} is gone again."
        case "edited":
            return f"{path_before(record.changes, each.path)} is as it was."
        case "moved":
            return f"{each.moved_from} is back; it was {each.path}."
        case "trashed":
            return f"{each.moved_from} is back from the trash."


def conflict_lines(error: FilesChanged) -> Iterator[str]:
    """Of each file that changed since: what zkchat did to it, and what somebody else did."""
    for conflict in error.conflicts:
        yield from _conflict_lines(conflict)


def _conflict_lines(conflict: FileConflict) -> Iterator[str]:
    path = conflict.path
    if conflict.expected is not None:
        yield f"What zkchat changed in {path}:"
        yield _patch(path, conflict.wanted, conflict.expected)
    if conflict.found is None:
        yield f"What changed since: {path} is not there any more."
        return
    yield f"What changed in {path} since:"
    yield _patch(path, conflict.expected, conflict.found)


def _patch(path: str, before: bytes | None, after: bytes) -> str:
    write = FileWrite(path=path, before=before, after=after)
    return patch_of(ChangeSet(title="", writes=(write,))).removesuffix("\n")
