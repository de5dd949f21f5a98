"""Changes of the journal as lines: in a list, when they are undone, and where a file changed since."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from zkchat.errors import FileConflict
from zkchat.model.change import ChangeRecord, ChangeSet, FileWrite
from zkchat.model.change_summary import FileChange, file_changes
from zkchat.model.patch import path_before
from zkchat.model.text import counted

_MAX_FILES: Final = 10
"""That are named when a change is undone."""


def headline(
    record: ChangeRecord, sessions: Mapping[str, str] | None = None, messages: Mapping[str, int] | None = None
) -> str:
    """`12  2026-03-14 09:30  Append to Inbox.md  (note append)`.

    `sessions` has their names by id, `messages` the numbers by which `/history` shows them.
    """
    origin = record.origin
    session = (sessions or {}).get(origin.session_id, "")
    made_by = " ".join(filter(None, [origin.command, f"in {session}" if session else ""]))
    number = (messages or {}).get(origin.message_id, 0)
    about = ", ".join(filter(None, [made_by, f"message {number}" if number else "", _state(record)]))
    return f"{record.id:>3}  {record.at.astimezone():%Y-%m-%d %H:%M}  {record.changes.title}  ({about})"


def undo_question(records: Sequence[ChangeRecord]) -> str:
    """`Undo change 12?`, with the number of each."""
    first, *others = records
    numbers = ", ".join(str(record.id) for record in records[:_MAX_FILES])
    more = f" and {len(records) - _MAX_FILES} more" if len(records) > _MAX_FILES else ""
    return f"Undo the last {len(records)} changes ({numbers}{more})?" if others else f"Undo change {first.id}?"


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
        case "created" | "removed":
            return f"{each.path} is gone again."
        case "edited":
            return f"{path_before(record.changes, each.path)} is as it was."
        case "moved":
            return f"{each.moved_from} is back; it was {each.path}."
        case "trashed":
            return f"{each.moved_from} is back from the trash."


def describe_conflict(conflict: FileConflict) -> Iterator[tuple[str, ChangeSet]]:
    """What zkchat did to a file that is to be undone, and what somebody else did: sentences and changes."""
    path = conflict.path
    if conflict.expected is not None:
        yield f"What zkchat changed in {path}:", _change(path, conflict.wanted, conflict.expected)
    if conflict.found is None:
        yield f"What changed since: {path} is not there any more.", ChangeSet(title="")
    else:
        yield f"What changed in {path} since:", _change(path, conflict.expected, conflict.found)


def _change(path: str, before: bytes | None, after: bytes) -> ChangeSet:
    return ChangeSet(title="", writes=(FileWrite(path=path, before=before, after=after),))
