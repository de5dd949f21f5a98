"""Changes of notes on the command line: their diffs, and their records for scripts."""

from typing import TYPE_CHECKING

from zkchat.model.change import ChangeSet
from zkchat.model.change_summary import file_changes
from zkchat.model.patch import patch_of

if TYPE_CHECKING:
    from zkchat.cli.common import CommandIO
    from zkchat.model.change import ChangeRecord


def print_patch(io: "CommandIO", changes: ChangeSet) -> None:
    """Print the diff as the result of a command; nothing where nothing changes."""
    if changes:
        io.out(patch_of(changes).removesuffix("\n"))


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
