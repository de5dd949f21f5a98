"""Changes of notes on the command line: their diffs, the records for scripts, and files that changed since."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zkchat.model.change import ChangeSet, FileWrite
from zkchat.model.change_summary import file_changes
from zkchat.model.patch import patch_of

if TYPE_CHECKING:
    from zkchat.cli.common import CommandIO
    from zkchat.errors import FileConflict, FilesChanged
    from zkchat.model.change import ChangeRecord


def print_patch(io: "CommandIO", changes: ChangeSet) -> None:
    """Print the diff as the result of a command; nothing where nothing changes."""
    if changes:
        io.out(patch_of(changes).removesuffix("\n"))


def print_conflicts(io: "CommandIO", error: "FilesChanged") -> None:
    """Show of each file that changed since what zkchat did, and what somebody else did."""
    for conflict in error.conflicts:
        for line in _conflict_lines(conflict):
            io.note(line)


def change_record(record: "ChangeRecord") -> dict[str, object]:
    """A change set of the journal for scripts."""
    return {
        "id": record.id,
        "at": record.at.isoformat(),
        "state": record.state,
        "title": record.changes.title,
        "command": record.origin.command,
        "session": record.origin.session_id or None,
        "message": record.origin.message_id or None,
        "files": file_records(record.changes),
    }


def file_records(changes: ChangeSet) -> list[dict[str, object]]:
    return [
        {"path": each.path, "action": each.action, "moved_from": each.moved_from or None, "edited": each.is_edited}
        for each in file_changes(changes)
    ]


def _conflict_lines(conflict: "FileConflict") -> Iterator[str]:
    path = conflict.path
    if conflict.expected is not None:
        yield f"What zkchat changed in {path}:"
        ours = FileWrite(path=path, before=conflict.wanted, after=conflict.expected)
        yield patch_of(ChangeSet(title="", writes=(ours,))).removesuffix("\n")
    if conflict.found is None:
        yield f"What changed since: {path} is not there any more."
        return
    yield f"What changed in {path} since:"
    theirs = FileWrite(path=path, before=conflict.expected, after=conflict.found)
    yield patch_of(ChangeSet(title="", writes=(theirs,))).removesuffix("\n")
