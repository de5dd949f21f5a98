"""Changes of notes on the command line: their diffs, and their records for scripts."""

from itertools import chain
from typing import TYPE_CHECKING

from zkchat.cli.common import CommandIO
from zkchat.cli.output import consoles, stdout_console
from zkchat.compose.paths import Paths
from zkchat.errors import FilesChanged
from zkchat.model.change import ChangeRecord, ChangeSet
from zkchat.model.change_summary import file_changes
from zkchat.model.patch import patch_of
from zkchat.render.change_history import describe_conflict

if TYPE_CHECKING:
    from rich.console import Console


def print_diff(io: CommandIO, paths: Paths, changes: ChangeSet) -> None:
    """Print the whole diff as the result of a command: drawn on a terminal, as a patch in a pipe."""
    console = stdout_console(io, paths)
    if console:
        _draw(console, changes, whole=True)
    else:
        print_patch(io, changes)


def print_patch(io: CommandIO, changes: ChangeSet) -> None:
    """Print the diff as a patch, in a pipe to the last byte; nothing where nothing changes."""
    if not changes:
        return
    patch = patch_of(changes)
    if io.environment.stdout_is_tty:
        io.out(patch.removesuffix("\n"))
    else:
        io.out_exactly(patch)


def print_conflicts(io: CommandIO, error: FilesChanged) -> None:
    """Show, beside the result, what changed in each file, and before that what is to be undone."""
    _, console = consoles(io.environment, "auto")
    for sentence, changes in chain.from_iterable(map(describe_conflict, error.conflicts)):
        io.note(sentence)
        if console.is_terminal:
            _draw(console, changes)
        elif changes:
            io.note(patch_of(changes).removesuffix("\n"))


def _draw(console: "Console", changes: ChangeSet, *, whole: bool = False) -> None:
    from zkchat.render.diffs import print_changes

    print_changes(console, changes, whole=whole)


def change_record(record: ChangeRecord) -> dict[str, object]:
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
